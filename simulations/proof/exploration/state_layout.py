"""What is where in a world: a tuple of numbers, the same for every world of one plan."""

from __future__ import annotations

from typing import Final

World = tuple[int, ...]

Form = bytes
"""What distinguishes worlds, packed: two worlds of one form have the same future."""

COORDINATOR, SCRIPT, LOSSES, DUPLICATES, TIMERS, FAIL_OVERS, PROCESSES = range(7)
"""Where what is in a world; from ``PROCESSES`` on the processes."""

UNBORN: Final = -1
"""A process that has not started."""


def with_process(world: World, slot: int, number: int) -> World:
    at = PROCESSES + slot
    return (*world[:at], number, *world[at + 1 :])


def spent_of(world: World, budget: int) -> World:
    return (*world[:budget], world[budget] - 1, *world[budget + 1 :])


def is_forced(world: World, after: World) -> bool:
    """Whether the step between two worlds was a fault, of which there may only be so many."""
    return after[LOSSES:PROCESSES] != world[LOSSES:PROCESSES]
