"""Replay of what the consumer, the share and the streams protocol write alike: epochs, targets, members that go.

The rules are those by which Kafka's released coordinator builds its memory (``GroupMetadataManager.replay``), with one difference: what
Kafka refuses to load is folded as far as it makes sense, and noted as an anomaly. Every function works on
``state.modern``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sized
from itertools import chain
from typing import Final, TypeVar

from groups.history.replay.fields import Fields, integer, partition_number
from groups.history.replay.record_types import (
    CURRENT_ASSIGNMENT,
    GROUP_EPOCH,
    MEMBER_METADATA,
    TARGET_EPOCH,
    TARGET_MEMBER,
    meaning,
)
from groups.history.state.classic_group import ClassicGroup
from groups.history.state.consumer import fresh_consumer_group
from groups.history.state.copying import replace
from groups.history.state.epochs import (
    LEAVE_GROUP_MEMBER_EPOCH,
    Assignment,
    ModernMember,
    Target,
    named_partitions,
    with_member,
    without_member,
)
from groups.history.state.group import (
    ANOMALIES_AN_ENTRY_MAX,
    EPOCH_JUMP,
    NAMED_A_GROUP_MAX,
    PARTITION_COUNT,
    TOPICS_A_GROUP_MAX,
    TWO_OWNERS,
    UNKNOWN_MEMBER,
    Protocol,
    Semantics,
    State,
    seen_ids,
    with_modern,
)
from groups.history.state.share import ShareGroup
from groups.history.state.streams import StreamsGroup
from groups.history.state.versions import drop, edited, put
from groups.history.words import partition_name

Value = Callable[[State, Fields, Fields], State]
Tombstone = Callable[[State, Fields], State]
Replays = Callable[[State, Fields, Fields | None], State]
"""The state after one record; without a value it is a tombstone."""

Parts = tuple[Mapping[str, Sized], ...]


def replays_of(
    protocol: Protocol, values: Mapping[int, Value], tombstones: Mapping[int, Tombstone]
) -> dict[int, Replays]:
    """For each type of ``values`` what replays a record of it; ``tombstones`` in addition to ``TOMBSTONES``."""

    def replay_of(record_type: int) -> Replays:
        replay_value = values[record_type]
        replay_tombstone = tombstones.get(record_type) or TOMBSTONES[meaning(record_type)]

        def replay(state: State, key: Fields, value: Fields | None) -> State:
            if value is not None:
                return replay_value(_begun(state, protocol), key, value)
            # A tombstone in a group that is not there is nothing, as in Kafka: compaction leaves many of them.
            if state.protocol is not protocol or state.deleted:
                return state
            return replay_tombstone(state, key)

        return replay

    return {record_type: replay_of(record_type) for record_type in values}


def _begun(state: State, protocol: Protocol) -> State:
    """A value makes the group if it is absent, and replaces a simple classic group."""
    if state.protocol is protocol and not state.deleted:
        return state
    if state.protocol is None and not state.deleted:
        return replace(state, protocol=protocol)
    simple = state.protocol is Protocol.CLASSIC and not state.classic.recorded
    if not simple and not state.deleted:
        state = state.note(
            "protocol", f"A record of the {protocol} protocol came while the group was {state.protocol}."
        )
    return replace(
        fresh(state), protocol=protocol, deleted=False, partial=state.partial and not state.deleted
    )


def fresh(state: State) -> State:
    """The state without any group."""
    return replace(
        state,
        consumer=fresh_consumer_group(kip=state.semantics is Semantics.KIP),
        classic=ClassicGroup(),
        share=ShareGroup(),
        streams=StreamsGroup(),
    )


def group_epoch(state: State, _key: Fields, value: Fields) -> State:
    """Types 3, 11 and 17."""
    epoch, group = integer(value["epoch"]), state.modern
    if group.epoch_recorded and epoch < group.group_epoch:
        state = state.note("epoch_back", f"The group epoch went back from {group.group_epoch} to {epoch}.")
    elif group.epoch_recorded and epoch > group.group_epoch + 1:
        state = state.note(EPOCH_JUMP, _jump(group.group_epoch, epoch))
    elif not group.epoch_recorded and not group.members and epoch > group.group_epoch + 1:
        state = state.note("starts_midway", f"The log starts in the middle: its first epoch is {epoch}.")
    new = replace(
        group,
        group_epoch=epoch,
        metadata_hash=integer(value.get("metadataHash", 0)),
        epoch_recorded=True,
    )
    return with_modern(state, new)


def _jump(before: int, after: int) -> str:
    unseen = after - before - 1
    changes = "one change" if unseen == 1 else f"{unseen} changes"
    return f"The group epoch jumped from {before} to {after}: {changes} unseen."


def target_epoch(state: State, _key: Fields, value: Fields) -> State:
    """Types 6, 12 and 20."""
    epoch, group = integer(value["assignmentEpoch"]), state.modern
    if epoch > group.group_epoch and group.epoch_recorded:
        state = state.note(
            "target_ahead", f"The target is of epoch {epoch}, the group only at {group.group_epoch}."
        )
    timestamp_ms = integer(value.get("assignmentTimestamp", 0))
    new = replace(
        group, assignment_epoch=epoch, assignment_timestamp_ms=timestamp_ms, target_epoch_recorded=True
    )
    return with_modern(state, new)


def target_member(state: State, key: Fields, value: Fields) -> State:
    """Types 7 and 13: the member need not exist."""
    member_id, target = str(key["memberId"]), partitions_of(value.get("topicPartitions"), "topicId")
    state = seen_ids(state, target)
    group = state.modern
    named = group.named - group.named_by_target(member_id) + named_partitions((target,))
    full = no_room(state, named, (target,))
    if full is not None:
        return full
    return with_modern(state, replace(group, target=put(group.target, member_id, target), named=named))


def no_room(state: State, named: int, new: Parts) -> State | None:
    """The state with an anomaly if target and assignments would name more partitions with ``new`` than is believed, or topics that
    there is no room for: such a target or assignment is left out. ``None`` if there is room."""
    if named > NAMED_A_GROUP_MAX:
        text = (
            f"With this record the group's target and assignments would name {named:,} partitions; "
            f"at most {NAMED_A_GROUP_MAX:,} are believed."
        )
        return state.note(PARTITION_COUNT, text)
    seen = state.seen_topic_ids
    if len(seen) < TOPICS_A_GROUP_MAX or state.protocol is _STREAMS:
        return None
    # ``seen_ids`` has reported those that it left out.
    return state if any(topic_id not in seen for part in new for topic_id in part) else None


def partitions_of(topics: Iterable[Fields] | None, name: str) -> Target:
    """``[{name: "…", "partitions": […]}]`` by name."""
    return {str(topic[name]): tuple(map(partition_number, topic["partitions"])) for topic in topics or ()}


def assignment_of(topics: Iterable[Fields] | None, epoch: int, name: str = "topicId") -> Assignment:
    """A current assignment's partitions; without epochs, or with another number of them, they take the member's."""
    assignment: dict[str, dict[int, int]] = {}
    for topic in topics or ():
        partitions, epochs = topic["partitions"], topic.get("assignmentEpochs")
        if epochs is None or len(epochs) != len(partitions):
            epochs = (max(epoch, 0),) * len(partitions)
        held = assignment.setdefault(str(topic[name]), {})
        for partition, since in zip(partitions, epochs, strict=True):
            held[partition_number(partition)] = integer(since)
    return assignment


M = TypeVar("M", bound=ModernMember)


def known_or_past(
    state: State, members: Mapping[str, ModernMember], kind: type[M], member_id: str
) -> tuple[State, M]:
    """The member that gets a current assignment, made if it is absent.

    A joining member's metadata comes first: of an absent member it is from before the log, or gone.
    """
    known = members.get(member_id)
    if known is not None and (known.__class__ is kind or isinstance(known, kind)):
        return state, known
    return replace(state, partial=True), kind(member_id=member_id)


def with_current(state: State, old: ModernMember, new: ModernMember) -> State:
    """The state after a member's current assignment changed."""
    group = state.modern
    named = group.named - old.named() + new.named()
    if named > NAMED_A_GROUP_MAX or len(state.seen_topic_ids) >= TOPICS_A_GROUP_MAX:
        # Asked here first: it hardly ever is so, and this is done for most of all records.
        full = no_room(state, named, new.parts)
        if full is not None:
            return full
    if new.state is not None and new.state not in new.STATE_NAMES:
        state = state.note("state_code", f"Member state {new.state} is not known.", member=new.member_id)
    state, epochs = moved(state, group.partition_epochs, old, new)
    return with_modern(state, with_member(group, new, epochs, named))


