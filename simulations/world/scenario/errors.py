"""What is wrong with a scenario, where, and what would be right."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class ScenarioError(Exception):
    """One mistake. ``line`` counts from 1; ``field`` is a path such as ``script[2].at``, ``""`` for the whole."""

    def __init__(self, line: int, field: str, message: str) -> None:
        super().__init__(line, field, message)
        self.line = line
        self.field = field
        self.message = message

    def __str__(self) -> str:
        where = f"line {self.line}" + (f", {self.field}" if self.field else "")
        return f"{where}: {self.message}"


def nearest(word: str, known: Iterable[str]) -> str:
    """``"did you mean x?"``, or the list of what there is."""
    names = list(known)
    close = get_close_matches(word, names, n=1)
    return f"did you mean {close[0]}?" if close else f"there are {', '.join(names)}"
