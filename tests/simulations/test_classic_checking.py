"""The checker of a classic group's coordinator: silent on what the released rules do, loud on what they never do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest

from groups.history.entries import Entry, Kind
from simulations.invariants.classic_groups import (
    ANSWERED_ONCE,
    ASSIGNED,
    BARRIER,
    CLASSIC_GROUP_INVARIANTS,
    GENERATIONS,
    ONE_LEADER,
    PRESENT,
    WRITTEN,
    ClassicGroupChecker,
)
from simulations.invariants.violations import Violation
from tests.simulations.classic_drive import Drive

SEEDS = range(300)
GENERATIONS_LEAST = 600
"""Generations that the seeds come to, so that something was looked at."""


def checked(entries: Iterable[Entry]) -> list[Violation]:
    checker = ClassicGroupChecker()
    return [violation for entry in entries for violation in checker.see(entry)]


def test_the_coordinator_breaks_nothing_however_it_is_driven() -> None:
    generations = 0
    for seed in SEEDS:
        entries = Drive(seed).play()
        assert checked(entries) == [], seed
        generations += len(
            {
                e.payload["value"]["generation"]
                for e in entries
                if e.kind is Kind.RECORD and e.payload["value"]
            }
        )
    assert generations >= GENERATIONS_LEAST


def test_a_drive_is_the_same_each_time() -> None:
    assert Drive(7).play() == Drive(7).play()


def _answer(entry: Entry, **fields: object) -> Entry:
    return replace(entry, payload={**entry.payload, "body": {**entry.payload["body"], **fields}})


def _is(api: str, **has: object) -> Callable[[Entry], bool]:
    def found(entry: Entry) -> bool:
        if entry.kind is not Kind.RESPONSE or entry.payload["api"] != api:
            return False
        body = entry.payload["body"]
        return not body["errorCode"] and all(bool(body[name]) == value for name, value in has.items())

    return found


@pytest.mark.parametrize(
    ("invariant", "of", "broken"),
    [
        (
            GENERATIONS,
            _is("JoinGroup"),
            lambda e: _answer(e, generationId=e.payload["body"]["generationId"] + 7),
        ),
        (ONE_LEADER, _is("JoinGroup", members=True), lambda e: _answer(e, leader="nobody")),
        (BARRIER, _is("JoinGroup", members=True), lambda e: _answer(e, memberId="nobody")),
        (ASSIGNED, _is("SyncGroup", assignment=True), lambda e: _answer(e, assignment="AAAA")),
    ],
)
def test_an_answer_that_was_changed_is_found(
    invariant: str, of: Callable[[Entry], bool], broken: Callable[[Entry], Entry]
) -> None:
    entries, at = _first(of)
    entries[at] = broken(entries[at])
    assert invariant in {violation.invariant for violation in checked(entries[: at + 1])}


def _first(of: Callable[[Entry], bool]) -> tuple[list[Entry], int]:
    """A drive in which there is such an entry, and where."""
    for seed in SEEDS:
        entries = Drive(seed).play()
        for at, entry in enumerate(entries):
            if of(entry):
                return entries, at
    raise AssertionError("no such entry was drawn")


def test_a_second_answer_a_lost_record_and_a_stale_heartbeat_are_found() -> None:
    entries, at = _first(_is("JoinGroup"))
    assert ANSWERED_ONCE in {each.invariant for each in checked([*entries[: at + 1], entries[at]])}

    entries, at = _first(_is("SyncGroup", assignment=True))
    without = [entry for entry in entries[: at + 1] if entry.kind is not Kind.RECORD]
    assert WRITTEN in {each.invariant for each in checked(without)}

    entries, at = _first(_is("Heartbeat"))
    cause = entries[at].cause
    assert cause is not None
    asked = entries[cause - 1]
    body = {**asked.payload["body"], "generationId": asked.payload["body"]["generationId"] - 1}
    entries[cause - 1] = replace(asked, payload={**asked.payload, "body": body})
    assert PRESENT in {each.invariant for each in checked(entries[: at + 1])}


def test_every_invariant_of_the_table_is_one_that_these_tests_break() -> None:
    assert {
        *(GENERATIONS, ONE_LEADER, BARRIER, ASSIGNED, WRITTEN, ANSWERED_ONCE, PRESENT),
    } == CLASSIC_GROUP_INVARIANTS
