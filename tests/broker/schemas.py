"""The fields of the requests and answers that the tests use, in the order of Kafka 4.3.1's schemas."""

from __future__ import annotations

from typing import Any

_PARTITIONS = [("topic_id", "uuid"), ("partitions", ["int32"])]

_NAMED = [("topic_id", "uuid"), ("topic_name", "string"), ("partitions", ["int32"])]
_DESCRIBED = [("topic_partitions", [_NAMED])]

_MEMBER_V0: list[tuple[str, Any]] = [
    ("member_id", "string"),
    ("instance_id", "string?"),
    ("rack_id", "string?"),
    ("member_epoch", "int32"),
    ("client_id", "string"),
    ("client_host", "string"),
    ("subscribed_topic_names", ["string"]),
    ("subscribed_topic_regex", "string?"),
    ("assignment", _DESCRIBED),
    ("target_assignment", _DESCRIBED),
]
_MEMBER_V1 = [*_MEMBER_V0, ("member_type", "int8")]


def _consumer_group_describe(member: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
    group = [
        ("error_code", "int16"),
        ("error_message", "string?"),
        ("group_id", "string"),
        ("group_state", "string"),
        ("group_epoch", "int32"),
        ("assignment_epoch", "int32"),
        ("assignor_name", "string"),
        ("members", [member]),
        ("authorized_operations", "int32"),
    ]
    return [("throttle_time_ms", "int32"), ("groups", [group])]


_CLASSIC_MEMBER = [
    ("member_id", "string"),
    ("group_instance_id", "string?"),
    ("client_id", "string"),
    ("client_host", "string"),
    ("member_metadata", "bytes"),
    ("member_assignment", "bytes"),
]
_CLASSIC_GROUP = [
    ("error_code", "int16"),
    ("error_message", "string?"),
    ("group_id", "string"),
    ("group_state", "string"),
    ("protocol_type", "string"),
    ("protocol_data", "string"),
    ("members", [_CLASSIC_MEMBER]),
    ("authorized_operations", "int32"),
]

_HEARTBEAT = [
    ("group_id", "string"),
    ("member_id", "string"),
    ("member_epoch", "int32"),
    ("instance_id", "string?"),
    ("rack_id", "string?"),
    ("rebalance_timeout_ms", "int32"),
    ("subscribed_topic_names", ("array?", "string")),
    ("subscribed_topic_regex", "string?"),
    ("server_assignor", "string?"),
    ("topic_partitions", ("array?", _PARTITIONS)),
]
_HEARTBEAT_ANSWER = [
    ("throttle_time_ms", "int32"),
    ("error_code", "int16"),
    ("error_message", "string?"),
    ("member_id", "string?"),
    ("member_epoch", "int32"),
    ("heartbeat_interval_ms", "int32"),
    ("assignment", ("struct?", [("topic_partitions", [_PARTITIONS])])),
]

_COMMIT = [("partition", "int32"), ("offset", "int64"), ("leader_epoch", "int32"), ("metadata", "string?")]
_COMMIT_REQUEST = [
    ("group_id", "string"),
    ("generation_or_member_epoch", "int32"),
    ("member_id", "string"),
    ("instance_id", "string?"),
    ("topics", [[("topic_id", "uuid"), ("partitions", [_COMMIT])]]),
]
_COMMITTED = [("partition", "int32"), ("error_code", "int16")]
_COMMIT_ANSWER = [
    ("throttle_time_ms", "int32"),
    ("topics", [[("topic_id", "uuid"), ("partitions", [_COMMITTED])]]),
]

_REPLICAS = [("partition_index", "int32"), ("broker_ids", ["int32"])]
_NEW_TOPIC = [
    ("name", "string"),
    ("num_partitions", "int32"),
    ("replication_factor", "int16"),
    ("assignments", [_REPLICAS]),
    ("configs", [[("name", "string"), ("value", "string?")]]),
]
_CONFIG = [
    ("name", "string"),
    ("value", "string?"),
    ("read_only", "bool"),
    ("config_source", "int8"),
    ("is_sensitive", "bool"),
]
_MADE_TOPIC = [
    ("name", "string"),
    ("topic_id", "uuid"),
    ("error_code", "int16"),
    ("error_message", "string?"),
    ("num_partitions", "int32"),
    ("replication_factor", "int16"),
    ("configs", ("array?", _CONFIG)),
]
_GROW = [("name", "string"), ("count", "int32"), ("assignments", ("array?", [("broker_ids", ["int32"])]))]
_GROWN = [("name", "string"), ("error_code", "int16"), ("error_message", "string?")]

_BROKER = [("node_id", "int32"), ("host", "string"), ("port", "int32"), ("rack", "string?")]
_LEADER = [
    ("error_code", "int16"),
    ("partition_index", "int32"),
    ("leader_id", "int32"),
    ("leader_epoch", "int32"),
    ("replica_nodes", ["int32"]),
    ("isr_nodes", ["int32"]),
    ("offline_replicas", ["int32"]),
]
_KNOWN_TOPIC = [
    ("error_code", "int16"),
    ("name", "string?"),
    ("topic_id", "uuid"),
    ("is_internal", "bool"),
    ("partitions", [_LEADER]),
    ("topic_authorized_operations", "int32"),
]
_COORDINATOR = [
    ("key", "string"),
    ("node_id", "int32"),
    ("host", "string"),
    ("port", "int32"),
    ("error_code", "int16"),
    ("error_message", "string?"),
]

APIS: dict[str, tuple[int, int, Any, Any]] = {
    # name: (API key, version used, request, answer or answers by version)
    "Metadata": (
        3,
        12,
        [
            ("topics", ("array?", [("topic_id", "uuid"), ("name", "string?")])),
            ("allow_auto_topic_creation", "bool"),
            ("include_topic_authorized_operations", "bool"),
        ],
        [
            ("throttle_time_ms", "int32"),
            ("brokers", [_BROKER]),
            ("cluster_id", "string?"),
            ("controller_id", "int32"),
            ("topics", [_KNOWN_TOPIC]),
        ],
    ),
    "OffsetCommit": (8, 10, _COMMIT_REQUEST, _COMMIT_ANSWER),
    "FindCoordinator": (
        10,
        6,
        [("key_type", "int8"), ("coordinator_keys", ["string"])],
        [("throttle_time_ms", "int32"), ("coordinators", [_COORDINATOR])],
    ),
    "DescribeGroups": (
        15,
        6,
        [("groups", ["string"]), ("include_authorized_operations", "bool")],
        [("throttle_time_ms", "int32"), ("groups", [_CLASSIC_GROUP])],
    ),
    "CreateTopics": (
        19,
        7,
        [("topics", [_NEW_TOPIC]), ("timeout_ms", "int32"), ("validate_only", "bool")],
        [("throttle_time_ms", "int32"), ("topics", [_MADE_TOPIC])],
    ),
    "CreatePartitions": (
        37,
        3,
        [("topics", [_GROW]), ("timeout_ms", "int32"), ("validate_only", "bool")],
        [("throttle_time_ms", "int32"), ("results", [_GROWN])],
    ),
    "ConsumerGroupHeartbeat": (68, 1, _HEARTBEAT, _HEARTBEAT_ANSWER),
    "ConsumerGroupDescribe": (
        69,
        1,
        [("group_ids", ["string"]), ("include_authorized_operations", "bool")],
        {0: _consumer_group_describe(_MEMBER_V0), 1: _consumer_group_describe(_MEMBER_V1)},
    ),
}
