"""Who has joined, as the board tells it, where a join phase begins before the last one came to an assignment."""

from __future__ import annotations

from groups.history.entries import Entry
from groups.history.replay.fold import replay
from groups.history.state.classic_group import Barrier
from groups.history.state.group import State, initial_state
from simulations.world.engine import run
from simulations.world.scenario import load

DIES = """
protocol: classic
topics: {foo: {partitions: 3}}
config: {initial_rebalance_delay_ms: 1000}
network: {delay_ms: [40, 40]}
members:
  A: {subscribe: [foo], rebalance_timeout_ms: 3000}
  B: {subscribe: [foo], rebalance_timeout_ms: 3000}
  C: {subscribe: [foo], rebalance_timeout_ms: 3000}
script:
  - {at: 0s, join: A}
  - {at: 10ms, join: B}
  - {at: 2130ms, kill: A}
"""
"""The leader, A, dies before it assigns; B waits for its assignment."""


def told(text: str) -> list[tuple[Entry, State]]:
    scenario = load(text)
    state, both = initial_state(scenario.group, "kafka"), []
    for entry in run(scenario, "kafka"):
        state = replay(state, entry)
        both.append((entry, state))
    return both


def barrier(state: State) -> Barrier:
    assert state.classic.barrier is not None
    return state.classic.barrier


def test_after_a_sync_timeout_everybody_has_to_join_again_and_who_did_not_sync_is_gone() -> None:
    states = told(DIES + "until: 30s\n")
    fired = next(
        at
        for at, (entry, _) in enumerate(states)
        if (entry.payload.get("timer"), entry.payload.get("event")) == ("sync", "fired")
    )
    assert barrier(states[fired - 1][1]).joined == ("A", "B")
    after = states[fired][1]
    assert (barrier(after).joined, barrier(after).synced, after.classic.phase) == (
        (),
        (),
        "PreparingRebalance",
    )
    assert list(after.classic.shown) == ["B"]


def test_of_those_who_joined_only_who_came_after_the_join_phase_waits_in_the_next_one() -> None:
    """C joins while B waits for its assignment, so that B is to join again."""
    states = told(DIES + "  - {at: 2500ms, join: C}\nuntil: 4s\n")
    started = next(
        state
        for entry, state in states
        if entry.at_ms > 2_500
        and (entry.payload.get("timer"), entry.payload.get("event")) == ("join", "started")
    )
    assert (barrier(started).joined, barrier(started).again) == (("C",), ())
