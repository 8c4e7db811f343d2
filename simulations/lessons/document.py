"""A lesson as values, checked in its form; ``lesson_yaml`` makes them from YAML, and ``checking`` holds them against the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from simulations.lessons.texts import Text

BEATS_MAX: Final = 20
"""A lesson takes less than eight minutes: nobody reads more than this in that time."""

MINUTES_MAX: Final = 8

OPTIONS_MAX: Final = 8
"""More answers to choose from are no question any more."""

FACTS_MAX: Final = 20


class Kind(StrEnum):
    """What a lesson is about."""

    STUDY = "study"
    SCENARIO = "scenario"
    LOG = "log"
    CASE = "case"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where in a run something is: a ``step`` of its narration, a named ``mark``, or the ``nth`` moment of a
    ``shape`` whose actor is ``who`` (a member's name, or None for anybody).

    ``start`` is the first moment, ``end`` the last.
    """

    line: int
    field: str
    step: int | None = None
    mark: str | None = None
    shape: str | None = None
    who: str | None = None
    nth: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """What the run must give for ``reference`` at the moment of a beat, as it is written in sentences."""

    reference: str
    expected: str
    line: int
    field: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An answer to choose: right where all its ``facts`` hold; ``because`` is shown to a reader who chose it although it is wrong."""

    text: Text
    facts: tuple[Fact, ...]
    because: Text | None
    line: int
    field: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A question. ``of`` is the reference that answers it, ``at`` the moment whose answer counts (the beat's own, or a
    later one, which is revealed); with ``options`` the one whose facts hold there is right.

    ``expect`` is the author's answer, checked against the run. ``because`` explains the wrong answers for which
    the simulator has no explanation. ``then`` is shown once it was answered.
    """

    question: Text
    at: Place | None
    of: str | None = None
    expect: str | None = None
    among: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    places: bool = False
    because: Mapping[str, Text] = field(default_factory=dict)
    hint: Text | None = None
    then: Text | None = None
    line: int
    field: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    """One idea: where the board is, what is said, and what must be true there."""

    at: Place
    title: str
    text: tuple[Text, ...]
    facts: tuple[Fact, ...] = ()
    ask: Ask | None = None
    notes: Text | None = None
    cite: Text | None = None
    terms: tuple[str, ...] = ()
    line: int
    field: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a proposal's table: its moment, its event, and a cell for each member (``21 {0,1,2}``)."""

    at: Place
    text: Text
    cells: Mapping[str, str]
    line: int
    field: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    source: str
    rows: tuple[Row, ...]
    slip: Text | None = None
    """Where the proposal's text has a slip: what it writes, and what its own rules give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """``of`` is the name of a case study or of a recorded log, the text of a scenario, or a case of the laboratory."""

    id: str
    title: str
    goal: Text
    minutes: int
    pattern: str | None
    """The pattern that an incident is an example of: shown to a reader who has found it."""
    kind: Kind
    of: str
    of_line: int
    beats: tuple[Beat, ...]
    marks: Mapping[str, Place]
    table: Table | None
    text: str
