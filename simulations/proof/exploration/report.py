"""What an exploration found, as JSON: each trace in words, and what no state was held to."""

from __future__ import annotations

from typing import TypedDict

from simulations.proof.exploration.findings import Report, Violated
from simulations.proof.exploration.search import AnyWorlds
from simulations.proof.exploration.trace import sentence


class ViolatedLine(TypedDict):
    invariant: str
    says: str
    trace: list[str]
    loop: int


class NotJudgedLine(TypedDict):
    reason: str
    invariants: list[str]


class ReportLine(TypedDict):
    """What ``explore`` prints (docs/reference/commands.md)."""

    states: int
    transitions: int
    depth: int
    complete: bool
    violations: list[ViolatedLine]
    not_judged: list[NotJudgedLine]


def as_json(report: Report, worlds: AnyWorlds) -> ReportLine:
    """The report, with each trace in words."""
    return {
        "states": report.states,
        "transitions": report.transitions,
        "depth": report.depth,
        "complete": report.complete,
        "violations": [
            {
                "invariant": each.invariant,
                "says": each.sentence,
                "trace": in_words(worlds, each),
                "loop": each.loop,
            }
            for each in report.violations
        ],
        "not_judged": not_judged(worlds),
    }


def not_judged(worlds: AnyWorlds) -> list[NotJudgedLine]:
    """What no world was asked, and why; of expressions, too, where members subscribe by them."""
    lines: list[NotJudgedLine] = [
        {"reason": reason, "invariants": list(names)} for reason, names in worlds.not_asked.items()
    ]
    if any(member.regex for member in worlds.plan.scenario.members.values()):
        reason = "the clock is frozen: what an expression matches is found once"
        lines.append({"reason": reason, "invariants": ["current_target"]})
    return lines


def in_words(worlds: AnyWorlds, violated: Violated) -> list[str]:
    known, world = [], worlds.first()
    for step in violated.trace:
        known.append(sentence(worlds, world, step))
        world, _ = worlds.take(world, step)
    return known
