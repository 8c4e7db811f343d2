"""Records, batches and segments as they stand in a log, byte by byte (magic 2, KIP-98).

Lengths, deltas and counts inside a record are zigzag varints. The records of a compressed batch are listed in
coordinates of their own, those of what is decompressed. Whatever a batch's CRC says, its fields are listed.
Layout: ``groups.wire.record_batch``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import google_crc32c

from groups.wire.batches import BatchProblem, read_placed_batches
from groups.wire.compression import Compression, compress, decompress
from groups.wire.errors import (
    CompressionError,
    MalformedError,
    RecordError,
    TruncatedError,
    UnencodableError,
    UnknownVersionError,
)
from groups.wire.inspection.layouts import Listing
from groups.wire.inspection.nodes import REST, Node, Problem, values_of
from groups.wire.inspection.walk import MOST_BYTES, Stopped, Walk
from groups.wire.primitives import from_base64, read_varint, read_varlong, take, to_base64, write_varlong
from groups.wire.record_batch import CRC_END, HEADER_BYTES, LEAST_RECORD_BYTES, LENGTH_END, MAGIC
from groups.wire.schema import Form, Struct

HEADER_FIELDS: Final = (
    ("baseOffset", "int64", "q"),
    ("batchLength", "int32", "i"),
    ("partitionLeaderEpoch", "int32", "i"),
    ("magic", "int8", "b"),
    ("crc", "uint32", "I"),
    ("attributes", "int16", "h"),
    ("lastOffsetDelta", "int32", "i"),
    ("baseTimestamp", "int64", "q"),
    ("maxTimestamp", "int64", "q"),
    ("producerId", "int64", "q"),
    ("producerEpoch", "int16", "h"),
    ("baseSequence", "int32", "i"),
    ("recordsCount", "int32", "i"),
)
"""Name, type, and letter of ``struct``, in their order."""

COMPRESSION_BITS: Final = 0x07
CONTROL_BIT: Final = 0x20

RECORD: Final = "Record"
BATCH: Final = "RecordBatch"
CONTROL_BATCH: Final = "ControlRecordBatch"
SEGMENT: Final = "Segment"
"""What listings call the message, for meanings and for what is opened in place."""

RECORDS: Final = ((RECORD, ""), (BATCH, "records."))
"""Where records of a topic stand: in which message, under which path."""


class Framed:
    """What the three have in common: no versions, nothing that leads, and values that are those of the listing."""

    versions: tuple[int, ...] = ()
    appends = False
    older_read_it = False
    leading_name = None

    def body_at(self, leading: int) -> tuple[Struct, Form]:
        raise UnknownVersionError("there are no versions of it")

    def into(self, listing: Listing, walk: Walk, version: int | None) -> None:
        raise NotImplementedError

    def read(self, data: bytes, version: int | None) -> tuple[int | None, dict[str, Any], int]:
        listing = Listing()
        try:
            self.into(listing, Walk(data), None)
        except Stopped as stopped:
            raise MalformedError(stopped.problem.sentence, offset=stopped.problem.offset) from None
        if listing.fault is not None:
            raise MalformedError(listing.fault.sentence, offset=listing.fault.offset)
        return listing.version, values_of(listing.fields), listing.read


@dataclass(frozen=True, slots=True)
class FramedRecord(Framed):
    """One record of a batch, from its length to its last header."""

    def into(self, listing: Listing, walk: Walk, version: int | None) -> None:
        listing.message = RECORD
        listing.read = list_record(walk, listing.fields, 0, RECORD)

    def write(self, value: Mapping[str, Any], version: int | None) -> bytes:
        out = bytearray()
        _write_record(out, value)
        return bytes(out)


@dataclass(frozen=True, slots=True)
class Batch(Framed):
    """One batch: its header, and its records, decompressed where they have to be."""

    def into(self, listing: Listing, walk: Walk, version: int | None) -> None:
        header = _list_header(walk, listing.fields)
        attributes = header["attributes"].value
        listing.message = CONTROL_BATCH if attributes & CONTROL_BIT else BATCH
        for node in listing.fields:
            node.message = listing.message
        length = header["batchLength"]
        end = LENGTH_END + length.value
        if not HEADER_BYTES <= end <= len(walk.data):
            left = len(walk.data) - LENGTH_END
            short = MalformedError(f"the batch says that {length.value} bytes follow, {left} do", offset=8)
            raise walk.fail(walk.node(listing.fields, REST, "bytes", HEADER_BYTES), short)
        found = google_crc32c.value(walk.data[CRC_END:end])
        if found != header["crc"].value:
            listing.fault = header["crc"].problem = Problem(
                sentence=f"the CRC-32C is {found:08x}, the header says {header['crc'].value:08x}: damaged bytes",
                offset=header["crc"].offset,
                path="crc",
            )
        self.list_records(
            listing, Walk(walk.data[:end], walk.base, walk.budget), attributes, header["recordsCount"]
        )
        listing.read = end

    def list_records(self, listing: Listing, walk: Walk, attributes: int, count: Node) -> None:
        node = walk.node(listing.fields, "records", "array", HEADER_BYTES, fields=[], message=listing.message)
        node.length = len(walk.data) - HEADER_BYTES
        inner, at = walk, HEADER_BYTES
        try:
            compression = Compression(attributes & COMPRESSION_BITS)
            if compression is not Compression.NONE:
                inner, at = Walk(decompress(compression, walk.data[HEADER_BYTES:]), 0, walk.budget), 0
                node.space = "records"
                node.meaning = f"{compression.name.lower()}, {len(inner.data)} bytes when decompressed"
            if len(inner.data) > MOST_BYTES:
                raise MalformedError(
                    f"{len(inner.data)} bytes when decompressed are too many to list; at most {MOST_BYTES} are"
                )
            left = len(inner.data) - at
            if not 0 <= count.value <= left // LEAST_RECORD_BYTES:
                raise MalformedError(f"it says that it has {count.value} records, in {left} bytes", offset=at)
        except ValueError as error:
            sentence = (
                error.sentence
                if isinstance(error, CompressionError | RecordError)
                else f"compression {attributes & COMPRESSION_BITS} is not known here; Kafka has 0 to 4"
            )
            raise walk.fail(node, MalformedError(sentence, offset=HEADER_BYTES)) from None
        assert node.fields is not None
        try:
            for index in range(count.value):
                if walk.budget[0] <= 0:
                    _fold_records(inner, node.fields, at, index, count.value)
                    return
                record = inner.node(node.fields, str(index), "struct", at, fields=[])
                assert record.fields is not None
                at = _contained(inner, record, at, listing.message)
        except Stopped as stopped:
            if node.space is not None:
                # The place is told in what is decompressed, which the outermost bytes have not.
                stopped.problem.sentence += f" (byte {stopped.problem.offset} of the decompressed records)"
                stopped.problem.offset = walk.base + HEADER_BYTES
            raise
        if at != len(inner.data):
            more = MalformedError(f"{len(inner.data) - at} bytes are left behind the last record", offset=at)
            raise inner.fail(inner.node(node.fields, REST, "bytes", at), more)

    def write(self, value: Mapping[str, Any], version: int | None) -> bytes:
        records = bytearray()
        for index, record in enumerate(_list(value, "records")):
            try:
                _write_record(records, record)
            except RecordError as error:
                error.inside(str(index))
                error.inside("records")
                raise
        numbers = {**value, "recordsCount": len(_list(value, "records")), "magic": MAGIC}
        try:
            packed = compress(Compression(numbers["attributes"] & COMPRESSION_BITS), bytes(records))
        except (KeyError, TypeError, ValueError):
            raise UnencodableError("attributes: their lowest three bits are no compression") from None
        checked = b"".join(_pack(numbers, name, letter) for name, _, letter in HEADER_FIELDS[5:]) + packed
        numbers["batchLength"] = CRC_END - LENGTH_END + len(checked)
        numbers["crc"] = google_crc32c.value(checked)
        return b"".join(_pack(numbers, name, letter) for name, _, letter in HEADER_FIELDS[:5]) + checked


@dataclass(frozen=True, slots=True)
class Segment(Framed):
    """Batches one after the other, to the end of the file or to where it was still being written."""

    def into(self, listing: Listing, walk: Walk, version: int | None) -> None:
        listing.message = SEGMENT
        for index, (position, length, outcome) in enumerate(read_placed_batches(walk.data)):
            if isinstance(outcome, BatchProblem):
                node = walk.node(listing.fields, f"{REST}{index}", "bytes", position)
                node.length, node.meaning = length, outcome.reason
                if not outcome.is_normal:
                    node.problem = Problem(sentence=outcome.reason, offset=position)
                    listing.fault = listing.fault or node.problem
            elif walk.budget[0] <= 0:
                rest = walk.node(listing.fields, f"{index}…", "bytes", position)
                rest.length = len(walk.data) - position
                rest.meaning = "more batches, not listed field by field"
                break
            else:
                inner = Listing()
                node = walk.node(listing.fields, str(index), "struct", position, fields=inner.fields)
                node.length, node.kind = length, "batch"
                batch = Walk(walk.data[position : position + length], position, walk.budget)
                try:
                    Batch().into(inner, batch, None)
                except Stopped as stopped:
                    listing.fault = node.problem = listing.fault or stopped.problem
        listing.read = len(walk.data)

    def read(self, data: bytes, version: int | None) -> tuple[int | None, dict[str, Any], int]:
        batches = 0
        for _, _, outcome in read_placed_batches(data):
            if not isinstance(outcome, BatchProblem):
                batches += 1
            elif not outcome.is_normal:
                raise MalformedError(outcome.reason, offset=outcome.position)
        if not batches:
            raise MalformedError("no batch is in it", offset=0)
        return None, {}, len(data)

    def write(self, value: Mapping[str, Any], version: int | None) -> bytes:
        raise UnencodableError("a segment is not edited; a batch of it can be")


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


def _contained(walk: Walk, record: Node, at: int, message: str) -> int:
    assert record.fields is not None
    try:
        end = list_record(walk, record.fields, at, message)
    except Stopped:
        record.length = len(walk.data) - at
        raise
    record.length = end - at
    return end


def _list_header(walk: Walk, into: list[Node]) -> dict[str, Node]:
    at = 0
    nodes = {}
    for name, type_, letter in HEADER_FIELDS:
        node = walk.node(into, name, type_, at)
        size = struct.calcsize(f">{letter}")
        try:
            raw, end = take(walk.data, at, size, f"the {name} of a batch")
        except RecordError as error:
            raise walk.fail(node, error) from None
        node.value, node.length = struct.unpack(f">{letter}", raw)[0], size
        if name == "magic" and node.value != MAGIC:
            wrong = MalformedError(f"a batch of magic {node.value}; only magic {MAGIC} is read", offset=at)
            raise walk.fail(node, wrong)
        nodes[name], at = node, end
    return nodes


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


def _fold_records(walk: Walk, into: list[Node], at: int, index: int, count: int) -> None:
    node = Node(name=f"{index}…{count - 1}", type="bytes", offset=walk.base + at)
    node.length = len(walk.data) - at
    node.meaning = f"{count - index} records, not listed field by field"
    into.append(node)


def _write_record(out: bytearray, value: Any) -> None:
    if not isinstance(value, dict):
        raise UnencodableError(f"{value!r:.60} is not an object with fields")
    inner = bytearray(_pack(value, "attributes", "b"))
    for name in ("timestampDelta", "offsetDelta"):
        write_varlong(inner, _whole(value, name))
    for name in ("key", "value"):
        _write_bytes(inner, value.get(name))
    headers = _list(value, "headers")
    write_varlong(inner, len(headers))
    for header in headers:
        raw = str(header["key"]).encode(errors="replace")
        write_varlong(inner, len(raw))
        inner += raw
        _write_bytes(inner, header["value"])
    write_varlong(out, len(inner))
    out += inner


def _write_bytes(out: bytearray, value: Any) -> None:
    if value is None:
        write_varlong(out, -1)
        return
    raw = from_base64(value)
    write_varlong(out, len(raw))
    out += raw


def _whole(value: Mapping[str, Any], name: str) -> int:
    number = value.get(name)
    if not isinstance(number, int) or not -(1 << 63) <= number < 1 << 63:
        raise UnencodableError(f"{name}: {number!r:.60} is not an int64")
    return number


def _list(value: Mapping[str, Any], name: str) -> list[Any]:
    found = value.get(name)
    if not isinstance(found, list):
        raise UnencodableError(f"{name}: {found!r:.60} is not a list")
    return found


def _pack(value: Mapping[str, Any], name: str, letter: str) -> bytes:
    try:
        return struct.pack(f">{letter}", value.get(name))
    except struct.error:
        types = {name: type_ for name, type_, _ in HEADER_FIELDS}
        raise UnencodableError(
            f"{name}: {value.get(name)!r:.60} is not an {types.get(name, 'int8')}"
        ) from None


assert struct.calcsize(">" + "".join(letter for _, _, letter in HEADER_FIELDS)) == HEADER_BYTES
