"""Breadth first through all worlds, so that the first way to a violation is a shortest one."""

from __future__ import annotations

from functools import partial
from typing import Final, Generic, TypeVar

from groups.history.state.group import Semantics
from simulations.proof.exploration.actions import Budgets
from simulations.proof.exploration.classic.world import ClassicWorlds
from simulations.proof.exploration.consumer.world import ConsumerWorlds
from simulations.proof.exploration.findings import STATES_MAX, Findings, Progress, Report
from simulations.proof.exploration.loops import loop_of
from simulations.proof.exploration.plan import Plan
from simulations.proof.exploration.state_layout import Form, World, is_forced
from simulations.world.scenario import Scenario

PROGRESS_STATES: Final = 10_000
"""How many worlds there are between two words of progress."""


AnyWorlds = ConsumerWorlds | ClassicWorlds

W = TypeVar("W", bound=AnyWorlds)


class Search(Generic[W]):
    """One exploration; ``worlds`` and what was found stay, for tests and for traces."""

    def __init__(self, worlds: W, states_max: int = STATES_MAX) -> None:
        self.worlds = worlds
        self.transitions = 0
        self.depth = 0
        self.complete = True
        self.numbers: dict[Form, int] = {}
        """Form of a world → its number, in the order in which they were found."""
        self._states_max = states_max
        self._rests: list[int] = []
        self._found = Findings(rests=self._rests)

    def run(self, progress: Progress | None = None) -> Report:
        worlds, found = self.worlds, self._found
        first = worlds.first()
        frontier = [(0, first)]
        self.numbers[worlds.form(first)] = 0
        found.parents.append(0)
        found.steps.append(0)
        while frontier and self.complete:
            following: list[tuple[int, World]] = []
            for number, world in frontier:
                self._expand(number, world, following)
                if len(self.numbers) > self._states_max:
                    self.complete = False
                    break
                if progress is not None and not number % PROGRESS_STATES:
                    progress(len(self.numbers), self.transitions, self.depth)
            frontier = following
            self.depth += bool(frontier)
        return found.report(
            transitions=self.transitions,
            depth=self.depth,
            complete=self.complete,
            loop_of=partial(loop_of, worlds),
        )

    def _expand(self, number: int, world: World, following: list[tuple[int, World]]) -> None:
        worlds, numbers, found = self.worlds, self.numbers, self._found
        if worlds.converged(world):
            self._rests.append(number)
        form_of, count = worlds.form, len(numbers)
        for step, after, wrong in worlds.following(world):
            self.transitions += 1
            other = numbers.setdefault(form_of(after), count)
            if other == count:
                count += 1
                found.parents.append(number)
                found.steps.append(step)
                if wrong:
                    # Nothing is promised behind a broken rule.
                    self._rests.append(other)
                else:
                    following.append((other, after))
            for invariant, text in wrong:
                found.broken.setdefault(invariant, (number, step, text))
            if is_forced(world, after):
                continue
            if other != number:
                found.sources.append(number)
                found.targets.append(other)
            if worlds.raises_epoch(world, after):
                found.raises.append(number)


def explore(
    scenario: Scenario,
    semantics: Semantics | str | None = None,
    budgets: Budgets | None = None,
    *,
    states_max: int = STATES_MAX,
    unhurried: bool = False,
    progress: Progress | None = None,
) -> tuple[Report, AnyWorlds]:
    """Walks every interleaving; ``NotExplorable`` if the scenario holds what cannot be walked.

    ``unhurried``: a line of the script waits until the group has come to rest.
    """
    plan, chosen = Plan(scenario, semantics or scenario.semantics), budgets or Budgets()
    kind = ClassicWorlds if plan.has_classic else ConsumerWorlds
    worlds: AnyWorlds = kind(plan, chosen, unhurried=unhurried)
    return Search(worlds, states_max).run(progress), worlds
