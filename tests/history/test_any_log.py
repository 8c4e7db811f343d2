"""A log of the world may break any rule: nothing raises, and what is stored says the same however it is cut."""

from __future__ import annotations

from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from groups.history.entries import Entry
from groups.history.findings import Finder
from groups.history.frames.changes import apply, diff, unapply
from groups.history.frames.frame import FrameMaker, frame
from groups.history.passes.recorder import RecordedBatch, Recorder
from groups.history.replay.fold import replay
from groups.history.state.group import initial_state
from groups.history.state.plain import from_plain, to_plain
from tests.history.logs import frame_at
from tests.history.strategies import logs
from tests.tiers import examples

ANY_LOG = examples(75)
SEMANTICS = st.sampled_from(["kafka", "kip"])


def as_json(value: Any) -> Any:
    return orjson.loads(orjson.dumps(value))


@ANY_LOG
@given(logs(), SEMANTICS)
def test_replay_takes_any_log_and_frames_can_be_made_of_whatever_comes_out(
    entries: list[Entry], semantics: str
) -> None:
    state, maker = initial_state("orders", semantics), FrameMaker()
    last = maker.frame(state)
    for entry in entries:
        state = replay(state, entry)
        fresh, made = frame(state), maker.frame(state)
        assert made == fresh
        changes = as_json(diff(last, made))
        assert apply(as_json(last), changes) == as_json(fresh)
        assert unapply(as_json(fresh), changes) == as_json(last)
        last = made


@ANY_LOG
@given(logs(), SEMANTICS)
def test_replay_leaves_the_state_that_it_was_given_as_it_was(entries: list[Entry], semantics: str) -> None:
    state = initial_state("orders", semantics)
    for entry in entries:
        before = repr(state)
        after = replay(state, entry)
        assert repr(state) == before
        state = after


def batches(entries: list[Entry], semantics: str, flush_after: set[int]) -> list[RecordedBatch]:
    recorder, out = Recorder(group="orders", semantics=semantics), []
    for entry in entries:
        recorder.add(entry)
        if entry.sequence in flush_after and (batch := recorder.flush()) is not None:
            out.append(batch)
    if (batch := recorder.flush(final=True)) is not None:
        out.append(batch)
    return out


def together(parts: list[RecordedBatch], name: str) -> list[Any]:
    return [item for batch in parts for item in orjson.loads(getattr(batch, name))]


@ANY_LOG
@given(logs(), SEMANTICS, st.sets(st.integers(1, 90)))
def test_batches_put_together_are_the_straight_fold_wherever_they_are_cut(
    entries: list[Entry], semantics: str, flush_after: set[int]
) -> None:
    cut, whole = batches(entries, semantics, flush_after), batches(entries, semantics, set())
    for name in ("entries", "changes", "moments"):
        assert together(cut, name) == together(whole, name)
    assert [Entry.from_json(item) for item in together(cut, "entries")] == entries
    if entries:
        assert cut[-1].summary == whole[-1].summary
        assert [batch.first for batch in cut] == [1, *(batch.last + 1 for batch in cut[:-1])]
    state = initial_state("orders", semantics)
    for entry in entries:
        state = replay(state, entry)
    if cut:
        assert cut[0].checkpoint is not None
        checkpoint = orjson.loads(cut[0].checkpoint)
        assert frame_at(checkpoint, together(cut, "changes"), len(entries)) == as_json(frame(state))


@ANY_LOG
@given(logs(), SEMANTICS, st.sets(st.integers(1, 90)))
def test_no_batch_ends_inside_a_unit_and_every_moment_lies_in_its_batch(
    entries: list[Entry], semantics: str, flush_after: set[int]
) -> None:
    for batch in batches(entries, semantics, flush_after):
        assert entries[batch.last - 1].settled
        for moment in orjson.loads(batch.moments):
            assert batch.first <= moment["first"] <= moment["sequence"] <= batch.last
            assert entries[moment["sequence"] - 1].settled


@ANY_LOG
@given(logs(), SEMANTICS)
def test_findings_survive_their_checkpoint(entries: list[Entry], semantics: str) -> None:
    recorder = Recorder(group="orders", semantics=semantics)
    for entry in entries:
        recorder.add(entry)
    recorder.flush(final=True)
    kept = as_json(to_plain(recorder.finder))
    assert as_json(to_plain(from_plain(Finder, kept))) == kept
