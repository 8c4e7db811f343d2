"""The event queue: what happens next, by time, then priority, then the order in which it was planned."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum


class Priority(IntEnum):
    """Of several events at one time. A heartbeat that arrives when its session runs out still saves the member."""

    SCRIPT = 0
    ARRIVAL = 1
    CLIENT = 2
    TIMER = 3
    FLUSH = 4


@dataclass(order=True, slots=True)
class _Planned:
    at_ms: int
    priority: Priority
    number: int
    happen: Callable[[], None] = field(compare=False)


class EventQueue:
    """A clock that jumps from event to event. Cancelling is the business of who planned: events may find nothing."""

    def __init__(self, start_ms: int) -> None:
        self.now_ms = start_ms
        self._heap: list[_Planned] = []
        self._number = 0

    def plan(self, at_ms: int, priority: Priority, happen: Callable[[], None]) -> None:
        """Plans an event; a time that has passed means now."""
        self._number += 1
        planned = _Planned(max(at_ms, self.now_ms), priority, self._number, happen)
        heapq.heappush(self._heap, planned)

    def next_until(self, until_ms: int) -> Callable[[], None] | None:
        """The next event, with the clock set to its time; ``None`` when all that is left is later."""
        if not self._heap or self._heap[0].at_ms > until_ms:
            return None
        planned = heapq.heappop(self._heap)
        self.now_ms = planned.at_ms
        return planned.happen
