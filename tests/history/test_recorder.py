"""What the recorder gives storage: batches, chunks with checkpoints, and lines that cross a pipe whole."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from groups.history.findings import Finder
from groups.history.frames.frame import frame
from groups.history.passes import recorder as recorder_module
from groups.history.passes.recorder import RecordedBatch, Recorder
from groups.history.state.plain import from_plain, to_plain
from tests.history.logs import STABLE, Log, Records, frame_at, released_basic


def test_a_batch_crosses_a_pipe_as_one_line() -> None:
    batch = released_basic().recorded()
    line = batch.to_line()
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    parsed = orjson.loads(line)
    assert parsed["type"] == "batch"
    assert RecordedBatch.from_line(parsed) == RecordedBatch.from_line(orjson.loads(batch.to_line()))
    assert RecordedBatch.from_line(parsed).entries == batch.entries


def test_the_exchange_under_way_is_held_back_until_it_is_known_to_be_whole() -> None:
    log, recorder = released_basic(), Recorder(group="orders")
    for entry in log.entries[:11]:
        recorder.add(entry)
    first = recorder.flush()
    assert first is not None
    assert (first.first, first.last) == (1, 5)
    assert recorder.flush() is None
    rest = recorder.flush(final=True)
    assert rest is not None
    assert (rest.first, rest.last) == (6, 11)


def test_who_asks_for_no_digests_is_given_all_else_the_same() -> None:
    log, batches = released_basic(), []
    for digests in (True, False):
        recorder = Recorder(group="orders", digests=digests)
        for entry in log.entries:
            recorder.add(entry)
        batch = recorder.flush(final=True)
        assert batch is not None
        batches.append(batch)
    assert batches[0].digests
    assert replace(batches[0], digests=()) == batches[1]


def test_nothing_recorded_gives_no_batch() -> None:
    assert Recorder(group="orders").flush(final=True) is None


def test_entries_must_be_dense() -> None:
    recorder = Recorder(group="orders")
    with pytest.raises(ValueError, match="entry 2 came after 0"):
        recorder.add(released_basic().entries[1])


def test_chunks_begin_when_their_entries_weigh_as_much_as_their_frame(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recorder_module, "CHUNK_BYTES_LEAST", 2_000)
    log, recorder, batches = released_basic(), Recorder(group="orders"), []
    for entry in log.entries:
        recorder.add(entry)
        if (batch := recorder.flush(final=entry is log.entries[-1])) is not None:
            batches.append(batch)
    chunks = [batch for batch in batches if batch.checkpoint is not None]
    assert len(chunks) > 3
    for batch in chunks:
        assert batch.checkpoint is not None
        checkpoint = orjson.loads(batch.checkpoint)
        assert checkpoint["sequence"] == batch.first - 1
        assert checkpoint["frame"] == frame(log.state(at=batch.first - 1))
        assert to_plain(from_plain(Finder, checkpoint["findings"])) == checkpoint["findings"]
    # A seek costs one chunk: the frame of any entry comes from its own chunk's checkpoint and changes.
    for index, batch in enumerate(chunks):
        end = chunks[index + 1].first if index + 1 < len(chunks) else len(log.entries) + 1
        inside = [
            change for b in batches if batch.first <= b.first < end for change in orjson.loads(b.changes)
        ]
        for sequence in range(batch.first - 1, end):
            assert frame_at(orjson.loads(batch.checkpoint or b""), inside, sequence) == log.frame(at=sequence)


def test_the_recorder_says_when_enough_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "BATCH_BYTES_FULL", 1_000)
    recorder = Recorder(group="orders")
    assert not recorder.full
    for entry in released_basic().entries[:12]:
        recorder.add(entry)
    assert recorder.full
    recorder.flush()
    assert not recorder.full


def test_the_summary_tells_the_timeline_so_far() -> None:
    summary = released_basic().recorded().summary
    assert {
        key: summary[key] for key in ("group", "protocol", "state", "first_ms", "last_ms", "entries")
    } == {
        "group": "orders",
        "protocol": "consumer",
        "state": "Empty",
        "first_ms": 0,
        "last_ms": 40_000,
        "entries": 48,
    }
    assert summary["topics"] == {"foo": {"id": "cLledStpRu6ixDUvA4jVgA", "partitions": None}}


def test_a_gap_is_a_moment_a_finding_and_part_of_the_verdict() -> None:
    log, r = Log(), Records()
    log.write(r.member("A"), r.epoch(2), r.current("A", 1, 0, STABLE))
    log.note(note="gap", partition=17, from_offset=40, to_offset=52, reason="compacted")
    batch = log.recorded()
    assert [moment["shape"] for moment in orjson.loads(batch.moments)] == ["join", "gap"]
    assert [gap["says"] for gap in batch.summary["gaps"]] == ["Offsets 40 to 52 are missing: compacted"]
    assert "The log has a gap" in batch.summary["verdict"]["text"]
