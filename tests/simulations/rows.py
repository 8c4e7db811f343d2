"""Shows runs as the tables of proposals do: ``A@1 {0,1} gives{2} waits{}``, a line for each narrated step.

A classic member of a consumer group also has its state, as in ``C@22 PreparingRebalance {2,5}``.
"""

from __future__ import annotations

from typing import Any

from groups.history.state.group import initial_state
from simulations.output import frame_lines
from simulations.world import studies
from simulations.world.engine import run


def step_frames(name: str, semantics: str | None = None, seed: int | None = None) -> list[dict[str, Any]]:
    """The frames of a case study's steps, as ``simulate --by step`` writes them."""
    scenario = studies.load(name)
    chosen = semantics or scenario.semantics
    entries = run(scenario, chosen, seed)
    return list(frame_lines(entries, initial_state(scenario.group, chosen), "step"))


def rows(name: str, semantics: str | None = None, seed: int | None = None) -> list[str]:
    """``step | GE TE | target | members`` of each step."""
    return [row(frame) for frame in step_frames(name, semantics, seed)]


def row(frame: dict[str, Any]) -> str:
    """Of a classic group: ``step | its state and generation | members``, with a star at the leader."""
    if frame["protocol"] == "classic":
        leader, named = frame["leader"], sorted(frame["members"].items())
        has = [f"{name}{'*' * (name == leader)} {shown(member['assigned'])}" for name, member in named]
        return f"{frame['step']} | {frame['state']} {frame['generation']} | {' '.join(has)}"
    target = " ".join(member + shown(owned) for member, owned in sorted(frame["target"].items())) or "-"
    members = " ".join(_member(name, member) for name, member in sorted(frame["members"].items())) or "-"
    return f"{frame['step']} | {frame['group_epoch']} {frame['assignment_epoch']} | {target} | {members}"


def shown(partitions: dict[str, list[int]]) -> str:
    """Of the one topic that the case studies have."""
    assert len(partitions) <= 1
    return "{" + ",".join(str(number) for numbers in partitions.values() for number in numbers) + "}"


def _member(name: str, member: dict[str, Any]) -> str:
    gives, waits = member["pending_revocation"], member["pending_assignment"]
    rejoins = f" {member['rebalance_state']}" if member.get("rebalance_state") else ""
    told = f"{name}@{member['epoch']}{rejoins} {shown(member['assigned'])}"
    return told + (f" gives{shown(gives)}" if gives else "") + (f" waits{shown(waits)}" if waits else "")


def table(text: str) -> list[str]:
    """The lines of an expected table, with its columns' padding taken away."""
    return [" ".join(line.split()) for line in text.strip().splitlines()]
