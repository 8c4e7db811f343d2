"""What a scripted exchange is, and the table that all of them enter themselves into."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ..acting import Classic

Play = Callable[[Classic], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """``shows`` is the row of the table in the docs; ``after_restart`` follows when another coordinator has loaded."""

    name: str
    about: str
    shows: str
    play: Play
    after_restart: Play | None = None
    policy: str = "bidirectional"
    """``group.consumer.migration.policy`` of the broker that it is played on."""


EXCHANGES: dict[str, Exchange] = {}


def exchange(about: str, name: str, shows: str, *, policy: str = "bidirectional") -> Callable[[Play], Play]:
    """Enters a script into the table; its group is called as it is."""

    def enter(play: Play) -> Play:
        assert name not in EXCHANGES, name
        EXCHANGES[name] = Exchange(name=name, about=about, shows=shows, play=play, policy=policy)
        return play

    return enter


def after_restart(name: str) -> Callable[[Play], Play]:
    """Adds a second act, which is played when the broker was stopped and started."""

    def add(play: Play) -> Play:
        EXCHANGES[name] = replace(EXCHANGES[name], after_restart=play)
        return play

    return add
