"""Where an import opens: the worst moment of what its findings tell."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from groups.history.worst import QUIET, troubles, worst


def finding(kind: str, *sequences: int, length_ms: int | None = None) -> dict[str, Any]:
    return {
        "kind": kind,
        "says": f"{kind} at {sequences}",
        "sequences": list(sequences),
        "length_ms": length_ms,
    }


def test_a_quiet_timeline_has_no_worst_moment() -> None:
    assert worst([finding(kind, 5, length_ms=3_600_000) for kind in sorted(QUIET)]) is None
    assert worst([]) is None


def test_the_longest_time_without_an_owner_wins_and_begins_with_the_release() -> None:
    found = worst([finding("no_owner", 10, 12, length_ms=900), finding("no_owner", 40, 44, length_ms=23_200)])
    assert found is not None
    assert (found.sequence, found.says) == (40, "no_owner at (40, 44)")


def test_a_long_wait_is_worse_than_a_short_time_without_an_owner() -> None:
    found = worst(
        [finding("no_owner", 47, 60, length_ms=4_000), finding("waited_for", 26, 108, length_ms=64_000)]
    )
    assert found is not None
    assert found.sequence == 26


def test_a_removed_member_and_what_it_left_unassigned_weigh_together() -> None:
    death = [finding("removed", 87), finding("no_owner", 87, 94, length_ms=891)]
    leave = [finding("removed", 147), finding("no_owner", 147, 150, length_ms=443)]
    found = worst([*leave, *death])
    assert found is not None
    assert found.sequence == 87


def test_within_a_storm_the_longest_time_without_an_owner_is_the_moment() -> None:
    found = worst([finding("storm", 3, length_ms=240_000), finding("no_owner", 80, length_ms=31_000)])
    assert found is not None
    assert found.sequence == 80


def test_a_kind_that_is_new_weighs_by_its_length() -> None:
    found = worst([finding("silent", 3, length_ms=23_000), finding("removed", 9)])
    assert found is not None
    assert found.sequence == 3


@given(st.lists(st.builds(finding, st.sampled_from(["no_owner", "removed", "waited_for", "moved"]),
                          st.integers(1, 50), length_ms=st.integers(0, 10**7) | st.none())))  # fmt: skip
def test_the_worst_moment_is_one_of_a_finding_whatever_their_order(findings: list[dict[str, Any]]) -> None:
    found, turned = worst(findings), worst(findings[::-1])
    assert (found and found[:2]) == (turned and turned[:2])
    if found is not None:
        assert found.sequence in {one["sequences"][0] for one in findings}


def test_problems_are_stepped_through_in_their_order_and_what_begins_together_is_one() -> None:
    told = [
        finding("no_owner", 40, length_ms=9),
        finding("removed", 7),
        finding("no_owner", 7, length_ms=5),
        finding("moved", 3),
    ]
    assert troubles(told) == [7, 40]
