"""Runs a scenario and holds it to every invariant, and to convergence at its end."""

from __future__ import annotations

from groups.history.entries import Entry, Kind
from groups.history.state.group import Semantics
from simulations.invariants import INVARIANT_FAULT, Checker
from simulations.world.engine.checked_run import bounds_of
from simulations.world.engine.simulation import Simulation
from simulations.world.scenario import Scenario

MISTAKES_OF_NOBODY = (-1, 14, 16, 25, 82, 110, 111)
"""Errors of heartbeats that a sound client may be answered: it was removed or fenced, its instance is another's, the
coordinator is not there yet, an assignor threw."""


def checked(
    scenario: Scenario, semantics: Semantics | str | None = None, *, converges: bool = True
) -> list[Entry]:
    """The entries; ``AssertionError`` on the first violation, on any other error, and if it does not converge."""
    chosen = Semantics(semantics) if semantics is not None else scenario.semantics
    simulation = Simulation(scenario, chosen, scenario.seed)
    checker = simulation.log.checker = Checker(chosen, bounds_of(scenario))
    entries = []
    for entry in simulation.entries():
        assert entry.payload.get("fault") != INVARIANT_FAULT, entry.payload["says"]
        if entry.kind is Kind.RESPONSE and (code := entry.payload["body"].get("errorCode")):
            assert code in MISTAKES_OF_NOBODY
        entries.append(entry)
    assert checker.end(scenario.start_ms + scenario.until_ms) == []
    assert not converges or checker.demand_convergence() == []
    return entries
