"""A run that a test disturbs at times of its own, always checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from groups.history.entries import Entry, Kind
from simulations.invariants import INVARIANT_FAULT, Checker
from simulations.world.engine.checked_run import bounds_of
from simulations.world.engine.queue import Priority
from simulations.world.engine.simulation import Simulation
from simulations.world.scenario import load
from simulations.world.scenario.environment import NetworkRates

THREE = """
topics: {foo: {partitions: 6}}
members: {A: {subscribe: [foo]}, B: {subscribe: [foo]}, C: {subscribe: [foo]}}
config: {session_timeout_ms: 6000, heartbeat_interval_ms: 1000, assignment_interval_ms: 0}
script: [{at: 0s, join: A}, {at: 0s, join: B}, {at: 0s, join: C}]
until: 60s
"""


class Disturbed:
    """``at`` plans what is done to the world; ``run`` gives the entries, and judges them."""

    def __init__(self, text: str = THREE, semantics: str = "kafka", seed: int = 1, **around: Any) -> None:
        scenario = replace(load(text, "orders"), **around)
        self.simulation = Simulation(scenario, scenario.semantics.__class__(semantics), seed)
        self.checker = Checker(semantics, bounds_of(scenario))
        self.simulation.log.checker = self.checker
        self.entries: list[Entry] = []

    def at(self, at_ms: int, happen: Callable[[Simulation], object]) -> Disturbed:
        self.simulation.queue.plan(at_ms, Priority.SCRIPT, lambda: happen(self.simulation))
        return self

    def run(self, *, converges: bool = True) -> list[Entry]:
        """All entries; no invariant is broken, and in the end the group has converged."""
        self.entries = list(self.simulation.entries())
        broken = [entry.payload["says"] for entry in self.faults(INVARIANT_FAULT)]
        assert broken == []
        if converges:
            assert self.checker.demand_convergence() == []
        return self.entries

    def faults(self, name: str) -> list[Entry]:
        return [e for e in self.entries if e.kind is Kind.FAULT and e.payload["fault"] == name]

    def of(self, kind: Kind, **payload: Any) -> list[Entry]:
        """Entries of a kind whose payload says so."""
        return [
            entry
            for entry in self.entries
            if entry.kind is kind and all(entry.payload.get(key) == value for key, value in payload.items())
        ]

    def errors(self) -> set[int]:
        """Codes other than 0 in heartbeats' answers."""
        answers = self.of(Kind.RESPONSE, api="ConsumerGroupHeartbeat")
        return {entry.payload["body"]["errorCode"] for entry in answers} - {0}


def rough(**rates: Any) -> NetworkRates:
    return NetworkRates(**{"delay_ms": (1, 20), **rates})
