"""A measured figure and its row in the table."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """What was measured, in ``unit``; ``goal`` in the same unit, or None where there is no promise."""

    what: str
    value: float
    unit: str
    goal: float | None = None
    at_least: bool = False

    def row(self) -> str:
        bound = (
            ""
            if self.goal is None
            else f"{'at least' if self.at_least else 'under'} {self.goal:,g} {self.unit}"
        )
        digits = 0 if self.value >= 100 else 1 if self.value >= 10 else 2
        return f"| {self.what} | {self.value:,.{digits}f} {self.unit} | {bound} |"


def middle(values: list[float]) -> float:
    return median(values)


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * len(ordered)))]
