"""A fault of the released coordinator that a real broker shows as well: whom it means for topics that it does not read.

The exchanges ``regex-unresolved-joiner`` and ``regex-unresolved-nothing`` play the same on a broker.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from groups.history.entries import Entry, Kind
from groups.history.replay.fold import replay
from groups.history.state.group import initial_state
from simulations.invariants import Checker, Violation
from simulations.world import studies
from simulations.world.engine import run
from simulations.world.engine.checked_run import bounds_of
from simulations.world.scenario import load
from tests.simulations.rows import row, step_frames

STUDY = "released-unresolved-regex"


def judged(entries: Iterable[Entry]) -> list[Violation]:
    scenario = studies.load(STUDY)
    checker, state = Checker("kafka", bounds_of(scenario)), initial_state(scenario.group, "kafka")
    found = []
    for entry in entries:
        state = replay(state, entry)
        found += checker.see(entry, state)
    return found


def told(entry: Entry, kind: int, member: str) -> bool:
    return (
        entry.kind is Kind.RECORD
        and entry.payload["type"] == kind
        and entry.payload["key"].get("memberId") == member
    )


def test_partitions_meant_for_who_does_not_read_them_are_nobodys_and_the_group_is_stable() -> None:
    frame = step_frames(STUDY)[5]
    assert row(frame) == "6 | 4 4 | A{0,1} C{2,3} | A@4 {0,1} C@4 {} waits{2,3}"
    assert frame["state"] == "Stable"


def test_the_next_group_epoch_gives_them_to_who_reads_them() -> None:
    members = step_frames(STUDY)[-1]["members"]
    assert members["A"]["assigned"] == {"payments": [0, 1, 2, 3]}
    assert members["C"]["assigned"] == {"refunds-eu": [0, 1]}


def test_the_fault_is_no_violation_but_the_same_target_after_the_resolution_is() -> None:
    entries = list(run(studies.load(STUDY)))
    assert judged(entries) == []
    faulty, sound = (entry for entry in entries if told(entry, 7, "C"))
    again = {**sound.payload, "value": faulty.payload["value"]}
    altered = [replace(entry, payload=again) if entry is sound else entry for entry in entries]
    assert {violation.invariant for violation in judged(altered)} >= {"whole_target"}


AGAIN = """\
group: g
topics: {foo: {partitions: 4}}
members: {A: {subscribe: [foo]}, B: {subscribe: [foo]}, C: {regex: none}}
script:
  - {at: 0s, join: [A, B, C]}
  - {at: 41s, leave: C}
  - {at: 52s, leave: B}
  - {at: 52.2s, join: C}
"""


def test_an_expression_whose_last_member_left_is_resolved_anew_for_who_comes_with_it() -> None:
    """Its tombstone says that nobody has it, not that it matches nothing."""
    entries = list(run(load(AGAIN)))
    assert len([e for e in entries if e.kind is Kind.RECORD and e.payload["type"] == 16]) == 3
    assert [told(entry, 7, "C") for entry in entries if entry.at_ms > 52_200].count(True) == 1
    assert [entry.payload for entry in entries if entry.kind is Kind.FAULT] == []
