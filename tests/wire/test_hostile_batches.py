"""A few bytes that would cost much: records and headers that compress to nothing, faults that invite a long search."""

import struct
import zlib
from collections.abc import Callable

import pytest

from groups.wire.codecs.primitives import write_varlong
from groups.wire.errors import BatchError, CompressionError
from groups.wire.logs import batches as batches_module
from groups.wire.logs import compression as compression_module
from groups.wire.logs.batches import BatchProblem, ProblemKind, read_batches
from groups.wire.logs.compression import (
    MOST_DECOMPRESSED_BYTES,
    MOST_EXPANSION,
    MOST_GZIP_MEMBERS,
    Allowance,
    Compression,
    compress,
    decompress,
)
from groups.wire.logs.record_batch import MOST_RECORDS, RecordBatch, parse_batch, write_batch
from tests.fuzz.batched import sealed

EMPTY = write_batch(
    RecordBatch(base_offset=0, records=(), last_offset_delta=0, base_timestamp_ms=0, max_timestamp_ms=0)
)
RECORD = bytes.fromhex("0c 00 00 00 01 01 00")
"""No key, no value, no headers."""


def zstd_batch(records: bytes, count: int) -> bytes:
    head = bytearray(EMPTY)
    head[21:23] = struct.pack(">h", Compression.ZSTD)
    head[57:61] = struct.pack(">i", count)
    return sealed(bytes(head) + compress(Compression.ZSTD, records))


def test_a_batch_has_at_most_so_many_records_however_small_they_are():
    count = MOST_RECORDS + 1
    data = zstd_batch(RECORD * count, count)
    assert len(data) < 1000
    with pytest.raises(BatchError, match=f"{count} records in one batch; at most {MOST_RECORDS} are read"):
        parse_batch(data)


def test_headers_count_as_records_do():
    count = MOST_RECORDS
    inner = bytearray(b"\0\0\0\1\1")
    write_varlong(inner, count)
    inner += b"\0\1" * count
    record = bytearray()
    write_varlong(record, len(inner))
    data = zstd_batch(bytes(record + inner), 1)
    assert len(data) < 1000
    with pytest.raises(BatchError, match=f"{count} headers; at most {MOST_RECORDS} are read in one batch"):
        parse_batch(data)


def test_gzip_may_have_several_members_and_not_any_number():
    member = compress(Compression.GZIP, b"a")
    assert decompress(Compression.GZIP, member * MOST_GZIP_MEMBERS) == b"a" * MOST_GZIP_MEMBERS
    with pytest.raises(CompressionError, match=f"more than {MOST_GZIP_MEMBERS} members"):
        decompress(Compression.GZIP, member * (MOST_GZIP_MEMBERS + 1))


def faults(magic: int) -> Callable[[int], bytes]:
    """Headers whose length leads nearly to the end and whose checksum is wrong, each before a batch that is whole."""

    def segment(size: int) -> bytes:
        out = bytearray()
        while len(out) < size:
            length = max(size - len(out) - 200, len(EMPTY))
            out += struct.pack(">qiIb", 0, length, 0, magic) + b"\1" * 10 + EMPTY
        return bytes(out)

    return segment


@pytest.mark.parametrize("magic", [1, 2])
def test_faults_that_each_cost_the_rest_of_the_segment_end_when_their_budget_is_spent(
    magic: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(batches_module, "MOST_SEARCH_BYTES", 1_000_000)
    checked = 0
    crc32 = zlib.crc32

    def counted(data: bytes) -> int:
        nonlocal checked
        checked += len(data)
        return crc32(data)

    monkeypatch.setattr(zlib, "crc32", counted)
    data = faults(magic)(200_000)
    items = list(read_batches(data))
    *_, last = items
    assert isinstance(last, BatchProblem)
    assert last.position + last.length == len(data)
    assert len(items) < 200
    assert checked < 2_000_000


def test_zeros_between_batches_are_looked_up_once():
    data = (bytes(20) + b"\1" + EMPTY) * 3000 + bytes(3_000_000) + b"\1"
    items = list(read_batches(data))
    assert sum(isinstance(item, RecordBatch) for item in items) == 3000
    *_, last = items
    assert isinstance(last, BatchProblem)
    assert (last.kind, last.length) == (ProblemKind.DAMAGED, 3_000_001)


BOMB = zstd_batch(bytes(MOST_DECOMPRESSED_BYTES), 1)
"""A few kilobytes that are read as far as the largest batch may be, and are no records then."""


def test_what_the_batches_of_a_file_come_to_is_bounded_and_the_rest_is_told_without_being_decompressed(
    monkeypatch: pytest.MonkeyPatch,
):
    made = 0

    def counted(compression: Compression, data: bytes) -> bytes:
        nonlocal made
        found = decompress(compression, data)
        made += len(found)
        return found

    monkeypatch.setattr(compression_module, "decompress", counted)
    data = EMPTY + BOMB * 300 + EMPTY
    first, *bombs, last = read_batches(data)
    assert isinstance(first, RecordBatch)
    assert isinstance(last, RecordBatch)
    assert len(bombs) == 300
    most = max(MOST_EXPANSION * len(data), MOST_DECOMPRESSED_BYTES)
    assert made < most + MOST_DECOMPRESSED_BYTES
    told = [bomb.reason for bomb in bombs if isinstance(bomb, BatchProblem)]
    assert len(told) == 300
    assert told[-1] == (
        f"byte 61: its {len(BOMB) - 61} bytes of zstd are not decompressed: the compressed batches before it came to "
        f"{made} bytes, and a file of {len(data)} bytes may come to {most}"
    )


def test_an_honest_file_is_read_whole_however_well_its_batches_compress():
    body = RECORD * 20_000
    data = zstd_batch(body, 20_000) * 20
    assert len(body) * 20 > MOST_EXPANSION * len(data)
    assert all(isinstance(item, RecordBatch) for item in read_batches(data))


def test_bytes_that_do_not_decompress_cost_of_the_allowance_what_was_made_of_them():
    allowance = Allowance(1000)
    with pytest.raises(CompressionError, match="decompresses to more than"):
        allowance.decompress(Compression.ZSTD, compress(Compression.ZSTD, bytes(MOST_DECOMPRESSED_BYTES + 1)))
    assert allowance.left_bytes == 0
    with pytest.raises(CompressionError, match="are not decompressed"):
        allowance.decompress(Compression.ZSTD, compress(Compression.ZSTD, b"a"))
