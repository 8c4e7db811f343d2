"""Folding by columns is folding record by record, however the log is cut into files, splits and chunks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.history.entries import Entry
from groups.history.frames.changes import apply
from groups.history.passes import checkpoints
from groups.history.passes.recorder import Recorder
from groups.packs.opening import open_chunk
from groups.pipeline.folding import merging
from groups.pipeline.folding import timelines as timeline_folding
from groups.pipeline.folding.context import LostOffsets
from groups.pipeline.topics.facts import Known, TopicChange
from tests.pipeline.drawn import copies, logs
from tests.pipeline.folds import Folds, fold, fold_paths
from tests.pipeline.segments import FOO, START_MS, Group, Segment, sample_group

ONE_SPLIT = 1 << 30


@pytest.fixture(autouse=True)
def _small_chunks() -> Iterator[None]:
    """So that a log of a few records has several."""
    with (
        mock.patch.object(timeline_folding, "CHUNK_BYTES_LEAST", 800),
        mock.patch.object(checkpoints, "CHUNK_BYTES_GREATEST", 1600),
    ):
        yield


def facts(folds: Folds) -> dict[str, Any]:
    """All that stays of an import, but for where it stands."""
    found: dict[str, Any] = {}
    for name in folds.timelines:
        told, index = dict(folds.told(name)), folds.index(name)
        del told["index"]
        found[name] = told | {
            "all": folds.entries(name),
            "summary": index["summary"],
            "commits": index["commits"],
        }
    return found


def skipped(folds: Folds) -> list[Any]:
    return [line for line in folds.lines if line["type"] in ("left_out", "repeated")]


@given(log=logs())
@pytest.mark.long
def test_commits_by_columns_are_commits_record_by_record(log: Segment) -> None:
    columns, records = fold(log), fold(log, slow=True)

    assert facts(columns) == facts(records)
    assert skipped(columns) == skipped(records)


@given(log=logs(legacy=True))
@pytest.mark.long
def test_a_group_with_commits_of_the_first_brokers_is_folded_record_by_record_and_the_same(
    log: Segment,
) -> None:
    assert facts(fold(log)) == facts(fold(log, slow=True))


@given(data=st.data())
@pytest.mark.long
def test_notes_and_gaps_stand_between_the_same_entries_within_runs_of_commits(data: st.DataObject) -> None:
    log = data.draw(logs())
    lost = [
        LostOffsets(from_offset=first, to_offset=first + data.draw(st.integers(0, 3)), reason="damaged")
        for first in sorted(data.draw(st.sets(st.integers(0, log.next_offset + 2), max_size=4)))
    ]

    times_ms = sorted(data.draw(st.lists(st.integers(-3_000, 60_000), max_size=4)))
    told = Known(
        changes=tuple(
            TopicChange(at_ms=START_MS + at_ms, topic_id=FOO, name="foo", partitions=number + 1)
            for number, at_ms in enumerate(times_ms)
        )
    )

    columns, records = (fold(log, slow=slow, lost={17: tuple(lost)}, known=told) for slow in (False, True))

    assert facts(columns) == facts(records)


@given(log=logs(), split_bytes=st.sampled_from((1, 100, 300, 1000)))
@pytest.mark.long
def test_splits_change_nothing(log: Segment, split_bytes: int) -> None:
    assert facts(fold(log, split_bytes=split_bytes)) == facts(fold(log, split_bytes=ONE_SPLIT))


@given(log=logs(legacy=True), piece_bytes=st.sampled_from((0, 200, 1000)), slow=st.booleans())
def test_the_pieces_that_a_run_is_cut_into_change_nothing(log: Segment, piece_bytes: int, slow: bool) -> None:
    whole = fold(log, slow=slow, split_bytes=ONE_SPLIT)
    with mock.patch.object(merging, "PIECE_BYTES", piece_bytes):
        cut = fold(log, slow=slow, split_bytes=ONE_SPLIT)

    assert facts(cut) == facts(whole)


@given(data=st.data())
@pytest.mark.long
def test_files_that_overlap_give_the_whole_log_once(data: st.DataObject) -> None:
    log = data.draw(logs())
    files = data.draw(copies(log))
    split_bytes = data.draw(st.sampled_from((1, 200, ONE_SPLIT)))

    many, one = fold(*files, split_bytes=split_bytes), fold(log)

    assert facts(many) == facts(one)
    repeated = sum(line["records"] for line in many.of("repeated"))
    assert all(line["conflicts"] == [] for line in many.of("repeated"))
    assert (repeated > 0) >= (many.of("repeated") != [])


def test_a_file_that_holds_its_batches_twice_gives_each_record_once(tmp_path: Path) -> None:
    path = sample_group().write(tmp_path)
    path.write_bytes(path.read_bytes() * 2)

    assert facts(fold_paths(str(path))) == facts(fold(sample_group()))


@given(data=st.data())
@pytest.mark.long
def test_every_chunk_opened_alone_in_any_order_is_its_part_of_the_whole(data: st.DataObject) -> None:
    folds = fold(data.draw(logs()))
    for name in folds.timelines:
        chunks = folds.index(name)["chunks"]
        opened = {}
        for number in data.draw(st.permutations(range(len(chunks)))):
            opened[number] = open_chunk(folds.files, chunks[number])
        recorder = Recorder(group=name.partition("#")[0])
        for entry in folds.entries(name):
            recorder.add(Entry.from_json(entry))
        whole = recorder.flush(final=True)
        assert whole is not None
        assert whole.checkpoint is not None

        told = [opened[number] for number in range(len(chunks))]
        changes = [change for one in told for change in orjson.loads(one.changes)]
        assert changes == orjson.loads(whole.changes)
        moments = [moment for one in told for moment in orjson.loads(one.moments)]
        assert moments == orjson.loads(whole.moments)
        shown = orjson.loads(whole.checkpoint)["frame"]
        for one in told:
            assert orjson.loads(one.frame) == shown
            shown = apply(shown, orjson.loads(one.changes))
        assert [(chunk["first"], chunk["last"]) for chunk in chunks] == spans(chunks)


def spans(chunks: list[Any]) -> list[tuple[int, int]]:
    """The chunks' bounds, dense from 1 on."""
    firsts = [1, *(chunk["last"] + 1 for chunk in chunks[:-1])]
    return [(first, chunk["last"]) for first, chunk in zip(firsts, chunks, strict=True)]


