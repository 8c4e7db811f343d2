"""Hypothesis strategies for whatever a schema can hold, and for batches."""

import base64
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from groups.wire.codecs.schema import UNKNOWN_TAGS, Array, Field, FieldType, Form, Message, Primitive, Struct
from groups.wire.codecs.uuids import uuid_to_base64
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.logs.compression import Compression
from groups.wire.logs.record_batch import Header, Record, RecordBatch, TimestampType
from groups.wire.record_type import RecordType

# Without lone surrogates, which no UTF-8 has.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
BLOB = st.binary(max_size=40)


def integers(bits: int) -> st.SearchStrategy[int]:
    return st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)


def values(type_: FieldType, form: Form) -> st.SearchStrategy[Any]:
    """A value of a type, in JSON form."""
    match type_:
        case Struct():
            return structs(type_, form)
        case Array():
            return st.lists(values(type_.of, form), max_size=3)
        case Primitive.STRING | Primitive.PLAIN_STRING | Primitive.MODIFIED_UTF8:
            return TEXT
        case Primitive.CHARS:
            return st.none() | TEXT.filter(bool)
        case Primitive.BYTES:
            return BLOB.map(lambda data: base64.b64encode(data).decode())
        case Primitive.UUID:
            return st.binary(min_size=16, max_size=16).map(uuid_to_base64)
        case Primitive.BOOL:
            return st.booleans()
        case Primitive.UINT16:
            return st.integers(0, 65_535)
        case _:
            return integers({"b": 8, "h": 16, "i": 32, "q": 64}[type_.value[0]])


def structs(body: Struct, form: Form) -> st.SearchStrategy[dict[str, Any]]:
    """A struct with every fixed field, and any of its tagged fields away from their defaults."""

    def field(each: Field) -> st.SearchStrategy[Any]:
        given = values(each.type, form)
        return st.none() | given if each.is_nullable_in(form.version) else given

    fixed = {each.name: field(each) for each in body.in_version(form.version)}
    tagged = {
        each.name: field(each).filter(lambda value, default=each.tagged_default: value != default)
        for each in body.tagged_in_version(form.version)
    }
    if form.flexible:
        # Beyond every tag that is declared, and in rising order, as Kafka writes them.
        unknown = st.dictionaries(st.integers(50, 2**31 - 2), BLOB, min_size=1, max_size=2)
        tagged[UNKNOWN_TAGS] = unknown.map(
            lambda tags: [{"tag": tag, "data": base64.b64encode(tags[tag]).decode()} for tag in sorted(tags)]
        )
    return st.fixed_dictionaries(fixed, optional=tagged)


def bodies(message: Message, version: int) -> st.SearchStrategy[dict[str, Any]]:
    return structs(message.body, message.form(version))


@st.composite
def payloads(draw: st.DrawFn, record_types: Mapping[int, RecordType] = RECORD_TYPES) -> dict[str, Any]:
    """A record of any type and version, or a tombstone."""
    record_type = record_types[draw(st.sampled_from(sorted(record_types)))]
    version = draw(st.none() | st.integers(0, record_type.value.newest))
    return {
        "type": record_type.number,
        "key": draw(bodies(record_type.key, 0)),
        "version": version,
        "value": None if version is None else draw(bodies(record_type.value, version)),
    }


@st.composite
def batches(draw: st.DrawFn, base_offset: st.SearchStrategy[int] | None = None) -> RecordBatch:
    """Any batch that the format can hold; offsets may have holes, as compaction leaves them."""
    base = draw(st.integers(0, 2**40) if base_offset is None else base_offset)
    base_timestamp, max_timestamp = draw(st.integers(-1, 2**50)), draw(st.integers(-1, 2**50))
    timestamp_type = draw(st.sampled_from(TimestampType))
    deltas = sorted(draw(st.sets(st.integers(0, 20), max_size=5)))
    nullable = st.none() | BLOB
    records = [
        Record(
            offset=base + delta,
            timestamp_ms=max_timestamp
            if timestamp_type is TimestampType.LOG_APPEND_TIME
            else base_timestamp + draw(st.integers(-(2**40), 2**40)),
            key=draw(nullable),
            value=draw(nullable),
            headers=tuple(draw(st.lists(st.builds(Header, key=TEXT, value=nullable), max_size=2))),
        )
        for delta in deltas
    ]
    return RecordBatch(
        base_offset=base,
        records=tuple(records),
        partition_leader_epoch=draw(st.integers(-1, 2**31 - 1)),
        compression=draw(st.sampled_from(Compression)),
        timestamp_type=timestamp_type,
        is_transactional=draw(st.booleans()),
        is_control=draw(st.booleans()),
        has_delete_horizon=draw(st.booleans()),
        last_offset_delta=draw(st.integers(deltas[-1] if deltas else 0, 40)),
        base_timestamp_ms=base_timestamp,
        max_timestamp_ms=max_timestamp,
        producer_id=draw(integers(64)),
        producer_epoch=draw(integers(16)),
        base_sequence=draw(integers(32)),
    )
