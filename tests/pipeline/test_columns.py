"""Commits by columns are the commits that the decoder of records reads, whatever the bytes are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.pipeline.reading.columns import distinct as distinct_module
from groups.pipeline.reading.columns import framing, read_stretches, stretches
from groups.pipeline.reading.columns.window import Window
from groups.wire.commit_payloads import commit_payload
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.generated.classic import OFFSET_COMMIT
from groups.wire.logs import compression
from groups.wire.logs.batches import write_segment
from groups.wire.logs.compression import Compression
from groups.wire.logs.record_batch import HEADER_BYTES, RecordBatch, coordinator_batch, write_batch
from groups.wire.records import decode_record, encode_record
from tests.fuzz.batched import sealed
from tests.pipeline.columns_reference import by_columns, one_by_one
from tests.pipeline.segments import FOO, Group, Segment
from tests.tiers import examples
from tests.wire.strategies import batches, payloads

SAMPLES = sorted((Path(__file__).parents[2] / "groups" / "samples").rglob("*.log"))
COMMIT = {OFFSET_COMMIT: RECORD_TYPES[OFFSET_COMMIT]}
STRETCHES = st.sampled_from([1, 200, 1 << 22])

commits = payloads(COMMIT).map(encode_record)
others = payloads().map(encode_record)


def changed(
    pair: tuple[bytes | None, bytes | None], data: st.DataObject
) -> tuple[bytes | None, bytes | None]:
    """A record one side of which is cut short, goes on, or has another byte in it; or is not there at all."""
    sides = list(pair)
    number = data.draw(st.integers(0, 1))
    side = sides[number]
    if side is None:
        return pair
    at = data.draw(st.integers(0, max(len(side) - 1, 0)))
    byte = bytes([data.draw(st.integers(0, 255))])
    sides[number] = data.draw(
        st.sampled_from(
            [side[:at], side + byte, side[:at] + byte + side[at + 1 :], side[:at] + byte + side[at:], None]
        )
    )
    return sides[0], sides[1]


@st.composite
def segments(draw: st.DrawFn) -> bytes:
    """Batches of every form, with commits, other records and things that are neither in them."""
    made: list[RecordBatch] = []
    for row in draw(st.lists(batches(st.integers(0, 30)), max_size=6)):
        pool = draw(st.lists(st.one_of(commits, commits, others), min_size=1, max_size=4))
        data = draw(st.data())
        records = []
        for record in row.records:
            pair = draw(st.sampled_from(pool))
            if draw(st.integers(0, 3)) == 0:
                pair = changed(pair, data)
            headers = record.headers if draw(st.integers(0, 5)) == 0 else ()
            records.append(record._replace(key=pair[0], value=pair[1], headers=headers))
        base = made[-1].next_offset if made else 0
        shift = base - min(row.base_offset, base)
        made.append(
            row._replace(
                base_offset=row.base_offset + shift,
                records=tuple(record._replace(offset=record.offset + shift) for record in records),
            )
        )
    return b"".join(write_segment(made))


@given(segments(), STRETCHES)
@pytest.mark.long
def test_records_and_damage_by_columns_are_those_of_the_decoder_of_records(data: bytes, stretch_bytes: int):
    assert by_columns(data, stretch_bytes) == one_by_one(data)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A segment with bits flipped, cut short, or with a piece of it somewhere else."""
    data = bytearray(draw(segments().filter(bool)))
    places = st.integers(0, len(data) - 1)
    for _ in range(draw(st.integers(1, 3))):
        first, second, third = sorted((draw(places), draw(places), draw(places)))
        match draw(st.sampled_from(["flip", "cut", "splice", "repeat"])):
            case "flip":
                data[first % len(data)] ^= 1 << draw(st.integers(0, 7))
            case "cut" if first > 0:
                del data[first:]
            case "splice":
                data = data[:first] + data[second:third] + data[first:second] + data[third:]
            case _:
                data += data[first:second]
    return bytes(data)


@given(damaged(), STRETCHES)
@pytest.mark.long
def test_they_are_the_same_of_damaged_bytes(data: bytes, stretch_bytes: int):
    assert by_columns(data, stretch_bytes) == one_by_one(data)


@examples(40)
@given(segments(), st.integers(0, 300))
def test_what_goes_beyond_the_files_allowance_is_told_alike(data: bytes, most_bytes: int):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(compression, "MOST_EXPANSION", 0)
        patched.setattr(compression, "MOST_DECOMPRESSED_BYTES", most_bytes)
        assert by_columns(data, 200) == one_by_one(data)


