"""The group coordinator's records, as Kafka 4.3.1 declares them: keys, and values in all of their versions.

A record's key is an int16 (the record type) and the key's fields; its value is an int16 (the value's version) and
the value's fields. Source: the ``*Key.json`` and ``*Value.json`` definitions of Kafka's group-coordinator module,
through ``CoordinatorRecordType`` of the released jar. Tagged fields of 4.4 are declared too, where it has more.

===============  ===========================================================
module           types
===============  ===========================================================
``classic``      0 to 2: offsets of every kind of group, classic groups
``consumer``     3 to 8 and 16: groups of the consumer protocol
``share``        10 to 15: share groups
``streams``      17 and 19 to 23: groups of Kafka Streams' own protocol
===============  ===========================================================
"""

from __future__ import annotations

from typing import Final

from groups.wire.coordinator_schema.classic import (
    CLASSIC_RECORD_TYPES,
    GROUP_METADATA,
    LEGACY_OFFSET_COMMIT,
    OFFSET_COMMIT,
)
from groups.wire.coordinator_schema.consumer import (
    CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    CONSUMER_GROUP_MEMBER_METADATA,
    CONSUMER_GROUP_METADATA,
    CONSUMER_GROUP_PARTITION_METADATA,
    CONSUMER_GROUP_REGULAR_EXPRESSION,
    CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER,
    CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA,
    CONSUMER_RECORD_TYPES,
)
from groups.wire.coordinator_schema.record_type import RecordType
from groups.wire.coordinator_schema.share import (
    SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    SHARE_GROUP_MEMBER_METADATA,
    SHARE_GROUP_METADATA,
    SHARE_GROUP_STATE_PARTITION_METADATA,
    SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER,
    SHARE_GROUP_TARGET_ASSIGNMENT_METADATA,
    SHARE_RECORD_TYPES,
)
from groups.wire.coordinator_schema.streams import (
    STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    STREAMS_GROUP_MEMBER_METADATA,
    STREAMS_GROUP_METADATA,
    STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER,
    STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA,
    STREAMS_GROUP_TOPOLOGY,
    STREAMS_RECORD_TYPES,
)

__all__ = [
    "CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT",
    "CONSUMER_GROUP_MEMBER_METADATA",
    "CONSUMER_GROUP_METADATA",
    "CONSUMER_GROUP_PARTITION_METADATA",
    "CONSUMER_GROUP_REGULAR_EXPRESSION",
    "CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER",
    "CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA",
    "GROUP_METADATA",
    "LEGACY_OFFSET_COMMIT",
    "OFFSET_COMMIT",
    "RECORD_TYPES",
    "SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT",
    "SHARE_GROUP_MEMBER_METADATA",
    "SHARE_GROUP_METADATA",
    "SHARE_GROUP_STATE_PARTITION_METADATA",
    "SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER",
    "SHARE_GROUP_TARGET_ASSIGNMENT_METADATA",
    "STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT",
    "STREAMS_GROUP_MEMBER_METADATA",
    "STREAMS_GROUP_METADATA",
    "STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER",
    "STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA",
    "STREAMS_GROUP_TOPOLOGY",
    "RecordType",
]

RECORD_TYPES: Final[dict[int, RecordType]] = {
    record_type.number: record_type
    for record_type in (
        *CLASSIC_RECORD_TYPES,
        *CONSUMER_RECORD_TYPES,
        *SHARE_RECORD_TYPES,
        *STREAMS_RECORD_TYPES,
    )
}
"""By the number that the key begins with."""
