"""The operations of the released coordinator: heartbeat, commit, an expired timer, a new metadata image.

Kafka: ``GroupMetadataManager``.
"""

from __future__ import annotations

from dataclasses import replace

from groups.history.state.consumer import STABLE
from simulations.protocol.coordinator.classic.coordinator import ClassicCoordinator
from simulations.protocol.coordinator.classic.loading import classic_group
from simulations.protocol.coordinator.consumer import commits, expressions, loading
from simulations.protocol.coordinator.consumer.expressions import resolution_is_due
from simulations.protocol.coordinator.consumer.outcome import Context, Outcome, Refresh, Resolution
from simulations.protocol.coordinator.consumer.released import classic_members
from simulations.protocol.coordinator.consumer.released.heartbeat import answer_heartbeat, refused
from simulations.protocol.coordinator.consumer.released.leaving import leave, remove
from simulations.protocol.coordinator.consumer.subscriptions import assignor_changes, subscribed_names
from simulations.protocol.coordinator.consumer.validation import check_request, is_blank
from simulations.protocol.coordinator.errors import RequestRefused
from simulations.protocol.coordinator.timers import JOIN, REBALANCE, SESSION, SYNC, TimerStart
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
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import (
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    CommitAnswer,
    Heartbeat,
    HeartbeatAnswer,
    OffsetCommit,
)


def steady(context: Context, request: Heartbeat) -> Outcome[HeartbeatAnswer] | None:
    """The outcome of a heartbeat of a converged member of a converged group; ``None`` for any other."""
    group = context.group
    member = group.members.get(request.member_id)
    if (
        member is None
        or member.epoch != request.member_epoch
        or member.state != STABLE
        or member.epoch != group.assignment_epoch
        or group.assignment_epoch < group.group_epoch
        or not request.bare
        or member.client_id != request.client_id
        or member.client_host != request.client_host
        or member.classic is not None
        or context.memory.refresh.expired(context.now_ms, group.group_epoch)
        or (request.instance_id is not None and not _holds(context, request))
        or (len(context.counts.assignors) > 1 and assignor_changes(context, member, member))
        or (context.counts.regexes and resolution_is_due(context, context.counts))
        or is_blank(request.group_id)
        or is_blank(request.member_id)
    ):
        return None
    settings = context.settings
    return Outcome(
        answer=HeartbeatAnswer(
            member_id=member.member_id,
            member_epoch=member.epoch,
            heartbeat_interval_ms=settings.heartbeat_interval_ms,
        ),
        timers=(
            TimerStart(timer=SESSION, member_id=member.member_id, length_ms=settings.session_timeout_ms),
        ),
        lasts_ms=0 if context.counts.regexes else context.memory.refresh.deadline_ms,
    )


def _holds(context: Context, request: Heartbeat) -> bool:
    """Whether the instance is the member's, and the member knows it."""
    instance_id, group = request.instance_id or "", context.group
    return (
        group.instances.get(instance_id) == request.member_id
        and group.members[request.member_id].instance_id == instance_id
        and not is_blank(instance_id)
    )


class KafkaCoordinator(ClassicCoordinator):
    """The rules of a release. It keeps nothing between operations: memory is the context's replayed state."""

    def heartbeat(self, context: Context, request: Heartbeat) -> Outcome[HeartbeatAnswer]:
        quick = steady(context, request)
        if quick is not None:
            return quick
        try:
            check_request(request, context.settings)
            if request.member_epoch in (LEAVE_EPOCH, STATIC_LEAVE_EPOCH):
                return leave(context, request)
            return answer_heartbeat(context, request)
        except RequestRefused as refusal:
            return Outcome(answer=refused(refusal))

    def join_consumer_group(self, context: Context, request: JoinGroup, ticket: int) -> Outcome[None]:
        return classic_members.join(context, request, ticket)

    def sync_in_consumer_group(self, context: Context, request: SyncGroup, ticket: int) -> Outcome[None]:
        return classic_members.sync(context, request, ticket)

    def heartbeat_in_consumer_group(
        self, context: Context, request: ClassicHeartbeat
    ) -> Outcome[ClassicHeartbeatAnswer]:
        return classic_members.heartbeat(context, request)

    def leave_consumer_group(self, context: Context, request: LeaveGroup) -> Outcome[LeaveAnswer]:
        return classic_members.leave(context, request)

    def commit(self, context: Context, request: OffsetCommit) -> Outcome[CommitAnswer]:
        return commits.commit(context, request, older_epochs=True)

    def prepare(self, context: Context, request: PrepareAssignment) -> Outcome[PrepareAnswer]:
        """No release has this API: a broker closes the connection, a client reads it as an unsupported version."""
        return Outcome(answer=PrepareAnswer(error_code=ErrorCode.UNSUPPORTED_VERSION))

    def install(self, context: Context, request: InstallAssignment) -> Outcome[InstallAnswer]:
        """As ``prepare``."""
        return Outcome(answer=InstallAnswer(error_code=ErrorCode.UNSUPPORTED_VERSION))

    def expired(
        self, context: Context, timer: str, member_id: str | None, bound_epoch: int | None
    ) -> Outcome[None]:
        """A timer ran out that was neither replaced nor cancelled. A removal computes no target."""
        if classic_group(context) is not None:
            return self.classic_expired(context, timer, member_id, bound_epoch)
        member = context.group.members.get(member_id or "")
        if member is None or timer not in (SESSION, REBALANCE, JOIN, SYNC):
            return Outcome(answer=None)
        if timer == REBALANCE and member.epoch != bound_epoch:
            return Outcome(answer=None)
        return remove(context, (member.member_id,), None)

    def image_changed(self, context: Context, names: tuple[str, ...]) -> Outcome[None]:
        """No record: the hash of a group that subscribes is due, and the next heartbeat of anybody computes it."""
        if subscribed_names(context).isdisjoint(names):
            return Outcome(answer=None)
        return Outcome(answer=None, memory=replace(context.memory, refresh=Refresh()))

    def regexes_resolved(self, context: Context, resolution: Resolution) -> Outcome[None]:
        return expressions.regexes_resolved(context, resolution)

    def no_longer_served(self, context: Context) -> Outcome[None]:
        """Nothing: the group stays as it is, and its members go as their sessions end."""
        return Outcome(answer=None)

    def loaded(self, context: Context) -> Outcome[None]:
        if classic_group(context) is not None:
            return self.classic_loaded(context)
        return loading.loaded(context)

    def matched(self, context: Context) -> dict[str, tuple[str, ...]]:
        """Nothing: type 16 records contain it."""
        return {}
