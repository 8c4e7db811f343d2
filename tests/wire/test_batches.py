"""Record batches and whole segments: round trips, and everything that a disk can do to them."""

import mmap
import struct
import zlib
from pathlib import Path
from typing import Any

import cramjam
import google_crc32c
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.wire.errors import BatchError, CompressionError, UnwritableBatchError
from groups.wire.logs import batches as batches_module
from groups.wire.logs import compression as compression_module
from groups.wire.logs.batches import BatchProblem, ProblemKind, Walk, read_batches, write_segment
from groups.wire.logs.compression import Compression, compress, decompress
from groups.wire.logs.record_batch import (
    Record,
    RecordBatch,
    TimestampType,
    coordinator_batch,
    parse_batch,
    write_batch,
)
from tests.tiers import examples
from tests.wire import strategies

AT_MS = 1_795_224_375_134


def batch(base_offset: int, count: int = 2) -> RecordBatch:
    return coordinator_batch(
        base_offset=base_offset,
        timestamp_ms=AT_MS + base_offset,
        records=[(f"key {base_offset + index}".encode(), b"value") for index in range(count)],
    )


def segment(count: int = 4) -> tuple[list[RecordBatch], list[bytes]]:
    """A row of batches of two records, and the bytes of each."""
    rows = [batch(index * 2) for index in range(count)]
    return rows, [write_batch(row) for row in rows]


def told(data: Any) -> list[Any]:
    """What is read: base offsets, and for problems their kind, position and length."""
    return [
        item.base_offset if isinstance(item, RecordBatch) else (str(item.kind), item.position, item.length)
        for item in read_batches(data)
    ]


@given(strategies.batches())
def test_any_batch_survives_its_bytes(row: RecordBatch):
    data = write_batch(row)
    assert parse_batch(data) == row
    assert list(read_batches(data)) == [row]


def test_the_coordinators_batch_has_the_header_that_a_broker_writes():
    data = write_batch(coordinator_batch(base_offset=7, timestamp_ms=AT_MS, records=[(b"k", None)]))
    fields = struct.unpack_from(">qiibIhiqqqhii", data)
    crc = fields[4]
    assert fields == (7, len(data) - 12, 0, 2, crc, 0, 0, AT_MS, AT_MS, -1, -1, 0, 1)
    assert crc == google_crc32c.value(data[21:])
    # Length 7, attributes, two deltas, a key of one byte, no value, no header.
    assert data[61:] == bytes.fromhex("0e 00 00 00 02 6b 01 00")


def test_records_of_a_batch_with_append_time_all_have_that_time():
    row = batch(0)._replace(
        timestamp_type=TimestampType.LOG_APPEND_TIME,
        max_timestamp_ms=AT_MS + 99,
        base_timestamp_ms=AT_MS,
    )
    assert [record.timestamp_ms for record in parse_batch(write_batch(row)).records] == [
        AT_MS + 99,
        AT_MS + 99,
    ]


def test_a_segment_is_read_batch_by_batch_from_bytes_memory_and_mapped_files(tmp_path: Path):
    rows, _ = segment()
    data = b"".join(write_segment(rows))
    assert list(read_batches(data)) == rows
    assert list(read_batches(bytearray(data))) == rows
    assert list(read_batches(memoryview(data))) == rows
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(data)
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert list(read_batches(mapped)) == rows


def test_an_empty_file_is_a_segment_without_batches():
    assert told(b"") == []


def test_a_batch_with_a_wrong_checksum_is_left_out_and_the_rest_is_read():
    _, data = segment()
    damaged = bytearray(data[1])
    damaged[70] ^= 1
    first, problem, *rest = read_batches(b"".join([data[0], damaged, *data[2:]]))

    assert isinstance(first, RecordBatch)
    assert [row.base_offset for row in rest if isinstance(row, RecordBatch)] == [4, 6]
    assert isinstance(problem, BatchProblem)
    assert (problem.kind, problem.position, problem.length, problem.offset) == (
        ProblemKind.DAMAGED, len(data[0]), len(data[1]), 2,
    )  # fmt: skip
    assert "CRC-32C" in problem.reason
    assert not problem.is_normal


@pytest.mark.parametrize("kept", [1, 8, 16, 17, 40, 61, 80])
def test_a_segment_that_was_still_being_written_ends_truncated_which_is_normal(kept: int):
    _, data = segment(2)
    *_, problem = read_batches(data[0] + data[1][:kept])

    assert isinstance(problem, BatchProblem)
    assert (problem.kind, problem.position, problem.length) == (ProblemKind.TRUNCATED, len(data[0]), kept)
    assert problem.offset == (2 if kept >= 8 else None)
    assert problem.is_normal


def test_zeros_behind_the_last_batch_are_a_preallocated_segment_which_is_normal():
    _, data = segment(1)
    for zeros in (17, 3_000_000):
        first, problem = read_batches(data[0] + bytes(zeros))
        assert isinstance(first, RecordBatch)
        assert isinstance(problem, BatchProblem)
        assert (problem.kind, problem.length, problem.is_normal) == (ProblemKind.PREALLOCATED, zeros, True)


