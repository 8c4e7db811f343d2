"""Java's order of strings, and the two forms in which its ``DataOutputStream`` writes one.

In Kafka only the assignments of Streams have those forms:

``writeUTF``: an unsigned int16 of bytes, then modified UTF-8: NUL in two bytes, each half of a surrogate pair in three.
``writeChars`` behind an int32 that counts them: UTF-16. Where Streams counts no chars, there is no name: null.

Java reads some bytes that it never writes (forms longer than needed, negative counts); they are read here too, and
written as Java writes them. A lone surrogate, which Java allows, is refused: no JSON could carry it.
"""

from __future__ import annotations

import struct
from typing import Final

from groups.wire.codecs.primitives import read_int32_length, take
from groups.wire.errors import MalformedError, TruncatedError, UnencodableError

LONGEST_MODIFIED_UTF8: Final = 65_535
"""In bytes: what an unsigned int16 can say."""

_UINT16: Final = struct.Struct(">H")
_INT32: Final = struct.Struct(">i")
_CONTINUATION_BYTES: Final = (0, 0, 0, 0, 0, 0, 0, 0, None, None, None, None, 1, 1, 2, None)
"""How many bytes follow the first one of a unit, by the four highest bits of that; ``None`` begins no unit."""


def java_order(text: str) -> bytes:
    """A sort key: Java compares strings by UTF-16 units, and big-endian bytes have the same order."""
    return text.encode("utf-16-be", "surrogatepass")


def read_modified_utf8(data: bytes, at: int) -> tuple[str, int]:
    """What ``readUTF`` reads."""
    start = at + _UINT16.size
    if start > len(data):
        raise TruncatedError("a length", needed=_UINT16.size, left=max(len(data) - at, 0), offset=at)
    raw, end = take(data, start, _UINT16.unpack_from(data, at)[0], "a string")
    return raw.decode("ascii") if raw.isascii() else _from_units(_units(raw, start), start), end


def write_modified_utf8(out: bytearray, value: object) -> None:
    """The inverse of ``read_modified_utf8``."""
    encoded = bytearray()
    for (unit,) in struct.iter_unpack(">H", _to_units(value)):
        if 0 < unit < 0x80:
            encoded.append(unit)
        elif unit < 0x800:
            encoded += bytes((0xC0 | unit >> 6, 0x80 | unit & 0x3F))
        else:
            encoded += bytes((0xE0 | unit >> 12, 0x80 | unit >> 6 & 0x3F, 0x80 | unit & 0x3F))
    if len(encoded) > LONGEST_MODIFIED_UTF8:
        raise UnencodableError(f"a string of {len(encoded)} bytes; the longest is {LONGEST_MODIFIED_UTF8}")
    out += _UINT16.pack(len(encoded))
    out += encoded


def read_chars(data: bytes, at: int) -> tuple[str | None, int]:
    """A count and as many chars; ``None`` where it counts none, or fewer."""
    count, start = read_int32_length(data, at)
    if count <= 0:
        return None, start
    raw, end = take(data, start, 2 * count, f"{count} chars")
    return _from_units(raw, start), end


def write_chars(out: bytearray, value: object) -> None:
    """The inverse of ``read_chars``; an empty name and none are the same."""
    units = b"" if value is None else _to_units(value)
    out += _INT32.pack(len(units) // 2)
    out += units


def _units(raw: bytes, start: int) -> bytes:
    """Modified UTF-8 as the UTF-16 that it encodes."""
    units = bytearray()
    at = 0
    while at < len(raw):
        more = _CONTINUATION_BYTES[raw[at] >> 4]
        following = raw[at + 1 : at + 1 + (more or 0)]
        if more is None or len(following) < more or any(byte & 0xC0 != 0x80 for byte in following):
            raise MalformedError("a string is not modified UTF-8", offset=start + at)
        unit = raw[at] & (0x7F, 0x1F, 0x0F)[more]
        for byte in following:
            unit = unit << 6 | byte & 0x3F
        units += _UINT16.pack(unit)
        at += 1 + more
    return bytes(units)


def _from_units(units: bytes, start: int) -> str:
    try:
        return units.decode("utf-16-be")
    except UnicodeDecodeError:
        raise MalformedError("a string has half of a surrogate pair", offset=start) from None


def _to_units(value: object) -> bytes:
    if not isinstance(value, str):
        raise UnencodableError(f"{value!r:.60} is not a string")
    try:
        return value.encode("utf-16-be")
    except UnicodeEncodeError:
        raise UnencodableError(f"{value!r:.60} has a lone surrogate, which is no text") from None