def moved(
    state: State, epochs: Mapping[str, Mapping[int, int]], old: ModernMember, new: ModernMember
) -> tuple[State, Mapping[str, Mapping[int, int]]]:
    """The partition epochs after a member changed, and the state with anomalies; of a share group nobody owns a
    partition alone.

    The old ones go only where the map still holds the member's old epoch: a later owner may have overtaken it,
    since compaction can drop the record that gave a partition up. New ones are set where nobody, or somebody at a
    lower epoch, held the partition; Kafka refuses the rest, here the greater epoch stays and the anomaly is noted.
    """
    if state.protocol is _SHARE:
        return state, epochs
    # Nearly always there is nothing to be given up.
    parts_old = (old.assigned, old.pending_revocation) if old.pending_revocation else (old.assigned,)
    parts_new = (new.assigned, new.pending_revocation) if new.pending_revocation else (new.assigned,)
    for topic_id in dict.fromkeys(chain(*parts_old, *parts_new)):
        held = epochs.get(topic_id, _NOT_HELD)
        left = {
            partition
            for part in parts_old
            for partition in part.get(topic_id, ())
            if held.get(partition) == old.epoch
        }
        taken: dict[int, int] = {}
        for part in parts_new:
            for partition in part.get(topic_id, ()):
                if partition in left:
                    left.discard(partition)
                    taken[partition] = new.epoch
                    continue
                before = taken.get(partition, held.get(partition))
                if before is not None:
                    state = _overtaken(state, topic_id, partition, before, new)
                taken[partition] = new.epoch if before is None else max(before, new.epoch)
        now = edited(held, taken, left)
        if now is not held:
            epochs = put(epochs, topic_id, now) if now else drop(epochs, topic_id)
    return state, epochs


