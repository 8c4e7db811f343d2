"""The sentence on top of a sweep, in parts; a part that a cell proves leads to it. Computed from the answers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NotRequired, TypedDict

from simulations.laboratory.sentences import listed
from simulations.protocol.assignors.measures import RebalanceProtocol
from simulations.sweeps.axes import Axes, Happening
from simulations.sweeps.summary import MEASURES, Rows, values_of, written

MOVED: Final = MEASURES[0]
SPREAD: Final = MEASURES[2]

TELLING: Final = (Happening.JOIN, Happening.LEAVE, Happening.JOIN_MANY, Happening.LEAVE_MANY, Happening.GROW)
"""Events by how much they show about an assignor; the sentence is of the first that the sweep has."""

WHEN: Final[Mapping[Happening, str]] = {
    Happening.JOIN: "When one joins",
    Happening.LEAVE: "When one leaves",
    Happening.JOIN_MANY: "When a quarter joins",
    Happening.LEAVE_MANY: "When a quarter leaves",
    Happening.GROW: "When partitions are added",
}

NEAR: Final = 1.5
"""Assignors whose worst case is at most so many times that of the best are shown together with it."""


class Part(TypedDict):
    """Words of a sentence, with the cell that proves them, and the measure by which it does."""

    text: str
    cell: NotRequired[int]
    measure: NotRequired[str]


@dataclass(frozen=True, slots=True)
class Column:
    """One assignor at one event, over all shapes: its worst value, least and greatest median, and where those are."""

    board: int
    worst: float
    worst_cell: int
    least: float
    most: float
    most_cell: int


def sentence(axes: Axes, answers: Mapping[int, Rows]) -> list[Part]:
    """Empty while nothing is in."""
    parts: list[Part] = []
    event = next((each for each in TELLING if each in axes.happenings), None)
    if event is not None:
        columns = [column for column in _columns(axes, answers, event) if column is not None]
        if columns:
            parts += _moves(axes, columns, WHEN[event])
    return parts + _unevenness(axes, answers, begins=not parts)


def _columns(axes: Axes, answers: Mapping[int, Rows], event: Happening) -> list[Column | None]:
    place = axes.happenings.index(event)
    return [_column(axes, answers, board, place) for board in range(len(axes.boards))]


def _column(axes: Axes, answers: Mapping[int, Rows], board: int, event: int) -> Column | None:
    worst: list[tuple[float, int]] = []
    medians: list[tuple[float, int]] = []
    for shape in range(len(axes.shapes)):
        number = axes.number_of(board, shape, event)
        values = list(values_of(answers.get(number, {}), axes.cell(number), MOVED).values())
        if values:
            worst.append((max(values), number))
            medians.append((statistics.median(values), number))
    if not medians:
        return None
    (worst_value, worst_cell), (most, most_cell) = max(worst), max(medians)
    return Column(board, worst_value, worst_cell, min(medians)[0], most, most_cell)


def _moves(axes: Axes, columns: Sequence[Column], when: str) -> list[Part]:
    best = min(column.worst for column in columns)
    steady = [column for column in columns if column.worst <= max(best * NEAR, best + 1)]
    bound = max(steady, key=lambda column: column.worst)
    others = [column for column in columns if column not in steady]
    all_names = _names(axes, range(len(axes.boards)))
    names = [all_names[column.board] for column in steady]
    if bound.worst == 0:
        text = f"{listed(names)} {'moves' if len(names) == 1 else 'move'} nothing"
    else:
        text = (
            f"{listed(names)} never {'moves' if len(names) == 1 else 'move'} over {math.ceil(bound.worst)} %"
        )
    parts: list[Part] = [
        {"text": f"{when}, "},
        {"text": text, "cell": bound.worst_cell, "measure": MOVED.key},
    ]
    if others:
        worst = max(others, key=lambda column: (column.most, column.worst))
        least, most = written(worst.least), written(worst.most)
        span = f"{least} to {most}" if least != most else most
        parts += [
            {"text": "; "},
            {
                "text": f"{all_names[worst.board]} moves {span} %",
                "cell": worst.most_cell,
                "measure": MOVED.key,
            },
        ]
    return [*parts, {"text": ". "}]


def _unevenness(axes: Axes, answers: Mapping[int, Rows], *, begins: bool) -> list[Part]:
    """Who leaves most between the fullest member and the emptiest, where all get the same topics."""
    found: list[tuple[float, int, int]] = []
    for number in range(axes.cells):
        cell = axes.cell(number)
        if cell.shape.subscriptions != "same":
            continue
        values = list(values_of(answers.get(number, {}), cell, SPREAD).values())
        if values:
            found.append((statistics.median(values), -number, axes.boards.index(cell.board)))
    if not found:
        return []
    most, negative, _ = max(found)
    if most <= 1:
        return (
            [{"text": "Every assignor is as even as can be.", "cell": -negative, "measure": SPREAD.key}]
            if begins
            else []
        )
    boards = sorted({board for value, _, board in found if value == most})
    names = list(dict.fromkeys(axes.boards[board].assignor for board in boards))
    text = listed(names)
    verb = "leaves" if len(names) == 1 else "leave"
    return [
        {
            "text": f"{text[:1].upper()}{text[1:]} {verb} up to {written(most)} partitions",
            "cell": -negative,
            "measure": SPREAD.key,
        },
        {"text": " between fullest and emptiest."},
    ]


def _names(axes: Axes, boards: Sequence[int]) -> list[str]:
    """The assignors' names, with the protocol of those that have a namesake here."""
    plain = [axes.boards[board].assignor for board in boards]
    return [
        name if plain.count(name) == 1 else f"{axes.boards[board].protocol} {name}"
        for board, name in zip(boards, plain, strict=True)
    ]


RUNS_AS: Final[Mapping[RebalanceProtocol, str]] = {
    RebalanceProtocol.EAGER: "classic, eager",
    RebalanceProtocol.COOPERATIVE: "cooperative",
    RebalanceProtocol.CONSUMER: "consumer",
}
