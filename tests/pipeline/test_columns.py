"""Commits by columns are the commits that the decoder of records reads, whatever the bytes are."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.wire.commits import commit_payload
from groups.wire.coordinator_schema import OFFSET_COMMIT, RECORD_TYPES
from groups.wire.logs.batches import RecordBatch, write_segment
from groups.wire.records import decode_record, encode_record
from tests.pipeline.columns_reference import by_columns, one_by_one
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
def test_they_are_the_same_of_damaged_bytes(data: bytes, stretch_bytes: int):
    assert by_columns(data, stretch_bytes) == one_by_one(data)


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
