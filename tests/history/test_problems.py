"""Which findings of a timeline are problems, that one steps through by key."""

from __future__ import annotations

from typing import Any

from groups.history.story.problems import QUIET, TROUBLES_MOST, troubles


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
    many = [finding("no_owner", place + 1, length_ms=place + 1) for place in range(TROUBLES_MOST + 5)]
    assert troubles(many) == list(range(6, TROUBLES_MOST + 6))
    assert troubles(many[::-1]) == troubles(many)


def test_problems_are_stepped_through_in_their_order_and_what_begins_together_is_one() -> None:
    told = [
        finding("no_owner", 40, length_ms=9),
        finding("removed", 7),
        finding("no_owner", 7, length_ms=5),
        finding("moved", 3),
    ]
    assert troubles(told) == [7, 40]
