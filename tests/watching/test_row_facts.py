"""The facts of a row: one computation, whatever the source of what a look shows."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from groups.history.polls.description import GroupDescription, GroupKind, MemberDescription
from groups.watching.group_row import Facts, GroupRow
from groups.watching.row_facts import (
    COUNTED_WITHIN_MS,
    REBALANCES_KEPT,
    GroupView,
    facts_after,
    view_of_description,
    view_of_frame,
    with_generation,
)
from tests.watching.rounds import described

DOCUMENTED = Path(__file__).parents[2] / "docs/reference/commands.md"
FREE = {"anna": ((0, 1), (0, 1)), "ben": ((2,), (2, 3))}


def classic(state: str, *members: str, given: str = "") -> GroupDescription:
    rows = tuple(
        MemberDescription(member_id=name, client_id=name, host="", assigned=given) for name in members
    )
    return GroupDescription(group="g", kind=GroupKind.CLASSIC, state=state, members=rows)


def looked(*looks: tuple[int, GroupView]) -> dict[str, Any]:
    """The facts after some looks, each at its second."""
    facts: dict[str, Any] = {}
    state, before = "", None
    for second, view in looks:
        facts = facts_after(facts, state, view, second * 1000, before)
        state, before = view.state, second * 1000
    return facts


def test_a_frame_and_a_description_of_the_same_group_are_the_same_view() -> None:
    told = view_of_description(described("g", FREE, epoch=4, state="Reconciling"))
    frame: Any = {
        "protocol": "consumer", "state": "Reconciling", "group_epoch": 4, "assignment_epoch": 4,
        "members": {"anna": {"epoch": 4}, "ben": {"epoch": 3}},
    }  # fmt: skip
    assert view_of_frame(frame) == told
    assert (told.members, told.behind, told.is_rebalancing, told.number) == (2, 1, True, 4)


@pytest.mark.parametrize("generation", [None, 1])
def test_a_classic_group_that_cannot_finish_has_its_members_and_one_rebalance_that_lasts(
    generation: int | None,
) -> None:
    """The log contains one generation without members all the while; the coordinator describes two members."""
    looks = [(0, classic("Empty")), (1, classic("PreparingRebalance", "a"))]
    looks += [(second, classic("CompletingRebalance", "a", "b")) for second in range(2, 60)]
    facts = looked(*[(at, with_generation(view_of_description(told), generation)) for at, told in looks])
    assert (facts["members"], facts["rebalancing"]) == (2, True)
    assert (facts["since_ms"], facts["state_since_ms"]) == (1_000, 2_000)
    assert facts["rebalanced_ms"] == [1_000]


def test_each_generation_of_a_classic_group_is_one_rebalance_whether_its_phases_were_seen_or_not() -> None:
    stable, joining = (
        view_of_description(classic("Stable", "a")),
        view_of_description(classic("PreparingRebalance")),
    )
    facts = looked(
        (0, with_generation(stable, 1)),
        (1, with_generation(stable, 2)),
        (2, with_generation(joining, 2)),
        (3, with_generation(joining, 3)),
        (4, with_generation(stable, 3)),
        (5, with_generation(stable, 3)),
    )
    assert facts["rebalanced_ms"] == [1_000, 2_000]


def test_a_polled_classic_group_that_has_another_assignment_has_rebalanced() -> None:
    views = [view_of_description(classic("Stable", *names)) for names in ("a", "a", "ab")]
    assert looked(*enumerate(views))["rebalanced_ms"] == [2_000]
    again = view_of_description(
        replace(classic("Stable", "a", "b"), members=classic("Stable", "b", "a").members)
    )
    assert looked((0, views[2]), (1, again))["rebalanced_ms"] == []


def test_every_group_epoch_is_a_rebalance_but_for_those_of_a_long_pause() -> None:
    views = {number: view_of_description(described("g", FREE, epoch=number)) for number in (3, 6, 200)}
    facts = looked((0, views[3]), (1, views[6]))
    assert facts["rebalanced_ms"] == [1_000, 1_000, 1_000]
    assert len(looked((0, views[6]), (1, views[200]))["rebalanced_ms"]) == REBALANCES_KEPT
    later = COUNTED_WITHIN_MS // 1000 + 1
    assert looked((0, views[6]), (later, views[200]))["rebalanced_ms"] == [later * 1000]


def test_a_row_has_the_time_when_its_group_last_lost_a_member() -> None:
    two, one = (
        view_of_description(described("g", shares, epoch=4)) for shares in (FREE, {"anna": FREE["anna"]})
    )
    assert looked((0, two), (1, two)).get("lost_ms") is None
    assert looked((0, two), (1, one), (2, one), (3, two))["lost_ms"] == 1_000


def test_each_shown_fact_is_computed_and_documented() -> None:
    row = GroupRow.__annotations__
    assert looked((0, view_of_description(classic("Empty")))).keys() == Facts.__annotations__.keys()
    (example,) = re.findall(r'^\{"at_ms".*?\}$', DOCUMENTED.read_text(), re.DOTALL | re.MULTILINE)
    assert json.loads(example).keys() - {"at_ms"} == row.keys()
