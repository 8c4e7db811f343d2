"""OffsetFetch of a consumer group: who may ask, and which offsets there are.

Kafka: ``OffsetMetadataManager.fetchOffsets`` and ``ConsumerGroup.validateOffsetFetch``. Who asks for stable offsets gets none of a
partition for which a transaction has committed that has not ended.
"""

from __future__ import annotations

from collections.abc import Iterator

from groups.history.state.group import Offset
from simulations.protocol.assignors.java_orders import LEAST_SLOTS, TimelineOrder, int_hash, string_hash
from simulations.protocol.coordinator.consumer.outcome import TOPICS, Context, Outcome
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import Named
from simulations.protocol.messages.offsets import FetchAnswer, FetchedOffset, FetchedTopic, OffsetFetch


def fetch(context: Context, request: OffsetFetch) -> Outcome[FetchAnswer]:
    """A partition without an offset, or of a group that is not there, is answered with -1 and no error."""
    refusal = (
        ErrorCode.INVALID_REQUEST
        if any(request.named(topic) is Named.BOTH for topic in request.topics or ())
        else _refusal(context, request)
    )
    if refusal:
        return Outcome(
            answer=FetchAnswer(group_id=request.group_id, error_code=refusal, version=request.version)
        )
    found = _all(context) if request.topics is None else _asked(context, request, request.topics)
    if request.require_stable and context.memory.pending_offsets:
        unstable = {each.place for each in context.memory.pending_offsets}
        found = (_stable(each, (each.topic, each.partition) in unstable) for each in found)
    return Outcome(
        answer=FetchAnswer(
            group_id=request.group_id, offsets=tuple(found), version=request.version, ids=request.ids
        )
    )


def _stable(found: FetchedOffset, is_pending: bool) -> FetchedOffset:
    if not is_pending or found.error_code:
        return found
    return FetchedOffset(
        topic=found.topic,
        topic_id=found.topic_id,
        partition=found.partition,
        error_code=ErrorCode.UNSTABLE_OFFSET_COMMIT,
    )


def _refusal(context: Context, request: OffsetFetch) -> ErrorCode:
    if not context.group_exists or (request.member_id is None and request.member_epoch < 0):
        return ErrorCode.NONE
    member = context.group.members.get(request.member_id or "")
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if request.member_epoch == member.epoch:
        return ErrorCode.NONE
    return ErrorCode.ILLEGAL_GENERATION if member.uses_classic else ErrorCode.STALE_MEMBER_EPOCH


def _asked(
    context: Context, request: OffsetFetch, topics: tuple[FetchedTopic, ...]
) -> Iterator[FetchedOffset]:
    """In the request's order; ids that the broker cannot name come behind what it can (``KafkaApis``)."""
    unknown: list[FetchedOffset] = []
    for asked in topics:
        topic_id, name = asked.topic_id, asked.topic
        if request.named(asked) is Named.ID:
            known = context.image.by_id.get(topic_id)
            if known is None:
                unknown += [
                    _fetched("", topic_id, number, None, ErrorCode.UNKNOWN_TOPIC_ID)
                    for number in asked.partitions
                ]
                continue
            name = known.name
        elif name in context.image.topics:
            topic_id = context.image.topics[name].topic_id
        held = context.state.offsets.get(name, {})
        for partition in asked.partitions:
            yield _fetched(name, topic_id, partition, held.get(partition), ErrorCode.NONE)
    yield from unknown


def _all(context: Context) -> Iterator[FetchedOffset]:
    """All that the group has, in the order of the coordinator's tables."""
    for name in topics_in_order(context):
        topic = context.image.topics.get(name)
        for partition, offset in partitions_in_order(context, name):
            yield _fetched(
                name, topic.topic_id if topic is not None else "", partition, offset, ErrorCode.NONE
            )


def topics_in_order(context: Context) -> TimelineOrder[str]:
    """Topics with committed offsets, as the coordinator's table of them is walked."""
    slots = context.memory.offset_slots.get(TOPICS, LEAST_SLOTS)
    return TimelineOrder(string_hash, context.state.offsets, slots=slots)


def partitions_in_order(context: Context, topic: str) -> Iterator[tuple[int, Offset]]:
    """A topic's committed partitions and their offsets, as the coordinator's table of them is walked."""
    held = context.state.offsets.get(topic, {})
    slots = context.memory.offset_slots.get(topic, LEAST_SLOTS)
    return ((partition, held[partition]) for partition in TimelineOrder(int_hash, held, slots=slots))


def _fetched(
    name: str, topic_id: str, partition: int, found: Offset | None, code: ErrorCode
) -> FetchedOffset:
    # An offset of a topic that was deleted and made again is not one of the new topic.
    another = found is not None and found.topic_id and topic_id and found.topic_id != topic_id
    if found is None or another:
        return FetchedOffset(topic=name, topic_id=topic_id, partition=partition, error_code=code)
    return FetchedOffset(
        topic=name,
        topic_id=topic_id,
        partition=partition,
        offset=found.offset,
        leader_epoch=found.leader_epoch,
        metadata=found.metadata,
        error_code=code,
    )
