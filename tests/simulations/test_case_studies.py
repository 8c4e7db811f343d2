"""The case studies against the tables of KIP-848, row by row.

``A@1 {0,1,2}`` is member A at epoch 1 with these partitions. ``waits`` is what the proposal calls pending; ``gives``,
which only released runs record, is what a member was told to give up and has not acknowledged.
"""

from __future__ import annotations

from typing import Any

import pytest

from groups.history.entries import Kind
from simulations.invariants import INVARIANT_FAULT
from simulations.world import studies
from simulations.world.engine import run
from tests.simulations.consumer_studies import CONSUMER_STUDIES
from tests.simulations.rows import rows, step_frames, table

BASIC = table(
    """
     1 | 1 0 | -                | A@0 {}
     2 | 1 1 | A{0,1,2}         | A@0 {}
     3 | 1 1 | A{0,1,2}         | A@1 {0,1,2}
     4 | 2 1 | A{0,1,2}         | A@1 {0,1,2}        B@0 {}
     5 | 2 2 | A{0,1} B{2}      | A@1 {0,1,2}        B@0 {}
     6 | 2 2 | A{0,1} B{2}      | A@1 {0,1,2}        B@2 {} waits{2}
     7 | 2 2 | A{0,1} B{2}      | A@1 {0,1,2} B@2 {} waits{2}
     8 | 2 2 | A{0,1} B{2}      | A@2 {0,1}          B@2 {} waits{2}
     9 | 2 2 | A{0,1} B{2}      | A@2 {0,1}          B@2 {2}
    10 | 3 2 | A{0,1} B{2}      | A@2 {0,1}          B@2 {2} C@0 {}
    11 | 3 3 | A{0} B{2} C{1}   | A@2 {0,1}          B@2 {2} C@0 {}
    12 | 3 3 | A{0} B{2} C{1}   | A@2 {0,1}          B@3 {2} C@0 {}
    13 | 3 3 | A{0} B{2} C{1}   | A@2 {0,1}          B@3 {2} C@3 {} waits{1}
    14 | 3 3 | A{0} B{2} C{1}   | A@2 {0,1}   B@3 {2} C@3 {} waits{1}
    15 | 3 3 | A{0} B{2} C{1}   | A@3 {0}            B@3 {2} C@3 {} waits{1}
    16 | 3 3 | A{0} B{2} C{1}   | A@3 {0}            B@3 {2} C@3 {1}
    """
)

SIX_PARTITIONS = table(
    """
    1 | 22 22 | A{0,1} B{3,4} C{2,5} | A@21 {0,1,2}        B@21 {3,4,5}        C@0 {}
    2 | 22 22 | A{0,1} B{3,4} C{2,5} | A@21 {0,1,2}        B@21 {3,4,5}        C@22 {} waits{2,5}
    3 | 22 22 | A{0,1} B{3,4} C{2,5} | A@21 {0,1,2} B@21 {3,4,5}        C@22 {} waits{2,5}
    4 | 22 22 | A{0,1} B{3,4} C{2,5} | A@21 {0,1,2} B@21 {3,4,5} C@22 {} waits{2,5}
    5 | 22 22 | A{0,1} B{3,4} C{2,5} | A@21 {0,1,2} B@21 {3,4,5} C@22 {} waits{2,5}
    6 | 22 22 | A{0,1} B{3,4} C{2,5} | A@22 {0,1}          B@21 {3,4,5} C@22 {} waits{2,5}
    7 | 22 22 | A{0,1} B{3,4} C{2,5} | A@22 {0,1}          B@21 {3,4,5} C@22 {2} waits{5}
    8 | 22 22 | A{0,1} B{3,4} C{2,5} | A@22 {0,1}          B@22 {3,4}          C@22 {2} waits{5}
    9 | 22 22 | A{0,1} B{3,4} C{2,5} | A@22 {0,1}          B@22 {3,4}          C@22 {2,5}
    """
)

