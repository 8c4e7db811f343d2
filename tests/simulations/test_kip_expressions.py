"""What expressions match in ``kip``: no record tells, so a run notes it, and boards and the checker go by that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from groups.history.entries import Entry, Kind
from groups.history.replay.fold import replay
from groups.history.state.group import initial_state
from simulations.invariants import Checker, Violation
from simulations.world.engine import run
from simulations.world.engine.checked_run import bounds_of
from simulations.world.scenario import load

TEXT = """\
group: g
semantics: kip
topics: {orders-eu: {partitions: 2}, audit: {partitions: 1}}
members: {A: {regex: "orders-.*"}, B: {subscribe: [audit]}, C: {regex: "orders-.*"}}
script:
  - {at: 0s, join: [A, B]}
  - {at: 20s, join: C}
  - {at: 40s, create_topic: orders-us, partitions: 2}
  - {at: 60s, leave: [A, C]}
steps:
  - {after: regex, says: The expression is resolved.}
until: 80s
"""
SCENARIO = load(TEXT)


def judged(entries: Iterable[Entry]) -> list[Violation]:
    checker, state = Checker("kip", bounds_of(SCENARIO)), initial_state("g", "kip")
    found = []
    for entry in entries:
        state = replay(state, entry)
        found += checker.see(entry, state)
    return found


def noted(entries: Iterable[Entry]) -> list[tuple[int, object]]:
    return [
        (entry.at_ms // 1_000, entry.payload["regexes"])
        for entry in entries
        if entry.kind is Kind.NOTE and entry.payload["note"] == "regexes"
    ]


def test_each_change_of_what_an_expression_matches_is_noted_before_what_it_causes() -> None:
    entries = list(run(SCENARIO))
    assert noted(entries) == [
        (0, {"orders-.*": ["orders-eu"]}),
        (40, {"orders-.*": ["orders-eu", "orders-us"]}),
        (60, {"orders-.*": None}),
    ]
    types = [e.payload["type"] for e in entries if e.kind is Kind.RECORD]
    assert 16 not in types
    step = next(e for e in entries if e.kind is Kind.NOTE and e.payload["note"] == "step")
    assert step.at_ms < 20


def test_the_state_knows_what_members_subscribe_to_by_their_expressions() -> None:
    state = initial_state("g", "kip")
    for entry in run(SCENARIO):
        state = replay(state, entry)
        if entry.at_ms < 60_000:
            last = state.consumer
    assert last.subscribed_topics(last.members["C"]) == ("orders-eu", "orders-us")
    assert state.consumer.regexes == {}


def test_a_target_that_gives_a_member_what_its_expression_does_not_match_is_a_violation() -> None:
    entries = list(run(SCENARIO))
    assert judged(entries) == []
    targets = [e for e in entries if e.kind is Kind.RECORD and e.payload["type"] == 7]
    of_b = next(e for e in targets if e.payload["key"]["memberId"] == "B")
    of_a = next(e for e in targets if e.payload["key"]["memberId"] == "A")
    values = {of_a.sequence: of_b.payload["value"], of_b.sequence: of_a.payload["value"]}
    altered = [
        replace(e, payload={**e.payload, "value": values[e.sequence]}) if e.sequence in values else e
        for e in entries
    ]
    assert "whole_target" in {violation.invariant for violation in judged(altered)}


@pytest.mark.parametrize("world", ["stormy", "hostile"])
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_in_any_weather_targets_are_whole_of_what_expressions_match(world: str, seed: int) -> None:
    text = TEXT.replace("{at: 60s, leave: [A, C]}", "{at: 60s, fail_over: coordinator}")
    text += f"world: {world}\n"
    faults = [e.payload for e in run(load(text), None, seed) if e.kind is Kind.FAULT]
    assert [fault for fault in faults if fault["fault"] == "invariant"] == []


def test_a_state_to_begin_from_has_no_record_of_expressions_either() -> None:
    text = """\
group: g
semantics: kip
topics: {orders-eu: {partitions: 2}}
members: {A: {regex: "orders-.*"}}
start: {group_epoch: 5, assignment_epoch: 5, members: {A: {epoch: 5, owned: {orders-eu: [0, 1]}}}}
script: [{at: 40s, create_topic: orders-us, partitions: 2}]
"""
    entries = list(run(load(text)))
    assert 16 not in [e.payload["type"] for e in entries if e.kind is Kind.RECORD]
    assert noted(entries)[-1] == (40, {"orders-.*": ["orders-eu", "orders-us"]})
