"""What the rows of a sweep come to: a value for each case, the median and the worst of a cell, in numbers and in words."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from simulations.sweeps.answering import FIGURES, MS, Row
from simulations.sweeps.axes import Cell, Happening

MOVED, INTERRUPTED, LEAST, MOST = (FIGURES.index(name) for name in ("moved", "interrupted", "min", "max"))

Figures = list[float | None]
Rows = Mapping[int, Row]
"""The rows of one cell by their seeds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """What a map shows. ``cuts`` part its nine steps: a value above so many of them is so dark."""

    key: str
    label: str
    title: str
    unit: str
    cuts: tuple[float, ...]
    of: Callable[[Figures, Cell], float]


def staying(cell: Cell) -> int:
    """Members that are there before the event and after it: those that an event can interrupt."""
    members = cell.shape.size.members
    match cell.happening:
        case Happening.LEAVE:
            return members - 1
        case Happening.LEAVE_MANY:
            return members - cell.shape.many
    return members


def _number(figures: Figures, place: int) -> float:
    value = figures[place]
    assert value is not None
    return value


PERCENT_CUTS: Final = (0, 1, 3, 6, 15, 30, 60, 90)

MEASURES: Final = (
    Measure(
        key="moved",
        label="Moved",
        title="% of partitions that change owner",
        unit=" %",
        cuts=PERCENT_CUTS,
        of=lambda figures, cell: 100 * _number(figures, MOVED) / cell.shape.size.partitions,
    ),
    Measure(
        key="interrupted",
        label="Interrupted",
        title="% of members that stop reading something",
        unit=" %",
        cuts=PERCENT_CUTS,
        of=lambda figures, cell: 100 * _number(figures, INTERRUPTED) / staying(cell),
    ),
    Measure(
        key="spread",
        label="Most − fewest",
        title="partitions",
        unit="",
        cuts=(0, 1, 2, 4, 8, 12, 20, 40),
        of=lambda figures, cell: _number(figures, MOST) - _number(figures, LEAST),
    ),
    Measure(
        key="time",
        label="Time",
        title="ms that the assignor takes",
        unit=" ms",
        cuts=(0.05, 0.1, 0.3, 1, 3, 10, 30, 100),
        of=lambda figures, cell: _number(figures, MS),
    ),
)

AGGREGATES: Final[Mapping[str, Callable[[list[float]], float]]] = {"median": statistics.median, "worst": max}


def values_of(rows: Rows, cell: Cell, measure: Measure) -> dict[int, float]:
    """The value of each seed; those where the assignor throws have none."""
    return {seed: measure.of(row, cell) for seed, row in rows.items() if not isinstance(row, str)}


def thrown_in(rows: Rows) -> dict[int, str]:
    """What Kafka's assignor throws, by seed."""
    return {seed: row for seed, row in rows.items() if isinstance(row, str)}


def written(value: float) -> str:
    """As a cell shows it: two significant digits."""
    if value == 0 or value >= 10:
        return f"{value:.0f}"
    text = f"{value:.1f}" if value >= 0.95 else f"{value:.2f}" if value >= 0.01 else "<0.01"
    return text.rstrip("0").rstrip(".") if "." in text else text


# -- what the axes are called


def shape_label(cell_shape: str) -> str:
    """``20x5x200-skewed-racks`` → ``20 members, 200 skewed, racks``."""
    size, *words = cell_shape.split("-")
    members, _, partitions = size.split("x")
    title = f"{members} member{'' if members == '1' else 's'}, {partitions}"
    if not words:
        return f"{title} partition{'' if partitions == '1' else 's'}"
    kinds = " ".join(["", *(word for word in words if word != "racks")])
    return f"{title}{kinds}{', racks' if 'racks' in words else ''}"


_EVENTS: Final[Mapping[Happening, tuple[str, str]]] = {
    Happening.FULL: ("Empty group", "new"),
    Happening.STABLE: ("Stable", "stable"),
    Happening.JOIN: ("One joins", "join"),
    Happening.LEAVE: ("One leaves", "leave"),
    Happening.GROW: ("Partitions added", "grown"),
    Happening.JOIN_MANY: ("A quarter joins", "¼ join"),
    Happening.LEAVE_MANY: ("A quarter leaves", "¼ leave"),
}
"""What happens in words, and over a column."""

EVENT_LABELS: Final = {event: label for event, (label, _) in _EVENTS.items()}
EVENT_HEADS: Final = {event: head for event, (_, head) in _EVENTS.items()}
