"""Loops of worlds: what a group at rest does by itself, without any fault, until all is as it was but for its epochs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from simulations.proof.exploration.actions import Step
from simulations.proof.exploration.state_layout import Form, World, is_forced

if TYPE_CHECKING:
    from simulations.proof.exploration.search import AnyWorlds


def loop_of(worlds: AnyWorlds, stem: Sequence[Step], most: int) -> tuple[Step, ...]:
    """The shortest steps, at most so many, from the end of ``stem`` back to it, of which one raises the epoch; else none."""
    world = worlds.first()
    for wanted in stem:
        world = next(after for step, after, _ in worlds.following(world) if step == wanted)
    home = worlds.form(world)
    seen: set[tuple[Form, bool]] = set()
    level: list[tuple[World, bool, tuple[Step, ...]]] = [(world, False, ())]
    while level and most:
        most -= 1
        following: list[tuple[World, bool, tuple[Step, ...]]] = []
        for before, was_raised, way in level:
            for step, after, wrong in worlds.following(before):
                if wrong or is_forced(before, after):
                    continue
                raised = was_raised or worlds.raises_epoch(before, after)
                form = worlds.form(after)
                if raised and form == home:
                    return (*way, step)
                if (form, raised) not in seen:
                    seen.add((form, raised))
                    following.append((after, raised, (*way, step)))
        level = following
    return ()
