"""Batches one behind the other: their headers in columns, their checksums, what their records are decompressed.

Only the lengths must be followed one by one, and the checksums have a call each. Both together bound how fast small
batches can be read: about a third of a microsecond a batch, whatever is done with its records.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import google_crc32c
import numpy as np
from numpy.typing import NDArray

from groups.pipeline.reading.columns.window import Bools, Int64, Window
from groups.wire.errors import CompressionError
from groups.wire.logs.batches import LEAST_LENGTH
from groups.wire.logs.compression import Allowance, Compression, decompress
from groups.wire.logs.record_batch import (
    COMPRESSION_BITS,
    CONTROL_BIT,
    CRC_END,
    GREATEST_BASE_OFFSET,
    HEADER_BYTES,
    LENGTH_END,
    LOG_APPEND_TIME_BIT,
    MAGIC,
    MAGIC_AT,
    TRANSACTIONAL_BIT,
    Unpack,
)

HEADER: Final = np.dtype(
    [
        ("base_offset", ">i8"),
        ("length", ">i4"),
        ("leader_epoch", ">i4"),
        ("magic", "i1"),
        ("crc", ">u4"),
        ("attributes", ">i2"),
        ("last_offset_delta", ">i4"),
        ("base_timestamp_ms", ">i8"),
        ("max_timestamp_ms", ">i8"),
        ("producer_id", ">i8"),
        ("producer_epoch", ">i2"),
        ("base_sequence", ">i4"),
        ("count", ">i4"),
    ]
)
"""The header of a batch, as in ``groups.wire.logs.record_batch``."""
assert HEADER.itemsize == HEADER_BYTES

_HEAD: Final = struct.Struct(">qi4xB")
"""What must be known of a batch to get to the next one: base offset, length, magic."""
_LENGTH: Final = struct.Struct(">8xi")

GREATEST_TIMESTAMP_MS: Final = 2**62

LENGTHS_AT_ONCE: Final = 1024
"""So many lengths are followed before it is asked whether what they lead to are headers: what a damaged one costs."""


def follow(view: memoryview, at: int, most_bytes: int) -> list[int]:
    """Where whole batches begin from ``at`` on, and where the last of them ends, over ``most_bytes`` or until a
    header that is none (as ``Walk.step`` judges it): ``at`` alone if there is no batch."""
    size = len(view)
    stop = min(at + most_bytes, size - _HEAD.size + 1)
    places = [at]
    while at < stop:
        base_offset, length, magic = _HEAD.unpack_from(view, at)
        at += LENGTH_END + length
        if magic != MAGIC or length < LEAST_LENGTH or base_offset < 0 or at > size:
            break
        places.append(at)
    return places


@dataclass(slots=True)
class Run:
    """Some batches of a chain, by their numbers in it: ``begin`` to ``end``, which is not one of them.

    ``bodies`` has the decompressed records of those that are compressed. ``special`` are those that are read one by
    one, and how they are decompressed there: what that costs is counted already.
    """

    begin: int
    end: int
    bodies: dict[int, bytes]
    special: dict[int, Unpack]


class Chain:
    """Whole batches one behind the other from ``at`` on, where there is one, over about ``most_bytes``."""

    def __init__(self, view: memoryview, at: int, most_bytes: int) -> None:
        self.at: Final = at
        first_end = follow(view, at, 1)[-1]
        self.window: Final = Window((view[at : max(at + most_bytes, first_end)],))
        places = self._follow()
        edges = np.array(places, np.int64)
        self.start: Final[Int64] = edges[:-1]
        self.end: Final[Int64] = edges[1:]
        self.headers: Final[NDArray[Any]] = self.window.items(f"V{HEADER_BYTES}")[self.start].view(HEADER)
        self.is_whole: Final[Bools] = self._checksums(places) == self.headers["crc"]
        self.attributes: Final[Int64] = self.field("attributes")
        self.base_offset: Final[Int64] = self.field("base_offset")
        self.last_offset: Final[Int64] = self.base_offset + self.field("last_offset_delta")
        self.base_timestamp: Final[Int64] = self.field("base_timestamp_ms")
        self.max_timestamp: Final[Int64] = self.field("max_timestamp_ms")
        self.producer: Final[Int64] = self.field("producer_id")
        self.count: Final[Int64] = self.field("count")
        self.has_append_time: Final[Bools] = self.attributes & LOG_APPEND_TIME_BIT != 0
        self.is_transactional: Final[Bools] = self.attributes & TRANSACTIONAL_BIT != 0

    def __len__(self) -> int:
        return len(self.start)

    def _follow(self) -> list[int]:
        """As the function of that name does in a file, many lengths at a time before the headers are looked at."""
        unpack, raw = _LENGTH.unpack_from, self.window.raw
        length_end, least_length = LENGTH_END, LEAST_LENGTH
        places = [0]
        append = places.append
        at = followed = 0
        while len(places) == followed + 1:
            try:
                for _ in range(LENGTHS_AT_ONCE):
                    (length,) = unpack(raw, at)
                    if length < least_length:
                        break
                    at += length_end + length
                    append(at)
            except struct.error:
                # It led far beyond the window. In the padding behind that there are no lengths.
                pass
            starts = np.array(places[followed:-1], np.int64)
            ends = np.array(places[followed + 1 :], np.int64)
            starts = starts[ends <= self.window.size]
            good = (self.window.bytes[starts + MAGIC_AT] == MAGIC) & (self.window.bytes[starts] < 0x80)
            count = len(good) if good.all() else int(good.argmin())
            del places[followed + 1 + count :]
            followed += LENGTHS_AT_ONCE
        return places

    def _checksums(self, places: list[int]) -> NDArray[np.uint32]:
        checksum, raw = google_crc32c.value, self.window.raw
        ends = iter(places)
        next(ends)
        checked = (self.start + CRC_END).tolist()
        return np.array(
            array("I", [checksum(raw[begin:end]) for begin, end in zip(checked, ends, strict=True)])
        )

    def field(self, name: str) -> Int64:
        found: Int64 = self.headers[name].astype(np.int64)
        return found

    def runs(self, allowance: Allowance, stretch_bytes: int) -> Iterator[Run]:
        """The batches, cut into runs which decompress to ``stretch_bytes`` or a batch more."""
        compression = self.attributes & COMPRESSION_BITS
        known = compression <= max(Compression)
        whole = self.is_whole
        # Sums of these would not fit an int64.
        absurd = (self.base_offset > GREATEST_BASE_OFFSET) | (
            abs(self.base_timestamp) > GREATEST_TIMESTAMP_MS
        )
        alone = np.flatnonzero(~whole | ~known | absurd | (self.attributes & CONTROL_BIT != 0)).tolist()
        special: dict[int, Unpack] = dict.fromkeys(alone, decompress)
        bodies: dict[int, bytes] = {}
        begin = total = 0
        for index in np.flatnonzero(whole & known & (compression != Compression.NONE)).tolist():
            packed = self.window.raw[int(self.start[index]) + HEADER_BYTES : int(self.end[index])]
            if allowance.left_bytes <= 0:
                special[index] = allowance.refuse
                continue
            try:
                body = allowance.decompress(Compression(int(compression[index])), packed)
            except CompressionError:
                special[index] = decompress
                continue
            total += len(body)
            if index not in special:
                bodies[index] = body
            if total >= stretch_bytes:
                yield self._run(begin, index + 1, bodies, special)
                begin, total, bodies = index + 1, 0, {}
        if begin < len(self):
            yield self._run(begin, len(self), bodies, special)

    def _run(self, begin: int, end: int, bodies: dict[int, bytes], special: dict[int, Unpack]) -> Run:
        return Run(
            begin, end, bodies, {index: unpack for index, unpack in special.items() if begin <= index < end}
        )
