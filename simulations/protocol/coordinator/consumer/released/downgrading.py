"""A consumer group becomes a classic one, when the last member of the consumer protocol goes and classic ones remain.

The group epoch becomes the generation, and each member is assigned its target. A rebalance follows, unless the last one
was replaced by a classic member with its instance.

Kafka: ``GroupMetadataManager.validateOnlineDowngrade…`` and ``convertToClassicGroup``, ``ClassicGroup.fromConsumerGroup``.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Collection, Mapping
from dataclasses import replace

from groups.history.state.consumer import NO_NOTE, AssignorNote, ConsumerMember
from groups.history.state.group import Semantics
from groups.wire.embedded.consumer_protocol import (
    NEWEST_VERSION,
    decode_subscription,
    encode_assignment,
)
from groups.wire.generated.consumer import (
    CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    CONSUMER_GROUP_MEMBER_METADATA,
    CONSUMER_GROUP_METADATA,
    CONSUMER_GROUP_PARTITION_METADATA,
    CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER,
    CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA,
)
from simulations.protocol.assignors.broker_order import in_memory_target
from simulations.protocol.assignors.java_orders import TimelineOrder, string_hash
from simulations.protocol.coordinator.classic.group import STABLE, Group, Member, subscribed_topics
from simulations.protocol.coordinator.classic.join_phase import prepare_rebalance
from simulations.protocol.coordinator.classic.operation import Operation
from simulations.protocol.coordinator.classic.records import group_metadata
from simulations.protocol.coordinator.consumer import records
from simulations.protocol.coordinator.consumer.outcome import Context, Record
from simulations.protocol.coordinator.consumer.targets import timeline_order
from simulations.protocol.coordinator.image import Image
from simulations.protocol.messages.classic_requests import CONSUMER_PROTOCOL_TYPE, Offered
from simulations.protocol.messages.groups import Partitions


def is_due(context: Context, leaving: Collection[str]) -> bool:
    """Whether only classic members, and some, remain without the leaving ones, and the group may be converted."""
    members = context.group.members
    remaining = [member for member_id, member in members.items() if member_id not in leaving]
    settings = context.settings
    return (
        bool(remaining)
        and all(member.uses_classic for member in remaining)
        and any(not members[member_id].uses_classic for member_id in leaving)
        and _is_allowed(context)
        and len(remaining) <= settings.classic_max_size
    )


def is_due_with_replacement(context: Context, replaced: str) -> bool:
    """The same where a classic static member takes the place of the last member of the consumer protocol."""
    members, settings = context.group.members, context.settings
    return (
        not members[replaced].uses_classic
        and all(member.uses_classic for other, member in members.items() if other != replaced)
        and _is_allowed(context)
        and len(members) <= settings.classic_max_size
    )


def _is_allowed(context: Context) -> bool:
    """The proposal has no policy: the group is converted back whenever the last consumer of the new protocol leaves."""
    return context.state.semantics is Semantics.KIP or context.settings.migration_policy.downgrades


def downgrade(context: Context, leaving: Collection[str]) -> Operation:
    """The group without the leaving members, its records, and the rebalance that begins."""
    members = context.group.members
    kept = [
        members[member_id]
        for member_id in timeline_order(context.group, context.memory.member_slots)
        if member_id not in leaving
    ]
    group = _group(context, kept, context.group.group_epoch, context.group.target)
    operation = _begun(context, group, {})
    prepare_rebalance(operation)
    return operation


def replace_last(context: Context, replaced: str, joining: ConsumerMember, *, stale: bool) -> Operation:
    """The group with ``joining`` in the place of ``replaced``, whose target it is assigned.

    Its generation is the epoch from before the request, also where that began another one. ``stale``: the target is
    not of the newest epoch, so that a rebalance follows.
    """
    members, target = context.group.members, context.group.target
    kept = [
        members[member_id]
        for member_id in timeline_order(context.group, context.memory.member_slots)
        if member_id != replaced
    ]
    targets = {**target, joining.member_id: target.get(replaced, {})}
    group = _group(context, [*kept, joining], context.group.group_epoch, targets)
    operation = _begun(context, group, {replaced: joining.member_id})
    if stale:
        prepare_rebalance(operation)
    return operation


def offered(member: ConsumerMember) -> Offered:
    """The protocols of a classic member in a consumer group, as its last JoinGroup listed them."""
    assert member.classic is not None
    return tuple((each["name"], b64decode(each["metadata"])) for each in member.classic["supportedProtocols"])


def serialized(
    partitions: Mapping[str, Collection[int]],
    image: Image,
    subscription: bytes,
    note: AssignorNote = NO_NOTE,
) -> bytes:
    """Partitions by topic id as an assignment of the subscription's version, topics that are not known left out.

    ``note``: what a client-side assignor sent with them, which no release has.
    """
    version = min(decode_subscription(subscription)["version"], NEWEST_VERSION)
    assigned = [
        {"topic": image.by_id[topic_id].name, "partitions": list(numbers)}
        for topic_id, numbers in partitions.items()
        if topic_id in image.by_id
    ]
    return encode_assignment(
        {"version": version, "assignedPartitions": assigned, "userData": note.data or None}
    )


def _begun(context: Context, group: Group, renamed: Mapping[str, str]) -> Operation:
    operation = Operation(context, group)
    operation.records += _tombstones(context, renamed)
    assignments = {member.member_id: member.assignment for member in group.members.values()}
    operation.records.append(group_metadata(operation.group_id, group, assignments))
    for member in group.in_order():
        operation.restart_session(member)
    return operation


def _group(
    context: Context,
    members: Collection[ConsumerMember],
    generation: int,
    targets: Mapping[str, Partitions],
) -> Group:
    group = Group(
        state=STABLE,
        state_timestamp_ms=context.now_ms,
        generation=generation,
        protocol_type=CONSUMER_PROTOCOL_TYPE,
    )
    for member in members:
        assert member.classic is not None
        group = group.added(
            Member(
                member_id=member.member_id,
                instance_id=member.instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout_ms=member.rebalance_timeout_ms,
                session_timeout_ms=member.classic["sessionTimeoutMs"],
                protocols=offered(member),
            )
        )
    group = replace(group, protocol_name=group.selected_protocol())
    group = replace(group, subscribed=subscribed_topics(group))
    for classic in group.members.values():
        target = in_memory_target(targets.get(classic.member_id, {}))
        metadata = classic.metadata(group.protocol_name)
        note = context.group.target_notes.get(classic.member_id, NO_NOTE)
        assignment = serialized(target, context.image, metadata, note)
        group = group.updated(replace(classic, assignment=assignment))
    return group


def _tombstones(context: Context, renamed: Mapping[str, str]) -> list[Record]:
    """All that is known of the consumer group; ``renamed`` members go under the id that their records have by now."""
    group, group_id = context.group, context.state.group
    member_ids = [
        renamed.get(member_id, member_id) for member_id in timeline_order(group, context.memory.member_slots)
    ]

    def each(record_type: int) -> list[Record]:
        return [records.tombstone(record_type, group_id, member_id) for member_id in member_ids]

    return [
        *each(CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT),
        *each(CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER),
        # By the proposal a member that is gone stays in the target until the next one is computed.
        *(
            records.tombstone(CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER, group_id, member_id)
            for member_id in group.target
            if member_id not in group.members
        ),
        records.tombstone(CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA, group_id),
        *each(CONSUMER_GROUP_MEMBER_METADATA),
        *(records.regex_gone(group_id, regex) for regex in TimelineOrder(string_hash, group.regexes)),
        records.tombstone(CONSUMER_GROUP_PARTITION_METADATA, group_id),
        records.tombstone(CONSUMER_GROUP_METADATA, group_id),
    ]
