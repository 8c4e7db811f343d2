"""Digests beside their rows: the columns, the group's own tracks and the lines of events, whatever window, zoom and cut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.history.digests import Digest, coarsened, joined, window
from groups.history.digests.events import collapsed
from groups.history.digests.levels import later
from groups.history.digests.values import FREE, PartitionValue
from groups.history.entries import Entry
from tests.history.corpus import CorpusLog
from tests.history.logs import Log
from tests.history.storied import two_reading
from tests.history.strategies import logs
from tests.history.test_any_log import SEMANTICS
from tests.history.test_causes import R, two_members
from tests.history.test_digests import LOGS, Told, assert_tells
from tests.history.test_troubles import fault
from tests.tiers import examples, spread

SOME = LOGS[::12]
"""Of every source some."""


def held(track: Sequence[tuple[Any, ...]], column: int) -> Any:
    """What a track says of the end of a column."""
    return next((each[1] for each in reversed(track) if each[0] <= column), None)


def begins_ms(whole: Digest, told: Told) -> int:
    """The time of the column before the first entry: the earliest of the next column, whose clock may go backwards."""
    if not told.moments:
        return int(told.frame["at_ms"])
    return min(moment["at_ms"] for moment in told.moments[: max(1, whole.columns.moments[1])])


def assert_tells_the_group(digest: Digest, told: Told, begin: int = 0, whole: Digest | None = None) -> None:
    """Column by column, as the frames and the moments have it.

    ``begin``: the state with which the digest begins; ``whole``: the digest that it was cut out of.
    """
    first = (int(told.frame["sequence"]), begins_ms(whole or digest, told), told.frame, "", "")
    steps = [first]
    for each in told.moments:
        frame = told.frames[each["sequence"]]
        steps.append((each["sequence"], each["at_ms"], frame, each["shape"], each["says"]))
    states, epochs, coordinators = list[Any](), list[Any](), list[Any]()
    for _, _, frame, _, _ in steps:
        known = frame.get("group_epoch")
        for kept, value in (
            (states, frame["state"]),
            (epochs, frame.get("generation") if known is None else known),
            (coordinators, (frame.get("coordinator") or {}).get("name")),
        ):
            kept.append(value if value is not None else kept[-1] if kept else None)
    free = [
        sum(value == PartitionValue(None, FREE) for value in partitions.values())
        for _, partitions in told.states
    ]
    columns, tracks, at, violations = digest.columns, digest.tracks, begin, []
    for column, moments in enumerate(columns.moments):
        inside = range(at, at + max(1, moments))
        at = inside.stop
        some = [steps[place] for place in inside]
        assert [values[column] for values in columns.lists()] == [
            some[0][0],
            some[-1][0],
            min(at_ms for _, at_ms, *_ in some),
            max(at_ms for _, at_ms, *_ in some),
            moments,
            max(free[place] for place in inside),
            len(some[-1][2]["members"]),
            0,
        ], f"column {column}"
        assert held(tracks.states, column) == states[inside[-1]]
        assert held(tracks.epochs, column) == epochs[inside[-1]]
        assert held(tracks.coordinators, column) == coordinators[inside[-1]]
        violations += [(column, says) for _, _, _, shape, says in some if shape == "violation"]
    assert tracks.violations == violations


@examples(30)
@given(logs(), SEMANTICS, st.data())
def test_any_cut_window_and_zoom_says_of_the_group_what_all_frames_say(
    entries: list[Entry], semantics: str, data: Any
) -> None:
    if not entries:
        return
    told = Told.of(entries, semantics)
    whole = told.drawn(data)
    assert_tells_the_group(whole, told)
    assert whole.events == collapsed(told.moments)
    first = data.draw(st.integers(0, len(entries)))
    last = data.draw(st.integers(first, len(entries)))
    cut = window(whole, first, last)
    lead = whole.columns.first.index(cut.columns.first[0])
    begin = sum(max(1, moments) for moments in whole.columns.moments[:lead])
    assert_tells_the_group(cut, told, begin, whole)
    assert_tells_the_group(coarsened(cut, data.draw(st.integers(2, 9))), told, begin, whole)
    assert cut.events == [
        event for event in whole.events if event.last >= cut.columns.first[0] and event.first <= last
    ]


@pytest.mark.parametrize("log", spread(SOME, every=6), ids=lambda log: log.name)
def test_what_the_corpus_tells_of_the_group_is_told_by_its_digests(log: CorpusLog) -> None:
    told = Told.of_log(log)
    for whole in told.each_level():
        assert_tells_the_group(whole, told)
    assert digest_of_violations(told) == [
        each["says"] for each in told.moments if each["shape"] == "violation"
    ]


def digest_of_violations(told: Told) -> list[str]:
    return [says for _, says in told.digest().tracks.violations]


def assert_goes_on(told: Told, one: int, two: int, *, begins: bool) -> None:
    """What is left of a part from its moment ``two`` on goes on where the first of it ended; it began at ``one``."""
    begin = {one} if begins else set[int]()
    (a, _), (b, _), _ = told.parts([one, two], begin=begin, fresh=set())
    _, (both, _) = told.parts([one], begin=begin, fresh=set())
    left = later(both, told.moments[two - 1]["sequence"], told.moments[two:])
    assert not left.begins
    assert left.columns.first == [each["sequence"] for each in told.moments[two:]]
    whole = joined([a, b, left])
    assert_tells(whole, told.states)
    assert_tells_the_group(whole, told)
    assert whole.events == collapsed(told.moments)
    assert whole.facts == told.digest().facts


@pytest.mark.parametrize("begins", [False, True])
@pytest.mark.parametrize("log", spread(SOME[::2], every=6), ids=lambda log: log.name)
def test_what_is_left_of_a_part_goes_on_where_the_first_of_it_ended(log: CorpusLog, begins: bool) -> None:
    told = Told.of_log(log)
    if (count := len(told.moments)) >= 6:
        assert_goes_on(told, count // 3, 2 * count // 3, begins=begins)


@pytest.mark.parametrize("begins", [False, True])
def test_a_part_may_be_cut_before_each_of_its_moments(begins: bool) -> None:
    log = two_members()
    for number in range(2):
        fault(log, fault="fail_over", coordinator=f"broker-{number}", loading_ms=10)
        fault(log, fault="invariant", invariant="one_holder", says=f"{number} is held twice", sequences=[4])
        log.at(5_000 * (number + 1)).write(R.epoch(5 + number))
    told = Told.of(log.entries, "kafka")
    tracks = told.digest().tracks
    assert (len(tracks.coordinators), len(tracks.violations)) == (2, 2)
    for two in range(2, len(told.moments)):
        assert_goes_on(told, 1, two, begins=begins)


def test_a_digest_has_to_begin_with_a_state_of_its_own() -> None:
    log = Log()
    log.at(5).note(note="step", says="It begins.", step=1)
    told = Told.of(log.entries, "kafka")
    (_, (part, _)) = told.parts([0], begin=set(), fresh=set())
    assert not part.begins
    with pytest.raises(ValueError, match="begins with a state of its own"):
        joined([part])


def test_before_the_first_entry_there_is_no_time_so_a_digest_begins_with_it_at_every_level() -> None:
    first_ms = 1_790_000_000_000
    log = two_reading(120_000, start_ms=first_ms).log()
    told = Told.of(list(log.entries), "kafka")
    for whole in told.each_level():
        for columns in (whole.columns, coarsened(whole, 9).columns):
            assert columns.first[0] == 0
            assert (columns.from_ms[0], columns.to_ms[0]) == (columns.from_ms[1],) * 2
            assert columns.from_ms[0] >= first_ms
