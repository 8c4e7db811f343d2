"""``python -m tests.incidents.judge [NAME…]``: what the product says of each recorded incident, held against what was done.

Each recorded log is imported and its findings are read by their fields. A fact is *told* if a finding of a kind that fits names
its clients and partitions at its time; a finding is *false* if nothing that was done bears it out. Facts of which the log holds
no trace are named with the reason and not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from groups.history.findings.registry import incident_kinds

from .claims import Claim, Said, said_of
from .facts import RECORDED, SEGMENTS, Fact, Facts, read_facts, recorded_names
from .telling import told_by
from .truth import false_because
from .world import World

INCIDENT_KINDS = incident_kinds() | {
    "anomaly",
    "violation",
    "two_clients",
    "gap",
    "midway",
    "emptied",
    "deleted",
}
"""Findings that are news: none may fire where nothing happened. The group's forming brings the others."""

NOTHING_HAPPENS = ("commits-on-move", "dry-topic", "pause", "pauses", "quiet-hour")
"""Recordings of a group to which nothing happened that its log could tell."""


class Told(NamedTuple):
    """A fact, and the claim that tells it."""

    fact: Fact
    claim: Claim | None


class Untrue(NamedTuple):
    claim: Claim
    because: str


class Judgement:
    """Of one recording."""

    def __init__(self, name: str, facts: Facts, said: Said) -> None:
        self.name, self.facts, self.said = name, facts, said
        self.world = World(facts)

    @cached_property
    def told(self) -> list[Told]:
        """The facts that the log can tell, after the group had formed."""
        return [
            Told(each, told_by(each, self.said, self.world))
            for each in self.world.incident
            if each["tellable"]
        ]

    @property
    def untellable(self) -> list[Fact]:
        return [each for each in self.world.incident if not each["tellable"]]

    @cached_property
    def false(self) -> list[Untrue]:
        found = ((claim, false_because(claim, self.world)) for claim in self.said.claims)
        return [Untrue(claim, because) for claim, because in found if because is not None]

    @property
    def unproven_clauses(self) -> list[str]:
        """Clauses of a verdict, or of its headline, that point at a step which no true finding of their timeline has."""
        wrong = {id(each.claim) for each in self.false}
        proven = [(each.timeline, each.proof) for each in self.said.claims if id(each) not in wrong]
        out = []
        for number, verdict in enumerate(self.said.verdicts, 1):
            known = set[int]().union(*(proof for timeline, proof in proven if timeline == number))
            clauses = [*verdict["clauses"], *verdict["headline"]["clauses"]]
            out += [clause["text"] for clause in clauses if not steps_of(clause) <= known]
        return out

    @property
    def in_verdict_count(self) -> int:
        """Told facts of which the verdict speaks: a clause points at a step of their finding."""
        steps = [
            (number, set[int]().union(*map(steps_of, verdict["clauses"])))
            for number, verdict in enumerate(self.said.verdicts, 1)
        ]
        return sum(
            each.claim is not None
            and any(each.claim.timeline == n and each.claim.proof & some for n, some in steps)
            for each in self.told
        )

    @property
    def alarms(self) -> list[Claim]:
        """Findings of an incident; on a quiet log there is none."""
        return [
            each for each in self.said.claims if each.kind in INCIDENT_KINDS and not each.data.get("forming")
        ]

    @property
    def told_count(self) -> int:
        return sum(each.claim is not None for each in self.told)


def steps_of(clause: Mapping[str, Any]) -> frozenset[int]:
    return frozenset(
        sequence for sequence in (clause["sequence"], *(clause.get("steps") or ())) if sequence is not None
    )


def judge(name: str, recorded: Path = RECORDED, source: str = SEGMENTS) -> Judgement:
    facts = read_facts(name, recorded)
    return Judgement(name, facts, said_of(name, facts, recorded, source))


def judge_all(names: Iterable[str], recorded: Path = RECORDED) -> list[Judgement]:
    return [judge(name, recorded) for name in names]


FLOORS = RECORDED / "floors.json"


def floors() -> dict[str, int]:
    """How many facts of each incident were told when that was last written down."""
    found: dict[str, int] = json.loads(FLOORS.read_text()) if FLOORS.exists() else {}
    return found


def raise_floors(judged: Iterable[Judgement]) -> list[str]:
    """Writes down what is told now; the incidents of which less is told keep their floor, and are given back."""
    known = floors()
    now = {each.name: each.told_count for each in judged}
    FLOORS.write_text(
        json.dumps({name: max(told, known.get(name, 0)) for name, told in sorted(now.items())}, indent=1)
        + "\n"
    )
    return [name for name, told in now.items() if told < known.get(name, 0)]


def line_of(one: Judgement) -> Mapping[str, Any]:
    """A line of the report, for other programs."""
    began_ms = one.facts["began_ms"]

    def at(moment_ms: int) -> float:
        return round((moment_ms - began_ms) / 1000, 1)

    return {
        "incident": one.name,
        "told": one.told_count,
        "tellable": len(one.told),
        "in_verdict": one.in_verdict_count,
        "headlines": [each["headline"]["text"] for each in one.said.verdicts],
        "verdicts": [each["text"] for each in one.said.verdicts],
        "missing": [
            {"at_s": at(each.fact["at_ms"]), "kind": each.fact["kind"], "fact": each.fact["sentence"]}
            for each in one.told
            if each.claim is None
        ],
        "false": [
            {
                "at_s": at(each.claim.from_ms),
                "kind": each.claim.kind,
                "says": each.claim.says,
                "because": each.because,
            }
            for each in one.false
        ],
        "unproven_clauses": one.unproven_clauses,
        "untellable": len(one.untellable),
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.incidents.judge", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all that are recorded")
    parser.add_argument("--recorded", type=Path, default=RECORDED, help="the folder of recordings")
    parser.add_argument(
        "--raise-floors", action="store_true", help="what is told now is the least from now on"
    )
    options = parser.parse_args()
    known = recorded_names(options.recorded)
    unknown = sorted(set(options.names) - set(known))
    if unknown:
        parser.error(f"no recording {unknown[0]!r} in {options.recorded}; there are: {', '.join(known)}")
    judged = judge_all(options.names or known, options.recorded)
    for one in judged:
        sys.stdout.write(json.dumps(line_of(one), ensure_ascii=False) + "\n")
    if options.raise_floors:
        for name in raise_floors(judged):
            sys.stderr.write(f"{name}: less is told than before\n")
    told, tellable = sum(each.told_count for each in judged), sum(len(each.told) for each in judged)
    false = sum(len(each.false) for each in judged)
    sys.stderr.write(f"{len(judged)} incidents: {told} of {tellable} facts told, {false} false findings\n")
    return 1 if false or told < tellable else 0


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "explorer.settings")
    sys.exit(main())
