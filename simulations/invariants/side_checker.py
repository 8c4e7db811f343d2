"""A checker that asks one thing more than another one, which it holds."""

from __future__ import annotations

from collections.abc import Iterable

from groups.history.entries import Entry
from groups.history.state.group import State
from simulations.invariants.classic_clients import RunChecker
from simulations.invariants.violations import Violation, Violations


class SideChecker:
    """What ``inner`` finds. A subclass adds to ``_violations``, and passes on each entry."""

    def __init__(self, inner: RunChecker) -> None:
        self._inner = inner
        self._violations = Violations()

    def see(self, entry: Entry, state: State) -> list[Violation]:
        return [*self._violations.take(), *self._inner.see(entry, state)]

    def steady(self, entry: Entry) -> list[Violation]:
        return [*self._violations.take(), *self._inner.steady(entry)]

    def end(self, at_ms: int) -> list[Violation]:
        return [*self._violations.take(), *self._inner.end(at_ms)]

    def travels(self, travel_ms: int) -> None:
        self._inner.travels(travel_ms)

    def asks_for(self, who: str, names: Iterable[str], regex: str | None, at_ms: int) -> None:
        self._inner.asks_for(who, names, regex, at_ms)

    def has_rested(self, at_ms: int, for_ms: int) -> bool:
        return self._inner.has_rested(at_ms, for_ms)

    def demand_convergence(self) -> list[Violation]:
        return [*self._violations.take(), *self._inner.demand_convergence()]

    @property
    def unjudged(self) -> str | None:
        return self._inner.unjudged

    @property
    def known_fault(self) -> str | None:
        return self._inner.known_fault
