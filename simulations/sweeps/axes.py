"""The axes of a sweep: which assignors, shapes and events, and how many seeds; its cells and blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NotRequired, TypedDict

from simulations.laboratory import Board
from simulations.laboratory.presets import Racks, Shape, Sizes, Subscriptions

SEEDS_A_BLOCK: Final = 6
"""Seeds of a cell that are answered in one go: few enough that a map fills evenly, many against the cost of a row."""


class Happening(StrEnum):
    """The events of a sweep: those of the laboratory, and a quarter of the group at once."""

    FULL = "full"
    STABLE = "stable"
    JOIN = "join"
    LEAVE = "leave"
    GROW = "grow"
    JOIN_MANY = "join-many"
    LEAVE_MANY = "leave-many"


@dataclass(frozen=True, slots=True)
class GroupShape:
    """A row of the maps: how large a group is, and how its topics, subscriptions and racks are laid out."""

    size: Shape
    sizes: Sizes = Sizes.EQUAL
    subscriptions: Subscriptions = Subscriptions.SAME
    racks: Racks = Racks.NONE

    @property
    def many(self) -> int:
        """How many come or go where many do: a quarter of the group, yet two if that leaves somebody."""
        return max(min(2, self.size.members - 1), self.size.members // 4, 1)

    def __str__(self) -> str:
        words = [f"{self.size.members}x{self.size.topics}x{self.size.partitions}"]
        if self.sizes is not Sizes.EQUAL:
            words.append(self.sizes)
        if self.subscriptions is not Subscriptions.SAME:
            words.append(self.subscriptions)
        if self.racks is not Racks.NONE:
            words.append("racks")
        return "-".join(words)


@dataclass(frozen=True, slots=True)
class Cell:
    """One place of one map."""

    board: Board
    shape: GroupShape
    happening: Happening


@dataclass(frozen=True, slots=True)
class Block:
    """Seeds ``first`` to ``last`` of the cell with that number."""

    cell: int
    first: int
    last: int


class AxesDocument(TypedDict):
    """Axes as JSON: what is asked for, in words."""

    assignors: list[str]
    shapes: list[str]
    events: list[str]
    seeds: int
    """How many."""
    first_seed: NotRequired[int]
    """1 if it is left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """What a sweep asks. Cells are numbered assignor by assignor, shape by shape, event by event; ``seeds`` of each, from ``first_seed`` on."""

    boards: tuple[Board, ...]
    shapes: tuple[GroupShape, ...]
    happenings: tuple[Happening, ...]
    seeds: int
    first_seed: int = 1

    @property
    def last_seed(self) -> int:
        return self.first_seed + self.seeds - 1

    @property
    def cells(self) -> int:
        return len(self.boards) * len(self.shapes) * len(self.happenings)

    @property
    def cases(self) -> int:
        return self.cells * self.seeds

    def number_of(self, board: int, shape: int, happening: int) -> int:
        return (board * len(self.shapes) + shape) * len(self.happenings) + happening

    def cell(self, number: int) -> Cell:
        rest, happening = divmod(number, len(self.happenings))
        board, shape = divmod(rest, len(self.shapes))
        return Cell(self.boards[board], self.shapes[shape], self.happenings[happening])

    def blocks(self) -> Iterator[Block]:
        """All of it, the first seeds of every cell before the next ones: a map is whole early, then grows surer."""
        for first in range(self.first_seed, self.last_seed + 1, SEEDS_A_BLOCK):
            last = min(self.last_seed, first + SEEDS_A_BLOCK - 1)
            for cell in range(self.cells):
                yield Block(cell, first, last)

    def to_json(self) -> AxesDocument:
        document: AxesDocument = {
            "assignors": [name_of(board) for board in self.boards],
            "shapes": [str(shape) for shape in self.shapes],
            "events": [str(happening) for happening in self.happenings],
            "seeds": self.seeds,
        }
        if self.first_seed != 1:
            document["first_seed"] = self.first_seed
        return document


def name_of(board: Board) -> str:
    return f"{board.protocol}/{board.assignor}"
