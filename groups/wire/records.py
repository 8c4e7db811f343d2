"""Coordinator records: the key and value bytes of ``__consumer_offsets`` as one JSON-ready payload, and back.

The payload is that of an entry of kind ``record``::

    {"type": 3, "key": {"groupId": "orders"}, "version": 0, "value": {"epoch": 2}}

A tombstone has ``"version": null, "value": null``. What cannot be read (a type or a version that nobody here
knows, bytes that are too short or too many) is kept as it was, with the reason, and with the group's name where
the key could be read::

    {"type": 31, "key_bytes": base64 | null, "value_bytes": base64 | null, "reason": "…", "group": "orders"}

A group's name that is not UTF-8 is read as Kafka reads it, with replacement characters; ``raw_key`` has the key's bytes.

Layout: Kafka's ``CoordinatorRecordSerde``; fields: ``groups.wire.coordinator_schema``.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Final

from groups.wire.codecs.codec import codec
from groups.wire.codecs.primitives import Reader, Writer, from_base64, to_base64
from groups.wire.codecs.values import Fields, Value
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.errors import (
    MalformedError,
    RecordError,
    TruncatedError,
    UnencodableError,
    UnknownVersionError,
)
from groups.wire.group_of_key import with_readable_group
from groups.wire.record_type import RecordType

_INT16: Final = struct.Struct(">h")


class _Values(dict[bytes, tuple[int, Reader]]):
    """The version and the reader of a value, by the two bytes that it begins with."""

    def __init__(self, type_: RecordType) -> None:
        self.type = type_

    def __missing__(self, leading: bytes) -> tuple[int, Reader]:
        version = _leading_int16(leading)
        message = self.type.value
        if not message.knows(version):
            raise UnknownVersionError(
                f"type {self.type.number} has no value version {version} here; known are "
                f"{message.oldest} to {message.newest}"
            )
        self[leading] = version, codec(message, version).read
        return self[leading]


class KnownRecords(dict[bytes, tuple[RecordType, Reader, _Values]]):
    """Record types by number, and what is known of a record by the two bytes that its key begins with."""

    def __init__(self, types: Mapping[int, RecordType]) -> None:
        self.types = types

    def __missing__(self, leading: bytes) -> tuple[RecordType, Reader, _Values]:
        number = _leading_int16(leading)
        type_ = self.types.get(number)
        if type_ is None:
            raise UnknownVersionError(f"records of type {number} are not known here")
        self[leading] = type_, codec(type_.key, 0).read, _Values(type_)
        return self[leading]


RELEASED: Final = KnownRecords(RECORD_TYPES)
"""What released Kafka writes; the proposal has records of its own (``groups.wire.kip``)."""


def decode_record(key: bytes | None, value: bytes | None, known: KnownRecords = RELEASED) -> Fields:
    """The payload of a record; never raises, see the module for what cannot be read."""
    type_: RecordType | None = None
    fields: Fields | None = None
    try:
        if key is None:
            raise MalformedError("the record has no key")
        type_, read_key, values = known[key[:2]]
        try:
            read, end = read_key(key, 2)
        except MalformedError:
            shown = with_readable_group(key)
            if shown is None:
                raise
            payload = decode_record(shown, value, known)
            # What cannot be read for another reason keeps its own bytes, not those with replacement characters.
            return {**payload, "key_bytes" if is_opaque(payload) else "raw_key": to_base64(key)}
        if end != len(key):
            raise _too_many(key, end)
        fields = read
        if value is None:
            return {"type": type_.number, "key": fields, "version": None, "value": None}
        version, read_value = values[value[:2]]
        decoded, end = read_value(value, 2)
        if end != len(value):
            raise _too_many(value, end)
    except RecordError as error:
        if error.offset is not None:
            error.inside("key" if fields is None else "value")
        opaque: Fields = {
            "type": _INT16.unpack_from(key)[0] if key is not None and len(key) >= _INT16.size else None,
            "key_bytes": None if key is None else to_base64(key),
            "value_bytes": None if value is None else to_base64(value),
            "reason": str(error),
        }
        if fields is not None and type_ is not None:
            opaque["group"] = fields[type_.group_field]
        return opaque
    return {"type": type_.number, "key": fields, "version": version, "value": decoded}


def encode_record(
    payload: Mapping[str, Value], known: KnownRecords = RELEASED
) -> tuple[bytes | None, bytes | None]:
    """Key and value bytes of a payload, as Kafka would write them; ``UnencodableError`` names the field.

    A record that was kept as bytes gives the same bytes again, which is the only way to a key of ``None``.
    """
    if is_opaque(payload):
        return _optional_bytes(payload, "key_bytes"), _optional_bytes(payload, "value_bytes")
    if (raw := payload.get("raw_key")) is not None:
        _, value_bytes = encode_record(
            {name: each for name, each in payload.items() if name != "raw_key"}, known
        )
        return from_base64(raw), value_bytes
    number = payload.get("type")
    record_type = known.types.get(number) if isinstance(number, int) else None
    if record_type is None or number is None:
        raise UnencodableError(f"records of type {number!r:.60} are not known here")
    key = _written("key", number, codec(record_type.key, 0).write, payload.get("key"))
    version, value = payload.get("version"), payload.get("value")
    if value is None and version is None:
        return key, None
    if not isinstance(version, int) or not record_type.value.knows(version):
        raise UnencodableError(
            f"type {number} has no value version {version!r:.60}; known are 0 to {record_type.value.newest}, "
            "and null for a tombstone"
        )
    return key, _written("value", version, codec(record_type.value, version).write, value)


def is_opaque(payload: Mapping[str, Value]) -> bool:
    """Whether the record was kept as bytes, because it could not be read."""
    return "key_bytes" in payload


def _leading_int16(leading: bytes) -> int:
    if len(leading) < _INT16.size:
        raise TruncatedError("an int16", needed=_INT16.size, left=len(leading), offset=0)
    number: int = _INT16.unpack(leading)[0]
    return number


def _too_many(data: bytes, end: int) -> MalformedError:
    """A byte too many means that the bytes are not what their version states."""
    return MalformedError(f"the fields end here, the bytes go on for {len(data) - end} more", offset=end)


def _written(what: str, leading: int, write: Writer, fields: Value) -> bytes:
    out = bytearray(_INT16.pack(leading))
    try:
        write(out, fields)
    except RecordError as error:
        error.inside(what)
        raise
    return bytes(out)


def _optional_bytes(payload: Mapping[str, Value], name: str) -> bytes | None:
    text = payload.get(name)
    return None if text is None else from_base64(text)
