"""Records, batches and segments as they stand in a log, byte by byte (magic 2, KIP-98).

Lengths, deltas and counts inside a record are zigzag varints. The records of a compressed batch are listed in
coordinates of their own, those of what is decompressed. Whatever a batch's CRC is, its fields are listed.
Layout: ``groups.wire.logs.record_batch``.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import google_crc32c

from groups.wire.codecs.primitives import take
from groups.wire.codecs.values import Fields, Value
from groups.wire.errors import (
    CompressionError,
    MalformedError,
    RecordError,
    UnencodableError,
)
from groups.wire.inspection.framed_records import list_of, list_record, pack, write_record
from groups.wire.inspection.layouts import Layout, Listing
from groups.wire.inspection.nodes import REST, Node, Problem, values_of
from groups.wire.inspection.walk import MOST_BYTES, Stopped, Walk
from groups.wire.logs.batches import BatchProblem, read_placed_batches
from groups.wire.logs.compression import Compression, compress, decompress
from groups.wire.logs.record_batch import CRC_END, HEADER_BYTES, LEAST_RECORD_BYTES, LENGTH_END, MAGIC

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


class Framed(Layout):
    """What the three have in common: no versions, nothing that leads, and values that are those of the listing."""

    def read(self, data: bytes, version: int | None) -> tuple[int | None, Fields, int]:
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

    def write(self, value: Mapping[str, Value], version: int | None) -> bytes:
        out = bytearray()
        write_record(out, value)
        return bytes(out)


@dataclass(frozen=True, slots=True)
class InspectedBatch(Framed):
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
                # The place counts in what is decompressed, which is not in the outermost bytes.
                stopped.problem.sentence += f" (byte {stopped.problem.offset} of the decompressed records)"
                stopped.problem.offset = walk.base + HEADER_BYTES
            raise
        if at != len(inner.data):
            more = MalformedError(f"{len(inner.data) - at} bytes are left behind the last record", offset=at)
            raise inner.fail(inner.node(node.fields, REST, "bytes", at), more)

    def write(self, value: Mapping[str, Value], version: int | None) -> bytes:
        records = bytearray()
        for index, record in enumerate(list_of(value, "records")):
            try:
                write_record(records, record)
            except RecordError as error:
                error.inside(str(index))
                error.inside("records")
                raise
        numbers = {**value, "recordsCount": len(list_of(value, "records")), "magic": MAGIC}
        try:
            packed = compress(Compression(numbers["attributes"] & COMPRESSION_BITS), bytes(records))
        except (KeyError, TypeError, ValueError):
            raise UnencodableError("attributes: their lowest three bits are no compression") from None
        checked = b"".join(pack(numbers, name, letter) for name, _, letter in HEADER_FIELDS[5:]) + packed
        numbers["batchLength"] = CRC_END - LENGTH_END + len(checked)
        numbers["crc"] = google_crc32c.value(checked)
        return b"".join(pack(numbers, name, letter) for name, _, letter in HEADER_FIELDS[:5]) + checked


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
                    InspectedBatch().into(inner, batch, None)
                except Stopped as stopped:
                    listing.fault = node.problem = listing.fault or stopped.problem
        listing.read = len(walk.data)

    def read(self, data: bytes, version: int | None) -> tuple[int | None, Fields, int]:
        batches = 0
        for _, _, outcome in read_placed_batches(data):
            if not isinstance(outcome, BatchProblem):
                batches += 1
            elif not outcome.is_normal:
                raise MalformedError(outcome.reason, offset=outcome.position)
        if not batches:
            raise MalformedError("no batch is in it", offset=0)
        return None, {}, len(data)

    def write(self, value: Mapping[str, Value], version: int | None) -> bytes:
        raise UnencodableError("a segment is not edited; a batch of it can be")


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


def _fold_records(walk: Walk, into: list[Node], at: int, index: int, count: int) -> None:
    node = Node(name=f"{index}…{count - 1}", type="bytes", offset=walk.base + at)
    node.length = len(walk.data) - at
    node.meaning = f"{count - index} records, not listed field by field"
    into.append(node)


assert struct.calcsize(">" + "".join(letter for _, _, letter in HEADER_FIELDS)) == HEADER_BYTES
