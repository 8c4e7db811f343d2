"""The group coordinator's records, as Kafka 4.3.1 declares them: keys, and values in all of their versions.

A record's key is an int16 (the record type) and the key's fields; its value is an int16 (the value's version) and
the value's fields. Source: the ``*Key.json`` and ``*Value.json`` definitions of Kafka's group-coordinator module,
through ``CoordinatorRecordType`` of the released jar.

Types 10 to 15 (share groups) and 17 to 23 (streams groups) are not declared: they decode to bytes with a reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from groups.wire.schema import Array, Field, Message, Primitive, Struct, struct

INT8, INT16, INT32, INT64 = Primitive.INT8, Primitive.INT16, Primitive.INT32, Primitive.INT64
STRING, BYTES, UUID = Primitive.STRING, Primitive.BYTES, Primitive.UUID

OFFSET_COMMIT: Final = 1
GROUP_METADATA: Final = 2
CONSUMER_GROUP_METADATA: Final = 3
CONSUMER_GROUP_PARTITION_METADATA: Final = 4
CONSUMER_GROUP_MEMBER_METADATA: Final = 5
CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA: Final = 6
CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER: Final = 7
CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT: Final = 8
CONSUMER_GROUP_REGULAR_EXPRESSION: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordType:
    """One kind of record: the number that its key begins with, and what stands behind it."""

    number: int
    name: str
    key: Message
    value: Message
    group_field: str
    """The field of the key that names the group."""

    @property
    def message(self) -> str:
        """What Kafka's schemas call the record, without ``Key`` or ``Value``: ``ConsumerGroupMetadata``."""
        return self.value.name.removesuffix("Value")


def _record_type(number: int, name: str, key: Struct, value: Message) -> RecordType:
    key_message = Message(value.name.removesuffix("Value") + "Key", key)
    return RecordType(number=number, name=name, key=key_message, value=value, group_field=key.fields[0].name)


_OFFSET_KEY = struct(Field("group", STRING), Field("topic", STRING), Field("partition", INT32))
_GROUP_KEY = struct(Field("groupId", STRING))
_MEMBER_KEY = struct(Field("groupId", STRING), Field("memberId", STRING))

# Key version 0 is that of the first brokers that kept offsets in a topic. Today's only read it.
_LEGACY_OFFSET_COMMIT = Message(
    "LegacyOffsetCommitValue",
    struct(Field("offset", INT64), Field("metadata", STRING), Field("commitTimestamp", INT64)),
)

_OFFSET_COMMIT = Message(
    "OffsetCommitValue",
    struct(
        Field("offset", INT64),
        Field("leaderEpoch", INT32, since=3, default=-1),
        Field("metadata", STRING),
        Field("commitTimestamp", INT64),
        Field("expireTimestamp", INT64, since=1, until=1, default=-1),
        Field("topicId", UUID, since=4, tag=0),
    ),
    newest=4,
    flexible_since=4,
)

_GROUP_METADATA = Message(
    "GroupMetadataValue",
    struct(
        Field("protocolType", STRING),
        Field("generation", INT32),
        Field("protocol", STRING, nullable_since=0),
        Field("leader", STRING, nullable_since=0),
        Field("currentStateTimestamp", INT64, since=2, default=-1),
        Field(
            "members",
            Array(
                struct(
                    Field("memberId", STRING),
                    Field("groupInstanceId", STRING, since=3, nullable_since=3, default=None),
                    Field("clientId", STRING),
                    Field("clientHost", STRING),
                    Field("rebalanceTimeout", INT32, since=1, default=-1),
                    Field("sessionTimeout", INT32),
                    Field("subscription", BYTES),
                    Field("assignment", BYTES),
                )
            ),
        ),
    ),
    newest=4,
    flexible_since=4,
)

_CONSUMER_GROUP_METADATA = Message(
    "ConsumerGroupMetadataValue",
    struct(Field("epoch", INT32), Field("metadataHash", INT64, tag=0)),
    flexible_since=0,
)

