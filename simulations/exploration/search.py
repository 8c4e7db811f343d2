"""Breadth first through all worlds, so that the first way to a violation is a shortest one."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from groups.history.state import Semantics
from simulations.exploration.actions import SLOTS_MAX, Budgets, Kind, Step
from simulations.exploration.layout import Form, World
from simulations.exploration.plan import Plan
from simulations.exploration.world import Worlds
from simulations.scenario import Scenario

STATES_MAX: Final = 3_000_000
"""Worlds of one exploration: about 500 bytes each, so that it ends below 2 GB."""

PROGRESS_STATES: Final = 10_000
"""How many worlds there are between two words of progress."""

OF_CHANCE: Final = frozenset({Kind.LOSE, Kind.DUPLICATE, Kind.FAIL_OVER})
"""Steps that nobody may count on; session and rebalance timeouts are judged apart."""

Progress = Callable[[int, int, int], None]
"""``progress(states, transitions, depth)``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violated:
    """A broken invariant, and a shortest way to where it breaks."""

    invariant: str
    says: str
    trace: tuple[Step, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """``complete``: every world was seen. ``rests`` are the worlds in which everything has come to rest."""

    states: int
    transitions: int
    depth: int
    complete: bool
    rests: int
    violations: tuple[Violated, ...]


class Search:
    """One exploration; ``worlds`` and what was found stay, for tests and for traces."""

    def __init__(self, worlds: Worlds, states_max: int = STATES_MAX) -> None:
        self.worlds = worlds
        self.transitions = 0
        self.depth = 0
        self.complete = True
        self.violations: dict[str, Violated] = {}
        self.numbers: dict[Form, int] = {}
        """Form of a world → its number, in the order in which they were found."""
        self._states_max = states_max
        self._parents = array("I")
        self._steps = array("H")
        self._rests: list[int] = []
        # Ways that nobody has to wait for chance for: from, to.
        self._sources = array("I")
        self._targets = array("I")

    def run(self, progress: Progress | None = None) -> Report:
        worlds = self.worlds
        first = worlds.first()
        frontier = [(0, first)]
        self.numbers[worlds.form(first)] = 0
        self._parents.append(0)
        self._steps.append(0)
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
        if self.complete:
            self._demand_convergence()
        return Report(
            states=len(self.numbers),
            transitions=self.transitions,
            depth=self.depth,
            complete=self.complete,
            rests=len(self._rests),
            violations=tuple(self.violations.values()),
        )

    def _expand(self, number: int, world: World, following: list[tuple[int, World]]) -> None:
        worlds, numbers = self.worlds, self.numbers
        if worlds.converged(world):
            self._rests.append(number)
        form_of, count = worlds.form, len(numbers)
        for step, after, wrong in worlds.following(world):
            self.transitions += 1
            other = numbers.setdefault(form_of(after), count)
            if other == count:
                count += 1
                self._parents.append(number)
                self._steps.append(step)
                if wrong:
                    # Nothing is promised behind a broken rule.
                    self._rests.append(other)
                else:
                    following.append((other, after))
            if wrong:
                self._broken(number, step, wrong)
            elif other != number and step // SLOTS_MAX not in OF_CHANCE:
                self._sources.append(number)
                self._targets.append(other)

    def _broken(self, number: int, step: Step, wrong: tuple[tuple[str, str], ...]) -> None:
        for invariant, says in wrong:
            if invariant not in self.violations:
                self.violations[invariant] = Violated(
                    invariant=invariant, says=says, trace=(*self.way(number), step)
                )

    def way(self, number: int) -> tuple[Step, ...]:
        """The steps from the beginning to a world, one of the shortest ways."""
        steps: list[Step] = []
        while number:
            steps.append(self._steps[number])
            number = self._parents[number]
        return tuple(reversed(steps))

    def _demand_convergence(self) -> None:
        """From every world the group has to be able to come to rest without any further fault."""
        count = len(self.numbers)
        # Edges by target, as one array with the place where each target's begin.
        begins = array("I", bytes(4 * (count + 1)))
        for target in self._targets:
            begins[target + 1] += 1
        for at in range(count):
            begins[at + 1] += begins[at]
        sources = array("I", bytes(4 * len(self._sources)))
        places = array("I", begins)
        for source, target in zip(self._sources, self._targets, strict=True):
            sources[places[target]] = source
            places[target] += 1
        rests = bytearray(count)
        waiting = list(self._rests)
        for number in waiting:
            rests[number] = 1
        while waiting:
            number = waiting.pop()
            for at in range(begins[number], begins[number + 1]):
                source = sources[at]
                if not rests[source]:
                    rests[source] = 1
                    waiting.append(source)
        stuck = rests.find(0)
        if stuck >= 0:
            says = "From here on the group cannot come to rest, whatever happens but faults"
            self.violations["group_converges"] = Violated(
                invariant="group_converges", says=says, trace=self.way(stuck)
            )


def explore(
    scenario: Scenario,
    semantics: Semantics | str | None = None,
    budgets: Budgets | None = None,
    *,
    states_max: int = STATES_MAX,
    progress: Progress | None = None,
) -> tuple[Report, Worlds]:
    """Walks every interleaving; ``NotExplorable`` if the scenario holds what cannot be walked."""
    chosen = Semantics(semantics) if semantics is not None else scenario.semantics
    worlds = Worlds(Plan(scenario, chosen), budgets or Budgets())
    return Search(worlds, states_max).run(progress), worlds
