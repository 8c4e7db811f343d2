"""The value of each type of record of the classic and the consumer protocol, as JSON; bytes in base64, ids in Kafka's base64 form.

Each is called as Kafka's schema of it is. What has a tag may be left out; what a version does not have is not there.
Source: ``ConsumerGroup…Value.json``, ``GroupMetadataValue.json`` and ``OffsetCommitValue.json`` of Kafka's group-coordinator
module; of the keys that say so, KIP-848.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NotRequired, TypedDict


class TopicPartitions(TypedDict):
    """Partitions of a topic, in requests, answers and records."""

    topicId: str
    partitions: list[int]
    assignmentEpochs: NotRequired[list[int] | None]
    """Of type 8 alone: the epoch at which each was assigned, in their order (KIP-1251)."""


class OffsetCommitValue(TypedDict):
    """Type 1; ``leaderEpoch`` from version 3 on, ``expireTimestamp`` in version 1 alone, ``topicId`` from version 4 on."""

    offset: int
    leaderEpoch: NotRequired[int]
    metadata: str
    commitTimestamp: int
    expireTimestamp: NotRequired[int]
    topicId: NotRequired[str]


class MemberMetadata(TypedDict):
    """A member in the record of a classic group."""

    memberId: str
    groupInstanceId: str | None
    clientId: str
    clientHost: str
    rebalanceTimeout: int
    sessionTimeout: int
    subscription: str
    assignment: str


class GroupMetadataValue(TypedDict):
    """Type 2, the one record of a classic group."""

    protocolType: str
    generation: int
    protocol: str | None
    leader: str | None
    currentStateTimestamp: int
    members: list[MemberMetadata]


class ConsumerGroupMetadataValue(TypedDict):
    """Type 3."""

    epoch: int
    metadataHash: NotRequired[int]


class PartitionMetadata(TypedDict):
    """The racks of a partition's replicas."""

    partition: int
    racks: list[str]


class TopicMetadata(TypedDict):
    """A topic as the group knows it."""

    topicId: str
    topicName: str
    numPartitions: int
    partitionMetadata: list[PartitionMetadata]


class ClassicProtocol(TypedDict):
    """A protocol of a classic member: its assignor's name, and its subscription in base64."""

    name: str
    metadata: str


class ClassicMetadata(TypedDict):
    """``classicMemberMetadata`` of the type 5 record: what a member of the classic protocol sent in its JoinGroup."""

    sessionTimeoutMs: int
    supportedProtocols: Sequence[ClassicProtocol]


class ClientAssignorRow(TypedDict):
    """A row of the proposal's type 5: an assignor that the member has; ``metadata`` is base64."""

    name: str
    minimumVersion: int
    maximumVersion: int
    reason: int
    version: int
    metadata: str


class ConsumerGroupMemberMetadataValue(TypedDict):
    """Type 5."""

    instanceId: str | None
    rackId: str | None
    clientId: str
    clientHost: str
    subscribedTopicNames: list[str]
    subscribedTopicRegex: str | None
    rebalanceTimeoutMs: int
    serverAssignor: str | None
    classicMemberMetadata: NotRequired[ClassicMetadata | None]
    """``None`` of a member of the consumer protocol."""
    assignors: NotRequired[Sequence[ClientAssignorRow]]
    """Of KIP-848 alone."""


class ConsumerGroupTargetAssignmentMetadataValue(TypedDict):
    """Type 6."""

    assignmentEpoch: int
    assignmentTimestamp: NotRequired[int]


class ConsumerGroupTargetAssignmentMemberValue(TypedDict):
    """Type 7. What is not required is of KIP-848 alone: what a client-side assignor sends the member."""

    topicPartitions: list[TopicPartitions]
    error: NotRequired[int]
    metadataVersion: NotRequired[int]
    metadataBytes: NotRequired[str]


class ConsumerGroupCurrentMemberAssignmentValue(TypedDict):
    """Type 8."""

    memberEpoch: int
    previousMemberEpoch: int
    state: int | None
    """Kafka's code of the member's state; records of KIP-848 may have none."""
    assignedPartitions: list[TopicPartitions]
    partitionsPendingRevocation: NotRequired[list[TopicPartitions]]


class ConsumerGroupRegularExpressionValue(TypedDict):
    """Type 16: the topics that an expression matches, ``version`` that of the metadata in which they were looked for."""

    topics: list[str]
    version: int
    timestamp: int
