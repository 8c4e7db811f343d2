"""The fields of the requests and answers that the tests use, named and ordered as in Kafka 4.3.1's schemas."""

from __future__ import annotations

from typing import Any

from .schemas_streams import STREAMS_GROUP, STREAMS_HEARTBEAT, STREAMS_HEARTBEAT_ANSWER

DEFAULTS: dict[str, Any] = {
    "rebalanceTimeoutMs": -1,
    "committedLeaderEpoch": -1,
    "generationIdOrMemberEpoch": -1,
    "endpointInformationEpoch": -1,
    "shutdownApplication": False,
}
"""What a request's field is where it is not given and may not be null."""

_PARTITIONS = [("topicId", "uuid"), ("partitions", ["int32"])]

_NAMED = [("topicId", "uuid"), ("topicName", "string"), ("partitions", ["int32"])]
_DESCRIBED = [("topicPartitions", [_NAMED])]

_MEMBER_V0: list[tuple[str, Any]] = [
    ("memberId", "string"),
    ("instanceId", "string?"),
    ("rackId", "string?"),
    ("memberEpoch", "int32"),
    ("clientId", "string"),
    ("clientHost", "string"),
    ("subscribedTopicNames", ["string"]),
    ("subscribedTopicRegex", "string?"),
    ("assignment", _DESCRIBED),
    ("targetAssignment", _DESCRIBED),
]
_MEMBER_V1 = [*_MEMBER_V0, ("memberType", "int8")]


def _topic(*fields: tuple[str, Any]) -> list[tuple[str, Any]]:
    """A topic and its partitions, each with its number and these fields."""
    return [("name", "string"), ("partitions", [[("partitionIndex", "int32"), *fields]])]


