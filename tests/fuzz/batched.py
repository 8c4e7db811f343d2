"""Targets: segments, batches whose checksum is made right, and the compressions."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from functools import partial
from typing import Final

import google_crc32c

from groups.wire.errors import UnwritableBatchError
from groups.wire.logs.batches import BatchProblem, read_batches
from groups.wire.logs.compression import Compression, compress, decompress
from groups.wire.logs.record_batch import (
    CRC_END,
    HEADER_BYTES,
    LENGTH_END,
    MAGIC,
    Header,
    Record,
    RecordBatch,
    parse_batch,
    write_batch,
)
from tests.fuzz.oracle import Target, expect
from tests.fuzz.values import batches

MOST_REWRITTEN_BYTES: Final = 64 * 1024
MOST_REWRITTEN_RECORDS: Final = 1000
"""Of what a few bytes decompress to; writing much of it again would take longer than reading may."""


def check_segment(data: bytes) -> None:
    left_out = position = 0
    for item in read_batches(data):
        if isinstance(item, BatchProblem):
            expect(position <= item.position < len(data), "a problem outside of the bytes", item)
            expect(item.length > 0 and bool(item.reason), "an empty problem", item)
            position = item.position + item.length
            left_out += item.length
        else:
            check_written(item)
    expect(left_out <= len(data), "leaves out more than there is", left_out)


def check_batch(data: bytes) -> None:
    """One batch, whose length, magic and checksum are made right, so that what they guard is reached."""
    check_written(parse_batch(data if len(data) < HEADER_BYTES else sealed(data)))


def check_written(batch: RecordBatch) -> None:
    if len(batch.records) > MOST_REWRITTEN_RECORDS:
        return
    try:
        written = write_batch(batch._replace(compression=Compression.NONE))
    except UnwritableBatchError:
        return  # offsets outside of the batch: they can be read, and are not written
    again = parse_batch(written)
    expect(again._replace(compression=batch.compression) == batch, "changes when it is written", batch, again)


def sealed(data: bytes) -> bytes:
    raw = bytearray(data)
    raw[8:12] = struct.pack(">i", len(raw) - LENGTH_END)
    raw[16] = MAGIC
    raw[17:21] = struct.pack(">I", google_crc32c.value(bytes(raw[CRC_END:])))
    return bytes(raw)


def batch_seeds() -> list[bytes]:
    return [write_batch(batch) for batch in batches(random.Random("batches"), 40)]


def written_records() -> list[bytes]:
    """Single records, as they stand in a batch."""
    headers = ((), (Header(key="trace", value=b"1"), Header(key="", value=None)))
    batch = next(batches(random.Random("records"), 1))
    rows = []
    for index, each in enumerate(headers):
        record = Record(batch.base_offset, batch.base_timestamp_ms + 5, b"\0\3\0\1g", b"\0\0\0\0\0\2\0", each)
        alone = batch._replace(records=(record,), compression=Compression.NONE, last_offset_delta=index)
        rows.append(write_batch(alone)[HEADER_BYTES:])
    return rows


def segment_seeds() -> list[bytes]:
    rows = batch_seeds()
    return [b"".join(rows[at : at + 3]) for at in range(0, len(rows), 3)]


def targets() -> Iterator[Target]:
    yield Target("segment", "batches", check_segment, segment_seeds, inflates=True)
    yield Target("batch", "batches", check_batch, batch_seeds, inflates=True)
    for compression in Compression:
        if compression is not Compression.NONE:
            yield Target(
                compression.name.lower(),
                "compressions",
                partial(check_compression, compression),
                partial(compression_seeds, compression),
                inflates=True,
            )


def check_compression(compression: Compression, data: bytes) -> None:
    found = decompress(compression, data)
    if len(found) <= MOST_REWRITTEN_BYTES:
        again = decompress(compression, compress(compression, found))
        expect(again == found, "changes when compressed")


def compression_seeds(compression: Compression) -> list[bytes]:
    rows = [row[HEADER_BYTES:] for row in batch_seeds()[::5]]
    # What decompresses to much: a mutation of it may come to more than there is room for.
    return [compress(compression, row) for row in (*rows, bytes(100_000), bytes(range(256)) * 40)]
