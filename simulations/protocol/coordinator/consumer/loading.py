"""A coordinator that takes a group over: what it refuses to load, the timers that it starts, its tables as they grow.

Kafka: ``GroupMetadataManager.replay`` with its ``IllegalStateException``, and ``onLoaded``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from groups.history.replay.record_types import CONSUMER_TYPES
from groups.history.state.consumer import UNREVOKED_PARTITIONS, ConsumerMember
from groups.history.state.epochs import LEAVE_GROUP_MEMBER_EPOCH
from groups.history.state.group import Protocol, State
from groups.wire.generated.classic import GROUP_METADATA, OFFSET_COMMIT
from groups.wire.generated.consumer import (
    CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    CONSUMER_GROUP_MEMBER_METADATA,
    CONSUMER_GROUP_METADATA,
    CONSUMER_GROUP_REGULAR_EXPRESSION,
    CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA,
)
from simulations.protocol.assignors.java_orders import LEAST_SLOTS, grown
from simulations.protocol.coordinator.consumer.outcome import (
    TOPICS,
    Context,
    Outcome,
    Record,
    Refresh,
    VolatileState,
)
from simulations.protocol.coordinator.consumer.targets import timeline_order
from simulations.protocol.coordinator.errors import IllegalState
from simulations.protocol.coordinator.timers import REBALANCE, SESSION, TimerCommand, TimerStart


def loaded(context: Context) -> Outcome[None]:
    """A session timer for every member, also for one that left for now; a rebalance timer for who is to give up."""
    timers: list[TimerCommand] = []
    members = context.group.members
    for member_id in timeline_order(context.group, context.memory.member_slots):
        member = members[member_id]
        timers.append(
            TimerStart(timer=SESSION, member_id=member_id, length_ms=context.settings.session_timeout_ms)
        )
        if member.state == UNREVOKED_PARTITIONS:
            timers.append(
                TimerStart(
                    timer=REBALANCE,
                    member_id=member_id,
                    length_ms=member.rebalance_timeout_ms,
                    bound_epoch=member.epoch,
                )
            )
    version = context.memory.new_topics_version or context.image.version
    return Outcome(
        answer=None, timers=tuple(timers), memory=replace(context.memory, new_topics_version=version)
    )


def remembered(memory: VolatileState, before: State, record: Record) -> VolatileState:
    """The memory after a record: a group's end ends its table of members and its deadline, too."""
    record_type = record["type"]
    if record_type in (CONSUMER_GROUP_MEMBER_METADATA, CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT):
        return _after_member(memory, before, record)
    if record_type == OFFSET_COMMIT:
        return _after_commit(memory, before, record)
    if record_type == CONSUMER_GROUP_REGULAR_EXPRESSION and memory.regexes_counted is None:
        return replace(memory, regexes_counted=before.consumer.regexes)
    if record_type == GROUP_METADATA and record["value"] is None:
        return replace(memory, classic=None)
    if record_type == CONSUMER_GROUP_METADATA and record["value"] is None:
        return replace(memory, member_slots=LEAST_SLOTS, refresh=Refresh(), regexes_counted=None)
    return memory


def _after_member(memory: VolatileState, before: State, record: Record) -> VolatileState:
    """Each put may double the members' table, whether or not the member was there; subscriptions are counted again."""
    members, slots = before.consumer.members, memory.member_slots
    if record["value"] is None and record["key"]["memberId"] not in members:
        return memory
    if record["value"] is not None or record["type"] == CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT:
        slots = grown(slots, len(members))
    if slots == memory.member_slots and memory.regexes_counted is None:
        return memory
    return replace(memory, member_slots=slots, regexes_counted=None)


