"""What a block of seeds gives: which of them break something, and what they reached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from groups.history.state.group import Semantics
from groups.releases import NEWEST, release_of
from simulations.proof.fuzzing.coverage import Coverage
from simulations.proof.fuzzing.generator import scenario_of
from simulations.proof.fuzzing.groups import Groups, semantics_of
from simulations.proof.fuzzing.presets import PRESETS
from simulations.proof.fuzzing.verdict import Broken, Verdict, verdict_on

BLOCK_SEEDS: Final = 50
"""Seeds that are answered at once: a second or two, so that progress shows and cancelling is quick."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A seed whose run broke something."""

    seed: int
    semantics: str
    broken: Broken
    groups: str = Groups.CONSUMER


@dataclass(slots=True, kw_only=True)
class Answer:
    """Of a block, or of many together.

    ``unknown`` counts runs that broke nothing and were not asked everything, by what; ``counts`` by ``name_of``, where they
    were asked for.
    """

    runs: int = 0
    found: list[Found] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    counts: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, other: Answer) -> None:
        self.runs += other.runs
        self.found += other.found
        self.unknown.update(other.unknown)
        for semantics, counts in other.counts.items():
            self.counts.setdefault(semantics, Counter()).update(counts)


def answer(
    first: int,
    last: int,
    semantics: Sequence[str],
    presets: Sequence[str] = PRESETS,
    groups: Sequence[str] = (Groups.CONSUMER,),
    *,
    covered: bool = False,
    release: str = NEWEST,
) -> Answer:
    """Runs the seeds ``first`` to ``last`` of each kind of group in each of the semantics that it runs in."""
    known = Answer()
    for kind, rules in kinds_of(groups, semantics):
        coverage = Coverage()
        for seed in range(first, last + 1):
            verdict = judged(seed, rules, presets, coverage if covered else None, kind, release)
            known.runs += 1
            if verdict.broken is not None:
                known.found.append(Found(seed=seed, semantics=rules, broken=verdict.broken, groups=kind))
            if verdict.unknown is not None:
                known.unknown[verdict.unknown] += 1
        if covered:
            known.counts[name_of(kind, rules)] = coverage.counts
    return known


def kinds_of(groups: Sequence[str], semantics: Sequence[str]) -> list[tuple[str, str]]:
    """Each kind of group with each of the semantics that it runs in."""
    return [(str(kind), str(rules)) for kind in groups for rules in semantics_of(kind, semantics)]


def name_of(groups: str, semantics: str) -> str:
    """What runs of such groups are called: by their semantics, or by their kind where that is another than usual.

    Mixed groups run in both semantics; `kafka` is not named.
    """
    if groups == Groups.CONSUMER:
        return str(semantics)
    return str(groups) if semantics == Semantics.KAFKA else f"{groups}-{semantics}"


def judged(
    seed: int,
    semantics: Semantics | str,
    presets: Sequence[str] = PRESETS,
    coverage: Coverage | None = None,
    groups: str = Groups.CONSUMER,
    release: str = NEWEST,
) -> Verdict:
    """The verdict on one seed."""
    scenario = scenario_of(seed, semantics, presets, groups, release_of(release))
    if coverage is None:
        return verdict_on(scenario, semantics)
    coverage.ran(scenario)
    verdict = verdict_on(scenario, semantics, coverage.see)
    if verdict.broken is None:
        coverage.ended()
    return verdict


def blocks(first: int, last: int) -> list[tuple[int, int]]:
    """First and last seed of each block."""
    return [(start, min(start + BLOCK_SEEDS - 1, last)) for start in range(first, last + 1, BLOCK_SEEDS)]
