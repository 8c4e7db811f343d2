"""KIP-848 as written: the same reconciliation, in more and smaller steps.

What differs from the released coordinator:

* group and target epochs start at 0; joining writes the group epoch and nothing else, so a new member is at epoch 0;
* the target is computed in the coordinator's event loop right after the bump, as a step of its own, after every
  bump, also those of a leave or of new partitions;
* a member is moved by its own next heartbeat; ``previous_member_epoch`` follows real moves only;
* being told to give partitions up is no state: no record is written, the member keeps them in its assignment, and
  each answer repeats what it may keep until it acknowledges; only its rebalance timer knows that it was told;
* new metadata bumps the group epoch at once, and the partition counts are written (type 4);
* a static member that comes back is its old self under the new id at once; nothing of the old one goes on, not even
  its timers, and its first heartbeat moves it like any other (the proposal names no records for it);
* a fence removes the member; a removed member stays in the target until the next one is computed;

A request whose answer was lost is recognised as in the release (the previous epoch, and nothing owned that is not
assigned): the proposal's own rule, partitions owned within the *target*, would take a member for up to date that is
epochs behind.

Source: KIP-848, "Consumer Group Heartbeat API", "Data Model", "Case Studies".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from groups.history.consumer_state import UNREVOKED_PARTITIONS, ConsumerMember
from groups.history.modern_state import with_member, without_member
from groups.wire.coordinator_schema import (
    CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    CONSUMER_GROUP_MEMBER_METADATA,
    CONSUMER_GROUP_PARTITION_METADATA,
    CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER,
)
from simulations.assignors import AssignorError
from simulations.coordinator import commits, records
from simulations.coordinator.errors import ErrorCode, RequestRefused
from simulations.coordinator.kafka.heartbeat import fenced, rebalance_timer, repeats_lost
from simulations.coordinator.messages import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    CommitAnswer,
    Heartbeat,
    HeartbeatAnswer,
    OffsetCommit,
    Partitions,
)
from simulations.coordinator.outcome import (
    ASSIGNMENT,
    REBALANCE,
    SESSION,
    Context,
    Outcome,
    Record,
    TimerCancel,
    TimerCommand,
    TimerStart,
)
from simulations.coordinator.reconciliation import Reconciliation
from simulations.coordinator.static_members import (
    check_member,
    left_for_now,
    replaced_member,
    replacement_of,
)
from simulations.coordinator.subscriptions import (
    all_names,
    names_changed,
    preferred_assignor,
    subscribe_alike,
    subscribed_ids,
    updated_member,
)
from simulations.coordinator.targets import compute_target, members_in_order, same_partitions
from simulations.coordinator.validation import check_request

Members = Mapping[str, ConsumerMember]


class KipCoordinator:
    """Rules of the proposal. It keeps nothing between operations: memory is the context's replayed state."""

    def heartbeat(self, context: Context, request: Heartbeat) -> Outcome[HeartbeatAnswer]:
        member = context.group.members.get(request.member_id)
        try:
            check_request(request, context.settings)
            if request.member_epoch != JOIN_EPOCH:
                check_member(context.group, request)
            if request.member_epoch == LEAVE_EPOCH:
                written, timers = self._removed(context, request.member_id)
                answer = HeartbeatAnswer(member_id=request.member_id, member_epoch=LEAVE_EPOCH)
                return Outcome(answer=answer, records=written, timers=timers)
            if request.member_epoch == STATIC_LEAVE_EPOCH:
                return self._leave_for_now(context, request)
            holder = replaced_member(context.group, request, own_too=False)
            if holder is not None:
                return self._replace(context, request, holder)
            if member is None:
                return self._join(context, request)
            refusal = self._fence(context, request, member)
            if refusal is not None:
                written, timers = self._removed(context, request.member_id)
                refused = HeartbeatAnswer(error_code=refusal.code, error_message=refusal.message)
                return Outcome(answer=refused, records=written, timers=timers)
            return self._regular(context, request, member)
        except RequestRefused as refusal:
            return Outcome(answer=HeartbeatAnswer(error_code=refusal.code, error_message=refusal.message))

    def commit(self, context: Context, request: OffsetCommit) -> Outcome[CommitAnswer]:
        return commits.commit(context, request, older_epochs=False)

    def expired(
        self, context: Context, timer: str, member_id: str | None, bound_epoch: int | None
    ) -> Outcome[None]:
        """A session or a rebalance timeout removes the member; the assignment timer computes the target."""
        if timer == ASSIGNMENT:
            return self._compute(context)
        member = context.group.members.get(member_id or "")
        if member is None or (timer == REBALANCE and member.epoch != bound_epoch):
            return Outcome(answer=None)
        written, timers = self._removed(context, member.member_id)
        return Outcome(answer=None, records=written, timers=timers)

    def image_changed(self, context: Context, names: tuple[str, ...]) -> Outcome[None]:
        """New partition counts of a subscribed topic bump the group epoch at once."""
        group = context.group
        if not set(names) & set(all_names(group, group.members)):
            return Outcome(answer=None)
        return Outcome(
            answer=None,
            records=self._bump(context, group.members, metadata=True),
            timers=(self._assignment_timer(context),),
        )

    def _join(self, context: Context, request: Heartbeat) -> Outcome[HeartbeatAnswer]:
        members = context.group.members
        if len(members) >= context.settings.max_size:
            raise RequestRefused(
                ErrorCode.GROUP_MAX_SIZE_REACHED,
                f"The consumer group has reached its maximum capacity of {context.settings.max_size} members.",
            )
        member = updated_member(ConsumerMember(member_id=request.member_id), request)
        joined = {**members, member.member_id: member}
        return Outcome(
            answer=self._answer(context, member, None),
            records=(
                self._member_record(context, member),
                *self._bump(context, joined, metadata=self._new_names(context, joined)),
            ),
            timers=(self._assignment_timer(context), self._session_timer(context, member)),
        )

    def _leave_for_now(self, context: Context, request: Heartbeat) -> Outcome[HeartbeatAnswer]:
        """The member stays, at epoch -2, with its partitions; its session goes on from its last heartbeat."""
        left = left_for_now(context.group.members[request.member_id])
        return Outcome(
            answer=HeartbeatAnswer(member_id=request.member_id, member_epoch=STATIC_LEAVE_EPOCH),
            records=(records.current_assignment(context.state.group, left, with_epochs=False),),
            timers=(TimerCancel(timer=REBALANCE, member_id=request.member_id),),
        )

    def _replace(
        self, context: Context, request: Heartbeat, holder: ConsumerMember
    ) -> Outcome[HeartbeatAnswer]:
        """The joiner takes the holder's place, assignment and target; then its join is a heartbeat like any other."""
        group_id, group = context.state.group, context.group
        member = replacement_of(holder, request.member_id)
        target = group.target.get(holder.member_id)
        view = with_member(without_member(group, holder.member_id), member)
        view = view.without_target(holder.member_id)
        if target is not None:
            view = replace(view, target={**view.target, member.member_id: target})
        seen = replace(context, state=replace(context.state, consumer=view))
        joined = self._regular(seen, request, member)
        cancelled = tuple(
            TimerCancel(timer=timer, member_id=holder.member_id)
            for timer in (SESSION, REBALANCE)
            if holder.member_id != member.member_id
        )
        moved = records.replacement(group_id, holder.member_id, member, target or {}, with_epochs=False)
        if target is None:
            moved = [each for each in moved if each["type"] != CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER]
        return replace(joined, records=(*moved, *joined.records), timers=(*cancelled, *joined.timers))

    def _fence(self, context: Context, request: Heartbeat, member: ConsumerMember) -> RequestRefused | None:
        if request.member_epoch == member.epoch:
            return None
        if request.member_epoch > member.epoch:
            return fenced("greater", request.member_epoch, member.epoch)
        if request.member_epoch == JOIN_EPOCH or repeats_lost(request, member):
            return None
        return fenced("smaller", request.member_epoch, member.epoch)

    def _regular(self, context: Context, request: Heartbeat, old: ConsumerMember) -> Outcome[HeartbeatAnswer]:
        group = context.group
        member = updated_member(old, request)
        members = {**group.members, member.member_id: member}
        written: list[Record] = []
        timers: list[TimerCommand] = []
        if member != old:
            written.append(self._member_record(context, member))
        if names_changed(old, member) or member.server_assignor != old.server_assignor:
            written += self._bump(context, members, metadata=self._new_names(context, members))
            timers.append(self._assignment_timer(context))
        moved = self._moved(context, request, member)
        was_told = self._was_told(context, member)
        if moved.state == UNREVOKED_PARTITIONS:
            if not was_told:
                timers.append(rebalance_timer(moved))
        elif moved is not member:
            written.append(records.current_assignment(context.state.group, moved, with_epochs=False))
            timers.append(rebalance_timer(moved))
        timers.append(self._session_timer(context, member))
        full = request.owned is not None and request.subscribed_topic_names is not None
        # At epoch 0 there is no target yet, so there is nothing to tell, not even that there is nothing.
        # Who was told to give something up hears, too, that a newer target lets it keep everything.
        tells = moved.epoch > 0 and (full or was_told or moved.assigned != old.assigned)
        return Outcome(
            answer=self._answer(context, moved, moved.assigned if tells else None),
            records=tuple(written),
            timers=tuple(timers),
        )

    def _was_told(self, context: Context, member: ConsumerMember) -> bool:
        """Whether its rebalance timer runs: the timeout counts from the first answer, not from each repetition."""
        return member.member_id in context.memory.rebalancing

    def _moved(self, context: Context, request: Heartbeat, member: ConsumerMember) -> ConsumerMember:
        """The member after the step; one that has to give partitions up is in ``UNREVOKED_PARTITIONS``."""
        group = context.group
        if member.member_id not in group.target:
            # It joined after the last target was computed: there is nothing yet to move it to.
            return member
        step = Reconciliation(
            group=group,
            target=group.target[member.member_id],
            target_epoch=group.assignment_epoch,
            subscribed_ids=subscribed_ids(group, member, context.image),
            subscribes_to_nothing=not group.subscribed_topics(member),
            # A changed subscription brings a new target, which alone takes partitions away here.
            subscription_changed=False,
            owned=request.owned,
        )
        moved = step.step(member)
        return member if replace(moved, previous_epoch=member.previous_epoch) == member else moved

    def _compute(self, context: Context) -> Outcome[None]:
        group, group_id = context.group, context.state.group
        if group.assignment_epoch >= group.group_epoch:
            return Outcome(answer=None)
        ordered = {member_id: group.members[member_id] for member_id in members_in_order(group, None)}
        try:
            targets = compute_target(
                preferred_assignor(group.members, group.members, context.settings.assignors),
                group,
                ordered,
                group.target,
                context.image,
                homogeneous=subscribe_alike(group.members),
            )
        except AssignorError:
            return Outcome(answer=None)
        gone = [member_id for member_id in group.target if member_id not in group.members]
        written = [
            *(
                records.tombstone(CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER, group_id, member_id)
                for member_id in gone
            ),
            *(
                records.target_member(group_id, member_id, target)
                for member_id, target in targets.items()
                if member_id not in group.target or not same_partitions(target, group.target[member_id])
            ),
            records.target_epoch(group_id, group.group_epoch, 0),
        ]
        return Outcome(answer=None, records=tuple(written))

    def _removed(
        self, context: Context, member_id: str
    ) -> tuple[tuple[Record, ...], tuple[TimerCommand, ...]]:
        """The member goes; its target stays until the next one is computed."""
        group_id = context.state.group
        stay = {other: member for other, member in context.group.members.items() if other != member_id}
        written = (
            records.tombstone(CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT, group_id, member_id),
            records.tombstone(CONSUMER_GROUP_MEMBER_METADATA, group_id, member_id),
            *self._bump(context, stay, metadata=self._new_names(context, stay)),
        )
        cancelled = [TimerCancel(timer=timer, member_id=member_id) for timer in (SESSION, REBALANCE)]
        return written, (*cancelled, self._assignment_timer(context))

    def _bump(self, context: Context, members: Members, *, metadata: bool) -> tuple[Record, ...]:
        """The next group epoch, last; before it the partition counts if they are other ones."""
        group_id, epoch = context.state.group, context.group.group_epoch + 1
        bumped = records.group_epoch(group_id, epoch, 0)
        if not metadata:
            return (bumped,)
        topics: list[dict[str, Any]] = [
            {
                "topicId": context.image.topics[name].topic_id,
                "topicName": name,
                "numPartitions": context.image.topics[name].partitions,
                "partitionMetadata": [],
            }
            for name in sorted(all_names(context.group, members))
            if name in context.image.topics
        ]
        counts: Record = {
            "type": CONSUMER_GROUP_PARTITION_METADATA,
            "key": {"groupId": group_id},
            "version": 0,
            "value": {"epoch": epoch, "topics": topics},
        }
        return (counts, bumped)

    def _new_names(self, context: Context, members: Members) -> bool:
        group = context.group
        return not group.has_partition_metadata or set(all_names(group, members)) != set(
            all_names(group, group.members)
        )

    def _member_record(self, context: Context, member: ConsumerMember) -> Record:
        """Type 5 with the group epoch at which it was written, as the proposal has it."""
        record = records.member_metadata(context.state.group, member)
        return {**record, "value": {**record["value"], "groupEpoch": context.group.group_epoch + 1}}

    def _assignment_timer(self, context: Context) -> TimerStart:
        return TimerStart(timer=ASSIGNMENT, member_id=None, length_ms=context.settings.assignor_time_ms)

    def _session_timer(self, context: Context, member: ConsumerMember) -> TimerStart:
        return TimerStart(
            timer=SESSION, member_id=member.member_id, length_ms=context.settings.session_timeout_ms
        )

    def _answer(
        self, context: Context, member: ConsumerMember, assigned: Mapping[str, Mapping[int, int]] | None
    ) -> HeartbeatAnswer:
        told: Partitions | None = None
        pending: Partitions | None = None
        if assigned is not None:
            told = {topic_id: tuple(numbers) for topic_id, numbers in assigned.items()}
            pending = _pending(context, member)
        return HeartbeatAnswer(
            member_id=member.member_id,
            member_epoch=member.epoch,
            heartbeat_interval_ms=context.settings.heartbeat_interval_ms,
            assigned=told,
            pending=pending,
        )


def _pending(context: Context, member: ConsumerMember) -> Partitions:
    """What the member's target holds and others have not released yet."""
    if member.epoch != context.group.assignment_epoch:
        return {}
    target = context.group.target.get(member.member_id, {})
    missing = {
        topic_id: tuple(p for p in numbers if p not in member.assigned.get(topic_id, {}))
        for topic_id, numbers in target.items()
    }
    return {topic_id: numbers for topic_id, numbers in missing.items() if numbers}
