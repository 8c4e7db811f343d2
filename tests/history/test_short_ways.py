"""The short ways through the fold, which nearly every record of a large log goes, say what the long ones say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from unittest import mock

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.history.entries import Entry, Kind, Provenance
from groups.history.evidence import between
from groups.history.evidence.between import step_between
from groups.history.evidence.paces import Place
from groups.history.evidence.rhythm import Rhythm
from groups.history.findings import Finder
from groups.history.passes.indexing import Indexer
from groups.history.replay.fold import replay, replay_unit
from groups.history.state.group import initial_state
from groups.history.state.plain import to_plain
from tests.history.corpus import CorpusLog, corpus
from tests.tiers import spread

LOGS = corpus()[::3]


@pytest.mark.parametrize("log", spread(LOGS), ids=[log.name for log in LOGS])
def test_records_of_a_unit_replayed_at_once_give_what_they_give_one_by_one(log: CorpusLog) -> None:
    state = initial_state(log.group, log.semantics)
    for unit in units_in(log.entries):
        one, anomalies = state, []
        for entry in unit:
            one = replay(one, entry)
            anomalies += one.anomalies
        if all(entry.kind is Kind.RECORD for entry in unit):
            at_once, told = replay_unit(state, unit)
            assert told == tuple(anomalies)
            assert at_once == one
            assert to_plain(at_once) == to_plain(one)
            assert type(at_once.consumer) is type(one.consumer)
            # Whether the group is another object decides how a step is told.
            assert (at_once.consumer is state.consumer) == (one.consumer is state.consumer)
            state = at_once
        else:
            state = one


@pytest.mark.parametrize("log", spread(LOGS), ids=[log.name for log in LOGS])
def test_a_step_in_which_members_only_move_is_found_to_be_what_any_other_way_finds(log: CorpusLog) -> None:
    short, long = finder_of(log), Finder()
    with mock.patch.object(between, "_moves_only", return_value=False):
        long = finder_of(log)
    assert orjson.dumps(to_plain(short)) == orjson.dumps(to_plain(long))


COMMITS = st.lists(
    st.tuples(
        st.sampled_from([("foo", 0), ("foo", 1), ("bar", 0)]),
        st.sampled_from([-5, 0, 40, 900, 1_000, 5_000, 5_001, 20_000, 90_000, 2 * 24 * 3_600_000]),
        st.sampled_from([-7, 0, 1, 50, 1 << 53]),
        # Now and then another member takes what is committed next.
        st.sampled_from([None, None, None, "A", "B"]),
    ),
    max_size=60,
)


@given(COMMITS, st.integers(1, 9))
def test_many_commits_at_once_are_followed_as_one_after_the_other(
    commits: list[tuple[Place, int, int, str | None]], length: int
) -> None:
    at_once, one_by_one = Rhythm(), Rhythm()
    at_ms, offsets = 0, dict.fromkeys((place for place, *_ in commits), 0)
    held: list[tuple[Place, int, int, int]] = []

    def follow() -> None:
        if held:
            places, times_ms, told, sequences = zip(*held, strict=True)
            at_once.commits(places, times_ms, told, sequences, _nobody)
        for place, now_ms, offset, sequence in held:
            one_by_one.commit(place, now_ms, offset, sequence, _nobody)
        held.clear()
        assert to_plain(at_once) == to_plain(one_by_one)

    for sequence, (place, gap_ms, moved, taker) in enumerate(commits, 1):
        if taker is not None or len(held) == length:
            follow()
        if taker is not None:
            for rhythm in (at_once, one_by_one):
                rhythm.takes(taker, place, at_ms, sequence)
        at_ms += gap_ms
        offsets[place] += moved
        held.append((place, at_ms, offsets[place], sequence))
    follow()


def _nobody(place: Place) -> str | None:
    return None


@pytest.mark.long
def test_the_corpus_goes_the_short_way_often() -> None:
    taken = 0
    for log in LOGS:
        state = initial_state(log.group, log.semantics)
        for unit in units_in(log.entries):
            after, anomalies = replay_unit(state, unit)
            taken += step_between(state, after, tuple(unit), anomalies).moves_only
            state = after
    assert taken > 100


@pytest.mark.parametrize("log", spread(LOGS), ids=[log.name for log in LOGS])
def test_units_are_indexed_as_their_entries_one_by_one(log: CorpusLog) -> None:
    whole, single = (Indexer(group=log.group, semantics=log.semantics) for _ in range(2))
    for unit in units_in(log.entries):
        whole.add_unit(unit)
        for entry in unit:
            single.add(entry)
    assert orjson.dumps(whole.summary()) == orjson.dumps(single.summary())
    assert whole.digest() == single.digest()
    if not log.entries or log.entries[-1].settled:
        assert whole.checkpoint() == single.checkpoint()


def test_a_unit_that_is_not_the_next_one_is_refused() -> None:
    entry = Entry(
        sequence=5,
        at_ms=0,
        kind=Kind.RECORD,
        actor="coordinator",
        provenance=Provenance.RECORDED,
        payload={"type": 3, "key": {"groupId": "orders"}, "version": 0, "value": {"epoch": 1}},
    )
    with pytest.raises(ValueError, match="entry 5 came after 0; sequences are dense"):
        Indexer(group="orders").add_unit([entry])


def finder_of(log: CorpusLog) -> Finder:
    finder = Finder()
    state = initial_state(log.group, log.semantics)
    for unit in units_in(log.entries):
        after, anomalies = replay_unit(state, unit)
        finder.add(step_between(state, after, tuple(unit), anomalies), None)
        state = after
    return finder


def units_in(entries: Sequence[Entry]) -> Iterator[list[Entry]]:
    """Cut behind each settled entry; a log may end inside a unit."""
    unit: list[Entry] = []
    for entry in entries:
        unit.append(entry)
        if entry.settled:
            yield unit
            unit = []
    if unit:
        yield unit
