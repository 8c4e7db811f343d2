"""Coordinator records: the key and value bytes of ``__consumer_offsets`` as one JSON-ready payload, and back.

The payload is that of an entry of kind ``record``::

    {"type": 3, "key": {"groupId": "orders"}, "version": 0, "value": {"epoch": 2}}

A tombstone has ``"version": null, "value": null``. What cannot be read (a type or a version that nobody here
knows, bytes that are too short or too many) is kept as it was, with the reason, and with the group's name where
the key could be read::

    {"type": 31, "key_bytes": base64 | null, "value_bytes": base64 | null, "reason": "…", "group": "orders"}

Layout: Kafka's ``CoordinatorRecordSerde``; fields: ``groups.wire.coordinator_schema``.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, Final

from groups.wire.codec import codec
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.errors import (
    MalformedError,
    RecordError,
    TruncatedError,
    UnencodableError,
    UnknownVersionError,
)
from groups.wire.primitives import from_base64, to_base64

__all__ = ["RecordError", "decode_record", "encode_record", "is_opaque"]

_INT16: Final = struct.Struct(">h")

_KEY_READERS: Final = {number: codec(type_.key, 0).read for number, type_ in RECORD_TYPES.items()}
_VALUE_READERS: Final = {
    (number, version): codec(type_.value, version).read
    for number, type_ in RECORD_TYPES.items()
    for version in range(type_.value.newest + 1)
}


def decode_record(key: bytes | None, value: bytes | None) -> dict[str, Any]:
    """The payload of a record; never raises, see the module for what cannot be read."""
    number: int | None = None
    fields: dict[str, Any] | None = None
    try:
        number = _leading_int16(key, "key")
        assert key is not None
        read_key = _KEY_READERS.get(number)
        if read_key is None:
            raise UnknownVersionError(f"records of type {number} are not known here")
        fields = _whole(read_key, key, "key")
        if value is None:
            return {"type": number, "key": fields, "version": None, "value": None}
        version = _leading_int16(value, "value")
        read_value = _VALUE_READERS.get((number, version))
        if read_value is None:
            raise UnknownVersionError(
                f"type {number} has no value version {version} here; known are 0 to "
                f"{RECORD_TYPES[number].value.newest}"
            )
        decoded = _whole(read_value, value, "value")
    except RecordError as error:
        opaque: dict[str, Any] = {
            "type": number,
            "key_bytes": None if key is None else to_base64(key),
            "value_bytes": None if value is None else to_base64(value),
            "reason": str(error),
        }
        if fields is not None and number is not None:
            opaque["group"] = fields[RECORD_TYPES[number].group_field]
        return opaque
    return {"type": number, "key": fields, "version": version, "value": decoded}


def encode_record(payload: Mapping[str, Any]) -> tuple[bytes | None, bytes | None]:
    """Key and value bytes of a payload, as Kafka would write them; ``UnencodableError`` names the field.

    A record that was kept as bytes gives the same bytes again, which is the only way to a key of ``None``.
    """
    if is_opaque(payload):
        return _optional_bytes(payload, "key_bytes"), _optional_bytes(payload, "value_bytes")
    number = payload.get("type")
    record_type = RECORD_TYPES.get(number) if isinstance(number, int) else None
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


def is_opaque(payload: Mapping[str, Any]) -> bool:
    """Whether the record was kept as bytes, because it could not be read."""
    return "key_bytes" in payload


def _leading_int16(data: bytes | None, what: str) -> int:
    if data is None:
        raise MalformedError(f"the record has no {what}")
    if len(data) < _INT16.size:
        error = TruncatedError("an int16", needed=_INT16.size, left=len(data), offset=0)
        error.inside(what)
        raise error
    number: int = _INT16.unpack_from(data)[0]
    return number


def _whole(read: Any, data: bytes, what: str) -> dict[str, Any]:
    """All of ``data`` behind its int16; a byte too many means that it is not what its version says."""
    try:
        fields, end = read(data, _INT16.size)
        if end != len(data):
            raise MalformedError(
                f"the fields end here, the bytes go on for {len(data) - end} more", offset=end
            )
    except RecordError as error:
        error.inside(what)
        raise
    result: dict[str, Any] = fields
    return result


def _written(what: str, leading: int, write: Any, fields: Any) -> bytes:
    out = bytearray(_INT16.pack(leading))
    try:
        write(out, fields)
    except RecordError as error:
        error.inside(what)
        raise
    return bytes(out)


def _optional_bytes(payload: Mapping[str, Any], name: str) -> bytes | None:
    text = payload.get(name)
    return None if text is None else from_base64(text)
