"""What deletes offsets, and groups with them: deleted topics, requests, and age.

Kafka: ``OffsetMetadataManager`` (``deleteOffsets``, ``deleteAllOffsets``, ``cleanupExpiredOffsets``,
``onTopicsDeleted``) and ``GroupMetadataManager.createGroupTombstoneRecords``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from groups.history.state.group import Offset, Protocol
from groups.wire.generated.consumer import (
    CONSUMER_GROUP_METADATA,
    CONSUMER_GROUP_PARTITION_METADATA,
    CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER,
    CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA,
)
from simulations.protocol.assignors.java_orders import TimelineOrder, string_hash
from simulations.protocol.coordinator.classic.group import EMPTY, STABLE, Group, is_subscribed
from simulations.protocol.coordinator.classic.loading import classic_group
from simulations.protocol.coordinator.classic.operation import check_group
from simulations.protocol.coordinator.consumer import records
from simulations.protocol.coordinator.consumer.outcome import Context, Outcome, Record
from simulations.protocol.coordinator.consumer.subscriptions import subscribed_names
from simulations.protocol.coordinator.fetching import partitions_in_order, topics_in_order
from simulations.protocol.coordinator.image import ImageTopic
from simulations.protocol.coordinator.transactions import by_producer, places, producers_of
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.offsets import DeleteAnswer, OffsetDelete, OffsetDeleteAnswer


def offsets_of_topics(
    context: Context, topics: Iterable[ImageTopic], producers: Iterable[int] | None = None
) -> Outcome[None]:
    """A tombstone for each offset of a deleted topic; those of a topic of the same name under another id stay.

    Pending offsets come behind the others, each with a tombstone of its own: producer by producer, in the order of a table
    that all groups of the coordinator share. ``producers`` is that order if other groups are in it.
    """
    pending = context.memory.pending_offsets
    gone = list(topics)
    written = [
        records.offset_gone(context.state.group, topic.name, partition)
        for topic in gone
        for partition, offset in partitions_in_order(context, topic.name)
        if offset.topic_id in (None, topic.topic_id)
    ]
    ids = {topic.name: topic.topic_id for topic in gone}
    written += [
        records.offset_gone(context.state.group, each.topic, each.partition)
        for each in by_producer(pending, producers_of(pending) if producers is None else producers)
        if each.topic in ids and (each.record["value"] or {}).get("topicId") in (None, ids[each.topic])
    ]
    return Outcome(answer=None, records=tuple(written))


def delete_offsets(context: Context, request: OffsetDelete) -> Outcome[OffsetDeleteAnswer]:
    """A topic that the group subscribes to is refused; an offset that is not there is deleted all the same."""
    if (code := check_group(request.group_id)) is not ErrorCode.NONE:
        return Outcome(answer=OffsetDeleteAnswer(error_code=code))
    if _is_absent(context):
        return Outcome(answer=OffsetDeleteAnswer(error_code=ErrorCode.GROUP_ID_NOT_FOUND))
    group = classic_group(context)
    if group is not None and group.state is not EMPTY and not group.is_consumer:
        return Outcome(answer=OffsetDeleteAnswer(error_code=ErrorCode.NON_EMPTY_GROUP))
    subscribed = _subscribed(context, group)
    codes: list[tuple[str, int, int]] = []
    written: list[Record] = []
    pending = set(places(context.memory.pending_offsets))
    for topic, partitions in request.topics.items():
        refused = subscribed(topic)
        for partition in partitions:
            code = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if refused else ErrorCode.NONE
            codes.append((topic, partition, code))
            held = partition in context.state.offsets.get(topic, ()) or (topic, partition) in pending
            if not refused and held:
                written.append(records.offset_gone(context.state.group, topic, partition))
    return Outcome(answer=OffsetDeleteAnswer(error_codes=tuple(codes)), records=tuple(written))


def delete_group(context: Context) -> Outcome[DeleteAnswer]:
    """Only a group without members is deleted: its offsets first, then what is known of it."""
    if _is_absent(context):
        return Outcome(answer=DeleteAnswer(error_code=ErrorCode.GROUP_ID_NOT_FOUND))
    group = classic_group(context)
    if context.group.members or (group is not None and group.state is not EMPTY):
        return Outcome(answer=DeleteAnswer(error_code=ErrorCode.NON_EMPTY_GROUP))
    held = [
        (topic, partition)
        for topic in topics_in_order(context)
        for partition, _ in partitions_in_order(context, topic)
    ]
    held += [place for place in places(context.memory.pending_offsets) if place not in held]
    offsets = [records.offset_gone(context.state.group, *place) for place in held]
    return Outcome(answer=DeleteAnswer(), records=(*offsets, *group_gone(context)))


def expire_offsets(context: Context) -> Outcome[None]:
    """Offsets that are old and of no subscribed topic go; with the last one goes a group that has no members.

    What a transaction is about to change stays until that has ended, and so does the group.
    """
    group = classic_group(context)
    if _is_absent(context) or (group is not None and _keeps_offsets(group)):
        return Outcome(answer=None)
    subscribed = _subscribed(context, group)
    emptied_ms = group.state_timestamp_ms if group is not None and group.protocol_type is not None else None
    if group is not None and group.state is not EMPTY:
        emptied_ms = None
    written: list[Record] = []
    pending = set(places(context.memory.pending_offsets))
    kept = bool(pending)
    for topic in topics_in_order(context):
        for partition, offset in partitions_in_order(context, topic):
            is_kept = subscribed(topic) or (topic, partition) in pending
            if not is_kept and _is_old(context, offset, emptied_ms):
                written.append(records.offset_gone(context.state.group, topic, partition))
            else:
                kept = True
    if not kept and not context.group.members and (group is None or group.state is EMPTY):
        written += group_gone(context)
    return Outcome(answer=None, records=tuple(written))


def _keeps_offsets(group: Group) -> bool:
    """Whether no offset of a classic group is looked at: members of another protocol, or a rebalance
    (``ClassicGroup.offsetExpirationCondition``)."""
    if group.protocol_type is None or group.state is EMPTY:
        return False
    return not (group.is_consumer and group.subscribed is not None and group.state is STABLE)


def _subscribed(context: Context, group: Group | None) -> Callable[[str], bool]:
    """Whether somebody subscribes to a topic; ``group`` is the classic group, if it is one."""
    if group is not None:
        return lambda topic: is_subscribed(group, topic)
    names = subscribed_names(context) if context.group_exists else frozenset()
    return names.__contains__


def group_gone(context: Context) -> list[Record]:
    """The tombstones of a group without members, the partition metadata's whether or not there were any."""
    group_id = context.state.group
    if not context.group_exists:
        return [records.classic_gone(group_id)]
    # In the proposal a removed member's target stays until the next one is computed; it may come too late.
    left = TimelineOrder(string_hash, context.group.target)
    return [
        *(
            records.tombstone(CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER, group_id, member_id)
            for member_id in left
        ),
        records.tombstone(CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA, group_id),
        *(records.regex_gone(group_id, regex) for regex in TimelineOrder(string_hash, context.group.regexes)),
        records.tombstone(CONSUMER_GROUP_PARTITION_METADATA, group_id),
        records.tombstone(CONSUMER_GROUP_METADATA, group_id),
    ]


def _is_absent(context: Context) -> bool:
    return context.state.deleted or context.state.protocol not in (Protocol.CONSUMER, Protocol.CLASSIC)


def _is_old(context: Context, offset: Offset, emptied_ms: int | None) -> bool:
    """``emptied_ms``: since when a classic group has no members, from which its offsets' retention counts."""
    if offset.expire_timestamp_ms is not None:
        return context.now_ms >= offset.expire_timestamp_ms
    since_ms = offset.commit_timestamp_ms if emptied_ms in (None, -1) else emptied_ms
    assert since_ms is not None
    return context.now_ms - since_ms >= context.settings.offsets_retention_ms
