"""The short ways through the fold, which nearly every record of a large log goes, say what the long ones say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from unittest import mock

import orjson
import pytest

from groups.history.entries import Entry, Kind, Provenance
from groups.history.evidence import steps
from groups.history.evidence.steps import step_between
from groups.history.findings import Finder
from groups.history.passes.indexing import Indexer
from groups.history.replay.fold import replay, replay_unit
from groups.history.state.group import initial_state
from groups.history.state.plain import to_plain
from tests.history.corpus import CorpusLog, corpus

LOGS = [log for log in corpus() if any(entry.kind is Kind.RECORD for entry in log.entries)][::3]


@pytest.mark.parametrize("log", LOGS, ids=[log.name for log in LOGS])
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


@pytest.mark.parametrize("log", LOGS, ids=[log.name for log in LOGS])
def test_a_step_in_which_members_only_move_is_found_to_be_what_any_other_way_finds(log: CorpusLog) -> None:
    short, long = finder_of(log), Finder()
    with mock.patch.object(steps, "_moves_only", return_value=False):
        long = finder_of(log)
    assert orjson.dumps(short.to_json()) == orjson.dumps(long.to_json())


def test_the_corpus_goes_the_short_way_often() -> None:
    taken = 0
    for log in LOGS:
        state = initial_state(log.group, log.semantics)
        for unit in units_in(log.entries):
            after, anomalies = replay_unit(state, unit)
            taken += step_between(state, after, tuple(unit), anomalies).moves_only
            state = after
    assert taken > 100


@pytest.mark.parametrize("log", LOGS, ids=[log.name for log in LOGS])
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
