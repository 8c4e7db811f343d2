"""What goes in and comes out of a coordinator, as values. Field names are those of Kafka's schemas."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from groups.history.payloads.consumer import (
    AssignmentBody,
    CommitAnswerBody,
    CommitAnswerPartition,
    CommittedPartition,
    HeartbeatAnswerBody,
    HeartbeatBody,
    NamedTopic,
    OffsetCommitBody,
    TransactionalCommitBody,
)
from groups.history.payloads.records import TopicPartitions
from groups.history.state.consumer import NO_NOTE, AssignorNote
from simulations.protocol.assignors.client_side import Offer

HEARTBEAT_API: Final = "ConsumerGroupHeartbeat"
COMMIT_API: Final = "OffsetCommit"
FETCH_API: Final = "OffsetFetch"
TRANSACTIONAL_COMMIT_API: Final = "TxnOffsetCommit"

JOIN_EPOCH: Final = 0
LEAVE_EPOCH: Final = -1
STATIC_LEAVE_EPOCH: Final = -2

TOPIC_ID_VERSION: Final = 10
"""From this version on OffsetCommit and OffsetFetch name topics by id."""

MEMBER_EPOCH_VERSION: Final = 9
"""From this version on OffsetCommit has a member epoch, and members of the consumer protocol may commit."""

TRANSACTION_TOPIC_ID_VERSION: Final = 6
"""From this version on TxnOffsetCommit names topics by id and has the errors of a member epoch."""

UNCHANGED_TIMEOUT: Final = -1
"""``RebalanceTimeoutMs`` of a heartbeat that does not contain it."""

Partitions = Mapping[str, tuple[int, ...]]
"""Topic id → partitions."""


class Named(StrEnum):
    """How a request names a topic. By both is not allowed."""

    ID = "id"
    NAME = "name"
    BOTH = "both"

    @classmethod
    def of(cls, name: str, topic_id: str) -> Named:
        return (cls.BOTH if name else cls.ID) if topic_id else cls.NAME


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """ConsumerGroupHeartbeat request. ``None`` means "as last sent"; ``owned`` is ``TopicPartitions``."""

    group_id: str
    member_id: str
    member_epoch: int
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = UNCHANGED_TIMEOUT
    subscribed_topic_names: tuple[str, ...] | None = None
    subscribed_topic_regex: str | None = None
    server_assignor: str | None = None
    client_assignors: tuple[Offer, ...] | None = None
    """What no release has: the assignors that can run on this member, the best first."""
    owned: Partitions | None = None
    client_id: str = ""
    client_host: str = "/127.0.0.1"
    version: int = 1

    @property
    def bare(self) -> bool:
        """Whether it contains nothing but that its sender is alive; asked of every heartbeat."""
        return (
            self.member_epoch > 0
            and self.owned is None
            and self.subscribed_topic_names is None
            and self.rebalance_timeout_ms == UNCHANGED_TIMEOUT
            and self.subscribed_topic_regex is None
            and self.server_assignor is None
            and self.client_assignors is None
            and self.rack_id is None
        )

    def body(self) -> HeartbeatBody:
        """The request's fields as JSON; those at their default are left out."""
        body: HeartbeatBody = {
            "groupId": self.group_id,
            "memberId": self.member_id,
            "memberEpoch": self.member_epoch,
        }
        if self.instance_id is not None:
            body["instanceId"] = self.instance_id
        if self.rack_id is not None:
            body["rackId"] = self.rack_id
        if self.rebalance_timeout_ms != UNCHANGED_TIMEOUT:
            body["rebalanceTimeoutMs"] = self.rebalance_timeout_ms
        if self.subscribed_topic_names is not None:
            body["subscribedTopicNames"] = list(self.subscribed_topic_names)
        if self.subscribed_topic_regex is not None:
            body["subscribedTopicRegex"] = self.subscribed_topic_regex
        if self.server_assignor is not None:
            body["serverAssignor"] = self.server_assignor
        if self.client_assignors is not None:
            body["clientAssignors"] = [
                {
                    "name": offer.name,
                    "minimumVersion": offer.minimum_version,
                    "maximumVersion": offer.maximum_version,
                    "reason": offer.reason,
                    "metadataVersion": offer.metadata.version,
                    "metadataBytes": b64encode(offer.metadata.data).decode(),
                }
                for offer in self.client_assignors
            ]
        if self.owned is not None:
            body["topicPartitions"] = topic_partitions(self.owned)
        return body


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatAnswer:
    """ConsumerGroupHeartbeat response; ``pending`` to ``compute`` are what KIP-848 has and no release.

    ``pending`` is assigned and not yet released by others, ``note`` what a client-side assignor sends with the
    partitions; ``compute`` asks the member to run its assignor for the group.
    """

    error_code: int = 0
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assigned: Partitions | None = None
    pending: Partitions | None = None
    note: AssignorNote = NO_NOTE
    compute: bool = False

    def body(self) -> HeartbeatAnswerBody:
        assignment: AssignmentBody | None = None
        if self.assigned is not None:
            assignment = {"topicPartitions": topic_partitions(self.assigned)}
            if self.pending is not None:
                assignment["pendingTopicPartitions"] = topic_partitions(self.pending)
            if self.note != NO_NOTE:
                assignment["error"] = self.note.error
                assignment["metadataVersion"] = self.note.version
                assignment["metadataBytes"] = self.note.data
        body: HeartbeatAnswerBody = {
            "errorCode": int(self.error_code),
            "errorMessage": self.error_message,
            "memberId": self.member_id,
            "memberEpoch": self.member_epoch,
            "heartbeatIntervalMs": self.heartbeat_interval_ms,
            "assignment": assignment,
        }
        if self.compute:
            body["shouldComputeAssignment"] = True
        return body


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedOffset:
    """One partition of an OffsetCommit request; without metadata Kafka writes an empty text.

    ``named``: how the request names the topic, where it may do either (KIP-848); else its version decides.
    """

    topic: str
    topic_id: str
    partition: int
    offset: int
    leader_epoch: int = -1
    metadata: str = ""
    named: Named | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetCommit:
    """OffsetCommit request. Version 10 names topics by id, older ones by name; the coordinator knows both.

    ``retention_ms`` is ``RetentionTimeMs`` of versions 2 to 4: how long the offset is to be kept. ``member_epoch`` is the
    generation of a member of the classic protocol, and -1 of a sender that is no member.
    """

    group_id: str
    member_id: str
    member_epoch: int
    offsets: tuple[CommittedOffset, ...]
    version: int = 10
    retention_ms: int = -1
    instance_id: str | None = None

    @property
    def by_id(self) -> bool:
        """Whether it names topics by id."""
        return self.version >= TOPIC_ID_VERSION

    @property
    def knows_epochs(self) -> bool:
        """Whether errors of a member epoch can be in its answer."""
        return self.version >= MEMBER_EPOCH_VERSION

    def named(self, offset: CommittedOffset) -> Named:
        """How it names the topic of one of its offsets."""
        return offset.named or (Named.ID if self.by_id else Named.NAME)

    def key(self, offset: CommittedOffset) -> str:
        """What an answer calls the topic of one of its offsets."""
        return offset.topic if self.named(offset) is Named.NAME else offset.topic_id

    @property
    def names(self) -> frozenset[str]:
        """The topics that it names by name."""
        return frozenset(offset.topic for offset in self.offsets if self.named(offset) is Named.NAME)

    def body(self) -> OffsetCommitBody:
        topics: dict[tuple[Named, str, str], list[CommittedPartition]] = {}
        for offset in self.offsets:
            topics.setdefault((self.named(offset), offset.topic, offset.topic_id), []).append(
                {
                    "partitionIndex": offset.partition,
                    "committedOffset": offset.offset,
                    "committedLeaderEpoch": offset.leader_epoch,
                    "committedMetadata": offset.metadata,
                }
            )
        body: OffsetCommitBody = {
            "groupId": self.group_id,
            "memberId": self.member_id,
            "generationIdOrMemberEpoch": self.member_epoch,
            "topics": [
                {**named_topic(named, name, topic_id), "partitions": parts}
                for (named, name, topic_id), parts in topics.items()
            ],
        }
        if self.instance_id is not None:
            body["groupInstanceId"] = self.instance_id
        return body


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionalCommit(OffsetCommit):
    """TxnOffsetCommit request: the offsets hold when the producer's transaction is committed."""

    transactional_id: str
    producer_id: int
    producer_epoch: int = 0
    version: int = TRANSACTION_TOPIC_ID_VERSION

    @property
    def by_id(self) -> bool:
        return self.version >= TRANSACTION_TOPIC_ID_VERSION

    @property
    def knows_epochs(self) -> bool:
        return self.version >= TRANSACTION_TOPIC_ID_VERSION

    def body(self) -> TransactionalCommitBody:
        return {
            **OffsetCommit.body(self),
            "transactionalId": self.transactional_id,
            "producerId": self.producer_id,
            "producerEpoch": self.producer_epoch,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitAnswer:
    """OffsetCommit and TxnOffsetCommit response: an error code for each partition of the request, unknown ones before the others."""

    error_codes: tuple[tuple[str, int, int], ...]
    """``(topic, partition, error code)``"""
    names: frozenset[str] = frozenset()
    """Those of the topics that are names, not ids."""

    def body(self) -> CommitAnswerBody:
        topics: dict[str, list[CommitAnswerPartition]] = {}
        for topic, partition, code in self.error_codes:
            topics.setdefault(topic, []).append({"partitionIndex": partition, "errorCode": int(code)})
        return {
            "topics": [
                {
                    **named_topic(Named.NAME if topic in self.names else Named.ID, topic, topic),
                    "partitions": parts,
                }
                for topic, parts in topics.items()
            ]
        }


def named_topic(named: Named, name: str, topic_id: str) -> NamedTopic:
    match named:
        case Named.ID:
            return {"topicId": topic_id}
        case Named.NAME:
            return {"name": name}
        case Named.BOTH:
            return {"name": name, "topicId": topic_id}


def topic_partitions(partitions: Partitions) -> list[TopicPartitions]:
    """Kafka's ``[{"topicId", "partitions"}]``, in the order given."""
    return [{"topicId": topic_id, "partitions": list(numbers)} for topic_id, numbers in partitions.items()]
