"""A classic group with members becomes a consumer group, when the first member of the consumer protocol joins it.

Its generation becomes the group epoch, and what its leader assigned becomes both target and assignment. Anyone who waits
for an answer of the classic group is asked to join again; all others find out by their next heartbeat.

Kafka: ``GroupMetadataManager.validateOnlineUpgrade`` and ``convertToConsumerGroup``, ``ConsumerGroup.fromClassicGroup``.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from groups.history.replay.fold import replay_record
from groups.history.state.consumer import STABLE, ConsumerMember
from groups.wire.embedded.consumer_protocol import decode_assignment, decode_subscription
from groups.wire.errors import RecordError
from simulations.protocol.assignors.java_orders import (
    LEAST_SLOTS,
    HashOrder,
    TimelineOrder,
    grown,
    int_hash,
    string_hash,
    utf16,
    uuid_hash,
)
from simulations.protocol.coordinator.classic.group import EMPTY, Group, Member
from simulations.protocol.coordinator.classic.loading import classic_group
from simulations.protocol.coordinator.classic.operation import Operation
from simulations.protocol.coordinator.consumer import records
from simulations.protocol.coordinator.consumer.counts import CountsCache
from simulations.protocol.coordinator.consumer.outcome import Context, Outcome, Record, Refresh
from simulations.protocol.coordinator.errors import RequestRefused
from simulations.protocol.coordinator.image import Image
from simulations.protocol.coordinator.timers import SESSION, TimerStart
from simulations.protocol.messages.classic_requests import JoinAnswer, SyncAnswer
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import Heartbeat, HeartbeatAnswer

CUSTOM_ASSIGNOR: Final = (
    "an unsupported custom assignor is in use. Please refer to the documentation or switch to a default assignor "
    "before re-attempting the upgrade"
)

Answering = Callable[[Context, Heartbeat], Outcome[HeartbeatAnswer]]


def is_due(context: Context) -> bool:
    """Whether the group is a classic one that is not empty."""
    group = classic_group(context)
    return group is not None and group.state is not EMPTY


def upgraded(context: Context, request: Heartbeat, answering: Answering) -> Outcome[HeartbeatAnswer]:
    """The heartbeat of the first member of the consumer protocol: the conversion, then ``answering`` in the new group.

    All of it is one batch. If something of it fails nothing is written, but those that waited have been answered.
    ``RequestRefused`` if the group is not converted at all.
    """
    group = classic_group(context)
    assert group is not None
    _check(context, group, request)
    operation = Operation(context, group)
    send_back(operation)
    try:
        if group.protocol_name is None:
            # In its first join phase no protocol is chosen yet: Kafka finds nothing where it expects one.
            raise RequestRefused(ErrorCode.UNKNOWN_SERVER_ERROR, None)
        members = _members(context, group, request)
        outcome = answering(_converted(context, group, members), request)
    except RequestRefused as refusal:
        answer = HeartbeatAnswer(error_code=refusal.code, error_message=refusal.message)
        return operation.outcome(answer)
    if outcome.answer.error_code:
        return operation.outcome(outcome.answer)
    written = [
        records.classic_gone(context.state.group),
        *_records(context, group, {each.member_id: each for each in in_map_order(members)}),
    ]
    sessions = [
        TimerStart(timer=SESSION, member_id=member.member_id, length_ms=member.session_timeout_ms)
        for member in group.in_order()
    ]
    # The group object of the request is thrown away, and with it its deadline: the records make another.
    memory = replace(
        outcome.memory or context.memory, classic=None, refresh=Refresh(), member_slots=LEAST_SLOTS
    )
    return replace(
        outcome,
        records=(*written, *outcome.records),
        timers=(*sessions, *outcome.timers),
        memory=memory,
        parked_answers=tuple(operation.answers),
    )


def _check(context: Context, group: Group, request: Heartbeat) -> None:
    settings = context.settings
    if not settings.migration_policy.upgrades:
        raise _not_upgraded(request, "online upgrade is disabled")
    if not group.is_consumer:
        raise _not_upgraded(request, "the group does not use the consumer embedded protocol")
    if len(group.members) > settings.max_size:
        raise _not_upgraded(request, "the group size exceeds the consumer group maximum size")


def _not_upgraded(request: Heartbeat, why: str) -> RequestRefused:
    return RequestRefused(
        ErrorCode.GROUP_ID_NOT_FOUND,
        f"Cannot upgrade classic group {request.group_id} to consumer group because {why}.",
    )


def send_back(operation: Operation) -> None:
    """Members that wait in the join or sync phase are to join again."""
    code = ErrorCode.REBALANCE_IN_PROGRESS
    for member in tuple(operation.group.in_order()):
        operation.answer_join(member.member_id, JoinAnswer(error_code=code, member_id=member.member_id))
    for member in tuple(operation.group.in_order()):
        operation.answer_sync(member.member_id, SyncAnswer(error_code=code))


def _members(context: Context, group: Group, request: Heartbeat) -> list[ConsumerMember]:
    """The members as a consumer group has them, in the order of the classic group's table."""
    try:
        return [member_of(group, member, context.image) for member in group.in_order()]
    except RecordError as problem:
        raise _not_upgraded(request, "the embedded consumer protocol is malformed") from problem
    except CustomAssignorError as problem:
        raise _not_upgraded(request, CUSTOM_ASSIGNOR) from problem


