"""Readers and writers of the types that Kafka's messages are made of.

A reader is ``read(data, at) -> (value, end)``: ``data`` the whole bytes, ``at`` where the value begins, ``end``
where the next one does. A writer is ``write(out, value)`` and appends to a ``bytearray``. Every length is compared
with what is left before anything of that size is made. Values are in JSON form (bytes in base64, ids as text).

Types: Kafka's protocol guide, "Protocol Primitive Types"; compact forms and tagged fields: KIP-482.
"""

from __future__ import annotations

import binascii
import struct
from collections.abc import Callable
from typing import Final

from groups.wire.codecs.uuids import UUID_BYTES, base64_to_uuid, uuid_to_base64
from groups.wire.codecs.values import Value
from groups.wire.errors import MalformedError, TruncatedError, UnencodableError

Reader = Callable[[bytes, int], tuple[Value, int]]
Writer = Callable[[bytearray, Value], None]

LONGEST_STRING: Final = 32_767
"""Kafka's own limit for a string, compact ones too (an int16 length in the older form)."""

_VARINT_BYTES: Final = 5
_VARLONG_BYTES: Final = 10
_INT16: Final = struct.Struct(">h")
_INT32: Final = struct.Struct(">i")


def read_unsigned_varint(data: bytes, at: int, longest: int = _VARINT_BYTES) -> tuple[int, int]:
    """An unsigned varint of at most ``longest`` bytes, seven bits each, the lowest first."""
    value = shift = 0
    end = at
    try:
        while True:
            byte = data[end]
            end += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if end - at == longest:
                raise MalformedError(f"a varint is longer than {longest} bytes", offset=at)
    except IndexError:
        raise TruncatedError("a varint", needed=end - at + 1, left=len(data) - at, offset=at) from None
    # The last byte of the longest form has bits to spare, which Kafka's shifts drop.
    return value & (0xFFFFFFFF if longest == _VARINT_BYTES else 0xFFFFFFFFFFFFFFFF), end


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    """A zigzag int32."""
    if at + 1 < len(data) and (low := data[at]) > 0x7F and (high := data[at + 1]) < 0x80:
        # Lengths of records have two bytes, nearly always.
        raw, end = low & 0x7F | high << 7, at + 2
    else:
        raw, end = read_unsigned_varint(data, at)
    return (raw >> 1) ^ -(raw & 1), end


def read_varlong(data: bytes, at: int) -> tuple[int, int]:
    """A zigzag int64."""
    raw, end = read_unsigned_varint(data, at, _VARLONG_BYTES)
    return (raw >> 1) ^ -(raw & 1), end


def write_unsigned_varint(out: bytearray, value: int) -> None:
    """The inverse of ``read_unsigned_varint``; ``value`` is not negative."""
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)


def write_varlong(out: bytearray, value: int) -> None:
    """A zigzag integer of up to 64 bits; an int32 has the same bytes either way."""
    write_unsigned_varint(out, (value << 1) ^ (value >> 63))


def take(data: bytes, at: int, length: int, what: str) -> tuple[bytes, int]:
    """The next ``length`` bytes, compared with what is left before they are copied."""
    end = at + length
    if end > len(data):
        raise TruncatedError(what, needed=length, left=max(len(data) - at, 0), offset=at)
    return data[at:end], end


def read_int16_length(data: bytes, at: int) -> tuple[int, int]:
    """An int16 length; negative means null."""
    try:
        return _INT16.unpack_from(data, at)[0], at + 2
    except struct.error:
        raise TruncatedError("a length", needed=2, left=max(len(data) - at, 0), offset=at) from None


def read_int32_length(data: bytes, at: int) -> tuple[int, int]:
    """An int32 length or count; negative means null."""
    try:
        return _INT32.unpack_from(data, at)[0], at + 4
    except struct.error:
        raise TruncatedError("a length", needed=4, left=max(len(data) - at, 0), offset=at) from None


def read_compact_length(data: bytes, at: int) -> tuple[int, int]:
    """A compact length or count: stored as one more, 0 for null (returned here as -1)."""
    if at < len(data) and (byte := data[at]) < 0x80:
        return byte - 1, at + 1
    length, end = read_unsigned_varint(data, at)
    return length - 1, end


def write_int16_length(out: bytearray, length: int) -> None:
    out += _INT16.pack(length)


