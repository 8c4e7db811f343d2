"""A warning of a rehearsal: its level, what it contains, what helps, and where that is from."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Final, TypedDict

NAMED_MOST: Final = 4
"""Members that a warning names; of the others it has the number."""


class Level(StrEnum):
    """``stops``: the planned way is refused. ``warning``: it costs, or ends otherwise than one may think. ``note``: to know."""

    STOPS = "stops"
    WARNING = "warning"
    NOTE = "note"


class Warned(TypedDict):
    """``code`` is for programs; ``do`` is what helps, or empty."""

    code: str
    level: str
    says: str
    do: str
    source: str


def warned(code: str, level: Level, text: str, do: str = "", source: str = "") -> Warned:
    return {"code": code, "level": str(level), "says": text, "do": do, "source": source}


def names_of(names: Iterable[str]) -> str:
    every = list(names)
    words = ", ".join(every[:NAMED_MOST])
    return f"{words} and {len(every) - NAMED_MOST} more" if len(every) > NAMED_MOST else words
