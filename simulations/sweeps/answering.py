"""The figures of a case: what is kept of an answer. Run by Spark's workers, and again when a cell is opened."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Literal, get_args

from simulations.laboratory import Board, Case
from simulations.laboratory.specs import before_of, spec_of
from simulations.protocol.assignors import ASSIGNORS
from simulations.protocol.assignors.interface import AssignorError
from simulations.protocol.assignors.measures import measure
from simulations.sweeps.axes import Axes, Block, Cell
from simulations.sweeps.cases import case_of

Counted = Literal["moved", "revoked", "interrupted", "paused", "min", "max", "rebalances", "local", "placed"]
COUNTED: Final[tuple[Counted, ...]] = get_args(Counted)

FIGURES: Final[tuple[str, ...]] = (*COUNTED, "ms")
"""The figures of a row, in order: those of ``simulations.protocol.assignors.measures``, and how long the event's answer took."""

MS: Final = FIGURES.index("ms")

Row = list[float | None] | str
"""The figures of one case, or what Kafka's assignor throws there."""

Clock = Callable[[], float]
"""Seconds; only differences count."""


def row_of(case: Case, board: Board, clock: Clock) -> Row:
    """The event's answer; the time is that of the assignor alone."""
    try:
        spec = spec_of(case, board.protocol, before_of(case, board.protocol, board.assignor))
        assignor = ASSIGNORS[board.protocol][board.assignor]()
        begun = clock()
        answer = assignor.assign(spec)
        took_ms = round((clock() - begun) * 1_000, 4)
    except AssignorError as error:
        return str(error)
    found = measure(spec, answer, board.rebalance).to_json()
    return [*(found[name] for name in COUNTED), took_ms]


def rows_of(axes: Axes, block: Block, clock: Clock) -> Iterator[Row]:
    """A row for each seed of the block."""
    cell = axes.cell(block.cell)
    for seed in range(block.first, block.last + 1):
        yield row_of(case_of(cell.shape, cell.happening, seed), cell.board, clock)


def table_row(cell: Cell, seed: int, row: Row) -> dict[str, str | float | None]:
    """A case with its figures by name: a line of the command and of the table that is exported."""
    case: dict[str, str | float | None] = {
        "protocol": cell.board.protocol,
        "assignor": cell.board.assignor,
        "shape": str(cell.shape),
        "event": str(cell.happening),
        "seed": seed,
    }
    if isinstance(row, str):
        return case | {"error": row}
    return case | dict(zip(FIGURES, row, strict=True))