def _after_commit(memory: VolatileState, before: State, record: Record) -> VolatileState:
    """Each commit may double its topic's table, whether or not the partition was there; a new topic that of the topics.

    A table that is empty is thrown away.
    """
    slots, topic, offsets = memory.offset_slots, record["key"]["topic"], before.offsets
    held = offsets.get(topic, {})
    if record["value"] is None:
        if held.keys() != {record["key"]["partition"]}:
            return memory
        left = {} if offsets.keys() == {topic} else {name: n for name, n in slots.items() if name != topic}
        return replace(memory, offset_slots=left)
    after = {topic: grown(slots.get(topic, LEAST_SLOTS), len(held))}
    if not held:
        after[TOPICS] = grown(slots.get(TOPICS, LEAST_SLOTS), len(offsets))
    return memory if after.items() <= slots.items() else replace(memory, offset_slots={**slots, **after})


def check_replayed(before: State, after: State, record: Record) -> None:
    """``IllegalState`` in Kafka's words if the record could not be replayed on top of what stood there before.

    Only what the fold notes, or a tombstone, is looked at closely.
    """
    if record["type"] not in CONSUMER_TYPES:
        return
    if record["value"] is not None:
        if any(note.kind == "protocol" for note in after.anomalies):
            raise IllegalState(f"Group {before.group} is not a consumer group.")
        if record["type"] == CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT and after.anomalies:
            _check_owners(before, after, record["key"]["memberId"])
    elif before.protocol is Protocol.CONSUMER and not before.deleted:
        _check_tombstone(before, record)


def _check_tombstone(before: State, record: Record) -> None:
    group, group_id = before.consumer, before.group
    if record["type"] == CONSUMER_GROUP_MEMBER_METADATA:
        member = group.members.get(record["key"]["memberId"])
        if member is None:
            return
        known = f"Received a tombstone record to delete member {member.member_id} but did not receive "
        if member.epoch != LEAVE_GROUP_MEMBER_EPOCH:
            raise IllegalState(known + "ConsumerGroupCurrentMemberAssignmentValue tombstone.")
        if member.member_id in group.target:
            raise IllegalState(known + "ConsumerGroupTargetAssignmentMetadataValue tombstone.")
    elif record["type"] == CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA:
        if group.target:
            raise IllegalState(
                f"Received a tombstone record to delete target assignment of {group_id} but the assignment still "
                f"has {len(group.target)} members."
            )
    elif record["type"] == CONSUMER_GROUP_METADATA:
        known = f"Received a tombstone record to delete group {group_id} but "
        if group.members:
            raise IllegalState(known + f"the group still has {len(group.members)} members.")
        if group.target:
            raise IllegalState(known + f"the target assignment still has {len(group.target)} members.")
        if group.assignment_epoch != LEAVE_GROUP_MEMBER_EPOCH:
            raise IllegalState(
                known + "did not receive ConsumerGroupTargetAssignmentMetadataValue tombstone."
            )


def _check_owners(before: State, after: State, member_id: str) -> None:
    """The rule of partition epochs: who comes later needs a greater epoch than who still holds the partition."""
    new = after.consumer.members[member_id]
    old = before.consumer.members.get(member_id) or ConsumerMember(member_id=member_id)
    seen: set[tuple[str, int]] = set()
    for part in (new.assigned, new.pending_revocation):
        for topic_id, partitions in part.items():
            held = before.consumer.partition_epochs.get(topic_id, {})
            for partition in partitions:
                epoch = _epoch_left(held, old, topic_id, partition)
                if (topic_id, partition) in seen:
                    epoch = new.epoch
                seen.add((topic_id, partition))
                if epoch is not None and epoch >= new.epoch:
                    raise IllegalState(
                        f"Cannot set the epoch of {topic_id}-{partition} to {new.epoch} because the partition is "
                        f"still owned at epoch {epoch}"
                    )


def _epoch_left(held: Mapping[int, int], old: ConsumerMember, topic_id: str, partition: int) -> int | None:
    """The epoch at which the partition is held once the member's own old entries are taken out."""
    epoch = held.get(partition)
    return None if epoch == old.epoch and old.holds(topic_id, partition) else epoch
