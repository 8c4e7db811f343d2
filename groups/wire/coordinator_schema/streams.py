"""Groups of Kafka Streams' own protocol (KIP-1071): type 17, and 19 to 23; 18 was never used.

What is assigned are tasks: a subtopology, named by its id, and a partition. A task is active, standby or warm-up.
"""

from __future__ import annotations

from typing import Final

from groups.wire.codecs.schema import Array, Field, Message, Primitive, fields
from groups.wire.coordinator_schema.record_type import GROUP_KEY, MEMBER_KEY, RecordType, record_type

INT8, INT16, INT32, INT64 = Primitive.INT8, Primitive.INT16, Primitive.INT32, Primitive.INT64
UINT16, STRING = Primitive.UINT16, Primitive.STRING

STREAMS_GROUP_METADATA: Final = 17
STREAMS_GROUP_MEMBER_METADATA: Final = 19
STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA: Final = 20
STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER: Final = 21
STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT: Final = 22
STREAMS_GROUP_TOPOLOGY: Final = 23

_KEY_VALUES = Array(fields(Field("key", STRING), Field("value", STRING)))

_METADATA = Message(
    "StreamsGroupMetadataValue",
    fields(
        Field("epoch", INT32),
        Field("metadataHash", INT64),
        Field("validatedTopologyEpoch", INT32, tag=0, default=-1),
        Field("lastAssignmentConfigs", _KEY_VALUES, tag=1, nullable_since=0),
        # Brokers from 4.4 on write these two.
        Field("storedDescriptionTopologyEpoch", INT32, tag=2, default=-1),
        Field("failedDescriptionTopologyEpoch", INT32, tag=3, default=-1),
    ),
    flexible_since=0,
)

_MEMBER_METADATA = Message(
    "StreamsGroupMemberMetadataValue",
    fields(
        Field("instanceId", STRING, nullable_since=0),
        Field("rackId", STRING, nullable_since=0),
        Field("clientId", STRING),
        Field("clientHost", STRING),
        Field("rebalanceTimeoutMs", INT32, default=-1),
        Field("topologyEpoch", INT32),
        Field("processId", STRING),
        Field(
            "userEndpoint",
            fields(Field("host", STRING), Field("port", UINT16)),
            nullable_since=0,
            default=None,
        ),
        Field("clientTags", _KEY_VALUES),
    ),
    flexible_since=0,
)

_TARGET_ASSIGNMENT_METADATA = Message(
    "StreamsGroupTargetAssignmentMetadataValue",
    fields(Field("assignmentEpoch", INT32), Field("assignmentTimestamp", INT64, tag=0)),
    flexible_since=0,
)

_TASKS = Array(fields(Field("subtopologyId", STRING), Field("partitions", Array(INT32))))

_TARGET_ASSIGNMENT_MEMBER = Message(
    "StreamsGroupTargetAssignmentMemberValue",
    fields(Field("activeTasks", _TASKS), Field("standbyTasks", _TASKS), Field("warmupTasks", _TASKS)),
    flexible_since=0,
)

# The epochs run parallel to the partitions. Older brokers wrote none, which reads as an empty list.
_TASKS_WITH_EPOCHS = Array(
    fields(
        Field("subtopologyId", STRING),
        Field("partitions", Array(INT32)),
        Field("assignmentEpochs", Array(INT32), tag=0, nullable_since=0),
    )
)

_CURRENT_MEMBER_ASSIGNMENT = Message(
    "StreamsGroupCurrentMemberAssignmentValue",
    fields(
        Field("memberEpoch", INT32),
        Field("previousMemberEpoch", INT32),
        Field("state", INT8),
        Field("activeTasks", _TASKS_WITH_EPOCHS),
        Field("standbyTasks", _TASKS_WITH_EPOCHS),
        Field("warmupTasks", _TASKS_WITH_EPOCHS),
        Field("activeTasksPendingRevocation", _TASKS_WITH_EPOCHS),
        Field("standbyTasksPendingRevocation", _TASKS_WITH_EPOCHS),
        Field("warmupTasksPendingRevocation", _TASKS_WITH_EPOCHS),
    ),
    flexible_since=0,
)

_INTERNAL_TOPICS = Array(
    fields(
        Field("name", STRING),
        Field("partitions", INT32),
        Field("replicationFactor", INT16),
        Field("topicConfigs", _KEY_VALUES),
    )
)

_TOPOLOGY = Message(
    "StreamsGroupTopologyValue",
    fields(
        Field("epoch", INT32),
        Field(
            "subtopologies",
            Array(
                fields(
                    Field("subtopologyId", STRING),
                    Field("sourceTopics", Array(STRING)),
                    Field("sourceTopicRegex", Array(STRING)),
                    Field("stateChangelogTopics", _INTERNAL_TOPICS),
                    Field("repartitionSinkTopics", Array(STRING)),
                    Field("repartitionSourceTopics", _INTERNAL_TOPICS),
                    # Topics that must have equally many partitions: places in the three lists above.
                    Field(
                        "copartitionGroups",
                        Array(
                            fields(
                                Field("sourceTopics", Array(INT16)),
                                Field("sourceTopicRegex", Array(INT16)),
                                Field("repartitionSourceTopics", Array(INT16)),
                            )
                        ),
                    ),
                )
            ),
        ),
    ),
    flexible_since=0,
)

STREAMS_RECORD_TYPES: Final[tuple[RecordType, ...]] = (
    record_type(STREAMS_GROUP_METADATA, "STREAMS_GROUP_METADATA", GROUP_KEY, _METADATA),
    record_type(STREAMS_GROUP_MEMBER_METADATA, "STREAMS_GROUP_MEMBER_METADATA", MEMBER_KEY, _MEMBER_METADATA),
    record_type(
        STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA,
        "STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA",
        GROUP_KEY,
        _TARGET_ASSIGNMENT_METADATA,
    ),
    record_type(
        STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER,
        "STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER",
        MEMBER_KEY,
        _TARGET_ASSIGNMENT_MEMBER,
    ),
    record_type(
        STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT,
        "STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT",
        MEMBER_KEY,
        _CURRENT_MEMBER_ASSIGNMENT,
    ),
    record_type(STREAMS_GROUP_TOPOLOGY, "STREAMS_GROUP_TOPOLOGY", GROUP_KEY, _TOPOLOGY),
)
