"""What somebody asks of a sweep, as axes, with bounds.

A shape is written ``MEMBERSxTOPICSxPARTITIONS``, with ``-skewed``, ``-nested`` or ``-disjoint``, and ``-racks`` behind it
where that holds: ``20x5x200-skewed-racks``. An assignor is written with its protocol: ``classic/sticky``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from simulations.laboratory import BOARDS, Board, CaseError
from simulations.laboratory.cases import MEMBERS_MOST, PARTITIONS_MOST, TOPICS_MOST
from simulations.laboratory.presets import Racks, Shape, Sizes, Subscriptions
from simulations.sweeps.axes import Axes, GroupShape, Happening, name_of
from simulations.sweeps.cases import case_of

SHAPES_MOST: Final = 40
"""Rows of a map: more do not fit a page, and an eye compares places only while it sees them."""

SEEDS_MOST: Final = 1_000
"""Seeds of a cell: a median does not become surer by more."""

CASES_MOST: Final = 100_000
"""Cases of one sweep: some ten minutes of two cores for groups of middle size, and ten megabytes of answers."""

WRITTEN: Final = re.compile(r"(\d{1,4})x(\d{1,3})x(\d{1,5})((?:-[a-z]{1,10}){0,4})")

USUAL_SHAPES: Final = (
    "6x3x21",
    "20x5x200",
    "20x5x200-skewed",
    "20x5x200-racks",
    "20x5x200-nested",
    "20x5x200-disjoint",
    "60x10x600-skewed",
    "60x4x40",
)
USUAL_HAPPENINGS: Final = (
    Happening.FULL,
    Happening.STABLE,
    Happening.JOIN,
    Happening.LEAVE,
    Happening.GROW,
)
USUAL_SEEDS: Final = 12


FIRST_SEED_MOST: Final = 2**31
"""A seed that is written in an address; there is no need of more."""


def range_of(text: str) -> tuple[int, int]:
    """``1-42`` is the seeds 1 to 42, ``42`` that one alone; ``AxesError`` for anything else."""
    match = re.fullmatch(r"([0-9]{1,10})(?:-([0-9]{1,10}))?", text.strip())
    if match is None:
        raise AxesError(
            f"seeds {text[:20]!r}: expected the first and the last one, such as 1-12, or one alone", "seeds"
        )
    first, last = int(match[1]), int(match[2] or match[1])
    if last < first:
        raise AxesError(f"seeds {text[:20]!r}: the first is at most the last", "seeds")
    return first, last


class AxesError(ValueError):
    """The axes make no sense or are beyond a bound: one line; ``field`` is the axis."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


def axes_of(document: Mapping[str, object]) -> Axes:
    """The axes of a JSON object with ``assignors``, ``shapes``, ``events``, ``seeds`` (how many) and ``first_seed``; what it lacks is as usual.

    Raises ``AxesError`` where an axis is wrong, or all of them together ask too much.
    """
    for key in document:
        if key not in ("assignors", "shapes", "events", "seeds", "first_seed"):
            raise AxesError(
                f"{key[:40]!r} is no axis; there are assignors, shapes, events and seeds", key[:40]
            )
    boards = [board_of(each) for each in _texts(document, "assignors", [name_of(board) for board in BOARDS])]
    shapes = [shape_of(each) for each in _texts(document, "shapes", USUAL_SHAPES, SHAPES_MOST)]
    happenings = [happening_of(each) for each in _texts(document, "events", USUAL_HAPPENINGS)]
    seeds = document.get("seeds", USUAL_SEEDS)
    if not isinstance(seeds, int) or isinstance(seeds, bool) or not 1 <= seeds <= SEEDS_MOST:
        raise AxesError(f"seeds={str(seeds)[:20]!r} must be a whole number from 1 to {SEEDS_MOST:,}", "seeds")
    first_seed = document.get("first_seed", 1)
    if type(first_seed) is not int or not 0 <= first_seed <= FIRST_SEED_MOST:
        raise AxesError(
            f"first_seed={str(first_seed)[:20]!r} must be a whole number from 0 to {FIRST_SEED_MOST:,}",
            "first_seed",
        )
    axes = Axes(
        # In one order whatever order they were asked in: two sweeps of the same axes are laid out alike.
        boards=tuple(board for board in BOARDS if board in boards),
        shapes=tuple(dict.fromkeys(shapes)),
        happenings=tuple(each for each in Happening if each in happenings),
        seeds=seeds,
        first_seed=first_seed,
    )
    if axes.cases > CASES_MOST:
        raise AxesError(
            f"{axes.cells:,} cells of {seeds:,} seeds are {axes.cases:,} cases, more than {CASES_MOST:,}",
            "seeds",
        )
    _check_cases(axes)
    return axes


def board_of(text: str) -> Board:
    for board in BOARDS:
        if text == name_of(board):
            return board
    names = ", ".join(name_of(board) for board in BOARDS)
    raise AxesError(f"there is no assignor {text[:40]!r}; there are {names}", "assignors")


def happening_of(text: str) -> Happening:
    try:
        return Happening(text)
    except ValueError:
        raise AxesError(
            f"there is no event {text[:40]!r}; there are {', '.join(Happening)}", "events"
        ) from None


def shape_of(text: str) -> GroupShape:
    found = WRITTEN.fullmatch(text)
    if found is None:
        raise AxesError(
            f"{text[:60]!r} is no shape: members, topics and partitions such as 20x5x200, and behind them "
            "-skewed, -nested or -disjoint, -racks",
            "shapes",
        )
    members, topics, partitions = (int(number) for number in found.groups()[:3])
    for number, most, of in (
        (members, MEMBERS_MOST, "members"),
        (topics, TOPICS_MOST, "topics"),
        (partitions, PARTITIONS_MOST, "partitions"),
    ):
        if not 1 <= number <= most:
            raise AxesError(f"{text}: {number:,} {of}, where 1 to {most:,} can be", "shapes")
    words = [word for word in found[4].split("-") if word]
    sizes, subscriptions, racks = Sizes.EQUAL, Subscriptions.SAME, Racks.NONE
    for word in words:
        if word == Sizes.SKEWED:
            sizes = Sizes.SKEWED
        elif word in (Subscriptions.NESTED, Subscriptions.DISJOINT):
            if subscriptions is not Subscriptions.SAME:
                raise AxesError(f"{text}: nested and disjoint at once cannot be", "shapes")
            subscriptions = Subscriptions(word)
        elif word == "racks":
            racks = Racks.THREE
        else:
            raise AxesError(f"{text}: {word!r} is none of skewed, nested, disjoint, racks", "shapes")
    return GroupShape(Shape(members, topics, partitions), sizes, subscriptions, racks)


def _texts(
    document: Mapping[str, object], key: str, usual: Sequence[str], most: int | None = None
) -> list[str]:
    given = document.get(key, list(usual))
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise AxesError(f"{key} must be a list of texts", key)
    if not given:
        raise AxesError(f"{key} is empty: a sweep needs at least one", key)
    if most is not None and len(given) > most:
        raise AxesError(f"{len(given)} {key} are more than {most}", key)
    return given


def _check_cases(axes: Axes) -> None:
    """Each kind of case once: what the laboratory would refuse is refused before anything is started."""
    for shape in axes.shapes:
        for happening in axes.happenings:
            try:
                case_of(shape, happening, 1)
            except CaseError as error:
                raise AxesError(f"{shape} at {happening}: {error}", "shapes") from None
