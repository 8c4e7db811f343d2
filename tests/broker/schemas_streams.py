"""The fields of streams groups' heartbeats and descriptions, named and ordered as in Kafka 4.3.1's schemas."""

from __future__ import annotations

_CONFIGS = [[("key", "string"), ("value", "string")]]
_INTERNAL_TOPICS = [
    [("name", "string"), ("partitions", "int32"), ("replicationFactor", "int16"), ("topicConfigs", _CONFIGS)]
]
_COPARTITIONED = [
    [("sourceTopics", ["int16"]), ("sourceTopicRegex", ["int16"]), ("repartitionSourceTopics", ["int16"])]
]
_SUBTOPOLOGY = [
    ("subtopologyId", "string"),
    ("sourceTopics", ["string"]),
    ("sourceTopicRegex", ["string"]),
    ("stateChangelogTopics", _INTERNAL_TOPICS),
    ("repartitionSinkTopics", ["string"]),
    ("repartitionSourceTopics", _INTERNAL_TOPICS),
    ("copartitionGroups", _COPARTITIONED),
]
_DESCRIBED_SUBTOPOLOGY = [
    ("subtopologyId", "string"),
    ("sourceTopics", ["string"]),
    ("repartitionSinkTopics", ["string"]),
    ("stateChangelogTopics", _INTERNAL_TOPICS),
    ("repartitionSourceTopics", _INTERNAL_TOPICS),
]
_TASKS = [("subtopologyId", "string"), ("partitions", ["int32"])]
_TASK_OFFSETS = [("subtopologyId", "string"), ("partition", "int32"), ("offset", "int64")]
_ENDPOINT = [("host", "string"), ("port", "uint16")]
_ALL_TASKS = [("activeTasks", [_TASKS]), ("standbyTasks", [_TASKS]), ("warmupTasks", [_TASKS])]
_SOME_TASKS = [(name, ("array?", _TASKS)) for name, _ in _ALL_TASKS]
_ENDPOINT_PARTITIONS = [("topic", "string"), ("partitions", ["int32"])]

STREAMS_HEARTBEAT = [
    ("groupId", "string"),
    ("memberId", "string"),
    ("memberEpoch", "int32"),
    ("endpointInformationEpoch", "int32"),
    ("instanceId", "string?"),
    ("rackId", "string?"),
    ("rebalanceTimeoutMs", "int32"),
    ("topology", ("struct?", [("epoch", "int32"), ("subtopologies", [_SUBTOPOLOGY])])),
    *_SOME_TASKS,
    ("processId", "string?"),
    ("userEndpoint", ("struct?", _ENDPOINT)),
    ("clientTags", ("array?", _CONFIGS[0])),
    ("taskOffsets", ("array?", _TASK_OFFSETS)),
    ("taskEndOffsets", ("array?", _TASK_OFFSETS)),
    ("shutdownApplication", "bool"),
]
STREAMS_HEARTBEAT_ANSWER = [
    ("throttleTimeMs", "int32"),
    ("errorCode", "int16"),
    ("errorMessage", "string?"),
    ("memberId", "string"),
    ("memberEpoch", "int32"),
    ("heartbeatIntervalMs", "int32"),
    ("acceptableRecoveryLag", "int32"),
    ("taskOffsetIntervalMs", "int32"),
    ("status", ("array?", [("statusCode", "int8"), ("statusDetail", "string")])),
    *_SOME_TASKS,
    ("endpointInformationEpoch", "int32"),
    (
        "partitionsByUserEndpoint",
        (
            "array?",
            [
                ("userEndpoint", _ENDPOINT),
                ("activePartitions", [_ENDPOINT_PARTITIONS]),
                ("standbyPartitions", [_ENDPOINT_PARTITIONS]),
            ],
        ),
    ),
]
_STREAMS_MEMBER = [
    ("memberId", "string"),
    ("memberEpoch", "int32"),
    ("instanceId", "string?"),
    ("rackId", "string?"),
    ("clientId", "string"),
    ("clientHost", "string"),
    ("topologyEpoch", "int32"),
    ("processId", "string"),
    ("userEndpoint", ("struct?", _ENDPOINT)),
    ("clientTags", _CONFIGS),
    ("taskOffsets", [_TASK_OFFSETS]),
    ("taskEndOffsets", [_TASK_OFFSETS]),
    ("assignment", _ALL_TASKS),
    ("targetAssignment", _ALL_TASKS),
    ("isClassic", "bool"),
]
_DESCRIBED_TOPOLOGY = [("epoch", "int32"), ("subtopologies", ("array?", _DESCRIBED_SUBTOPOLOGY))]
STREAMS_GROUP = [
    ("errorCode", "int16"),
    ("errorMessage", "string?"),
    ("groupId", "string"),
    ("groupState", "string"),
    ("groupEpoch", "int32"),
    ("assignmentEpoch", "int32"),
    ("topology", ("struct?", _DESCRIBED_TOPOLOGY)),
    ("members", [_STREAMS_MEMBER]),
    ("authorizedOperations", "int32"),
]