def _consumer_group_describe(member: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    group = [
        ("errorCode", "int16"),
        ("errorMessage", "string?"),
        ("groupId", "string"),
        ("groupState", "string"),
        ("groupEpoch", "int32"),
        ("assignmentEpoch", "int32"),
        ("assignorName", "string"),
        ("members", [member]),
        ("authorizedOperations", "int32"),
    ]
    return [("throttleTimeMs", "int32"), ("groups", [group])]


_CLASSIC_MEMBER = [
    ("memberId", "string"),
    ("groupInstanceId", "string?"),
    ("clientId", "string"),
    ("clientHost", "string"),
    ("memberMetadata", "bytes"),
    ("memberAssignment", "bytes"),
]
_CLASSIC_GROUP = [
    ("errorCode", "int16"),
    ("errorMessage", "string?"),
    ("groupId", "string"),
    ("groupState", "string"),
    ("protocolType", "string"),
    ("protocolData", "string"),
    ("members", [_CLASSIC_MEMBER]),
    ("authorizedOperations", "int32"),
]

_HEARTBEAT = [
    ("groupId", "string"),
    ("memberId", "string"),
    ("memberEpoch", "int32"),
    ("instanceId", "string?"),
    ("rackId", "string?"),
    ("rebalanceTimeoutMs", "int32"),
    ("subscribedTopicNames", ("array?", "string")),
    ("subscribedTopicRegex", "string?"),
    ("serverAssignor", "string?"),
    ("topicPartitions", ("array?", _PARTITIONS)),
]
_HEARTBEAT_ANSWER = [
    ("throttleTimeMs", "int32"),
    ("errorCode", "int16"),
    ("errorMessage", "string?"),
    ("memberId", "string?"),
    ("memberEpoch", "int32"),
    ("heartbeatIntervalMs", "int32"),
    ("assignment", ("struct?", [("topicPartitions", [_PARTITIONS])])),
]

_SHARE_HEARTBEAT = [
    ("groupId", "string"),
    ("memberId", "string"),
    ("memberEpoch", "int32"),
    ("rackId", "string?"),
    ("subscribedTopicNames", ("array?", "string")),
]
_SHARE_MEMBER = [
    ("memberId", "string"),
    ("rackId", "string?"),
    ("memberEpoch", "int32"),
    ("clientId", "string"),
    ("clientHost", "string"),
    ("subscribedTopicNames", ["string"]),
    ("assignment", _DESCRIBED),
]

_COMMIT = [
    ("partitionIndex", "int32"),
    ("committedOffset", "int64"),
    ("committedLeaderEpoch", "int32"),
    ("committedMetadata", "string?"),
]
_COMMIT_REQUEST = [
    ("groupId", "string"),
    ("generationIdOrMemberEpoch", "int32"),
    ("memberId", "string"),
    ("groupInstanceId", "string?"),
    ("topics", [[("topicId", "uuid"), ("partitions", [_COMMIT])]]),
]
_COMMITTED = [("partitionIndex", "int32"), ("errorCode", "int16")]
_COMMIT_ANSWER = [
    ("throttleTimeMs", "int32"),
    ("topics", [[("topicId", "uuid"), ("partitions", [_COMMITTED])]]),
]

_REPLICAS = [("partitionIndex", "int32"), ("brokerIds", ["int32"])]
_NEW_TOPIC = [
    ("name", "string"),
    ("numPartitions", "int32"),
    ("replicationFactor", "int16"),
    ("assignments", [_REPLICAS]),
    ("configs", [[("name", "string"), ("value", "string?")]]),
]
_CONFIG = [
    ("name", "string"),
    ("value", "string?"),
    ("readOnly", "bool"),
    ("configSource", "int8"),
    ("isSensitive", "bool"),
]
_CONFIG_MORE = [
    ("synonyms", [[("name", "string"), ("value", "string?"), ("source", "int8")]]),
    ("configType", "int8"),
    ("documentation", "string?"),
]
_MADE_TOPIC = [
    ("name", "string"),
    ("topicId", "uuid"),
    ("errorCode", "int16"),
    ("errorMessage", "string?"),
    ("numPartitions", "int32"),
    ("replicationFactor", "int16"),
    ("configs", ("array?", _CONFIG)),
]
_GROW = [("name", "string"), ("count", "int32"), ("assignments", ("array?", [("brokerIds", ["int32"])]))]
_GROWN = [("name", "string"), ("errorCode", "int16"), ("errorMessage", "string?")]

_BROKER = [("nodeId", "int32"), ("host", "string"), ("port", "int32"), ("rack", "string?")]
_LEADER = [
    ("errorCode", "int16"),
    ("partitionIndex", "int32"),
    ("leaderId", "int32"),
    ("leaderEpoch", "int32"),
    ("replicaNodes", ["int32"]),
    ("isrNodes", ["int32"]),
    ("offlineReplicas", ["int32"]),
]
_KNOWN_TOPIC = [
    ("errorCode", "int16"),
    ("name", "string?"),
    ("topicId", "uuid"),
    ("isInternal", "bool"),
    ("partitions", [_LEADER]),
    ("topicAuthorizedOperations", "int32"),
]
_COORDINATOR = [
    ("key", "string"),
    ("nodeId", "int32"),
    ("host", "string"),
    ("port", "int32"),
    ("errorCode", "int16"),
    ("errorMessage", "string?"),
]

_FEATURE_UPDATE = [("feature", "string"), ("maxVersionLevel", "int16"), ("upgradeType", "int8")]

_PRODUCER: list[tuple[str, Any]] = [("producerId", "int64"), ("producerEpoch", "int16")]

APIS: dict[str, tuple[int, int, Any, Any]] = {
    # name: (API key, version used, request, answer or answers by version)
    "UpdateFeatures": (
        57,
        1,
        [
            ("timeoutMs", "int32"),
            ("featureUpdates", [_FEATURE_UPDATE]),
            ("validateOnly", "bool"),
        ],
        [
            ("throttleTimeMs", "int32"),
            ("errorCode", "int16"),
            ("errorMessage", "string?"),
            ("results", [[("feature", "string"), ("errorCode", "int16"), ("errorMessage", "string?")]]),
        ],
    ),
    "InitProducerId": (
        22,
        5,
        [
            ("transactionalId", "string?"),
            ("transactionTimeoutMs", "int32"),
            ("producerId", "int64"),
            ("producerEpoch", "int16"),
        ],
        [("throttleTimeMs", "int32"), ("errorCode", "int16"), *_PRODUCER],
    ),
    "AddOffsetsToTxn": (
        25,
        4,
        [("transactionalId", "string"), *_PRODUCER, ("groupId", "string")],
        [("throttleTimeMs", "int32"), ("errorCode", "int16")],
    ),
    "EndTxn": (
        26,
        5,
        [("transactionalId", "string"), *_PRODUCER, ("committed", "bool")],
        {
            4: [("throttleTimeMs", "int32"), ("errorCode", "int16")],
            5: [("throttleTimeMs", "int32"), ("errorCode", "int16"), *_PRODUCER],
        },
    ),
    "Metadata": (
        3,
        11,
        [
            ("topics", ("array?", [("topicId", "uuid"), ("name", "string?")])),
            ("allowAutoTopicCreation", "bool"),
            ("includeTopicAuthorizedOperations", "bool"),
        ],
        [
            ("throttleTimeMs", "int32"),
            ("brokers", [_BROKER]),
            ("clusterId", "string?"),
            ("controllerId", "int32"),
            ("topics", [_KNOWN_TOPIC]),
        ],
    ),
    "OffsetCommit": (8, 10, _COMMIT_REQUEST, _COMMIT_ANSWER),
    "FindCoordinator": (
        10,
        6,
        [("keyType", "int8"), ("coordinatorKeys", ["string"])],
        [("throttleTimeMs", "int32"), ("coordinators", [_COORDINATOR])],
    ),
    "DescribeGroups": (
        15,
        6,
        [("groups", ["string"]), ("includeAuthorizedOperations", "bool")],
        [("throttleTimeMs", "int32"), ("groups", [_CLASSIC_GROUP])],
    ),
    "CreateTopics": (
        19,
        7,
        [("topics", [_NEW_TOPIC]), ("timeoutMs", "int32"), ("validateOnly", "bool")],
        [("throttleTimeMs", "int32"), ("topics", [_MADE_TOPIC])],
    ),
    "CreatePartitions": (
        37,
        3,
        [("topics", [_GROW]), ("timeoutMs", "int32"), ("validateOnly", "bool")],
        [("throttleTimeMs", "int32"), ("results", [_GROWN])],
    ),
    "DeleteTopics": (
        20,
        6,
        [("topics", [[("name", "string?"), ("topicId", "uuid")]]), ("timeoutMs", "int32")],
        [
            ("throttleTimeMs", "int32"),
            (
                "responses",
                [
                    [
                        ("name", "string?"),
                        ("topicId", "uuid"),
                        ("errorCode", "int16"),
                        ("errorMessage", "string?"),
                    ]
                ],
            ),
        ],
    ),
    "DescribeConfigs": (
        32,
        4,
        [
            (
                "resources",
                [
                    [
                        ("resourceType", "int8"),
                        ("resourceName", "string"),
                        ("configurationKeys", ("array?", "string")),
                    ]
                ],
            ),
            ("includeSynonyms", "bool"),
            ("includeDocumentation", "bool"),
        ],
        [
            ("throttleTimeMs", "int32"),
            (
                "results",
                [
                    [
                        ("errorCode", "int16"),
                        ("errorMessage", "string?"),
                        ("resourceType", "int8"),
                        ("resourceName", "string"),
                        ("configs", [[*_CONFIG, *_CONFIG_MORE]]),
                    ]
                ],
            ),
        ],
    ),
    "ListOffsets": (
        2,
        7,
        [
            ("replicaId", "int32"),
            ("isolationLevel", "int8"),
            ("topics", [_topic(("currentLeaderEpoch", "int32"), ("timestamp", "int64"))]),
        ],
        [
            ("throttleTimeMs", "int32"),
            (
                "topics",
                [
                    _topic(
                        ("errorCode", "int16"),
                        ("timestamp", "int64"),
                        ("offset", "int64"),
                        ("leaderEpoch", "int32"),
                    )
                ],
            ),
        ],
    ),
    "IncrementalAlterConfigs": (
        44,
        1,
        [
            (
                "resources",
                [
                    [
                        ("resourceType", "int8"),
                        ("resourceName", "string"),
                        (
                            "configs",
                            [[("name", "string"), ("configOperation", "int8"), ("value", "string?")]],
                        ),
                    ]
                ],
            ),
            ("validateOnly", "bool"),
        ],
        [
            ("throttleTimeMs", "int32"),
            (
                "responses",
                [
                    [
                        ("errorCode", "int16"),
                        ("errorMessage", "string?"),
                        ("resourceType", "int8"),
                        ("resourceName", "string"),
                    ]
                ],
            ),
        ],
    ),
    "ConsumerGroupHeartbeat": (68, 1, _HEARTBEAT, _HEARTBEAT_ANSWER),
    "ConsumerGroupDescribe": (
        69,
        1,
        [("groupIds", ["string"]), ("includeAuthorizedOperations", "bool")],
        {0: _consumer_group_describe(_MEMBER_V0), 1: _consumer_group_describe(_MEMBER_V1)},
    ),
    "ShareGroupHeartbeat": (76, 1, _SHARE_HEARTBEAT, _HEARTBEAT_ANSWER),
    "ShareGroupDescribe": (
        77,
        1,
        [("groupIds", ["string"]), ("includeAuthorizedOperations", "bool")],
        _consumer_group_describe(_SHARE_MEMBER),
    ),
    "StreamsGroupHeartbeat": (88, 0, STREAMS_HEARTBEAT, STREAMS_HEARTBEAT_ANSWER),
    "StreamsGroupDescribe": (
        89,
        0,
        [("groupIds", ["string"]), ("includeAuthorizedOperations", "bool")],
        [("throttleTimeMs", "int32"), ("groups", [STREAMS_GROUP])],
    ),
}
