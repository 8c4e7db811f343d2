"""What a lesson is about, given by the caller: this package reads no files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from groups.history.entries import EntryLine
from simulations.world.scenario import Scenario


class Source(Protocol):
    """The case studies and the recorded logs that a lesson can name."""

    def study(self, name: str) -> Scenario:
        """``KeyError`` if there is none of that name."""

    def studies(self) -> Sequence[str]: ...

    def log(self, name: str) -> Sequence[EntryLine]:
        """The entries of a recorded log as JSON values, in order; ``KeyError`` if there is none of that name."""

    def logs(self) -> Sequence[str]: ...
