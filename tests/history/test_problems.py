"""Which findings of a timeline are problems, that one steps through by key."""

from __future__ import annotations

from typing import Any

import pytest

from groups.history.story.problems import LEAST_MS, QUIET, TROUBLES_MOST, troubles


def finding(kind: str, *sequences: int, length_ms: int | None = None) -> dict[str, Any]:
    return {
        "kind": kind,
        "says": f"{kind} at {sequences}",
        "sequences": list(sequences),
        "length_ms": length_ms,
    }


def test_a_quiet_timeline_has_no_problem() -> None:
    assert troubles([finding(kind, 5, length_ms=3_600_000) for kind in sorted(QUIET)]) == []
    assert troubles([]) == []


def test_of_very_many_problems_the_gravest_are_kept_in_their_order() -> None:
    least = LEAST_MS["no_owner"]
    many = [finding("no_owner", place + 1, length_ms=least + place) for place in range(TROUBLES_MOST + 5)]
    assert [one["sequence"] for one in troubles(many)] == list(range(6, TROUBLES_MOST + 6))
    assert troubles(many[::-1]) == troubles(many)


def test_problems_are_stepped_through_in_their_order_and_what_begins_together_is_one() -> None:
    told = [
        finding("no_owner", 40, length_ms=9_000),
        finding("removed", 7),
        finding("no_owner", 7, length_ms=5_000),
        finding("moved", 3),
    ]
    assert troubles(told) == [
        {"sequence": 7, "at_ms": None, "says": "removed at (7,)"},
        {"sequence": 40, "at_ms": None, "says": "no_owner at (40,)"},
    ]


def test_removals_that_one_finding_counts_are_one_problem() -> None:
    loop = finding("crash_loop", 7, 9, 12) | {"steps": [7, 9, 12]}
    removals = [finding("removed", step) for step in (7, 9, 12)]
    other = finding("removed", 10)
    assert [(one["sequence"], one["says"]) for one in troubles([*removals, loop, other])] == [
        (7, "crash_loop at (7, 9, 12)"),
        (10, "removed at (10,)"),
    ]
    twice = finding("session_expiry", 7, 9) | {"steps": [7, 9]}
    assert [one["sequence"] for one in troubles([*removals, twice])] == [7, 9, 12]


def test_what_another_finding_explains_is_no_problem_of_its_own() -> None:
    storm = finding("storm", 1, 60, length_ms=90_000)
    assert len(troubles([storm])) == 1
    assert troubles([storm | {"explained_by": "Rebalance timeout too short"}]) == []


def test_a_hand_over_as_it_is_by_design_is_no_problem() -> None:
    short = [finding(kind, 5, length_ms=least - 1) for kind, least in LEAST_MS.items()]
    assert troubles(short) == []
    assert (
        len(
            troubles(
                [
                    finding(kind, place, length_ms=least)
                    for place, (kind, least) in enumerate(LEAST_MS.items())
                ]
            )
        )
        == 2
    )


@pytest.mark.parametrize(("kind", "least_ms"), [("no_owner", 5_000), ("waited_for", 10_000)])
def test_a_problem_begins_where_a_hand_over_ends(kind: str, least_ms: int) -> None:
    assert troubles([finding(kind, 5, length_ms=least_ms - 1)]) == []
    assert len(troubles([finding(kind, 5, length_ms=least_ms)])) == 1
