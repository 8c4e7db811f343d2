"""What a finder's file declares of itself, as ``FINDER``: what it finds, how, and what is written of it.

``registry`` finds the files, ``Finder`` asks them, ``docs/reference/findings.md`` and tests are made of their rows: another
finding is another file, and nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import ClassVar

from groups.history.entries import Kind
from groups.history.evidence.steps import Step
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding


class Section(StrEnum):
    """The tables of the reference."""

    HAPPENED = "What happened"
    PATTERNS = "Patterns"
    LOG = "What requests, faults and the log itself tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Findings of one table's row: their kinds, what they say, what they are read from.

    ``incident``: something is wrong, or was changed; no quiet log may say it.
    """

    kinds: tuple[str, ...]
    meaning: str
    needs: str = ""
    incident: bool = False
    section: Section = Section.HAPPENED


class Watch(ABC):
    """Evidence that one finder collects by itself: an incremental fold over steps.

    A dataclass: its fields are carried over a checkpoint as they are declared. Each list in it has a bound.
    """

    kinds: ClassVar[frozenset[Kind]]
    """Steps whose last entry is of these; runs of commits pass by."""
    sees_moves: ClassVar[bool] = True
    """Whether records after which members only hold something else (``Step.moves_only``) can change it."""

    @abstractmethod
    def add(self, step: Step) -> None:
        """Fold one step."""


Find = Callable[[Facts], Iterable[Finding]]


def each_of(*finds: Find) -> Find:
    """The findings of each, one after the other."""
    return lambda facts: chain.from_iterable(find(facts) for find in finds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """``place``: findings stand in this order; who reads them by kind need not care."""

    place: int
    find: Find
    rows: tuple[Row, ...]
    watch: type[Watch] | None = None
