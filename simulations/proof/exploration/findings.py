"""What an exploration finds: ways through numbered worlds, those in which all rests, and what is broken."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from simulations.proof.exploration.actions import ActionKind, Step

STATES_MAX: Final = 10_000_000
"""Worlds of one exploration: about 300 bytes each, so that it ends below 3 GB."""

OF_CHANCE: Final = frozenset({ActionKind.LOSE, ActionKind.DUPLICATE, ActionKind.FAIL_OVER})
"""Steps that nobody may count on; session and rebalance timeouts are judged apart."""

NOT_ASKED: Final[Mapping[str, tuple[str, ...]]] = {
    "the clock is frozen": ("session_timeout", "rebalance_timeout", "timer_length"),
    "the world around the group is not told": ("settings_hold", "offsets_go_along", "expressions_go_along"),
    "no log is written": ("dense_log", "no_anomaly"),
    "applications are asked nothing": ("application_is_heeded",),
    "that the group can come to rest stands for it": (
        "members_converge",
        "partitions_processed",
        "current_target",
    ),
}
"""Invariants that no world is held to by their own name, by why."""

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
    broken: dict[str, tuple[int, Step, str]] = field(default_factory=dict)
    """Invariant → the first world and step that break it, and how."""

    def way(self, number: int) -> tuple[Step, ...]:
        """The steps from the beginning to a world, one of the shortest ways."""
        steps: list[Step] = []
        while number:
            steps.append(self.steps[number])
            number = self.parents[number]
        return tuple(reversed(steps))

    def report(self, *, transitions: int, depth: int, complete: bool) -> Report:
        violations = [
            Violated(invariant=invariant, says=says, trace=(*self.way(number), step))
            for invariant, (number, step, says) in self.broken.items()
        ]
        if complete and (stuck := self._stuck()) >= 0:
            says = "From here on the group cannot come to rest, whatever happens but faults"
            violations.append(Violated(invariant="group_converges", says=says, trace=self.way(stuck)))
        return Report(
            states=len(self.parents),
            transitions=transitions,
            depth=depth,
            complete=complete,
            rests=len(self.rests),
            violations=tuple(violations),
        )

    def _stuck(self) -> int:
        """The first world from which the group cannot come to rest without any further fault; -1 if there is none."""
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
        rests = bytearray(count)
        waiting = list(self.rests)
        for number in waiting:
            rests[number] = 1
        while waiting:
            number = waiting.pop()
            for at in range(begins[number], begins[number + 1]):
                source = sources[at]
                if not rests[source]:
                    rests[source] = 1
                    waiting.append(source)
        return rests.find(0)
