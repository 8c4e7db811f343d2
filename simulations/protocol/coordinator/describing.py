"""A group as ConsumerGroupDescribe and ListGroups report it.

Kafka: ``ConsumerGroup.asDescribedGroup`` and ``asListedGroup``. A driver that wants what a broker answers asks a shard
that has replayed the committed records only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NotRequired, TypedDict

from groups.history.state.consumer import NO_NOTE, AssignorNote, ConsumerGroup, ConsumerMember
from groups.history.state.group import Protocol, Semantics
from simulations.protocol.assignors.broker_order import in_memory_target
from simulations.protocol.assignors.java_orders import HashOrder, string_hash, uuid_hash
from simulations.protocol.coordinator.consumer.java_maps import in_memory
from simulations.protocol.coordinator.consumer.outcome import Context
from simulations.protocol.coordinator.consumer.proposal.computing import choice
from simulations.protocol.coordinator.consumer.subscriptions import described_assignor
from simulations.protocol.coordinator.consumer.targets import timeline_order
from simulations.protocol.messages.describe_groups import ListedGroup
from simulations.protocol.messages.errors import ErrorCode

NOT_ASKED: Final = -2147483648
"""``authorizedOperations`` of a request that does not ask for them."""

CONSUMER_MEMBER, CLASSIC_MEMBER = 1, 0


class NamedPartitions(TypedDict):
    topicId: str
    topicName: str
    partitions: list[int]


class DescribedAssignment(TypedDict):
    topicPartitions: list[NamedPartitions]


class ProposedAssignment(TypedDict):
    """As KIP-848 has it: with what the client-side assignor reports; the metadata in base64."""

    partitions: list[NamedPartitions]
    error: int
    metadataVersion: int
    metadataBytes: str


class DescribedMember(TypedDict):
    """A member as ConsumerGroupDescribe reports it."""

    memberId: str
    instanceId: str | None
    rackId: str | None
    memberEpoch: int
    clientId: str
    clientHost: str
    subscribedTopicNames: list[str]
    subscribedTopicRegex: str | None
    assignment: DescribedAssignment | ProposedAssignment
    targetAssignment: DescribedAssignment | ProposedAssignment
    memberType: NotRequired[int]
    """From version 1 on; KIP-848 has no such version."""


class DescribedGroup(TypedDict):
    """A group as ConsumerGroupDescribe reports it: version 1, in ``kip`` 0."""

    errorCode: int
    errorMessage: str | None
    groupId: str
    groupState: str
    groupEpoch: int
    assignmentEpoch: int
    assignorName: str
    members: list[DescribedMember]
    authorizedOperations: int


def group_state(group: ConsumerGroup) -> str:
    """Kafka's ``ConsumerGroupState``, derived from the members and the epochs."""
    if not group.members:
        return "Empty"
    if group.group_epoch > group.assignment_epoch:
        return "Assigning"
    return "Stable" if group.converged else "Reconciling"


def describe(context: Context) -> DescribedGroup:
    group_id, group = context.state.group, context.group
    if not group_id:
        return _refused(group_id, ErrorCode.INVALID_GROUP_ID, None)
    if context.state.protocol is None or context.state.deleted:
        return _refused(group_id, ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
    if not context.group_exists:
        return _refused(group_id, ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} is not a consumer group.")
    return {
        "errorCode": 0,
        "errorMessage": None,
        "groupId": group_id,
        "groupState": group_state(group),
        "groupEpoch": group.group_epoch,
        "assignmentEpoch": group.assignment_epoch,
        "assignorName": choice(context).name
        if context.state.semantics is Semantics.KIP
        else described_assignor(context.counts.assignors, context.settings.assignors),
        "members": [
            _member(context, group.members[member_id])
            for member_id in timeline_order(group, context.memory.member_slots)
        ],
        "authorizedOperations": NOT_ASKED,
    }


def listed(context: Context) -> ListedGroup | None:
    """``protocolType`` and ``groupType`` are both "consumer"; a group of another protocol is not listed here."""
    if not context.group_exists or context.state.protocol is not Protocol.CONSUMER:
        return None
    return {
        "groupId": context.state.group,
        "protocolType": "consumer",
        "groupState": group_state(context.group),
        "groupType": "consumer",
    }


def _refused(group_id: str, code: ErrorCode, message: str | None) -> DescribedGroup:
    return {
        "errorCode": int(code),
        "errorMessage": message,
        "groupId": group_id,
        "groupState": "",
        "groupEpoch": 0,
        "assignmentEpoch": 0,
        "assignorName": "",
        "members": [],
        "authorizedOperations": NOT_ASKED,
    }


def _member(context: Context, member: ConsumerMember) -> DescribedMember:
    """What it has and what it is still to give up together, as the release reports them; in ``kip`` nothing is pending."""
    known: dict[str, list[int]] = {}
    order: HashOrder[str] = HashOrder(uuid_hash)
    for held in (member.assigned, member.pending_revocation):
        for topic_id, numbers in in_memory(held).items():
            # `computeIfAbsent` puts a topic in front of those of its bucket.
            order.compute(topic_id)
            known.setdefault(topic_id, []).extend(numbers)
    assignment = _named(context, {topic_id: known[topic_id] for topic_id in order})
    target = _named(context, in_memory_target(context.group.target.get(member.member_id, {})))
    proposed = context.state.semantics is Semantics.KIP
    described: DescribedMember = {
        "memberId": member.member_id,
        "instanceId": member.instance_id,
        "rackId": member.rack_id,
        "memberEpoch": member.epoch,
        "clientId": member.client_id,
        "clientHost": member.client_host,
        "subscribedTopicNames": list(HashOrder.set_copy(string_hash, member.subscribed_topic_names)),
        "subscribedTopicRegex": member.subscribed_topic_regex,
        "assignment": _proposed(assignment, member.note) if proposed else {"topicPartitions": assignment},
        "targetAssignment": _proposed(target, context.group.target_notes.get(member.member_id, NO_NOTE))
        if proposed
        else {"topicPartitions": target},
    }
    if not proposed:
        described["memberType"] = CLASSIC_MEMBER if member.uses_classic else CONSUMER_MEMBER
    return described


def _proposed(partitions: list[NamedPartitions], note: AssignorNote) -> ProposedAssignment:
    return {
        "partitions": partitions,
        "error": note.error,
        "metadataVersion": note.version,
        "metadataBytes": note.data,
    }


def _named(context: Context, partitions: Mapping[str, Iterable[int]]) -> list[NamedPartitions]:
    """Topics that the image does not know are left out."""
    by_id = context.image.by_id
    return [
        {"topicId": topic_id, "topicName": by_id[topic_id].name, "partitions": list(numbers)}
        for topic_id, numbers in partitions.items()
        if topic_id in by_id
    ]
