"""What is wrong with a scenario, where, and what would be right."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final


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


NAMED_MAX: Final = 40
"""Names that a message lists: a line that one reads, as long as the longest list of keys."""


def nearest(word: str, known: Iterable[str]) -> str:
    """``"did you mean x?"``, or the list of what there is."""
    names = list(known)
    close = get_close_matches(word, names, n=1)
    if close:
        return f"did you mean {close[0]}?"
    more = f" and {len(names) - NAMED_MAX} more" if len(names) > NAMED_MAX else ""
    return f"there are {', '.join(names[:NAMED_MAX])}{more}"
