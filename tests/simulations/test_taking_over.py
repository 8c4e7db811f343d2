"""Taking over: up to the moment all is as it was, and from there on what the reader does happens."""

from __future__ import annotations

from typing import Any

import pytest

from simulations import courses
from simulations.lessons.document import Kind
from simulations.lessons.playing import play, run_of
from simulations.lessons.taking_over import ACTS_MAX, ActError, played_on
from simulations.world import studies
from simulations.world.scenario import Scenario

AT_MS = 10_600
"""In the case of six partitions: A has revoked foo-2, and C has not asked for it yet."""


def six() -> Scenario:
    return studies.load("kip848-six-partitions")


def act(do: str, who: str, at_ms: int = AT_MS + 1, **more: Any) -> dict[str, Any]:
    return {"at_ms": at_ms, "do": do, "who": who, **more}


def replayable() -> list[str]:
    kinds = (Kind.STUDY, Kind.SCENARIO)
    return [name for name in courses.names() if courses.load(name).kind in kinds]


@pytest.mark.parametrize("name", replayable())
@pytest.mark.long
def test_until_the_moment_of_taking_over_the_run_is_the_same(name: str) -> None:
    scenario = run_of(courses.load(name), courses.Bundled()).scenario
    assert scenario is not None
    before = play(scenario)
    middle = before.moments[len(before.moments) // 2]
    run, _ = played_on(scenario, middle["at_ms"], [])

    def seen(moments: tuple[Any, ...]) -> list[Any]:
        """An exchange that is not over yet may end otherwise, and is left out."""
        return [moment for moment in moments if moment["at_ms"] < middle["at_ms"]][:-1]

    assert seen(run.moments) == seen(before.moments)


def test_a_newcomer_joins_and_gets_its_part() -> None:
    run, text = played_on(six(), AT_MS, [act("join", "D")])
    assert run.frames[-1]["members"]["D"]["assigned"] != {}
    assert run.frames[-1]["state"] == "Stable"
    assert '"join": "D"' in text


def test_a_killed_member_is_removed_when_its_session_has_run_out() -> None:
    run, _ = played_on(six(), AT_MS, [act("kill", "B")])
    removed = next(moment for moment in run.moments if moment["shape"] == "remove")
    assert removed["actor"] == "B"
    assert 40_000 < removed["at_ms"] - AT_MS <= 45_100


def test_a_paused_member_goes_on_and_a_topic_grows() -> None:
    acts = [
        act("pause", "A"),
        act("resume", "A", AT_MS + 9_000),
        act("add_partitions", "foo", AT_MS + 10_000, to=7),
    ]
    run, _ = played_on(six(), AT_MS, acts)
    last = run.frames[-1]
    assert last["topics"]["foo"]["partitions"] == 7
    assert sum(len(member["assigned"]["foo"]) for member in last["members"].values()) == 7


def test_a_killed_process_comes_back_as_a_new_member() -> None:
    run, _ = played_on(six(), AT_MS, [act("kill", "A"), act("join", "A", AT_MS + 3_000)])
    assert "A~2" in run.frames[-1]["members"]


@pytest.mark.parametrize(
    ("acts", "says", "field"),
    [
        ([act("explode", "A")], "do must be one of join, leave", "acts[0].do"),
        ([act("kill", "Z")], "unknown member Z", "acts"),
        ([act("kill", "A", 100)], "from the moment of taking over on", "acts[0].at_ms"),
        ([act("kill", "A", AT_MS, why="so")], "why is no field of an act", "acts[0]"),
        ([act("add_partitions", "foo", to=3)], "it can only grow", "acts"),
        ([act("add_partitions", "foo")], "expected", "acts"),
        ([act("resume", "A")], "A", "acts"),
        ([{"at_ms": AT_MS, "do": "kill"}], "who must be", "acts[0].who"),
        ([act("join", "D d")], "a member is named with", "acts"),
        ([act("kill", "A")] * (ACTS_MAX + 1), "at most 50 things", "acts"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_line(acts: list[dict[str, Any]], says: str, field: str) -> None:
    with pytest.raises(ActError, match=says) as refused:
        played_on(six(), AT_MS, acts)
    assert refused.value.field == field
    assert "\n" not in str(refused.value)