MEMBER_FAILURE = table(
    """
    1 | 23 22 | A{0,1} B{3,4} C{2,5} | B@22 {3,4}   C@22 {2,5}
    2 | 23 23 | B{0,3,4} C{1,2,5}    | B@22 {3,4}   C@22 {2,5}
    3 | 23 23 | B{0,3,4} C{1,2,5}    | B@23 {0,3,4} C@22 {2,5}
    4 | 23 23 | B{0,3,4} C{1,2,5}    | B@23 {0,3,4} C@23 {1,2,5}
    """
)

PARTITION_ADDED = table(
    """
    1 | 23 22 | A{0} B{}  | A@22 {0} B@22 {}
    2 | 23 23 | A{0} B{1} | A@22 {0} B@22 {}
    3 | 23 23 | A{0} B{1} | A@23 {0} B@23 {1}
    """
)

BASIC_AS_RELEASED = table(
    """
     1 | 2 2 | A{0,1,2}         | A@2 {0,1,2}
     2 | 2 2 | A{0,1,2}         | A@2 {0,1,2}
     3 | 2 2 | A{0,1,2}         | A@2 {0,1,2}
     4 | 3 3 | A{0,1} B{2}      | A@2 {0,1,2}        B@3 {} waits{2}
     5 | 3 3 | A{0,1} B{2}      | A@2 {0,1,2}        B@3 {} waits{2}
     6 | 3 3 | A{0,1} B{2}      | A@2 {0,1,2}        B@3 {} waits{2}
     7 | 3 3 | A{0,1} B{2}      | A@2 {0,1} gives{2} B@3 {} waits{2}
     8 | 3 3 | A{0,1} B{2}      | A@3 {0,1}          B@3 {} waits{2}
     9 | 3 3 | A{0,1} B{2}      | A@3 {0,1}          B@3 {2}
    10 | 4 4 | A{0} B{2} C{1}   | A@3 {0,1}          B@3 {2} C@4 {} waits{1}
    11 | 4 4 | A{0} B{2} C{1}   | A@3 {0,1}          B@3 {2} C@4 {} waits{1}
    12 | 4 4 | A{0} B{2} C{1}   | A@3 {0,1}          B@4 {2} C@4 {} waits{1}
    13 | 4 4 | A{0} B{2} C{1}   | A@3 {0,1}          B@4 {2} C@4 {} waits{1}
    14 | 4 4 | A{0} B{2} C{1}   | A@3 {0} gives{1}   B@4 {2} C@4 {} waits{1}
    15 | 4 4 | A{0} B{2} C{1}   | A@4 {0}            B@4 {2} C@4 {} waits{1}
    16 | 4 4 | A{0} B{2} C{1}   | A@4 {0}            B@4 {2} C@4 {1}
    """
)

SEEDS = (None, 2, 77)
"""The rows hold whatever the network's delays: they are found by what happened, not by time."""


@pytest.mark.parametrize("seed", SEEDS)
def test_the_basic_case_has_the_proposals_sixteen_rows(seed: int | None) -> None:
    assert rows("kip848-basic", "kip", seed) == BASIC


TOLD_IN_BASIC = [
    ("A", 0, None),
    ("A", 1, "{0,1,2}"),
    ("B", 0, None),
    ("B", 2, "{} waits{2}"),
    ("A", 1, "{0,1}"),
    ("A", 2, "{0,1}"),
    ("B", 2, "{2}"),
    ("C", 0, None),
    ("B", 3, None),
    ("C", 3, "{} waits{1}"),
    ("A", 2, "{0}"),
    ("A", 3, "{0}"),
    ("C", 3, "{1}"),
]
"""Answers that tell an assignment, another epoch than the last, or nothing to who joins: rows 1, 3, 4, 6 to 10, 12 to 16."""


def test_the_answers_of_the_basic_case_are_the_proposals() -> None:
    told: list[tuple[str, int, str | None]] = []
    epochs: dict[str, int] = {}
    for entry in run(studies.load("kip848-basic"), "kip"):
        body = entry.payload.get("body", {})
        if entry.kind is not Kind.RESPONSE or "memberEpoch" not in body:
            continue
        who, epoch, assignment = entry.payload["to"], body["memberEpoch"], body["assignment"]
        if assignment is None:
            if epochs.get(who) != epoch:
                told.append((who, epoch, None))
        else:
            told.append((who, epoch, _answered(assignment)))
        epochs[who] = epoch
    assert told == TOLD_IN_BASIC