@pytest.mark.parametrize("written", [1, 1 << 20, 1_500_000])
def test_where_a_files_zeros_begin_is_found_however_much_is_written_before_them(written: int):
    walk = Walk(memoryview(b"\1" * written + bytes(1_000_000)))
    places = (0, written * 9 // 10, written - 1, written, written + 999_999)
    assert [walk.is_zeros(at) for at in places] == [False, False, False, True, True]


@pytest.mark.parametrize(
    "data",
    [
        b"hello",
        b"not a segment at all, but a text of some length\n" * 50,
        b"\xff" * 4000,
        b"\x02" * 4000,
        b"PK\3\4" * 99,
    ],
)
def test_a_file_that_is_no_segment_is_told_in_one_problem(data: bytes):
    [problem] = read_batches(data)
    assert isinstance(problem, BatchProblem)
    assert problem.kind is ProblemKind.NOT_A_SEGMENT
    assert (problem.position, problem.length) == (0, len(data))
    assert problem.reason.startswith("this is no log segment")


@pytest.mark.parametrize("length", [-1, 0, 48, 60, 5_000, 2**31 - 1])
def test_a_damaged_length_costs_one_batch(length: int):
    _, data = segment()
    broken = data[1][:8] + struct.pack(">i", length) + data[1][12:]
    assert told(b"".join([data[0], broken, *data[2:]])) == [0, ("damaged", len(data[0]), len(data[1])), 4, 6]


def test_bytes_between_two_batches_cost_no_batch():
    _, data = segment()
    assert told(data[0] + b"garbage\x02\x02" * 9 + b"".join(data[1:])) == [
        0,
        ("damaged", len(data[0]), 81),
        2,
        4,
        6,
    ]
    assert told(b"garbage" * 9 + b"".join(data)) == [("damaged", 0, 63), 0, 2, 4, 6]


def test_messages_of_the_old_formats_are_told_as_such():
    def message(offset: int, magic: int) -> bytes:
        body = (
            bytes([magic, 0])
            + (bytes(8) if magic else b"")
            + struct.pack(">i", -1)
            + struct.pack(">i", 1)
            + b"v"
        )
        return struct.pack(">qiI", offset, len(body) + 4, zlib.crc32(body)) + body

    _, data = segment(1)
    old = message(10, 0) + message(11, 1) + message(12, 0)
    problem, last = read_batches(old + data[0])
    assert isinstance(problem, BatchProblem)
    assert (problem.kind, problem.length, problem.offset) == (ProblemKind.OLD_FORMAT, len(old), 10)
    assert problem.reason.startswith("3 messages of magic 0 or 1, which brokers before 0.11 wrote")
    assert isinstance(last, RecordBatch)


def test_an_index_file_is_not_taken_for_messages_of_the_old_format():
    index = b"".join(struct.pack(">ii", 40 * entry, 4096 * entry) for entry in range(1, 60))
    assert told(index) == [("not-a-segment", 0, len(index))]


def resealed(data: bytes, at: int, replacement: bytes) -> bytes:
    """A batch with some bytes replaced and the checksum made right again."""
    raw = bytearray(data)
    raw[at : at + len(replacement)] = replacement
    raw[17:21] = struct.pack(">I", google_crc32c.value(bytes(raw[21:])))
    return bytes(raw)


@pytest.mark.parametrize(
    ("at", "replacement", "reason"),
    [
        (22, b"\x07", "compression 7 is not known here; Kafka has 0 to 4"),
        (57, struct.pack(">i", 2**31 - 1), "it says that it has 2147483647 records, in"),
        (57, struct.pack(">i", -1), "it says that it has -1 records, in"),
        (57, struct.pack(">i", 1), "bytes are left behind the last of 1 records"),
        (61, b"\x7e", "a record of 63 bytes at byte 0 of the"),
        (65, b"\x7e", "a key or value of 63 bytes reaches"),
        (22, b"\x04", "the zstd data is damaged or cut short"),
        (22, b"\x01", "the gzip data is damaged or cut short"),
    ],
)
def test_a_batch_whose_checksum_is_right_and_whose_content_is_not_is_left_out(
    at: int, replacement: bytes, reason: str
):
    _, data = segment()
    first, problem, *rest = read_batches(data[0] + resealed(data[1], at, replacement) + data[2])
    assert isinstance(first, RecordBatch)
    assert isinstance(problem, BatchProblem)
    assert reason in problem.reason
    assert len(rest) == 1


@given(st.lists(strategies.batches(), min_size=1, max_size=3), st.data())
@examples(60)
def test_damaged_segments_never_crash_and_account_for_every_byte(
    rows: list[RecordBatch], data: st.DataObject
):
    raw = bytearray(b"".join(write_batch(row) for row in rows))
    for _ in range(data.draw(st.integers(1, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(raw[: data.draw(st.integers(0, len(raw)))])

    items = list(read_batches(cut))
    problems = [item for item in items if isinstance(item, BatchProblem)]
    assert all(problem.length > 0 and problem.reason for problem in problems)
    assert [problem.position for problem in problems] == sorted(problem.position for problem in problems)
    assert sum(problem.length for problem in problems) <= len(cut)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_to_their_end(data: bytes):
    left_out = sum(item.length for item in read_batches(data) if isinstance(item, BatchProblem))
    assert left_out == len(data)


def test_the_search_for_a_next_batch_has_a_bound(monkeypatch: pytest.MonkeyPatch):
    # Each of these bytes may begin a batch that reaches nearly to the end, and no checksum is right.
    hostile = (b"\0\0\0\0\0\0\0\0\0\0\x40\0\0\0\0\0\2" + b"\0" * 44) * 2_000
    monkeypatch.setattr(batches_module, "MOST_SEARCH_BYTES", 1_000_000)
    checked = 0
    original = google_crc32c.value

    def counting(data: bytes) -> int:
        nonlocal checked
        checked += len(data)
        return original(data)

    monkeypatch.setattr(google_crc32c, "value", counting)
    _, rows = segment(1)
    items = list(read_batches(hostile + rows[0]))
    assert len(items) == 1
    assert checked < 1_100_000


def test_the_search_looks_at_so_many_places_and_no_more(monkeypatch: pytest.MonkeyPatch):
    # Every byte may be a magic, behind a length that is none.
    monkeypatch.setattr(batches_module, "MOST_SEARCH_BYTES", 64 * 1000)
    _, rows = segment(1)
    near, far = (b"\xff" * 8 + b"\x02" * count for count in (500, 5000))
    assert told(near + rows[0]) == [("damaged", 0, len(near)), 0]
    assert told(far + rows[0]) == [("not-a-segment", 0, len(far + rows[0]))]


@pytest.mark.parametrize("compression", list(Compression))
@given(data=st.binary(max_size=2000))
def test_every_compression_gives_back_what_it_took(compression: Compression, data: bytes):
    assert decompress(compression, compress(compression, data)) == data


@pytest.mark.parametrize("compression", [each for each in Compression if each])
def test_many_blocks_are_put_together_again(compression: Compression):
    data = b"".join(struct.pack(">i", number * 7919) for number in range(100_000))
    assert decompress(compression, compress(compression, data)) == data


@pytest.mark.parametrize("compression", [each for each in Compression if each])
@given(data=st.data())
def test_damaged_compressed_bytes_are_refused_or_read_and_never_crash(
    compression: Compression, data: st.DataObject
):
    raw = bytearray(compress(compression, b"some records of a batch " * 20))
    raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(raw[: data.draw(st.integers(0, len(raw)))])
    try:
        decompress(compression, cut)
    except CompressionError as error:
        assert compression.name.lower() in error.sentence  # noqa: PT017 (either outcome is right)


@pytest.mark.parametrize("compression", [each for each in Compression if each])
def test_a_few_bytes_cannot_fill_memory(compression: Compression, monkeypatch: pytest.MonkeyPatch):
    bomb = compress(compression, bytes(3_000_000))
    monkeypatch.setattr(compression_module, "MOST_DECOMPRESSED_BYTES", 2_000_000)
    with pytest.raises(CompressionError, match="decompresses to more than 2000000 bytes"):
        decompress(compression, bomb)


def test_snappy_is_written_in_kafkas_framing_and_read_with_and_without_it():
    data = b"records" * 10_000
    framed = compress(Compression.SNAPPY, data)
    assert framed.startswith(b"\x82SNAPPY\0\0\0\0\1\0\0\0\1")
    assert decompress(Compression.SNAPPY, framed) == data
    assert decompress(Compression.SNAPPY, bytes(cramjam.snappy.compress_raw(data))) == data


def test_a_segment_whose_offsets_run_backwards_is_not_written():
    with pytest.raises(UnwritableBatchError, match="a batch begins at offset 1, the one before ends at 1"):
        list(write_segment([batch(0), batch(1)]))


def test_a_record_outside_its_batch_is_not_written():
    stray = Record(offset=9, timestamp_ms=0, key=None, value=None)
    with pytest.raises(
        UnwritableBatchError, match="the record at offset 9 lies outside its batch, which is 0 to 1"
    ):
        write_batch(batch(0)._replace(records=(stray,)))


def test_a_header_field_that_does_not_fit_is_refused():
    with pytest.raises(UnwritableBatchError, match="the header of the batch at offset 0"):
        write_batch(batch(0)._replace(producer_epoch=1 << 20))


@pytest.mark.parametrize("more", [-1, 1])
def test_a_single_batch_is_as_long_as_its_header_says(more: int):
    data = write_batch(batch(0))
    with pytest.raises(
        BatchError, match=f"the batch says that {len(data) - 12} bytes follow, {len(data) - 12 + more} do"
    ) as refused:
        parse_batch(data[:-1] if more < 0 else data + b"\0")
    assert refused.value.offset == 8, "where the length stands"


@pytest.mark.parametrize("cut", [0, 20, 60])
def test_a_single_batch_must_be_whole(cut: int):
    with pytest.raises(BatchError, match=f"a batch has a header of 61 bytes, {cut} are here"):
        parse_batch(write_batch(batch(0))[:cut])
