"""Scenarios: who is in a group, what happens to it when, and where the rows of a proposal's table stand."""

from simulations.world.scenario.actions import Action, Event, How, Verb
from simulations.world.scenario.environment import NetworkRates
from simulations.world.scenario.errors import ScenarioError
from simulations.world.scenario.releases import NotServed, with_release
from simulations.world.scenario.scenario_yaml import load
from simulations.world.scenario.values import (
    ENTRIES_MAX,
    Member,
    NarratedStep,
    Scenario,
    ScenarioTopic,
    Start,
    StartMember,
)
