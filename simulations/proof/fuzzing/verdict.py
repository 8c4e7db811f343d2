"""Runs a scenario and judges it: safety at every entry, and convergence once nothing disturbs the group any more."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from groups.history.entries import Entry
from groups.history.state.group import Semantics
from simulations.invariants import INVARIANT_FAULT, RunChecker, Violation
from simulations.proof.fuzzing.quiescence import can_rest, quiescence_of, rest_of
from simulations.world.engine.checked_run import checker_of
from simulations.world.engine.simulation import Simulation
from simulations.world.scenario import Scenario

CRASHED: Final = "simulator_crashed"
"""In the place of an invariant: the simulator itself raised an error."""

ENDLESS: Final = "requests_end"
"""In the place of an invariant: somebody asks again and again, and time hardly passes."""

ENTRIES_MOST: Final = 50_000
"""Of a run; the longest of those that come to rest have some ten thousand."""

CONVERGENCE: Final = (
    "group_converges",
    "members_converge",
    "partitions_processed",
    "current_target",
    "application_is_heeded",
    "classic_converges",
)
"""What only a group can be held to that is able to come to rest."""

CANNOT_REST: Final = "convergence: the network, a pause or a slow callback keeps the group from resting"
NO_TIME: Final = "convergence: the run ends before the group had time enough"
KNOWN: Final = "a known fault of released clients: "
TARGET: Final = "the target at rest: "

See = Callable[[Entry], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """The first invariant that a run broke, in a sentence, and the entry that broke it."""

    invariant: str
    sentence: str
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of a run. ``unknown`` is what it could not be asked, where it broke nothing else: that is not good."""

    broken: Broken | None = None
    unknown: str | None = None


def broken_by(scenario: Scenario, semantics: Semantics | str, see: See | None = None) -> Broken | None:
    """The first violation of a run, ``None`` if there is none."""
    return verdict_on(scenario, semantics, see).broken


def verdict_on(scenario: Scenario, semantics: Semantics | str, see: See | None = None) -> Verdict:
    """Runs a scenario and judges it; ``see`` is shown every entry.

    The run ends when the group has converged, and rested for so long that nobody silent can be a member any more.
    """
    chosen = Semantics(semantics)
    simulation = Simulation(scenario, chosen, scenario.seed)
    checker = simulation.log.checker = checker_of(scenario, chosen)
    over_ms = scenario.start_ms + last_ms(scenario)
    rest_ms = rest_of(scenario)
    last = 0
    try:
        for entry in simulation.entries():
            last = entry.sequence
            if see is not None:
                see(entry)
            payload = entry.payload
            if checker.known_fault is not None:
                return Verdict(unknown=KNOWN + checker.known_fault)
            if payload.get("fault") == INVARIANT_FAULT and (
                payload["invariant"] not in CONVERGENCE or can_rest(scenario)
            ):
                return Verdict(
                    broken=Broken(invariant=payload["invariant"], sentence=payload["says"], sequence=last)
                )
            if last > ENTRIES_MOST:
                return Verdict(
                    broken=Broken(
                        invariant=ENDLESS, sentence=f"More than {ENTRIES_MOST} entries", sequence=last
                    )
                )
            if entry.at_ms > over_ms and checker.has_rested(entry.at_ms, rest_ms):
                return _rested(checker, last)
    except Exception as error:  # Whatever the machines raise is what this looks for.
        place = traceback.extract_tb(error.__traceback__)[-1]
        text = f"{type(error).__name__}: {error} ({place.name}, line {place.lineno})"
        return Verdict(broken=Broken(invariant=CRASHED, sentence=text, sequence=last))
    violations = checker.end(scenario.start_ms + scenario.until_ms)
    if not can_rest(scenario):
        violations = [violation for violation in violations if violation.invariant not in CONVERGENCE]
    if violations:
        return Verdict(broken=_broken(violations[0], last))
    if not can_rest(scenario):
        return Verdict(unknown=CANNOT_REST)
    if scenario.until_ms - last_ms(scenario) < quiescence_of(scenario):
        return Verdict(unknown=NO_TIME)
    return _rested(checker, last)


def _rested(checker: RunChecker, last: int) -> Verdict:
    """The group had time enough to come to rest."""
    if violations := checker.demand_convergence():
        return Verdict(broken=_broken(violations[0], last))
    unknown = checker.unjudged
    return Verdict(unknown=None if unknown is None else TARGET + unknown)


def last_ms(scenario: Scenario) -> int:
    """When the script is over."""
    return max((action.at_ms for action in scenario.script), default=0)


def _broken(violation: Violation, sequence: int) -> Broken:
    return Broken(invariant=violation.invariant, sentence=violation.sentence, sequence=sequence)
