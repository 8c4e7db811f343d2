"""Replay of the consumer protocol's records: types 3 to 8 and 16.

The rules are those by which Kafka 4.3.1 builds its memory (``ConsumerGroup`` and
``GroupMetadataManager.replay``), with one difference: what Kafka refuses to load is folded as far as it makes
sense, and noted as an anomaly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from groups.history.consumer_state import (
    LEAVE_GROUP_MEMBER_EPOCH,
    STABLE,
    STATE_NAMES,
    Assignment,
    ConsumerMember,
    ResolvedRegex,
    fresh_consumer_group,
    with_member,
    without_member,
)
from groups.history.fields import integer, text
from groups.history.state import (
    EPOCH_JUMP,
    TWO_OWNERS,
    UNKNOWN_MEMBER,
    Protocol,
    Semantics,
    State,
    with_topic,
)

Fields = Mapping[str, Any]


def replay_record(state: State, record_type: int, key: Fields, value: Fields | None) -> State:
    """The state after one record of types 3 to 8 or 16; ``value`` is ``None`` for a tombstone."""
    if value is None:
        # A tombstone in a group that is not there is nothing, as in Kafka: compaction leaves many of them.
        if state.protocol is not Protocol.CONSUMER or state.deleted:
            return state
        return _TOMBSTONES[record_type](state, key)
    return _VALUES[record_type](_as_consumer_group(state), key, value)


def _as_consumer_group(state: State) -> State:
    """A value makes the group if it is absent, and replaces a simple classic group."""
    if state.protocol is Protocol.CONSUMER and not state.deleted:
        return state
    fresh = fresh_consumer_group(kip=state.semantics is Semantics.KIP)
    if state.protocol is Protocol.CLASSIC and state.classic.recorded and not state.deleted:
        state = state.note("protocol", "A record of the consumer protocol came while the group was classic.")
    consumer = state.consumer if state.protocol is None and not state.deleted else fresh
    return replace(
        state,
        protocol=Protocol.CONSUMER,
        deleted=False,
        consumer=consumer,
        classic=type(state.classic)(),
    )


def _group_epoch(state: State, _key: Fields, value: Fields) -> State:
    """Type 3."""
    epoch, group = integer(value["epoch"]), state.consumer
    if group.epoch_recorded and epoch < group.group_epoch:
        state = state.note("epoch_back", f"The group epoch went back from {group.group_epoch} to {epoch}.")
    elif group.epoch_recorded and epoch > group.group_epoch + 1:
        state = state.note(EPOCH_JUMP, _jump(group.group_epoch, epoch))
    elif not group.epoch_recorded and not group.members and epoch > group.group_epoch + 1:
        state = state.note("starts_midway", f"The log starts in the middle: its first epoch is {epoch}.")
    return replace(
        state,
        consumer=replace(
            group,
            group_epoch=epoch,
            metadata_hash=integer(value.get("metadataHash", 0)),
            epoch_recorded=True,
        ),
    )


def _jump(before: int, after: int) -> str:
    unseen = after - before - 1
    changes = "one change" if unseen == 1 else f"{unseen} changes"
    return f"The group epoch jumped from {before} to {after}: {changes} unseen."


def _partition_metadata(state: State, _key: Fields, value: Fields) -> State:
    """Type 4: only remembered, and a source of topic names and counts (releases before 4.1, and KIP-848)."""
    for topic in value.get("topics") or ():
        topic_id, partitions = str(topic["topicId"]), integer(topic["numPartitions"])
        if topic.get("topicName"):
            state = with_topic(state, str(topic["topicName"]), topic_id=topic_id, partitions=partitions)
        elif topic_id in state.names:
            state = with_topic(state, state.names[topic_id], topic_id=topic_id, partitions=partitions)
        else:
            state = replace(state, partitions_by_id={**state.partitions_by_id, topic_id: partitions})
    return replace(state, consumer=replace(state.consumer, has_partition_metadata=True))


def _member(state: State, key: Fields, value: Fields) -> State:
    """Type 5: the member is made if it is absent (epoch 0); its epochs and its assignment stay."""
    member_id = str(key["memberId"])
    old = state.consumer.members.get(member_id) or ConsumerMember(member_id=member_id)
    names = tuple(str(name) for name in value.get("subscribedTopicNames") or ())
    new = replace(
        old,
        instance_id=text(value.get("instanceId")),
        rack_id=text(value.get("rackId")),
        client_id=text(value.get("clientId")) or "",
        client_host=text(value.get("clientHost")) or "",
        subscribed_topic_names=names,
        subscribed_topic_regex=text(value.get("subscribedTopicRegex")),
        rebalance_timeout_ms=integer(value.get("rebalanceTimeoutMs", -1)),
        server_assignor=text(value.get("serverAssignor")),
        classic=value.get("classicMemberMetadata"),
    )
    return replace(
        seen_names(state, names),
        consumer=with_member(state.consumer, new),
    )


def _target_epoch(state: State, _key: Fields, value: Fields) -> State:
    """Type 6."""
    epoch, group = integer(value["assignmentEpoch"]), state.consumer
    if epoch > group.group_epoch and group.epoch_recorded:
        state = state.note(
            "target_ahead", f"The target is of epoch {epoch}, the group only at {group.group_epoch}."
        )
    timestamp_ms = integer(value.get("assignmentTimestamp", 0))
    return replace(
        state, consumer=replace(group, assignment_epoch=epoch, assignment_timestamp_ms=timestamp_ms)
    )


def _target_member(state: State, key: Fields, value: Fields) -> State:
    """Type 7: the member need not exist."""
    target = {
        str(topic["topicId"]): tuple(integer(partition) for partition in topic["partitions"])
        for topic in value.get("topicPartitions") or ()
    }
    group = state.consumer
    return replace(
        seen_ids(state, target),
        consumer=replace(group, target={**group.target, str(key["memberId"]): target}),
    )


def _current_member(state: State, key: Fields, value: Fields) -> State:
    """Type 8: the member is made if it is absent; partition epochs follow it."""
    member_id = str(key["memberId"])
    old = state.consumer.members.get(member_id) or ConsumerMember(member_id=member_id)
    epoch = integer(value["memberEpoch"])
    code = value.get("state", STABLE if state.semantics is Semantics.KAFKA else None)
    new = replace(
        old,
        epoch=epoch,
        previous_epoch=integer(value.get("previousMemberEpoch", old.epoch)),
        state=None if code is None else integer(code),
        assigned=_assignment(value.get("assignedPartitions"), epoch),
        pending_revocation=_assignment(value.get("partitionsPendingRevocation"), epoch),
    )
    if new.state is not None and new.state not in STATE_NAMES:
        state = state.note("state_code", f"Member state {new.state} is not known.", member=member_id)
    state = seen_ids(seen_ids(state, new.assigned), new.pending_revocation)
    state, partition_epochs = _moved(state, old, new)
    return replace(
        state,
        consumer=with_member(replace(state.consumer, partition_epochs=partition_epochs), new),
    )


def _assignment(topics: Iterable[Fields] | None, epoch: int) -> Assignment:
    """A type 8 record's partitions; without epochs, or with another number of them, they take the member's."""
    assignment: dict[str, dict[int, int]] = {}
    for topic in topics or ():
        partitions, epochs = topic["partitions"], topic.get("assignmentEpochs")
        if epochs is None or len(epochs) != len(partitions):
            epochs = (max(epoch, 0),) * len(partitions)
        assignment.setdefault(str(topic["topicId"]), {}).update(
            (integer(partition), integer(since)) for partition, since in zip(partitions, epochs, strict=True)
        )
    return assignment


def _moved(
    state: State, old: ConsumerMember, new: ConsumerMember
) -> tuple[State, Mapping[str, Mapping[int, int]]]:
    """The partition epochs after a member changed.

    The old ones go only where the map still holds the member's old epoch: a later owner may have overtaken it,
    since compaction can drop the record that gave a partition up. New ones are set where nobody, or somebody at a
    lower epoch, held the partition; Kafka refuses the rest, here the greater epoch stays and the anomaly is noted.
    """
    epochs = dict(state.consumer.partition_epochs)
    topic_ids = dict.fromkeys(
        (*old.assigned, *old.pending_revocation, *new.assigned, *new.pending_revocation)
    )
    for topic_id in topic_ids:
        held = dict(epochs.get(topic_id, {}))
        for part in (old.assigned, old.pending_revocation):
            for partition in part.get(topic_id, ()):
                if held.get(partition) == old.epoch:
                    del held[partition]
        for part in (new.assigned, new.pending_revocation):
            for partition in part.get(topic_id, ()):
                before = held.get(partition)
                if before is not None:
                    state = _overtaken(state, topic_id, partition, before, new)
                held[partition] = new.epoch if before is None else max(before, new.epoch)
        if held:
            epochs[topic_id] = held
        else:
            epochs.pop(topic_id, None)
    return state, epochs


def _overtaken(state: State, topic_id: str, partition: int, before: int, new: ConsumerMember) -> State:
    name = f"{state.topic_name(topic_id)}-{partition}"
    others = [other for other in state.consumer.holders(topic_id, partition) if other != new.member_id]
    if before < new.epoch:
        return state.note(
            "overtaken", f"{name} was taken before its owner gave it up in the log.", member=new.member_id
        )
    if not others:
        return state.note("listed_twice", f"{name} stands twice in one record.", member=new.member_id)
    return state.note(
        TWO_OWNERS,
        f"{name} has two owners: it is still held at epoch {before}.",
        member=new.member_id,
    )


def _regex(state: State, key: Fields, value: Fields) -> State:
    """Type 16."""
    topics = tuple(str(name) for name in value.get("topics") or ())
    resolved = ResolvedRegex(
        topics=topics,
        version=integer(value.get("version", 0)),
        timestamp_ms=integer(value.get("timestamp", 0)),
    )
    group = state.consumer
    return replace(
        seen_names(state, topics),
        consumer=replace(group, regexes={**group.regexes, str(key["regularExpression"]): resolved}),
    )


def _group_gone(state: State, _key: Fields) -> State:
    """Type 3 tombstone: the group is removed."""
    group = state.consumer
    if group.members or group.target or group.assignment_epoch != LEAVE_GROUP_MEMBER_EPOCH:
        state = state.note("deleted_early", "The group was deleted before its members and target were.")
    return replace(state, deleted=True, consumer=fresh_consumer_group(kip=state.semantics is Semantics.KIP))


def _partition_metadata_gone(state: State, _key: Fields) -> State:
    return replace(state, consumer=replace(state.consumer, has_partition_metadata=False))


def _member_gone(state: State, key: Fields) -> State:
    """Type 5 tombstone: the member leaves, and with it whatever earlier tombstones should have taken."""
    member_id = str(key["memberId"])
    group = state.consumer
    member = group.members.get(member_id)
    if member is None:
        return _unknown_member(state, member_id)
    if member.epoch != LEAVE_GROUP_MEMBER_EPOCH:
        state = state.note(
            "removed_early", "A member was removed before its assignment was.", member=member_id
        )
        state, partition_epochs = _moved(state, member, _emptied(member))
        group = replace(group, partition_epochs=partition_epochs)
    if member_id in group.target and state.semantics is Semantics.KAFKA:
        # In the proposal the target keeps a removed member until the next one is computed.
        state = state.note("removed_early", "A member was removed before its target was.", member=member_id)
    return replace(state, consumer=without_member(group, member_id))


def _target_epoch_gone(state: State, _key: Fields) -> State:
    group = state.consumer
    if group.target:
        state = state.note("target_early", "The target's epoch was deleted before the target was.")
    return replace(
        state,
        consumer=replace(group, assignment_epoch=LEAVE_GROUP_MEMBER_EPOCH, assignment_timestamp_ms=0),
    )


def _target_member_gone(state: State, key: Fields) -> State:
    group, member_id = state.consumer, str(key["memberId"])
    target = {other: theirs for other, theirs in group.target.items() if other != member_id}
    return replace(state, consumer=replace(group, target=target))


def _current_member_gone(state: State, key: Fields) -> State:
    """Type 8 tombstone: the member owns nothing and is at epoch -1; its state stays."""
    member_id = str(key["memberId"])
    old = state.consumer.members.get(member_id)
    if old is None:
        return _unknown_member(state, member_id)
    new = _emptied(old)
    state, partition_epochs = _moved(state, old, new)
    return replace(
        state,
        consumer=with_member(replace(state.consumer, partition_epochs=partition_epochs), new),
    )


def _emptied(member: ConsumerMember) -> ConsumerMember:
    return replace(
        member,
        epoch=LEAVE_GROUP_MEMBER_EPOCH,
        previous_epoch=LEAVE_GROUP_MEMBER_EPOCH,
        assigned={},
        pending_revocation={},
    )


def _unknown_member(state: State, member_id: str) -> State:
    return state.note(UNKNOWN_MEMBER, "A member was removed that the log had not told of.", member=member_id)


def _regex_gone(state: State, key: Fields) -> State:
    group, regex = state.consumer, str(key["regularExpression"])
    regexes = {other: resolved for other, resolved in group.regexes.items() if other != regex}
    return replace(state, consumer=replace(group, regexes=regexes))


def seen_ids(state: State, topic_ids: Iterable[str]) -> State:
    """The state that remembers which topic ids records spoke of, for the frame's topics."""
    new = [topic_id for topic_id in topic_ids if topic_id not in state.seen_topic_ids]
    return replace(state, seen_topic_ids={**state.seen_topic_ids, **dict.fromkeys(new)}) if new else state


def seen_names(state: State, names: Iterable[str]) -> State:
    """The same for topic names."""
    new = [name for name in names if name not in state.seen_topic_names]
    return replace(state, seen_topic_names={**state.seen_topic_names, **dict.fromkeys(new)}) if new else state


_VALUES: Final[Mapping[int, Callable[[State, Fields, Fields], State]]] = {
    3: _group_epoch,
    4: _partition_metadata,
    5: _member,
    6: _target_epoch,
    7: _target_member,
    8: _current_member,
    16: _regex,
}

_TOMBSTONES: Final[Mapping[int, Callable[[State, Fields], State]]] = {
    3: _group_gone,
    4: _partition_metadata_gone,
    5: _member_gone,
    6: _target_epoch_gone,
    7: _target_member_gone,
    8: _current_member_gone,
    16: _regex_gone,
}

CONSUMER_RECORD_TYPES: Final = frozenset(_VALUES)
