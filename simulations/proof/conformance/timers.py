"""The timers that a recorded coordinator must have had running, so that a removal without a request can be judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from simulations.protocol.coordinator.timers import JOIN, SYNC, TimerCommand, TimerStart

EARLY_MS: Final = 250
"""A deadline is reckoned from when a request was read and handled at the latest; the broker's own may lie so much
before it on a busy machine."""

LATE_MS: Final = 5_000
"""A timer that did nothing for so long after its time would have fired: it waits for nothing but its partition's queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """``earliest_ms`` and ``latest_ms`` bound when it runs out; ``latest_ms`` is ``None`` where its start was not seen.

    ``member_id`` is ``None`` for the timers of a classic group's two phases.
    """

    timer: str
    member_id: str | None
    bound_epoch: int | None
    earliest_ms: int
    latest_ms: int | None

    @property
    def unsure_ms(self) -> int:
        """How far apart the two times are between which its start was."""
        return 0 if self.latest_ms is None else max(self.latest_ms - self.earliest_ms - EARLY_MS, 0)


class Timers:
    """By name and member, as the coordinator itself keeps them. Never changed: a change makes another."""

    __slots__ = ("_running",)

    def __init__(self, running: Mapping[tuple[str, str | None], Running] | None = None) -> None:
        self._running = running or {}

    def taking(self, commands: Iterable[TimerCommand], earliest_ms: int, latest_ms: int | None) -> Timers:
        """After commands of an operation that ran some time between the two; ``None``: nobody knows until when."""
        running = dict(self._running)
        for command in commands:
            if command.member_id is None and command.timer not in (JOIN, SYNC):
                continue
            key = (command.timer, command.member_id)
            if isinstance(command, TimerStart):
                running[key] = Running(
                    timer=command.timer,
                    member_id=command.member_id,
                    bound_epoch=command.bound_epoch,
                    earliest_ms=earliest_ms + command.length_ms - EARLY_MS,
                    latest_ms=None if latest_ms is None else latest_ms + command.length_ms,
                )
            else:
                running.pop(key, None)
        return Timers(running)

    def due(self, now_ms: int) -> list[Running]:
        """Those that may have run out by now, the first to do so first."""
        may = [timer for timer in self._running.values() if timer.earliest_ms <= now_ms]
        return sorted(may, key=lambda timer: timer.earliest_ms)

    def without(self, stopped: Iterable[Running]) -> Timers:
        gone = {(each.timer, each.member_id) for each in stopped}
        return Timers({key: timer for key, timer in self._running.items() if key not in gone})

    def overdue(self, now_ms: int) -> list[Running]:
        """Those that would have fired by now."""
        return [
            timer
            for timer in self._running.values()
            if timer.latest_ms is not None and timer.latest_ms + LATE_MS < now_ms
        ]