@examples(40)
@given(damaged())
def test_a_file_that_is_damaged_everywhere_is_read_alike_batch_by_batch(data: bytes):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(stretches, "CHAINS_BY_COLUMNS", 0)
        assert by_columns(data, 200) == one_by_one(data)


@given(st.integers(1, 3), st.integers(0, 5), st.data())
def test_long_batches_are_framed_alike_by_steps_and_by_loops(
    batch_count: int, damage: int, drawn: st.DataObject
):
    """Batches of hundreds of records, more than are followed in one step, some of them with lengths that lead astray."""
    pairs = [
        encode_record(payload) for payload in drawn.draw(st.lists(payloads(COMMIT), min_size=1, max_size=5))
    ]
    segment = bytearray()
    for number in range(batch_count):
        count = drawn.draw(st.integers(1, 400))
        batch = coordinator_batch(
            base_offset=number * 1000,
            timestamp_ms=number,
            records=[pairs[index % len(pairs)] for index in range(count)],
        )
        data = bytearray(write_batch(batch))
        for _ in range(damage):
            data[drawn.draw(st.integers(HEADER_BYTES, len(data) - 1))] = drawn.draw(st.integers(0, 255))
        segment += sealed(bytes(data))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(framing, "LEAST_BATCHES_A_STEP", drawn.draw(st.sampled_from([1, 2, 128])))
        assert by_columns(bytes(segment)) == one_by_one(bytes(segment))


def test_the_commits_of_a_coordinator_are_all_in_columns():
    group = Group("ächt")
    data = Segment().add(group.join("A", {FOO: [0]}))
    for offset in range(300):
        data.add(group.commit(partition=offset % 3, offset=offset, with_id=offset % 2 == 0))
    [stretch] = read_stretches(data.bytes())
    assert len(stretch.commits) == 300
    assert stretch.commits.committed.tolist() == list(range(300))
    assert {key.group for key in stretch.commits.keys} == {"ächt"}
    assert len(stretch.commits.keys) == 3
    assert stretch.commits.topic_ids == [FOO]
    assert [decode_record(other.key, other.value)["type"] for other in stretch.others] == [5, 3, 7, 6, 8]
    assert (stretch.records, stretch.first_offset, stretch.last_offset) == (305, 0, 304)


def test_a_stretch_is_as_large_as_asked_and_a_batch_more():
    data = Segment()
    for offset in range(200):
        data.add(Group().commit(offset=offset) * 10, compression=Compression(offset % 5))
    found = list(read_stretches(data.bytes(), stretch_bytes=3000))
    assert len(found) > 40
    assert max(len(stretch.commits) for stretch in found) <= 80
    assert sum(len(stretch.commits) for stretch in found) == 2000


@given(
    st.lists(
        st.binary(max_size=300) | st.sampled_from([b"", b"\0", b"\0\0", b"a" * 256, b"a" * 257]), max_size=60
    )
)
def test_stretches_of_bytes_have_one_number_if_they_are_equal(some: list[bytes]):
    check_numbers(some)


@given(st.lists(st.binary(max_size=80), min_size=1, max_size=60))
def test_they_have_even_where_every_hash_is_the_same(some: list[bytes]):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(distinct_module, "_MULTIPLIERS", np.zeros_like(distinct_module._MULTIPLIERS))
        check_numbers(some * 2)


def check_numbers(some: list[bytes]) -> None:
    lengths = np.array([len(one) for one in some], np.int64)
    leaders, numbers = distinct_module.distinct(Window(some), np.cumsum(lengths) - lengths, lengths)
    assert [some[leaders[number]] for number in numbers] == some
    assert len(leaders) == len(set(some))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.parent.name)
def test_they_are_the_same_of_recorded_segments(path: Path):
    data = path.read_bytes()
    assert by_columns(data) == one_by_one(data)


@given(payloads(COMMIT))
def test_the_payload_made_of_plain_values_is_the_decoders_json(payload: dict):
    decoded = decode_record(*encode_record(payload))
    value = decoded["value"] or {}
    if "_unknownTaggedFields" in value:
        return
    made = commit_payload(
        **decoded["key"],
        version=-1 if decoded["version"] is None else decoded["version"],
        committed=value.get("offset", 0),
        leader_epoch=value.get("leaderEpoch", -1),
        metadata=value.get("metadata", ""),
        commit_ms=value.get("commitTimestamp", 0),
        expire_ms=value.get("expireTimestamp", -1),
        topic_id=value.get("topicId"),
    )
    assert orjson.dumps(made) == orjson.dumps(decoded)
