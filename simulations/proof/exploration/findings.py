"""What an exploration finds: ways through numbered worlds, those in which all rests, and what is broken."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from simulations.proof.exploration.actions import Step

STATES_MAX: Final = 10_000_000
"""Worlds of one exploration: about 300 bytes each, so that it ends below 3 GB."""

NOT_ASKED: Final[Mapping[str, tuple[str, ...]]] = {
    "the clock is frozen": ("session_timeout", "rebalance_timeout", "timer_length"),
    "what is around the group is not recorded": ("settings_hold", "offsets_go_along", "expressions_go_along"),
    "no log is written": ("dense_log", "no_anomaly"),
    "applications are asked nothing": ("application_is_heeded",),
    "checked instead: the group can come to rest": (
        "members_converge",
        "partitions_processed",
        "current_target",
    ),
}
"""Invariants that no world is held to by their own name, by why."""

LOOP_MOST: Final = 64
"""Steps of a loop that is shown: nobody reads a longer one."""

LOOPS_TRIED_MOST: Final = 200
"""Worlds whose loops are looked for: each is a search of its own, and of one tie all loops are alike."""

Edges = tuple[int, Callable[[int], "array[int]"]]
"""How many worlds there are, and by world those from which a step leads to it."""

LoopOf = Callable[[Sequence[Step], int], tuple[Step, ...]]
"""The shortest loop that begins where a way ends, of at most so many steps; empty if there is none."""

Progress = Callable[[int, int, int], None]
"""``progress(states, transitions, depth)``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violated:
    """A broken invariant, and a shortest way to where it breaks.

    ``loop``: how many steps at the end of the trace lead back to the world before them, and can be taken without end.
    """

    invariant: str
    sentence: str
    trace: tuple[Step, ...]
    loop: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """``complete``: every world was seen. ``rests`` are the worlds in which everything has come to rest and stays so."""

    states: int
    transitions: int
    depth: int
    complete: bool
    rests: int
    violations: tuple[Violated, ...]


@dataclass(slots=True)
class Findings:
    """Worlds by their numbers, in the order in which they were found.

    ``parents`` and ``steps`` lead back to the first one. ``sources`` and ``targets`` are the ways that nobody has to
    wait for chance for.
    """

    parents: array[int] = field(default_factory=lambda: array("I"))
    steps: array[int] = field(default_factory=lambda: array("H"))
    sources: array[int] = field(default_factory=lambda: array("I"))
    targets: array[int] = field(default_factory=lambda: array("I"))
    rests: Sequence[int] = ()
    raises: array[int] = field(default_factory=lambda: array("I"))
    """Worlds of which a step, no fault, raises the group's epoch."""
    broken: dict[str, tuple[int, Step, str]] = field(default_factory=dict)
    """Invariant → the first world and step that break it, and how."""

    def way(self, number: int) -> tuple[Step, ...]:
        """The steps from the beginning to a world, one of the shortest ways."""
        steps: list[Step] = []
        while number:
            steps.append(self.steps[number])
            number = self.parents[number]
        return tuple(reversed(steps))

    def report(self, *, transitions: int, depth: int, complete: bool, loop_of: LoopOf) -> Report:
        violations = [
            Violated(invariant=invariant, sentence=text, trace=(*self.way(number), step))
            for invariant, (number, step, text) in self.broken.items()
        ]
        left: set[int] = set()
        if complete:
            edges = self._edges()
            leaves = _reaching(edges, self.raises)
            left = {number for number in self.rests if leaves[number]}
            stuck = _reaching(edges, [number for number in self.rests if not leaves[number]]).find(0)
            if stuck >= 0:
                violations.append(self._lasso(left, loop_of) or self._never_rests(stuck))
        return Report(
            states=len(self.parents),
            transitions=transitions,
            depth=depth,
            complete=complete,
            rests=len(self.rests) - len(left),
            violations=tuple(violations),
        )

    def _never_rests(self, stuck: int) -> Violated:
        return Violated(
            invariant="group_converges",
            sentence="From here on the group cannot come to rest, whatever happens but faults",
            trace=self.way(stuck),
        )

    def _lasso(self, left: set[int], loop_of: LoopOf) -> Violated | None:
        """The shortest way to a loop that raises the group's epoch, and the loop; ``None`` where no loop was found."""
        best: tuple[tuple[Step, ...], tuple[Step, ...]] | None = None
        for number in sorted(left)[:LOOPS_TRIED_MOST]:
            stem = self.way(number)
            most = len(best[0]) + len(best[1]) - len(stem) - 1 if best is not None else LOOP_MOST
            if most < 1:
                break
            if loop := loop_of(stem, most):
                best = stem, loop
        if best is None:
            return None
        stem, loop = best
        last = "the last step leads" if len(loop) == 1 else f"the last {len(loop)} steps lead"
        return Violated(
            invariant="group_converges",
            sentence="The group comes to rest and does not stay there: without any fault its epoch rises, and "
            f"{last} back to where it was",
            trace=(*stem, *loop),
            loop=len(loop),
        )

    def _edges(self) -> Edges:
        count = len(self.parents)
        # Edges by target, as one array with the place where each target's begin.
        begins = array("I", bytes(4 * (count + 1)))
        for target in self.targets:
            begins[target + 1] += 1
        for at in range(count):
            begins[at + 1] += begins[at]
        sources = array("I", bytes(4 * len(self.sources)))
        places = array("I", begins)
        for source, target in zip(self.sources, self.targets, strict=True):
            sources[places[target]] = source
            places[target] += 1
        return count, lambda number: sources[begins[number] : begins[number + 1]]


def _reaching(edges: Edges, goals: Sequence[int]) -> bytearray:
    """By world 1 where steps, none of them a fault, lead from it to a goal."""
    count, sources_of = edges
    found = bytearray(count)
    waiting = list(goals)
    for number in waiting:
        found[number] = 1
    while waiting:
        for source in sources_of(waiting.pop()):
            if not found[source]:
                found[source] = 1
                waiting.append(source)
    return found
