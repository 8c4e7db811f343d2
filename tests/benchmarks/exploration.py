"""Exploration: states a second, and three members of four partitions with a loss and a fail-over, to the end."""

from __future__ import annotations

import time
from collections.abc import Iterator

from simulations import small_scenarios
from simulations.proof.exploration import Budgets, explore
from tests.benchmarks.figures import Figure


def run() -> Iterator[Figure]:
    began = time.monotonic()
    report, _ = explore(small_scenarios.load("three-join"))
    took = time.monotonic() - began
    yield Figure(what="exploration: three members join", value=report.states / took, unit="states/s")
    began = time.monotonic()
    budgets = Budgets(losses=1, fail_overs=1)
    report, _ = explore(small_scenarios.load("third-joins"), budgets=budgets)
    if not report.complete:
        raise RuntimeError("The exploration did not end within its bound.")
    took = time.monotonic() - began
    what = f"exploration: a third member joins, a loss and a fail-over, {report.states:,} states"
    yield Figure(what=what, value=took, unit="s", goal=600)
