"""What a finder's file declares of itself, as ``FINDER``: what it finds, and how.

``registry`` finds the files, ``Finder`` asks them. Another finding is another file, and its row in ``docs/reference/findings.md``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from groups.history.entries import Kind
from groups.history.evidence.steps import Step
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Kinds of findings, and what they are read from; ``docs/reference/findings.md`` describes each.

    ``incident``: something is wrong, or was changed; no quiet log may report it.
    """

    kinds: tuple[str, ...]
    needs: str = ""
    incident: bool = False


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
