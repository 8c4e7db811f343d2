"""What a scripted exchange is, and the table that all of them enter themselves into."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..acting import Group

Play = Callable[[Group], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """``shows`` is the row of the table in the docs; ``differs`` says what is known to differ and why, if anything does."""

    name: str
    about: str
    shows: str
    play: Play
    differs: str | None = None


EXCHANGES: dict[str, Exchange] = {}


def exchange(about: str, name: str, shows: str, *, differs: str | None = None) -> Callable[[Play], Play]:
    """Enters a script into the table; its group is called as it is."""

    def enter(play: Play) -> Play:
        assert name not in EXCHANGES, name
        EXCHANGES[name] = Exchange(name=name, about=about, shows=shows, play=play, differs=differs)
        return play

    return enter
