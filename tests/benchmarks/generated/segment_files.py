"""Batches streamed into the segment files of one partition, framed as the group coordinator frames them.

The product's own encoder (``groups.wire.logs.record_batch``) makes a batch in about 20 µs; a file of 20 million records
needs one in a tenth of that. What is written here is proven equal to it (``tests/pipeline/test_generated_segments.py``).
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO, Final

import google_crc32c

from groups.wire.codecs.primitives import write_varlong
from groups.wire.logs.record_batch import CRC_END, LENGTH_END, MAGIC

SEGMENT_BYTES: Final = 104_857_600
"""Kafka's ``offsets.topic.segment.bytes``."""

FILE_BYTES_MAX: Final = (1 << 31) - 1
"""A position in a segment is an int32."""

BATCH_BYTES_MAX: Final = 1_048_588
"""Kafka's ``max.message.bytes``: the coordinator refuses a request whose records need a larger batch."""

BUFFER_BYTES: Final = 1 << 20
"""So much is collected before it is written: the memory of a partition, whatever the size of its files."""

Pair = tuple[bytes, bytes | None]
"""A record's key and value."""

_HEAD: Final = struct.Struct(">qiibI")
_CHECKED: Final = struct.Struct(">hiqqqhii")
_crc: Final = google_crc32c.value

_TABLE: Final = 4096


def _varint(number: int) -> bytes:
    out = bytearray()
    write_varlong(out, number)
    return bytes(out)


VARINTS: Final = [_varint(number) for number in range(_TABLE)]
"""Zigzag varints of the small numbers, which are nearly all."""


def varint(number: int) -> bytes:
    return VARINTS[number] if 0 <= number < _TABLE else _varint(number)


def framed(delta: int, key: bytes, value: bytes | None) -> bytes:
    """One record of a batch, whose timestamp is the batch's."""
    sized = b"\x01" if value is None else varint(len(value)) + value
    inner = b"".join((b"\0\0", varint(delta), varint(len(key)), key, sized, b"\0"))
    return varint(len(inner)) + inner


class PartitionLog:
    """The files of one partition, a new one where the next batch would not fit; ``close`` ends it.

    ``segment_bytes`` of ``None`` gives a single file as long as Kafka's positions reach.
    """

    def __init__(self, folder: Path, partition: int, segment_bytes: int | None = SEGMENT_BYTES) -> None:
        self.folder = folder / f"__consumer_offsets-{partition}"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.next_offset = 0
        self.commits = 0
        self.written_bytes = 0
        self.files: list[Path] = []
        self._others: Counter[int] = Counter()
        self._file: BinaryIO | None = None
        self._file_bytes = 0
        self._file_bytes_max = FILE_BYTES_MAX if segment_bytes is None else segment_bytes
        self._parts: list[bytes] = []
        self._parts_bytes = 0

    @property
    def types(self) -> Counter[int]:
        """The records written so far, by type."""
        return self._others + Counter({1: self.commits})

    def add(self, now_ms: int, records: Sequence[Pair]) -> None:
        """One batch of these records."""
        body = b"".join([framed(delta, key, value) for delta, (key, value) in enumerate(records)])
        for key, _ in records:
            self._others[key[1]] += 1
        self.frame(now_ms, len(records), body)

    def add_commits(self, now_ms: int, count: int, body: bytes) -> None:
        """One batch of ``count`` offset commits that are framed already."""
        self.commits += count
        self.frame(now_ms, count, body)

    def frame(self, now_ms: int, count: int, body: bytes) -> None:
        # The broker writes without a producer, yet with a base sequence of 0.
        checked = _CHECKED.pack(0, count - 1, now_ms, now_ms, -1, -1, 0, count) + body
        size = CRC_END + len(checked)
        self._file_bytes += size
        if self._file is None or self._file_bytes > self._file_bytes_max or size > BATCH_BYTES_MAX:
            self._roll(size)
        self._parts.append(_HEAD.pack(self.next_offset, size - LENGTH_END, 0, MAGIC, _crc(checked)))
        self._parts.append(checked)
        self._parts_bytes += size
        self.next_offset += count
        if self._parts_bytes >= BUFFER_BYTES:
            self._flush()

    def close(self) -> None:
        self._flush()
        if self._file is not None:
            self._file.close()
            self._file = None

    def _roll(self, size: int) -> None:
        """A new file, which begins with a batch of ``size`` bytes."""
        if size > BATCH_BYTES_MAX:
            raise ValueError(
                f"a batch of {size} bytes at offset {self.next_offset}: no coordinator writes it"
            )
        self.close()
        path = self.folder / f"{self.next_offset:020d}.log"
        self._file = path.open("wb")
        self.files.append(path)
        self._file_bytes = size

    def _flush(self) -> None:
        if self._file is not None:
            self._file.write(b"".join(self._parts))
        self.written_bytes += self._parts_bytes
        self._parts, self._parts_bytes = [], 0
