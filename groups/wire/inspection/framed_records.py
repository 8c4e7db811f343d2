"""One record as it is in a batch: its fields one by one, and written again.

Lengths, deltas and counts are zigzag varints. Layout: ``groups.wire.logs.record_batch``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping

from groups.wire.codecs.primitives import (
    from_base64,
    read_varint,
    read_varlong,
    take,
    to_base64,
    write_varlong,
)
from groups.wire.codecs.values import Value
from groups.wire.errors import MalformedError, RecordError, TruncatedError, UnencodableError
from groups.wire.inspection.nodes import REST, Node
from groups.wire.inspection.walk import Stopped, Walk


def list_record(walk: Walk, into: list[Node], at: int, message: str) -> int:
    """A record's fields, from its length on; returns where it ends."""
    first = len(into)
    try:
        length, start = _number(walk, into, "length", at, read_varint, "varint")
        if not 0 < length <= len(walk.data) - start:
            short = TruncatedError("a record", needed=length, left=len(walk.data) - start, offset=start)
            raise walk.fail(walk.node(into, REST, "bytes", start), short)
        end = start + length
        inner = Walk(walk.data[:end], walk.base, walk.budget)
        attributes = inner.node(
            into,
            "attributes",
            "int8",
            start,
            value=int.from_bytes(inner.data[start : start + 1], signed=True),
        )
        attributes.length = 1
        _, at = _number(inner, into, "timestampDelta", start + 1, read_varlong, "varlong")
        _, at = _number(inner, into, "offsetDelta", at, read_varint, "varint")
        at = _bytes(inner, into, "key", at)
        at = _bytes(inner, into, "value", at)
        at = _headers(inner, into, at)
        if at != end:
            more = MalformedError(f"the record does not fill its {length} bytes", offset=at)
            raise inner.fail(inner.node(into, REST, "bytes", at), more)
        return end
    finally:
        for node in into[first:]:
            node.message = message


def _number(
    walk: Walk,
    into: list[Node],
    name: str,
    at: int,
    read: Callable[[bytes, int], tuple[int, int]],
    type_: str,
) -> tuple[int, int]:
    node = walk.node(into, name, type_, at)
    try:
        node.value, end = read(walk.data, at)
    except RecordError as error:
        raise walk.fail(node, error) from None
    node.length = end - at
    return node.value, end


def _bytes(walk: Walk, into: list[Node], name: str, at: int, type_: str = "bytes?") -> int:
    """Bytes behind a zigzag length; negative for null."""
    node = walk.node(into, name, type_, at)
    try:
        length, start = read_varint(walk.data, at)
        node.prefix = start - at
        if length < 0:
            if type_ == "string":
                raise MalformedError("a header without a key", offset=at)
            node.value, node.length = None, start - at
            return start
        raw, end = take(walk.data, start, length, f"the {name}")
    except RecordError as error:
        raise walk.fail(node, error) from None
    node.value = raw.decode(errors="replace") if type_ == "string" else to_base64(raw)
    node.length = end - at
    return end


def _headers(walk: Walk, into: list[Node], at: int) -> int:
    node = walk.node(into, "headers", "array", at, fields=[])
    assert node.fields is not None
    try:
        count, end = read_varint(walk.data, at)
        node.prefix = end - at
        left = len(walk.data) - end
        # A header has two lengths of at least a byte each.
        if not 0 <= count <= left // 2:
            raise MalformedError(f"a record says that it has {count} headers, in {left} bytes", offset=at)
    except RecordError as error:
        raise walk.fail(node, error) from None
    try:
        for index in range(count):
            if walk.budget[0] <= 0:
                raise walk.fail(
                    walk.node(node.fields, REST, "bytes", end),
                    MalformedError(f"{count} headers; not all of them are listed", offset=end),
                )
            header = walk.node(node.fields, str(index), "struct", end, fields=[])
            assert header.fields is not None
            begin = end
            header.length = len(walk.data) - begin
            end = _bytes(walk, header.fields, "key", end, "string")
            end = _bytes(walk, header.fields, "value", end)
            header.length = end - begin
    except Stopped:
        node.length = len(walk.data) - at
        raise
    node.length = end - at
    return end


def write_record(out: bytearray, value: Value) -> None:
    """The inverse of ``list_record``; lengths are made again. ``UnencodableError`` names the field."""
    if not isinstance(value, dict):
        raise UnencodableError(f"{value!r:.60} is not an object with fields")
    inner = bytearray(pack(value, "attributes", "b"))
    for name in ("timestampDelta", "offsetDelta"):
        write_varlong(inner, _whole(value, name))
    for name in ("key", "value"):
        _write_bytes(inner, value.get(name))
    headers = list_of(value, "headers")
    write_varlong(inner, len(headers))
    for header in headers:
        raw = str(header["key"]).encode(errors="replace")
        write_varlong(inner, len(raw))
        inner += raw
        _write_bytes(inner, header["value"])
    write_varlong(out, len(inner))
    out += inner


def _write_bytes(out: bytearray, value: Value) -> None:
    if value is None:
        write_varlong(out, -1)
        return
    raw = from_base64(value)
    write_varlong(out, len(raw))
    out += raw


def _whole(value: Mapping[str, Value], name: str) -> int:
    number = value.get(name)
    if not isinstance(number, int) or not -(1 << 63) <= number < 1 << 63:
        raise UnencodableError(f"{name}: {number!r:.60} is not an int64")
    return number


def list_of(value: Mapping[str, Value], name: str) -> list[Value]:
    """A field that is a list; ``UnencodableError`` if it is not."""
    found = value.get(name)
    if not isinstance(found, list):
        raise UnencodableError(f"{name}: {found!r:.60} is not a list")
    return found


def pack(value: Mapping[str, Value], name: str, letter: str) -> bytes:
    """A field as the integer of that letter of ``struct``; ``UnencodableError`` if it does not fit."""
    try:
        return struct.pack(f">{letter}", value.get(name))
    except struct.error:
        bits = 8 * struct.calcsize(f">{letter}")
        raise UnencodableError(f"{name}: {value.get(name)!r:.60} is not an integer of {bits} bits") from None
