"""Runs that begin with a classic group: it is there with its generation, its assignment and its members."""

from __future__ import annotations

import pytest

from groups.history.state.group import initial_state
from simulations.world.scenario import ScenarioError, load
from tests.simulations.classic_broker import ClassicBroker
from tests.simulations.classic_runs import (
    assert_sound,
    callbacks,
    entries,
    generations,
    owned_at_the_end,
    requests,
    subscriptions,
    violations,
)

GROUP = """
protocol: classic
assignor: {assignor}
topics: {{orders: {{partitions: 6}}}}
members: {{A: {{subscribe: [orders]}}, B: {{subscribe: [orders]}}, C: {{subscribe: [orders]}}, D: {{subscribe: [orders]}}}}
start:
  generation: 22
  leader: B
  members: {{A: {{owned: {{orders: [0, 1]}}}}, B: {{owned: {{orders: [3, 4]}}}}, C: {{owned: {{orders: [2, 5]}}}}}}
  offsets: {{orders: {{0: 42}}}}
script: {script}
until: 60s
"""


def text(script: str = "[]", assignor: str = "range") -> str:
    return GROUP.format(script=script, assignor=assignor)


def test_the_group_is_there_with_its_generation_leader_and_assignment() -> None:
    log = entries(text())
    assert list(generations(log)) == [(22, "range", {"A": [0, 1], "B": [3, 4], "C": [2, 5]})]
    assert callbacks(log, "A") == [("assigned", (0, 1))]
    assert not requests(log, "JoinGroup"), "nobody has a reason to join"
    assert violations(log) == []
    assert {tuple(sorted(ps)) for ps in owned_at_the_end(log).values()} == {(0, 1), (3, 4), (2, 5)}


@pytest.mark.parametrize("assignor", ["range", "sticky", "cooperative-sticky"])
def test_who_joins_later_brings_about_the_next_generation(assignor: str) -> None:
    log = entries(text("[{at: 10s, join: D}]", assignor))
    chosen = list(generations(log))
    assert chosen[0][0] == 22
    assert chosen[1][0] == 23
    assert violations(log) == []
    assert sorted(p for ps in owned_at_the_end(log).values() for p in ps) == list(range(6))
    join = next(entry for entry in requests(log, "JoinGroup", "A"))
    told = subscriptions(join)[assignor]
    kept = [p for each in told["ownedPartitions"] for p in each["partitions"]]
    assert kept == ([0, 1] if assignor == "cooperative-sticky" else [])
    assert told["generationId"] == 22


def test_a_sticky_leader_leaves_the_members_what_they_began_with() -> None:
    log = entries(text("[{at: 10s, join: D}]", "sticky"))
    *_, (_, _, last) = generations(log)
    began = {"A": {0, 1}, "B": {3, 4}, "C": {2, 5}}
    assert all(set(last[name]) <= began[name] or len(last[name]) == 2 for name in began)
    assert sum(len(began[name] - set(last[name])) for name in began) == 1, "one partition moves to D"


def test_the_leader_knows_the_topics_and_sees_that_one_grows() -> None:
    log = entries(
        text("[{at: 10s, add_partitions: orders, to: 7}]").replace(
            "B: {subscribe: [orders]}", "B: {subscribe: [orders], metadata_max_age_ms: 5000}"
        )
    )
    assert sorted(p for ps in owned_at_the_end(log).values() for p in ps) == list(range(7))


def test_a_member_that_falls_silent_is_removed_when_the_session_that_began_with_the_run_is_over() -> None:
    log = entries(text("[{at: 1s, kill: A}]"))
    *_, (generation, _, last) = generations(log)
    assert generation == 23
    assert "A" not in last


def test_the_whole_list_of_a_members_assignors_is_known_and_not_only_the_chosen_one() -> None:
    """As of a coordinator that led the group, and not of one that has just read the log."""
    both = text("[{at: 10s, bounce: A, with: {assignors: [cooperative-sticky]}, for: 2s}]").replace(
        "assignor: range\n", ""
    )
    log = entries(both)
    chosen = [name for _, name, _ in generations(log)]
    assert chosen[0] == "range"
    assert chosen[-1] == "cooperative-sticky"
    assert violations(log) == []


def test_its_frames_follow_from_its_changes_and_nothing_in_it_is_odd() -> None:
    assert_sound(entries(text("[{at: 10s, join: D}]")), initial_state("orders"))


def test_the_same_scenario_gives_the_same_run() -> None:
    assert entries(text("[{at: 10s, join: D}]")) == entries(text("[{at: 10s, join: D}]"))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("generation: 22", "group_epoch: 22", "unknown key"),
        ("  generation: 22\n", "", "a start of a classic group needs generation"),
        ("leader: B", "leader: D", "unknown member of the start D"),
        ("[3, 4]", "[1, 4]", "orders-1 is given to A already"),
        ("[3, 4]", "[3, 6]", "must be 0 to 5"),
        (
            "A: {subscribe: [orders]}",
            "A: {subscribe: [orders], protocol: consumer}",
            "it joins in the script",
        ),
        (
            "A: {subscribe: [orders]}",
            "A: {subscribe: [orders], assignors: [sticky]}",
            "no assignor is listed by all members of the start",
        ),
        ("script: []", "script: [{at: 1s, join: A}]", "join A: it is running at 1 s"),
    ],
)
def test_a_start_that_cannot_be_is_refused_in_one_line(old: str, new: str, says: str) -> None:
    scenario = text()
    assert old in scenario
    with pytest.raises(ScenarioError, match="line ") as refused:
        load(scenario.replace(old, new), "orders")
    assert says in str(refused.value)


def test_a_coordinator_that_another_one_takes_the_place_of_turns_away_whoever_waits() -> None:
    broker = ClassicBroker()
    assert broker.shard.unloaded() == (), "a group that is not there"
    broker.stable("A", "B")
    assert broker.shard.unloaded() == (), "nobody waits"
    broker.join("A", reason="again")
    parked = broker.shard.unloaded()
    assert [(each.answer.member_id, int(each.answer.error_code)) for each in parked] == [("A", 16)]  # type: ignore[union-attr]
