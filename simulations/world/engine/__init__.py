"""Runs a scenario: a discrete-event engine with a seed, a network, processes that fail, and one log."""

from simulations.world.engine.checked_run import run
from simulations.world.engine.simulation import RunTooLong
