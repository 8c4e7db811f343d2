"""Share groups (KIP-932): types 10 to 15.

The state of a share partition (what is acquired, acknowledged, archived) is not here but in
``__share_group_state``, the share coordinator's own topic.
"""

from __future__ import annotations

from typing import Final

from groups.wire.codecs.schema import Array, Field, Message, Primitive, fields
from groups.wire.coordinator_schema.record_type import GROUP_KEY, MEMBER_KEY, RecordType, record_type

INT8, INT32, INT64 = Primitive.INT8, Primitive.INT32, Primitive.INT64
STRING, UUID = Primitive.STRING, Primitive.UUID

SHARE_GROUP_MEMBER_METADATA: Final = 10
SHARE_GROUP_METADATA: Final = 11
SHARE_GROUP_TARGET_ASSIGNMENT_METADATA: Final = 12
SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER: Final = 13
SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT: Final = 14
SHARE_GROUP_STATE_PARTITION_METADATA: Final = 15

_MEMBER_METADATA = Message(
    "ShareGroupMemberMetadataValue",
    fields(
        Field("rackId", STRING, nullable_since=0),
        Field("clientId", STRING),
        Field("clientHost", STRING),
        Field("subscribedTopicNames", Array(STRING)),
    ),
    flexible_since=0,
)

_METADATA = Message(
    "ShareGroupMetadataValue",
    fields(Field("epoch", INT32), Field("metadataHash", INT64)),
    flexible_since=0,
)

_TARGET_ASSIGNMENT_METADATA = Message(
    "ShareGroupTargetAssignmentMetadataValue",
    fields(Field("assignmentEpoch", INT32), Field("assignmentTimestamp", INT64, tag=0)),
    flexible_since=0,
)

_TOPIC_PARTITIONS = Array(fields(Field("topicId", UUID), Field("partitions", Array(INT32))))

_TARGET_ASSIGNMENT_MEMBER = Message(
    "ShareGroupTargetAssignmentMemberValue",
    fields(Field("topicPartitions", _TOPIC_PARTITIONS)),
    flexible_since=0,
)

_CURRENT_MEMBER_ASSIGNMENT = Message(
    "ShareGroupCurrentMemberAssignmentValue",
    fields(
        Field("memberEpoch", INT32),
        Field("previousMemberEpoch", INT32),
        Field("state", INT8),
        Field("assignedPartitions", _TOPIC_PARTITIONS),
    ),
    flexible_since=0,
)

_NAMED_PARTITIONS = Array(
    fields(Field("topicId", UUID), Field("topicName", STRING), Field("partitions", Array(INT32)))
)

# Which partitions have a state with the share coordinator, or are about to get or to lose one.
_STATE_PARTITION_METADATA = Message(
    "ShareGroupStatePartitionMetadataValue",
    fields(
        Field("initializingTopics", _NAMED_PARTITIONS),
        Field("initializedTopics", _NAMED_PARTITIONS),
        Field("deletingTopics", Array(fields(Field("topicId", UUID), Field("topicName", STRING)))),
    ),
    flexible_since=0,
)

SHARE_RECORD_TYPES: Final[tuple[RecordType, ...]] = (
    record_type(SHARE_GROUP_MEMBER_METADATA, "SHARE_GROUP_MEMBER_METADATA", MEMBER_KEY, _MEMBER_METADATA),
    record_type(SHARE_GROUP_METADATA, "SHARE_GROUP_METADATA", GROUP_KEY, _METADATA),
    record_type(
        SHARE_GROUP_TARGET_ASSIGNMENT_METADATA,
        "SHARE_GROUP_TARGET_ASSIGNMENT_METADATA",
        GROUP_KEY,
        _TARGET_ASSIGNMENT_METADATA,
    ),
    record_type(
        SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER,
        "SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER",
        MEMBER_KEY,
        _TARGET_ASSIGNMENT_MEMBER,
    ),
    record_type(
        SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT,
        "SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT",
        MEMBER_KEY,
        _CURRENT_MEMBER_ASSIGNMENT,
    ),
    record_type(
        SHARE_GROUP_STATE_PARTITION_METADATA,
        "SHARE_GROUP_STATE_PARTITION_METADATA",
        GROUP_KEY,
        _STATE_PARTITION_METADATA,
    ),
)
