"""The proposal's records: the numbers and keys of the released ones, and other values.

Source: KIP-848, "Records"; a client-side assignor's metadata is kept with what it assigned.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from groups.wire.codecs.schema import Array, Field, FieldType, Message, Primitive, Struct, fields, rows
from groups.wire.codecs.values import Fields, Value
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.generated.classic import GROUP_METADATA, LEGACY_OFFSET_COMMIT, OFFSET_COMMIT
from groups.wire.generated.consumer import (
    CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    CONSUMER_GROUP_MEMBER_METADATA,
    CONSUMER_GROUP_METADATA,
    CONSUMER_GROUP_PARTITION_METADATA,
    CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER,
    CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA,
)
from groups.wire.record_type import RecordType
from groups.wire.records import KnownRecords, decode_record, encode_record

INT8, INT16, INT32, INT64 = Primitive.INT8, Primitive.INT16, Primitive.INT32, Primitive.INT64
STRING, BYTES, UUID = Primitive.STRING, Primitive.BYTES, Primitive.UUID

TOPIC_PARTITIONS: Final = Array(fields(Field("topicId", UUID), Field("partitions", Array(INT32))))
"""How the proposal writes a row of partitions, in records and in requests."""

METADATA: Final = (Field("metadataVersion", INT16), Field("metadataBytes", BYTES))
"""What a client-side assignor keeps for a member: nobody but the assignor can read it."""


def _value(number: int, body: Struct) -> RecordType:
    released = RECORD_TYPES[number]
    return replace(released, value=Message(released.value.name, body, flexible_since=0))


# Version 4 brings the topic's id, which the released Kafka has as a tagged field.
_OFFSET_COMMIT = replace(
    RECORD_TYPES[OFFSET_COMMIT],
    value=Message(
        "OffsetCommitValue",
        fields(
            *(field for field in RECORD_TYPES[OFFSET_COMMIT].value.body.fields if field.name != "topicId"),
            Field("topicId", UUID, since=4),
        ),
        newest=4,
        flexible_since=4,
    ),
)

_PARTITION_METADATA = fields(
    Field("epoch", INT32), rows("topics", Field("topicId", UUID), Field("numPartitions", INT32))
)

_MEMBER_METADATA = fields(
    Field("groupEpoch", INT32),
    Field("instanceId", STRING, nullable_since=0),
    Field("rackId", STRING, nullable_since=0),
    Field("clientId", STRING),
    Field("clientHost", STRING),
    Field("subscribedTopicNames", Array(STRING)),
    Field("subscribedTopicRegex", STRING),
    rows(
        "assignors",
        Field("name", STRING),
        Field("minimumVersion", INT16),
        Field("maximumVersion", INT16),
        Field("reason", INT8),
        Field("version", INT16),
        Field("metadata", BYTES),
    ),
)

_TARGET_ASSIGNMENT_MEMBER = fields(
    Field("error", INT8), Field("topicPartitions", TOPIC_PARTITIONS), *METADATA
)

_CURRENT_MEMBER_ASSIGNMENT = fields(
    Field("memberEpoch", INT32), Field("error", INT8), Field("topicPartitions", TOPIC_PARTITIONS), *METADATA
)

KIP_RECORD_TYPES: Final[dict[int, RecordType]] = {
    record_type.number: record_type
    for record_type in (
        # The proposal leaves these two as they are.
        RECORD_TYPES[LEGACY_OFFSET_COMMIT],
        _OFFSET_COMMIT,
        RECORD_TYPES[GROUP_METADATA],
        _value(CONSUMER_GROUP_METADATA, fields(Field("epoch", INT32))),
        _value(CONSUMER_GROUP_PARTITION_METADATA, _PARTITION_METADATA),
        _value(CONSUMER_GROUP_MEMBER_METADATA, _MEMBER_METADATA),
        _value(CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA, fields(Field("assignmentEpoch", INT32))),
        _value(CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER, _TARGET_ASSIGNMENT_MEMBER),
        _value(CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT, _CURRENT_MEMBER_ASSIGNMENT),
    )
}
"""By the number that the key begins with."""

_KNOWN: Final = KnownRecords(KIP_RECORD_TYPES)

_RENAMED: Final = {"topicPartitions": "assignedPartitions"}
"""What the proposal calls otherwise than the released records, in its own words first."""

_WITHOUT: Final[Fields] = {
    "error": 0,
    "metadataVersion": 0,
    "metadataBytes": "",
    "assignors": [],
    "subscribedTopicRegex": "",
}
"""What is in the proposal's fields where no client-side assignor has a part in the group."""


def decode_kip_record(key: bytes | None, value: bytes | None) -> Fields:
    """As ``decode_record``, of a log that keeps to the proposal; never raises."""
    return decode_record(key, value, _KNOWN)


def encode_kip_record(payload: Mapping[str, Value]) -> tuple[bytes | None, bytes | None]:
    """As ``encode_record``, for a log that keeps to the proposal; ``UnencodableError`` names the field."""
    return encode_record(payload, _KNOWN)


def as_proposed(payload: Mapping[str, Value]) -> tuple[Fields, list[str]]:
    """A record of a run by the proposal's rules in the proposal's layout, and the names of what that has no place for.

    Such a run keeps the released records' fields and what the proposal adds (the epoch of a member's group, the
    epoch of a row of topics), so that one fold serves both. Records that the proposal does not lay out otherwise, and
    tombstones, come back as they are.
    """
    number, value = payload.get("type"), payload.get("value")
    layout = KIP_RECORD_TYPES.get(number) if isinstance(number, int) else None
    if layout is None or number is None or layout is RECORD_TYPES[number] or not isinstance(value, Mapping):
        return dict(payload), []
    kept: Fields = {}
    used: set[str] = set()
    dropped: list[str] = []
    for field in layout.value.body.fields:
        name = _RENAMED.get(field.name, field.name) if field.name not in value else field.name
        if name in value:
            used.add(name)
            kept[field.name], without = _of_shape(field.type, value[name])
            dropped += [f"{inner} of {name}" for inner in without]
        elif field.name in _WITHOUT:
            kept[field.name] = _WITHOUT[field.name]
    left = [name for name, item in value.items() if name not in used and item not in (None, "", [])]
    return {**payload, "value": kept}, left + dropped


def _of_shape(type_: FieldType, value: Value) -> tuple[Value, list[str]]:
    """The value without the fields that its rows do not have here, and which of those had a value."""
    if not (isinstance(type_, Array) and isinstance(type_.of, Struct) and isinstance(value, list)):
        return value, []
    names = {field.name for field in type_.of.fields}
    without = dict.fromkeys(
        name
        for row in value
        for name, item in row.items()
        if name not in names and item not in (None, "", [])
    )
    return [{name: item for name, item in row.items() if name in names} for row in value], list(without)
