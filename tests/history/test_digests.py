"""Digests: whatever window, zoom and cut, what they say is what the whole frames say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.history.digests import Digest, Digester, coarsened, digest_of, joined, window
from groups.history.digests.levels import LEVELS, Base, levels
from groups.history.entries import Entry
from groups.history.frames.changes import apply
from groups.history.passes.recorder import RecordedBatch
from tests.history.corpus import CorpusLog, corpus, recorded
from tests.history.logs import Log, record
from tests.history.naive_digest import Naive, State, naive_columns, unrolled
from tests.history.strategies import logs
from tests.history.test_any_log import ANY_LOG, SEMANTICS, batches, together
from tests.tiers import spread

LOGS = corpus()


class Told:
    """A log's first frame, changes and moments, and what the slow way says at the start and at each moment."""

    def __init__(self, entries: Sequence[Entry], made: list[RecordedBatch]) -> None:
        self.frame = orjson.loads(made[0].checkpoint or b"")["frame"]
        self.changes, self.moments = together(made, "changes"), together(made, "moments")
        naive, frame = Naive(), self.frame
        naive.see(frame)
        self.states: list[State] = [naive.state(frame)]
        self.frames, self.met = {0: frame}, {0: set(naive.met)}
        left = list(self.changes)
        wanted = [moment["sequence"] for moment in self.moments]
        for entry in entries:
            some = [change for change in left if change["sequence"] == entry.sequence]
            left = left[len(some) :]
            if some:
                frame = apply(frame, some)
                naive.see(frame)
            self.frames[entry.sequence] = frame
            if wanted and wanted[0] == entry.sequence:
                wanted.pop(0)
                self.states.append(naive.state(frame))
            self.met[entry.sequence] = set(naive.met)

    @classmethod
    def of(cls, entries: list[Entry], semantics: str) -> Told:
        return cls(entries, batches(entries, semantics, set()))

    @classmethod
    def of_log(cls, log: CorpusLog) -> Told:
        return cls(log.entries, [recorded(log).batch])

    def digest(self) -> Digest:
        return digest_of(self.frame, self.changes, self.moments)

    def parts(self, cuts: list[int], *, begin: set[int], fresh: set[int]) -> list[tuple[Digest, Base]]:
        """Cut after these moments (by their place): some parts begin chunks, some of them made without those before."""
        digester, parts, at, done = Digester(self.frame), [], 0, 0
        for cut in [*cuts, len(self.moments)]:
            for moment in self.moments[at:cut]:
                while done < len(self.changes) and self.changes[done]["sequence"] <= moment["sequence"]:
                    digester.change(self.changes[done])
                    done += 1
                digester.moment(moment)
            at = cut
            parts.append(digester.take())
            if cut in fresh and at:
                before = self.moments[at - 1]["sequence"]
                digester = Digester(self.frames[before], self.met[before])
            elif cut in begin:
                digester.begin()
        return parts

    def drawn(self, data: st.DataObject) -> Digest:
        """Joined again at one level of detail, of whatever parts were drawn."""
        cuts = sorted(data.draw(st.sets(st.integers(0, len(self.moments)), max_size=4)))
        some = st.sets(st.sampled_from(cuts or [0]))
        parts = self.parts(cuts, begin=data.draw(some), fresh=data.draw(some))
        level = data.draw(st.integers(0, len(LEVELS)))
        return joined([levels(part, base)[level] for part, base in parts])

    def each_level(self) -> Iterator[Digest]:
        """Joined again at every level of detail, of parts that are always the same."""
        cuts = list(range(7, len(self.moments), 23))
        parts = self.parts(cuts, begin=set(cuts[::2]), fresh=set(cuts[1::4]))
        for level in range(len(LEVELS) + 1):
            yield joined([levels(part, base)[level] for part, base in parts])


def assert_tells(digest: Digest, states: list[State]) -> None:
    """Column by column; the columns' own counts of moments say which states each of them is made of."""
    bounds, at = [], -1
    for moments in digest.columns.moments:
        bounds.append((at + 1, at + max(1, moments)))
        at = bounds[-1][1]
    assert at == len(states) - 1, "a moment is missing"
    for column, (told, expected) in enumerate(
        zip(unrolled(digest), naive_columns(states, bounds), strict=True)
    ):
        assert told[0] == expected[0], f"members in column {column}"
        assert told[1] == expected[1], f"partitions in column {column}"


@ANY_LOG
@given(logs(), SEMANTICS)
def test_the_finest_digest_says_at_each_moment_what_its_frame_says(
    entries: list[Entry], semantics: str
) -> None:
    if entries:
        told = Told.of(entries, semantics)
        assert_tells(told.digest(), told.states)


def test_a_member_at_an_epoch_below_zero_falls_behind_once_the_group_s_epoch_is_known() -> None:
    log = Log()
    log.write(record(22, {"groupId": "orders", "memberId": "A"}, {"memberEpoch": -1, "state": 1}))
    log.write(record(17, {"groupId": "orders"}, {"epoch": 0, "metadataHash": 0}))
    told = Told.of(log.entries, "kafka")
    assert_tells(told.digest(), told.states)


@ANY_LOG
@given(logs(), SEMANTICS, st.data())
def test_any_cut_window_and_zoom_says_what_all_frames_say(
    entries: list[Entry], semantics: str, data: Any
) -> None:
    if not entries:
        return
    told = Told.of(entries, semantics)
    whole = told.drawn(data)
    assert_tells(whole, told.states)
    first = data.draw(st.integers(0, len(entries)))
    cut = window(whole, first, data.draw(st.integers(first, len(entries))))
    zoomed = coarsened(cut, data.draw(st.integers(2, 9)))
    lead = whole.columns.first.index(cut.columns.first[0])
    before = sum(max(1, moments) for moments in whole.columns.moments[:lead])
    inside = sum(max(1, moments) for moments in cut.columns.moments)
    assert_tells(zoomed, told.states[before : before + inside])


@pytest.mark.parametrize("log", spread(LOGS), ids=lambda log: log.name)
def test_what_the_corpus_tells_is_told_by_its_digests_in_any_window(log: CorpusLog) -> None:
    told = Told.of_log(log)
    for whole in told.each_level():
        assert_tells(whole, told.states)