class CustomAssignorError(Exception):
    """An assignment has user data, which only a custom assignor writes: it would be lost."""


def member_of(group: Group, member: Member, image: Image, *, keeps_data: bool = False) -> ConsumerMember:
    """``keeps_data``: a custom assignor's data are not refused; the proposal has a place for them."""
    if not any(name == group.protocol_name for name, _ in member.protocols):
        # It joins again with others than the last generation's protocol, whose bytes Kafka asks it for.
        raise RequestRefused(ErrorCode.UNKNOWN_SERVER_ERROR, None)
    subscription = decode_subscription(member.metadata(group.protocol_name))
    assigned: dict[str, dict[int, int]] = {}
    if member.assignment:
        assignment = decode_assignment(member.assignment)
        if assignment["userData"] and not keeps_data:
            raise CustomAssignorError(member.member_id)
        given = {
            image.topics[each["topic"]].topic_id: each["partitions"]
            for each in assignment["assignedPartitions"]
            if each["topic"] in image.topics
        }
        assigned = {
            topic_id: dict.fromkeys(HashOrder.set_copy(int_hash, given[topic_id]), group.generation)
            for topic_id in HashOrder.filled(uuid_hash, given)
        }
    return ConsumerMember(
        member_id=member.member_id,
        epoch=group.generation,
        previous_epoch=group.generation,
        state=STABLE,
        assigned=assigned,
        instance_id=member.instance_id,
        rack_id=subscription.get("rackId") or None,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=tuple(sorted(set(subscription["topics"]), key=utf16)),
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        classic={
            "sessionTimeoutMs": member.session_timeout_ms,
            "supportedProtocols": [
                {"name": name, "metadata": b64encode(data).decode()} for name, data in member.protocols
            ],
        },
    )


def in_map_order(members: list[ConsumerMember]) -> list[ConsumerMember]:
    """As the new group's own table walks them, which is the order of the records."""
    by_id = {member.member_id: member for member in members}
    return [by_id[member_id] for member_id in TimelineOrder(string_hash, by_id)]


def _records(context: Context, group: Group, members: dict[str, ConsumerMember]) -> list[Record]:
    group_id, names = (
        context.state.group,
        {name for member in members.values() for name in member.subscribed_topic_names},
    )
    return [
        *(records.member_metadata(group_id, member) for member in members.values()),
        records.group_epoch(group_id, group.generation, context.image.metadata_hash(names)),
        *(
            records.target_member(
                group_id,
                member.member_id,
                {topic_id: tuple(epochs) for topic_id, epochs in member.assigned.items()},
            )
            for member in members.values()
        ),
        # No time: the next target may be made at once.
        records.target_epoch(group_id, group.generation, 0),
        *(records.current_assignment(group_id, member, with_epochs=True) for member in members.values()),
    ]


def _converted(context: Context, group: Group, members: list[ConsumerMember]) -> Context:
    """What the joining member finds: the new group as it was built, which its records have in another order."""
    state = replay_record(context.state, records.classic_gone(context.state.group))
    for record in _records(context, group, {member.member_id: member for member in members}):
        state = replay_record(replace(state, anomalies=()), record)
    slots = LEAST_SLOTS
    for size in range(len(members)):
        slots = grown(slots, size)
    return replace(
        context,
        state=state,
        memory=replace(context.memory, classic=None, refresh=Refresh(), member_slots=slots),
        cache=CountsCache(),
    )
