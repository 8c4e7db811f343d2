"""Presets: what chance does to a group, that it is the seed's, and that it ends in time for the group to converge."""

from __future__ import annotations

import pytest

from groups.history.entries import Entry, Kind
from groups.history.state.group import initial_state
from simulations.invariants import INVARIANT_FAULT
from simulations.output import frame_lines
from simulations.world.engine import run
from simulations.world.scenario import load

UNTIL_MS = 900_000

GROUP = """\
world: {world}
topics: {{foo: {{partitions: 6}}}}
config: {{session_timeout_ms: 20000}}
members:
  A: {{subscribe: [foo], rebalance_timeout_ms: 30000}}
  B: {{subscribe: [foo], rebalance_timeout_ms: 30000}}
  C: {{subscribe: [foo], rebalance_timeout_ms: 30000}}
script: [{{at: 0s, join: [A, B, C]}}]
until: 900s
"""


def entries(world: str, seed: int = 1, semantics: str = "kafka") -> list[Entry]:
    return list(run(load(GROUP.format(world=world)), semantics, seed))


def faults(told: list[Entry]) -> list[tuple[int, str]]:
    return [(entry.at_ms, entry.payload["fault"]) for entry in told if entry.kind is Kind.FAULT]


def test_nothing_fails_in_a_calm_world() -> None:
    assert faults(entries("calm")) == []


def test_processes_pause_and_die_in_a_stormy_world_and_the_coordinator_stays() -> None:
    kinds = {fault for seed in (1, 2, 3) for _, fault in faults(entries("stormy", seed))}
    assert kinds == {"pause", "resume", "kill", "lost_message", "duplicated_message", "heal"}


def test_everything_fails_in_a_hostile_world() -> None:
    kinds = {fault for seed in (1, 2, 3) for _, fault in faults(entries("hostile", seed))}
    assert kinds >= {
        "pause",
        "resume",
        "kill",
        "cut",
        "heal",
        "fail_over",
        "lost_message",
        "duplicated_message",
    }


@pytest.mark.parametrize("semantics", ["kip", "kafka"])
@pytest.mark.parametrize("world", ["stormy", "hostile"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_trouble_ends_half_way_and_then_the_group_converges(world: str, semantics: str, seed: int) -> None:
    told = entries(world, seed, semantics)
    assert max(at_ms for at_ms, _ in faults(told)) <= UNTIL_MS // 2
    assert INVARIANT_FAULT not in {fault for _, fault in faults(told)}
    frames = list(frame_lines(iter(told), initial_state("scenario", semantics), "unit"))
    assert frames[-1]["state"] == "Stable"
    assert len(frames[-1]["members"]) == 3


def test_trouble_is_the_seeds() -> None:
    assert entries("hostile", 4) == entries("hostile", 4)
    assert faults(entries("hostile", 4)) != faults(entries("hostile", 5))


def test_who_the_script_sent_away_is_not_started_again() -> None:
    text = GROUP.format(world="hostile").replace(
        "join: [A, B, C]}]", "join: [A, B, C]}, {at: 1s, leave: A}, {at: 1s, leave: B}, {at: 1s, leave: C}]"
    )
    told = list(run(load(text), "kafka", 1))
    assert {fault for _, fault in faults(told)} <= {
        "lost_message",
        "duplicated_message",
        "fail_over",
        "heal",
        "lost_batch",
    }
