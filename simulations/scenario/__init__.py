"""Scenarios: who is in a group, what happens to it when, and where the rows of a proposal's table stand."""

from __future__ import annotations

from simulations.scenario.actions import Action, Event, How, Verb
from simulations.scenario.errors import ScenarioError
from simulations.scenario.reading import load
from simulations.scenario.surroundings import Network
from simulations.scenario.values import (
    ENTRIES_MAX,
    Member,
    Scenario,
    Start,
    StartMember,
    Step,
    Topic,
)

__all__ = [
    "ENTRIES_MAX",
    "Action",
    "Event",
    "How",
    "Member",
    "Network",
    "Scenario",
    "ScenarioError",
    "Start",
    "StartMember",
    "Step",
    "Topic",
    "Verb",
    "load",
]