def write_int32_length(out: bytearray, length: int) -> None:
    out += _INT32.pack(length)


def write_compact_length(out: bytearray, length: int) -> None:
    write_unsigned_varint(out, length + 1)


LengthReader = Callable[[bytes, int], tuple[int, int]]
LengthWriter = Callable[[bytearray, int], None]


def string_reader(read_length: LengthReader, *, nullable: bool) -> Reader:
    """A UTF-8 string behind a length of the given form."""

    def read(data: bytes, at: int) -> tuple[str | None, int]:
        length, start = read_length(data, at)
        if length < 0:
            _check_null(nullable, length, "a string", at)
            return None, start
        if length > LONGEST_STRING:
            raise MalformedError(
                f"a string of {length} bytes; Kafka's longest is {LONGEST_STRING}", offset=at
            )
        end = start + length
        if end > len(data):
            raise TruncatedError("a string", needed=length, left=len(data) - start, offset=start)
        try:
            return data[start:end].decode(), end
        except UnicodeDecodeError as error:
            raise MalformedError("a string is not UTF-8", offset=start + error.start) from None

    return read


def string_writer(write_length: LengthWriter, *, nullable: bool) -> Writer:
    """The inverse of ``string_reader``."""

    def write(out: bytearray, value: Value) -> None:
        if value is None and nullable:
            write_length(out, -1)
            return
        if not isinstance(value, str):
            raise UnencodableError(f"{_shown(value)} is not a string")
        try:
            encoded = value.encode()
        except UnicodeEncodeError:
            raise UnencodableError(
                f"{_shown(value)} has a lone surrogate, which UTF-8 has no bytes for"
            ) from None
        if len(encoded) > LONGEST_STRING:
            raise UnencodableError(f"a string of {len(encoded)} bytes; Kafka's longest is {LONGEST_STRING}")
        write_length(out, len(encoded))
        out += encoded

    return write


def bytes_reader(read_length: LengthReader, *, nullable: bool) -> Reader:
    """Bytes behind a length of the given form, returned in base64."""

    def read(data: bytes, at: int) -> tuple[str | None, int]:
        length, start = read_length(data, at)
        if length < 0:
            _check_null(nullable, length, "bytes", at)
            return None, start
        value, end = take(data, start, length, "a field of bytes")
        return to_base64(value), end

    return read


def bytes_writer(write_length: LengthWriter, *, nullable: bool) -> Writer:
    """The inverse of ``bytes_reader``."""

    def write(out: bytearray, value: Value) -> None:
        if value is None and nullable:
            write_length(out, -1)
            return
        raw = from_base64(value)
        write_length(out, len(raw))
        out += raw

    return write


def read_uuid(data: bytes, at: int) -> tuple[str, int]:
    """An id, as Kafka writes it in text."""
    end = at + UUID_BYTES
    if end > len(data):
        raise TruncatedError("an id", needed=UUID_BYTES, left=max(len(data) - at, 0), offset=at)
    return uuid_to_base64(data[at:end]), end


def write_uuid(out: bytearray, value: Value) -> None:
    """The inverse of ``read_uuid``."""
    if not isinstance(value, str):
        raise UnencodableError(f"{_shown(value)} is not an id in text form")
    out += base64_to_uuid(value)


def write_bool(out: bytearray, value: Value) -> None:
    """One byte, 1 or 0; any byte but 0 reads as true."""
    if not isinstance(value, bool):
        raise UnencodableError(f"{_shown(value)} is neither true nor false")
    out.append(value)


def to_base64(value: bytes) -> str:
    """Bytes in the standard base64 that Kafka's JSON form uses."""
    return binascii.b2a_base64(value, newline=False).decode("ascii")


def from_base64(text: Value) -> bytes:
    """The inverse of ``to_base64``; ``UnencodableError`` for anything else."""
    try:
        return binascii.a2b_base64(text, strict_mode=True)
    except (TypeError, ValueError):
        raise UnencodableError(f"{_shown(text)} is not base64") from None


def _check_null(nullable: bool, length: int, what: str, at: int) -> None:
    if not nullable:
        raise MalformedError(f"{what} that may not be null is null (length {length})", offset=at)
    if length != -1:
        raise MalformedError(f"{what} of length {length}; only -1 means null", offset=at)


def _shown(value: object) -> str:
    return f"{value!r:.60}"