def _answered(assignment: dict[str, Any]) -> str:
    has = [number for topic in assignment["topicPartitions"] for number in topic["partitions"]]
    waits = [
        number for topic in assignment.get("pendingTopicPartitions", ()) for number in topic["partitions"]
    ]
    sets = ["{" + ",".join(map(str, sorted(numbers))) + "}" for numbers in (has, waits)]
    return sets[0] + (f" waits{sets[1]}" if waits else "")


@pytest.mark.parametrize("seed", SEEDS)
def test_the_case_of_six_partitions_has_the_proposals_nine_rows(seed: int | None) -> None:
    assert rows("kip848-six-partitions", "kip", seed) == SIX_PARTITIONS


@pytest.mark.parametrize("seed", SEEDS)
def test_the_failure_of_a_member_has_the_proposals_four_rows(seed: int | None) -> None:
    assert rows("kip848-member-failure", "kip", seed) == MEMBER_FAILURE


@pytest.mark.parametrize("seed", SEEDS)
def test_an_added_partition_has_the_proposals_three_rows(seed: int | None) -> None:
    assert rows("kip848-partition-added", "kip", seed) == PARTITION_ADDED


def test_a_released_join_does_in_one_request_what_the_proposal_tells_in_three() -> None:
    assert rows("kip848-basic", "kafka") == BASIC_AS_RELEASED


IN_BOTH = (
    "kip848-basic",
    "kip848-six-partitions",
    "kip848-member-failure",
    "kip848-partition-added",
    "released-basic",
)
"""What neither semantics tells otherwise; the others are told in the words of their own."""


@pytest.mark.parametrize(
    ("name", "semantics"),
    [
        *((name, str(studies.load(name).semantics)) for name in studies.names()),
        *((name, "kafka" if name.startswith("kip") else "kip") for name in IN_BOTH),
    ],
)
def test_every_case_study_reaches_all_its_steps_and_comes_to_rest(name: str, semantics: str) -> None:
    scenario = studies.load(name)
    frames = step_frames(name, semantics)
    assert [frame["says"] for frame in frames] == [step.narration for step in scenario.steps]
    rests = ("Stable", "Empty", *(("Reconciling", "CompletingRebalance") if name in UNFINISHED else ()))
    assert frames[-1]["state"] in rests


UNFINISHED = ("incident-metadata-flapping", "kip792-leader-throws")
"""Whose last row stands before the end of the trouble."""


@pytest.mark.parametrize("name", CONSUMER_STUDIES)
def test_no_case_study_breaks_an_invariant(name: str) -> None:
    faults = [entry.payload for entry in run(studies.load(name)) if entry.kind is Kind.FAULT]
    assert [fault for fault in faults if fault["fault"] == INVARIANT_FAULT] == []


@pytest.mark.parametrize("name", studies.names())
def test_every_case_study_says_what_it_is(name: str) -> None:
    scenario = studies.load(name)
    assert scenario.title != name
    assert scenario.summary
    assert scenario.steps
    number = name.partition("-")[0].removeprefix("kip")
    assert scenario.proposal == (f"KIP-{number}" if name.startswith("kip") else None)
    assert scenario.semantics == ("kip" if name.startswith("kip848") else "kafka"), (
        "the others are of released clients"
    )


def test_the_basic_case_keeps_the_times_of_its_picture() -> None:
    at_s = [round(frame["at_ms"] / 1000, 1) for frame in step_frames("kip848-basic")]
    assert at_s == [
        0.0,
        0.1,
        1.0,
        12.0,
        12.1,
        13.0,
        16.0,
        17.5,
        18.0,
        22.6,
        22.7,
        23.0,
        23.6,
        27.5,
        28.0,
        28.6,
    ]
