"""The event queue: what happens next, by time, then priority, then the order in which it was planned."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from enum import IntEnum


class Priority(IntEnum):
    """Of several events at one time. A heartbeat that arrives when its session runs out still saves the member."""

    SCRIPT = 0
    ARRIVAL = 1
    CLIENT = 2
    TIMER = 3
    FLUSH = 4


class EventQueue:
    """A clock that jumps from event to event. The planner of an event cancels it: events may find nothing to do."""

    def __init__(self, start_ms: int) -> None:
        self.now_ms = start_ms
        # No two have the same number, so that what happens is never compared.
        self._heap: list[tuple[int, int, int, Callable[[], None]]] = []
        self._number = 0

    def plan(self, at_ms: int, priority: Priority, happen: Callable[[], None]) -> None:
        """Plans an event; a time that has passed means now."""
        self._number += 1
        if at_ms < self.now_ms:
            at_ms = self.now_ms
        heapq.heappush(self._heap, (at_ms, priority, self._number, happen))

    def next_until(self, until_ms: int) -> Callable[[], None] | None:
        """The next event, with the clock set to its time; ``None`` when all that is left is later."""
        if not self._heap or self._heap[0][0] > until_ms:
            return None
        self.now_ms, _, _, happen = heapq.heappop(self._heap)
        return happen
