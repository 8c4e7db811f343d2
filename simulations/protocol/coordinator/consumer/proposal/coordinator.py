"""KIP-848 as written: the same reconciliation, in more and smaller steps. This module hands each operation on.

What differs from the released coordinator is, with a case for each difference, in
``simulations.proof.differences``. In short:

* group and target epochs start at 0; joining writes the group epoch and nothing else, so a new member is at epoch 0;
* the target is computed in the coordinator's event loop right after the bump, as a step of its own, after every
  bump, also those of a leave or of new partitions; or by a member, if all support a client-side assignor;
* a member is moved by its own next heartbeat; ``previous_member_epoch`` follows real moves only;
* being asked to give partitions up is no state: no record is written, the member keeps them in its assignment, and
  each answer repeats what it may keep until it acknowledges; only its rebalance timer knows that it was asked;
* new metadata bumps the group epoch at once, and the partition counts are written (type 4);
* a static member that comes back is its old self under the new id at once; nothing of the old one goes on, not even
  its timers, and its first heartbeat moves it like any other (the proposal names no records for it);
* a fence removes the member; a removed member stays in the target until the next one is computed.

A request whose answer was lost is recognised as in the release (the previous epoch, and nothing owned that is not
assigned): the proposal's own rule, partitions owned within the *target*, would take a member for up to date that is
epochs behind.

Source: KIP-848, "Consumer Group Heartbeat API", "Data Model", "Case Studies".
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from simulations.protocol.coordinator.classic.coordinator import ClassicCoordinator
from simulations.protocol.coordinator.classic.group import EMPTY
from simulations.protocol.coordinator.classic.loading import classic_group
from simulations.protocol.coordinator.consumer import commits, records
from simulations.protocol.coordinator.consumer.outcome import Context, Outcome, Resolution
from simulations.protocol.coordinator.consumer.proposal import client_mode, disabling, metadata, migrating
from simulations.protocol.coordinator.consumer.proposal.classic_assignors import check_reads_classic
from simulations.protocol.coordinator.consumer.proposal.computing import check_supported, compute
from simulations.protocol.coordinator.consumer.proposal.heartbeat import fence, regular
from simulations.protocol.coordinator.consumer.proposal.joining import join, new_id, replaced, static_leave
from simulations.protocol.coordinator.consumer.proposal.metadata import seen
from simulations.protocol.coordinator.consumer.proposal.validation import check_heartbeat
from simulations.protocol.coordinator.consumer.static_members import check_member, replaced_member
from simulations.protocol.coordinator.errors import RequestRefused
from simulations.protocol.coordinator.timers import ASSIGNMENT, COMPUTE, REBALANCE
from simulations.protocol.messages.classic_requests import (
    ClassicHeartbeat,
    ClassicHeartbeatAnswer,
    JoinGroup,
    LeaveAnswer,
    LeaveGroup,
    SyncGroup,
)
from simulations.protocol.messages.client_mode import (
    InstallAnswer,
    InstallAssignment,
    PrepareAnswer,
    PrepareAssignment,
)
from simulations.protocol.messages.groups import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    CommitAnswer,
    Heartbeat,
    HeartbeatAnswer,
    OffsetCommit,
)


class KipCoordinator(ClassicCoordinator):
    """Rules of the proposal. It keeps nothing between operations: memory is the context's."""

    forgets_empty: ClassVar[bool] = False

    def heartbeat(self, context: Context, request: Heartbeat) -> Outcome[HeartbeatAnswer]:
        try:
            check_heartbeat(request, context.settings)
            if not request.member_id:
                request = replace(request, member_id=new_id(context, request))
            return self._heartbeat(seen(context), request)
        except RequestRefused as refusal:
            return Outcome(answer=HeartbeatAnswer(error_code=refusal.code, error_message=refusal.message))

    def _heartbeat(self, context: Context, request: Heartbeat) -> Outcome[HeartbeatAnswer]:
        group = classic_group(context)
        if group is None or request.member_epoch != JOIN_EPOCH:
            return self._in_group(context, request)
        if group.state is not EMPTY:
            return migrating.converted(context, group, request, self._in_group)
        # Its place is taken, as the release does it: the tombstone ends what the coordinator remembers of it.
        outcome = self._in_group(context, request)
        gone = records.classic_gone(context.state.group)
        return replace(outcome, records=(gone, *outcome.records))

    def _in_group(self, context: Context, request: Heartbeat) -> Outcome[HeartbeatAnswer]:
        if request.member_epoch != JOIN_EPOCH:
            check_member(context.group, request)
        if request.member_epoch == LEAVE_EPOCH:
            return migrating.removed(context, request.member_id, HeartbeatAnswer(member_epoch=LEAVE_EPOCH))
        if request.member_epoch == STATIC_LEAVE_EPOCH:
            return static_leave(context, request)
        if request.member_epoch == JOIN_EPOCH:
            check_reads_classic(context, request)
        check_supported(context, request)
        holder = replaced_member(context.group, request, own_too=False)
        if holder is not None:
            return replaced(context, request, holder)
        member = context.group.members.get(request.member_id)
        if member is None:
            return join(context, request)
        refusal = fence(request, member)
        if refusal is not None:
            refused = HeartbeatAnswer(error_code=refusal.code, error_message=refusal.message)
            return migrating.removed(context, request.member_id, refused)
        return regular(context, request, member)

    def commit(self, context: Context, request: OffsetCommit) -> Outcome[CommitAnswer]:
        return commits.commit(context, request, older_epochs=False)

    def prepare(self, context: Context, request: PrepareAssignment) -> Outcome[PrepareAnswer]:
        return client_mode.prepare(seen(context), request)

    def install(self, context: Context, request: InstallAssignment) -> Outcome[InstallAnswer]:
        return client_mode.install(seen(context), request)

    def expired(
        self, context: Context, timer: str, member_id: str | None, bound_epoch: int | None
    ) -> Outcome[None]:
        """A session or a rebalance timeout removes the member; the other two see to the target."""
        if classic_group(context) is not None:
            return self.classic_expired(context, timer, member_id, bound_epoch)
        context = seen(context)
        if timer == ASSIGNMENT:
            return compute(context)
        if timer == COMPUTE:
            return client_mode.expired(context, member_id)
        member = context.group.members.get(member_id or "")
        if member is None or (timer == REBALANCE and member.epoch != bound_epoch):
            return Outcome(answer=None)
        return migrating.removed(context, member.member_id, None)

    def join_consumer_group(self, context: Context, request: JoinGroup, ticket: int) -> Outcome[None]:
        return migrating.join(seen(context), request, ticket)

    def sync_in_consumer_group(self, context: Context, request: SyncGroup, ticket: int) -> Outcome[None]:
        return migrating.sync(seen(context), request, ticket)

    def heartbeat_in_consumer_group(
        self, context: Context, request: ClassicHeartbeat
    ) -> Outcome[ClassicHeartbeatAnswer]:
        return migrating.heartbeat(seen(context), request)

    def leave_consumer_group(self, context: Context, request: LeaveGroup) -> Outcome[LeaveAnswer]:
        return migrating.leave(seen(context), request)

    def image_changed(self, context: Context, names: tuple[str, ...]) -> Outcome[None]:
        return metadata.image_changed(seen(context), names)

    def no_longer_served(self, context: Context) -> Outcome[None]:
        return disabling.lost(seen(context))

    def loaded(self, context: Context) -> Outcome[None]:
        if classic_group(context) is not None:
            return self.classic_loaded(context)
        return metadata.loaded(seen(context))

    def matched(self, context: Context) -> dict[str, tuple[str, ...]]:
        """By expression of the group's members, the topics that it matches now."""
        return {regex: found.topics for regex, found in seen(context).group.regexes.items()}

    def regexes_resolved(self, context: Context, resolution: Resolution) -> Outcome[None]:
        """Nothing: expressions are resolved in the operation that needs them, and no task is ever started."""
        return Outcome(answer=None)