@given(data=st.data())
@pytest.mark.long
def test_a_log_that_goes_on_continues_its_timelines_and_any_other_does_not(data: st.DataObject) -> None:
    log = data.draw(logs())
    cut = data.draw(st.integers(1, len(log.batches)))
    before, after = fold(log.part(0, cut)), fold(log)
    earlier = {
        line["group"]: [{"id": "before", "entries": line["entries"], "digest": line["digest"]}]
        for line in before.of("timeline")
        if line["incarnation"] == 1
    }

    told = fold(log, earlier=earlier)

    for name in told.timelines:
        known = before.entries(name) if name in before.timelines and name.endswith("#1") else []
        begins = bool(known) and after.entries(name)[: len(known)] == known
        # A unit that went on is not the one that ended.
        assert told.told(name)["continues"] == ("before" if begins else None)
        assert told.entries(name) == after.entries(name)


def test_a_group_of_which_nothing_is_later_is_left_out() -> None:
    log = sample_group()
    [line] = fold(log).of("timeline")

    assert fold(log, from_ms=line["headline"]["last_ms"]).timelines == ["orders#1"]
    assert fold(log, from_ms=line["headline"]["last_ms"] + 1).timelines == []


def test_a_pack_is_named_by_what_it_holds() -> None:
    once, again = fold(sample_group()), fold(sample_group())
    other = fold(Segment().add(Group().commit()))

    assert once.files.names() == again.files.names() != other.files.names()
