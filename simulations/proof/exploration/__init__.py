"""Walks every interleaving of a small scenario: an untimed world, its states told apart by what decides their future.

``explore`` is the way in. What is walked, what is left out and why nothing is missed by it:
``docs/explanation/exploration.md``.
"""

from __future__ import annotations

from simulations.proof.exploration.actions import Budgets
from simulations.proof.exploration.findings import NOT_ASKED, STATES_MAX, Report, Violated
from simulations.proof.exploration.plan import NotExplorable
from simulations.proof.exploration.search import explore
from simulations.proof.exploration.world import Worlds

__all__ = ["NOT_ASKED", "STATES_MAX", "Budgets", "NotExplorable", "Report", "Violated", "Worlds", "explore"]
