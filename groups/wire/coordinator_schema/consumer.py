"""Groups of the consumer protocol (KIP-848): types 3 to 8, and 16."""

from __future__ import annotations

from typing import Final

from groups.wire.codecs.schema import Array, Field, Message, Primitive, fields
from groups.wire.coordinator_schema.record_type import GROUP_KEY, MEMBER_KEY, RecordType, record_type

INT8, INT32, INT64 = Primitive.INT8, Primitive.INT32, Primitive.INT64
STRING, BYTES, UUID = Primitive.STRING, Primitive.BYTES, Primitive.UUID

CONSUMER_GROUP_METADATA: Final = 3
CONSUMER_GROUP_PARTITION_METADATA: Final = 4
CONSUMER_GROUP_MEMBER_METADATA: Final = 5
CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA: Final = 6
CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER: Final = 7
CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT: Final = 8
CONSUMER_GROUP_REGULAR_EXPRESSION: Final = 16

_CONSUMER_GROUP_METADATA = Message(
    "ConsumerGroupMetadataValue",
    fields(Field("epoch", INT32), Field("metadataHash", INT64, tag=0)),
    flexible_since=0,
)

# Brokers from 4.1 on write only tombstones of it; 4.0 wrote the topics.
_CONSUMER_GROUP_PARTITION_METADATA = Message(
    "ConsumerGroupPartitionMetadataValue",
    fields(
        Field(
            "topics",
            Array(
                fields(
                    Field("topicId", UUID),
                    Field("topicName", STRING),
                    Field("numPartitions", INT32),
                    Field(
                        "partitionMetadata",
                        Array(fields(Field("partition", INT32), Field("racks", Array(STRING)))),
                    ),
                )
            ),
        )
    ),
    flexible_since=0,
)

_CONSUMER_GROUP_MEMBER_METADATA = Message(
    "ConsumerGroupMemberMetadataValue",
    fields(
        Field("instanceId", STRING, nullable_since=0),
        Field("rackId", STRING, nullable_since=0),
        Field("clientId", STRING),
        Field("clientHost", STRING),
        Field("subscribedTopicNames", Array(STRING)),
        Field("subscribedTopicRegex", STRING, nullable_since=0),
        Field("rebalanceTimeoutMs", INT32, default=-1),
        Field("serverAssignor", STRING, nullable_since=0),
        # Told for a member of the classic protocol inside a consumer group (online migration). Kafka's default is
        # not null but an empty one, so that a broker writes the null of every other member.
        Field(
            "classicMemberMetadata",
            fields(
                Field("sessionTimeoutMs", INT32),
                Field("supportedProtocols", Array(fields(Field("name", STRING), Field("metadata", BYTES)))),
            ),
            tag=0,
            nullable_since=0,
            default={"sessionTimeoutMs": 0, "supportedProtocols": []},
        ),
    ),
    flexible_since=0,
)

_CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA = Message(
    "ConsumerGroupTargetAssignmentMetadataValue",
    fields(Field("assignmentEpoch", INT32), Field("assignmentTimestamp", INT64, tag=0)),
    flexible_since=0,
)

_CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER = Message(
    "ConsumerGroupTargetAssignmentMemberValue",
    fields(
        Field(
            "topicPartitions",
            Array(fields(Field("topicId", UUID), Field("partitions", Array(INT32)))),
        )
    ),
    flexible_since=0,
)

# The epochs run parallel to the partitions (KIP-1251). Older brokers wrote none, which reads as an empty list.
_PARTITIONS_WITH_EPOCHS = Array(
    fields(
        Field("topicId", UUID),
        Field("partitions", Array(INT32)),
        Field("assignmentEpochs", Array(INT32), tag=0, nullable_since=0),
    )
)

_CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT = Message(
    "ConsumerGroupCurrentMemberAssignmentValue",
    fields(
        Field("memberEpoch", INT32),
        Field("previousMemberEpoch", INT32),
        Field("state", INT8),
        Field("assignedPartitions", _PARTITIONS_WITH_EPOCHS),
        Field("partitionsPendingRevocation", _PARTITIONS_WITH_EPOCHS),
    ),
    flexible_since=0,
)

_CONSUMER_GROUP_REGULAR_EXPRESSION = Message(
    "ConsumerGroupRegularExpressionValue",
    fields(Field("topics", Array(STRING)), Field("version", INT64), Field("timestamp", INT64)),
    flexible_since=0,
)

CONSUMER_RECORD_TYPES: Final[tuple[RecordType, ...]] = (
    record_type(CONSUMER_GROUP_METADATA, "CONSUMER_GROUP_METADATA", GROUP_KEY, _CONSUMER_GROUP_METADATA),
    record_type(
        CONSUMER_GROUP_PARTITION_METADATA,
        "CONSUMER_GROUP_PARTITION_METADATA",
        GROUP_KEY,
        _CONSUMER_GROUP_PARTITION_METADATA,
    ),
    record_type(
        CONSUMER_GROUP_MEMBER_METADATA,
        "CONSUMER_GROUP_MEMBER_METADATA",
        MEMBER_KEY,
        _CONSUMER_GROUP_MEMBER_METADATA,
    ),
    record_type(
        CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA,
        "CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA",
        GROUP_KEY,
        _CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA,
    ),
    record_type(
        CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER,
        "CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER",
        MEMBER_KEY,
        _CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER,
    ),
    record_type(
        CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
        "CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT",
        MEMBER_KEY,
        _CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    ),
    record_type(
        CONSUMER_GROUP_REGULAR_EXPRESSION,
        "CONSUMER_GROUP_REGULAR_EXPRESSION",
        fields(Field("groupId", STRING), Field("regularExpression", STRING)),
        _CONSUMER_GROUP_REGULAR_EXPRESSION,
    ),
)