_SHARE: Final = Protocol.SHARE
_STREAMS: Final = Protocol.STREAMS
_NOT_HELD: Final[Mapping[int, int]] = {}


def _overtaken(state: State, topic_id: str, partition: int, before: int, new: ModernMember) -> State:
    if len(state.anomalies) >= ANOMALIES_AN_ENTRY_MAX:
        return state
    name = partition_name((state.topic_name(topic_id), partition), state.wording)
    if before < new.epoch:
        return state.note(
            "overtaken", f"{name} was taken before its owner gave it up in the log.", member=new.member_id
        )
    if all(other == new.member_id for other in state.modern.holders(topic_id, partition)):
        return state.note("listed_twice", f"{name} stands twice in one record.", member=new.member_id)
    return state.note(
        TWO_OWNERS,
        f"{name} has two owners: it is still held at epoch {before}.",
        member=new.member_id,
    )


def _group_gone(state: State, _key: Fields) -> State:
    """The tombstone of the group epoch: the group is removed."""
    group = state.modern
    if group.members or group.target or group.assignment_epoch != LEAVE_GROUP_MEMBER_EPOCH:
        state = state.note("deleted_early", "The group was deleted before its members and target were.")
    return replace(fresh(state), deleted=True)


def _member_gone(state: State, key: Fields) -> State:
    """The tombstone of a member: it leaves, and with it whatever earlier tombstones should have taken."""
    member_id = str(key["memberId"])
    member = state.modern.members.get(member_id)
    if member is None:
        return _unknown_member(state, member_id)
    if member.epoch != LEAVE_GROUP_MEMBER_EPOCH:
        state = state.note(
            "removed_early", "A member was removed before its assignment was.", member=member_id
        )
        group = state.modern
        state, epochs = moved(state, group.partition_epochs, member, member.emptied())
        state = with_modern(state, replace(group, partition_epochs=epochs))
    if member_id in state.modern.target and state.semantics is Semantics.KAFKA:
        # In the proposal the target keeps a removed member until the next one is computed.
        state = state.note("removed_early", "A member was removed before its target was.", member=member_id)
    return with_modern(state, without_member(state.modern, member_id))


def _target_epoch_gone(state: State, _key: Fields) -> State:
    group = state.modern
    if group.target:
        state = state.note("target_early", "The target's epoch was deleted before the target was.")
    return with_modern(
        state, replace(group, assignment_epoch=LEAVE_GROUP_MEMBER_EPOCH, assignment_timestamp_ms=0)
    )


def _target_member_gone(state: State, key: Fields) -> State:
    return with_modern(state, state.modern.without_target(str(key["memberId"])))


def _current_member_gone(state: State, key: Fields) -> State:
    """The tombstone of a current assignment: the member owns nothing and is at epoch -1; its state stays."""
    member_id = str(key["memberId"])
    old = state.modern.members.get(member_id)
    if old is None:
        return _unknown_member(state, member_id)
    group, new = state.modern, old.emptied()
    state, epochs = moved(state, group.partition_epochs, old, new)
    return with_modern(state, with_member(group, new, epochs))


def _unknown_member(state: State, member_id: str) -> State:
    return state.note(UNKNOWN_MEMBER, "A member was removed that the log had not told of.", member=member_id)


TOMBSTONES: Final[Mapping[int, Tombstone]] = {
    GROUP_EPOCH: _group_gone,
    MEMBER_METADATA: _member_gone,
    TARGET_EPOCH: _target_epoch_gone,
    TARGET_MEMBER: _target_member_gone,
    CURRENT_ASSIGNMENT: _current_member_gone,
}
"""By meaning: they are the same in all three protocols."""
