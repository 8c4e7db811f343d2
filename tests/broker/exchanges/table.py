"""What a scripted exchange is, and the table that all of them enter themselves into."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

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
    after_restart: Play | None = None
    """What follows when another coordinator has loaded the log."""


EXCHANGES: dict[str, Exchange] = {}


def after_restart(name: str) -> Callable[[Play], Play]:
    """Adds a second act, which is played when the broker was stopped and started."""

    def add(play: Play) -> Play:
        EXCHANGES[name] = replace(EXCHANGES[name], after_restart=play)
        return play

    return add


def exchange(about: str, name: str, shows: str, *, differs: str | None = None) -> Callable[[Play], Play]:
    """Enters a script into the table; its group is called as it is."""

    def enter(play: Play) -> Play:
        assert name not in EXCHANGES, name
        EXCHANGES[name] = Exchange(name=name, about=about, shows=shows, play=play, differs=differs)
        return play

    return enter