# Brokers from 4.1 on write only tombstones of it; 4.0 wrote the topics.
_CONSUMER_GROUP_PARTITION_METADATA = Message(
    "ConsumerGroupPartitionMetadataValue",
    struct(
        Field(
            "topics",
            Array(
                struct(
                    Field("topicId", UUID),
                    Field("topicName", STRING),
                    Field("numPartitions", INT32),
                    Field(
                        "partitionMetadata",
                        Array(struct(Field("partition", INT32), Field("racks", Array(STRING)))),
                    ),
                )
            ),
        )
    ),
    flexible_since=0,
)

_CONSUMER_GROUP_MEMBER_METADATA = Message(
    "ConsumerGroupMemberMetadataValue",
    struct(
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
            struct(
                Field("sessionTimeoutMs", INT32),
                Field("supportedProtocols", Array(struct(Field("name", STRING), Field("metadata", BYTES)))),
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
    struct(Field("assignmentEpoch", INT32), Field("assignmentTimestamp", INT64, tag=0)),
    flexible_since=0,
)

_CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER = Message(
    "ConsumerGroupTargetAssignmentMemberValue",
    struct(
        Field(
            "topicPartitions",
            Array(struct(Field("topicId", UUID), Field("partitions", Array(INT32)))),
        )
    ),
    flexible_since=0,
)

# The epochs run parallel to the partitions (KIP-1251). Older brokers wrote none, which reads as an empty list.
_PARTITIONS_WITH_EPOCHS = Array(
    struct(
        Field("topicId", UUID),
        Field("partitions", Array(INT32)),
        Field("assignmentEpochs", Array(INT32), tag=0, nullable_since=0),
    )
)

_CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT = Message(
    "ConsumerGroupCurrentMemberAssignmentValue",
    struct(
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
    struct(Field("topics", Array(STRING)), Field("version", INT64), Field("timestamp", INT64)),
    flexible_since=0,
)

RECORD_TYPES: Final[dict[int, RecordType]] = {
    record_type.number: record_type
    for record_type in (
        _record_type(0, "LEGACY_OFFSET_COMMIT", _OFFSET_KEY, _LEGACY_OFFSET_COMMIT),
        _record_type(OFFSET_COMMIT, "OFFSET_COMMIT", _OFFSET_KEY, _OFFSET_COMMIT),
        _record_type(GROUP_METADATA, "GROUP_METADATA", struct(Field("group", STRING)), _GROUP_METADATA),
        _record_type(
            CONSUMER_GROUP_METADATA, "CONSUMER_GROUP_METADATA", _GROUP_KEY, _CONSUMER_GROUP_METADATA
        ),
        _record_type(
            CONSUMER_GROUP_PARTITION_METADATA,
            "CONSUMER_GROUP_PARTITION_METADATA",
            _GROUP_KEY,
            _CONSUMER_GROUP_PARTITION_METADATA,
        ),
        _record_type(
            CONSUMER_GROUP_MEMBER_METADATA,
            "CONSUMER_GROUP_MEMBER_METADATA",
            _MEMBER_KEY,
            _CONSUMER_GROUP_MEMBER_METADATA,
        ),
        _record_type(
            CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA,
            "CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA",
            _GROUP_KEY,
            _CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA,
        ),
        _record_type(
            CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER,
            "CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER",
            _MEMBER_KEY,
            _CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER,
        ),
        _record_type(
            CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
            "CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT",
            _MEMBER_KEY,
            _CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
        ),
        _record_type(
            CONSUMER_GROUP_REGULAR_EXPRESSION,
            "CONSUMER_GROUP_REGULAR_EXPRESSION",
            struct(Field("groupId", STRING), Field("regularExpression", STRING)),
            _CONSUMER_GROUP_REGULAR_EXPRESSION,
        ),
    )
}
"""By the number that the key begins with."""
