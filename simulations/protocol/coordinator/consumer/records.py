"""Builds the records of a consumer group as payloads (``GroupCoordinatorRecordHelpers`` in Kafka).

Tagged fields at their default are left out, as Kafka's serialisation does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from groups.history.entries import RecordKey
from groups.history.payloads.records import (
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataValue,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataValue,
    OffsetCommitValue,
    TopicPartitions,
)
from groups.history.state.consumer import ConsumerMember
from groups.wire.generated.classic import GROUP_METADATA, OFFSET_COMMIT
from groups.wire.generated.consumer import (
    CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    CONSUMER_GROUP_MEMBER_METADATA,
    CONSUMER_GROUP_METADATA,
    CONSUMER_GROUP_REGULAR_EXPRESSION,
    CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER,
    CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA,
)
from simulations.protocol.assignors.broker_order import in_memory_target
from simulations.protocol.assignors.java_orders import utf16
from simulations.protocol.coordinator.consumer.outcome import Record
from simulations.protocol.messages.groups import CommittedOffset, Partitions, topic_partitions


def _value(record_type: int, key: RecordKey, value: Mapping[str, object], version: int = 0) -> Record:
    return {"type": record_type, "key": key, "version": version, "value": dict(value)}


def with_fields(record: Record, fields: Mapping[str, object]) -> Record:
    """A record whose value has further fields, or other ones."""
    return {**record, "value": {**(record["value"] or {}), **fields}}


def tombstone(record_type: int, group_id: str, member_id: str | None = None) -> Record:
    """Types 3 to 8."""
    key: RecordKey = (
        {"groupId": group_id} if member_id is None else {"groupId": group_id, "memberId": member_id}
    )
    return {"type": record_type, "key": key, "version": None, "value": None}


def group_epoch(group_id: str, epoch: int, metadata_hash: int) -> Record:
    value: ConsumerGroupMetadataValue = {"epoch": epoch}
    if metadata_hash:
        value["metadataHash"] = metadata_hash
    return _value(CONSUMER_GROUP_METADATA, {"groupId": group_id}, value)


def member_metadata(group_id: str, member: ConsumerMember) -> Record:
    value: ConsumerGroupMemberMetadataValue = {
        "instanceId": member.instance_id,
        "rackId": member.rack_id,
        "clientId": member.client_id,
        "clientHost": member.client_host,
        "subscribedTopicNames": sorted(member.subscribed_topic_names, key=utf16),
        "subscribedTopicRegex": member.subscribed_topic_regex,
        "rebalanceTimeoutMs": member.rebalance_timeout_ms,
        "serverAssignor": member.server_assignor,
        # Kafka's default is not null, so that a broker writes the null.
        "classicMemberMetadata": member.classic,
    }
    return _value(CONSUMER_GROUP_MEMBER_METADATA, {"groupId": group_id, "memberId": member.member_id}, value)


def target_member(group_id: str, member_id: str, target: Partitions) -> Record:
    value: ConsumerGroupTargetAssignmentMemberValue = {"topicPartitions": topic_partitions(target)}
    return _value(
        CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER, {"groupId": group_id, "memberId": member_id}, value
    )


def target_epoch(group_id: str, epoch: int, timestamp_ms: int) -> Record:
    value: ConsumerGroupTargetAssignmentMetadataValue = {"assignmentEpoch": epoch}
    if timestamp_ms:
        value["assignmentTimestamp"] = timestamp_ms
    return _value(CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA, {"groupId": group_id}, value)


def current_assignment(group_id: str, member: ConsumerMember, *, with_epochs: bool) -> Record:
    """Type 8; ``with_epochs`` adds the assignment epoch of each partition, which KIP-848 does not have."""

    def listed(assignment: Mapping[str, Mapping[int, int]]) -> list[TopicPartitions]:
        topics: list[TopicPartitions] = []
        for topic_id, epochs in assignment.items():
            topic: TopicPartitions = {"topicId": topic_id, "partitions": list(epochs)}
            if with_epochs and epochs:
                topic["assignmentEpochs"] = list(epochs.values())
            topics.append(topic)
        return topics

    value: ConsumerGroupCurrentMemberAssignmentValue = {
        "memberEpoch": member.epoch,
        "previousMemberEpoch": member.previous_epoch,
        "state": member.state,
        "assignedPartitions": listed(member.assigned),
        "partitionsPendingRevocation": listed(member.pending_revocation),
    }
    return _value(
        CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
        {"groupId": group_id, "memberId": member.member_id},
        value,
    )


def regex(group_id: str, expression: str, topics: Iterable[str], version: int, timestamp_ms: int) -> Record:
    """Type 16; the topics sorted, ``version`` that of the image that they were found in."""
    value: ConsumerGroupRegularExpressionValue = {
        "topics": list(topics),
        "version": version,
        "timestamp": timestamp_ms,
    }
    key: RecordKey = {"groupId": group_id, "regularExpression": expression}
    return _value(CONSUMER_GROUP_REGULAR_EXPRESSION, key, value)


def regex_gone(group_id: str, expression: str) -> Record:
    key: RecordKey = {"groupId": group_id, "regularExpression": expression}
    return {"type": CONSUMER_GROUP_REGULAR_EXPRESSION, "key": key, "version": None, "value": None}


def classic_gone(group_id: str) -> Record:
    """The tombstone of a classic group, also of one that is nothing but offsets."""
    return {"type": GROUP_METADATA, "key": {"group": group_id}, "version": None, "value": None}


def offset_gone(group_id: str, topic: str, partition: int) -> Record:
    key: RecordKey = {"group": group_id, "topic": topic, "partition": partition}
    return {"type": OFFSET_COMMIT, "key": key, "version": None, "value": None}


def offset_commit(
    group_id: str, offset: CommittedOffset, now_ms: int, expire_timestamp_ms: int | None = None
) -> Record:
    """Type 1: version 4, or version 1 where the request contains until when the offset is to be kept."""
    key: RecordKey = {"group": group_id, "topic": offset.topic, "partition": offset.partition}
    if expire_timestamp_ms is not None:
        kept: OffsetCommitValue = {
            "offset": offset.offset,
            "metadata": offset.metadata,
            "commitTimestamp": now_ms,
            "expireTimestamp": expire_timestamp_ms,
        }
        return _value(OFFSET_COMMIT, key, kept, version=1)
    value: OffsetCommitValue = {
        "offset": offset.offset,
        "leaderEpoch": offset.leader_epoch,
        "metadata": offset.metadata,
        "commitTimestamp": now_ms,
        "topicId": offset.topic_id,
    }
    return _value(OFFSET_COMMIT, key, value, version=4)


def removal(group_id: str, member_ids: Iterable[str]) -> list[Record]:
    """The tombstones of members that go: current assignment, target, member, each in turn."""
    return [
        tombstone(record_type, group_id, member_id)
        for member_id in member_ids
        for record_type in (
            CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
            CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER,
            CONSUMER_GROUP_MEMBER_METADATA,
        )
    ]


def replacement(
    group_id: str, holder_id: str, member: ConsumerMember, target: Partitions, *, with_epochs: bool
) -> list[Record]:
    """A static member's records under another id: the holder's tombstones, then its copy with the holder's target."""
    return [
        *removal(group_id, [holder_id]),
        member_metadata(group_id, member),
        target_member(group_id, member.member_id, in_memory_target(target)),
        current_assignment(group_id, member, with_epochs=with_epochs),
    ]
