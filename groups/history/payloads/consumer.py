"""The body of each message of the consumer protocol, as JSON by the names of Kafka's schemas; what is at its default may be absent.

Source: Kafka's message schemas; of ``PrepareAssignmentBody`` and what follows it, and of the keys that say so, KIP-848.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict

from groups.history.payloads.records import TopicPartitions


class MetadataFields(TypedDict):
    """A client-side assignor's metadata: bytes in base64 (KIP-848)."""

    metadataVersion: int
    metadataBytes: str


class OfferBody(MetadataFields):
    """An assignor that a member has (KIP-848)."""

    name: str
    minimumVersion: int
    maximumVersion: int
    reason: int


class HeartbeatBody(TypedDict):
    groupId: str
    memberId: str
    memberEpoch: int
    instanceId: NotRequired[str]
    rackId: NotRequired[str]
    rebalanceTimeoutMs: NotRequired[int]
    subscribedTopicNames: NotRequired[list[str]]
    subscribedTopicRegex: NotRequired[str]
    serverAssignor: NotRequired[str]
    clientAssignors: NotRequired[list[OfferBody]]
    """Of KIP-848 alone."""
    topicPartitions: NotRequired[list[TopicPartitions]]


class AssignmentBody(TypedDict):
    """All but the first are of KIP-848 alone."""

    topicPartitions: list[TopicPartitions]
    assignedTopicPartitions: NotRequired[list[TopicPartitions]]
    """What the proposal's text calls ``topicPartitions``."""
    pendingTopicPartitions: NotRequired[list[TopicPartitions]]
    error: NotRequired[int]
    metadataVersion: NotRequired[int]
    metadataBytes: NotRequired[str]


class HeartbeatAnswerBody(TypedDict):
    errorCode: int
    errorMessage: str | None
    memberId: str | None
    memberEpoch: int
    heartbeatIntervalMs: int
    assignment: AssignmentBody | None
    shouldComputeAssignment: NotRequired[bool]
    """Of KIP-848 alone."""


class CommittedPartition(TypedDict):
    partitionIndex: int
    committedOffset: int
    committedLeaderEpoch: int
    committedMetadata: str


class NamedTopic(TypedDict):
    """Version 10 has the id, older ones have the name; KIP-848's version 9 either."""

    topicId: NotRequired[str]
    name: NotRequired[str]


class CommittedTopic(NamedTopic):
    partitions: list[CommittedPartition]


class OffsetCommitBody(TypedDict):
    groupId: str
    memberId: str
    generationIdOrMemberEpoch: int
    groupInstanceId: NotRequired[str]
    topics: list[CommittedTopic]


class TransactionalCommitBody(OffsetCommitBody):
    """TxnOffsetCommit: what a producer commits for a group in its transaction."""

    transactionalId: str
    producerId: int
    producerEpoch: int


class CommitAnswerPartition(TypedDict):
    partitionIndex: int
    errorCode: int


class CommitAnswerTopic(NamedTopic):
    partitions: list[CommitAnswerPartition]


class CommitAnswerBody(TypedDict):
    topics: list[CommitAnswerTopic]


class FetchTopic(NamedTopic):
    partitionIndexes: list[int]


class FetchGroup(TypedDict):
    groupId: str
    memberId: NotRequired[str | None]
    memberEpoch: NotRequired[int]
    topics: list[FetchTopic] | None


class OffsetFetchBody(TypedDict):
    """In KIP-848's version 9 the member is the whole request's, not its groups'."""

    generationIdOrMemberEpoch: NotRequired[int]
    memberId: NotRequired[str]
    groups: list[FetchGroup]
    requireStable: bool


class FetchAnswerPartition(TypedDict):
    partitionIndex: int
    committedOffset: int
    committedLeaderEpoch: int
    metadata: str
    errorCode: int


class FetchAnswerTopic(NamedTopic):
    partitions: list[FetchAnswerPartition]


class FetchAnswerGroup(TypedDict):
    groupId: str
    topics: list[FetchAnswerTopic]
    errorCode: int


class FetchAnswerBody(TypedDict):
    groups: list[FetchAnswerGroup]


class PrepareAssignmentBody(TypedDict):
    groupId: str
    memberId: str
    memberEpoch: int


class PreparedAssignor(MetadataFields):
    reason: int


class PreparedMember(TypedDict):
    memberId: str
    memberEpoch: int
    instanceId: str | None
    rackId: str | None
    subscribedTopicIds: list[str]
    assignor: PreparedAssignor
    topicPartitions: list[TopicPartitions]


class PreparedTopic(TypedDict):
    topicId: str
    topicName: str
    numPartitions: int


class PrepareAnswerBody(TypedDict):
    errorCode: int
    errorMessage: str | None
    groupEpoch: int
    assignorName: str
    members: list[PreparedMember]
    topics: list[PreparedTopic]


class InstalledMember(MetadataFields):
    memberId: str
    partitions: list[TopicPartitions]


class InstallAssignmentBody(TypedDict):
    groupId: str
    memberId: str
    memberEpoch: int
    groupEpoch: int
    error: int
    members: list[InstalledMember]


class ErrorBody(TypedDict):
    errorCode: int
    errorMessage: str | None
