"""A group's lag of the last hour, by minutes: how much it grew, and whether it is what it was before the last rebalance.

Between two commits a lag rises and falls, so that a minute counts with its least and its greatest lag.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Final

MINUTE_MS: Final = 60_000
KEPT_MS: Final = 3_600_000


@dataclass(slots=True)
class LagCourse:
    """Times are the watcher's clock; of this process alone."""

    begun_ms: int | None = None
    behind_since_ms: int | None = None
    """The rebalance since which it lags more than before; null while it has caught up, and where that is not known."""

    was_behind: bool = False
    """Whether it saw a rebalance that left it behind."""

    usual: int = 0
    """The greatest lag of the minute before that rebalance."""

    _minutes: array[int] = field(default_factory=lambda: array("q"))
    _least: array[int] = field(default_factory=lambda: array("q"))
    _most: array[int] = field(default_factory=lambda: array("q"))
    _rebalanced_ms: int | None = None

    def add(self, at_ms: int, lag: int, rebalanced_ms: int | None) -> None:
        """Add a look. ``rebalanced_ms``: when the last rebalance began."""
        if self.begun_ms is None:
            self.begun_ms, self._rebalanced_ms = at_ms, rebalanced_ms
        if rebalanced_ms is not None and rebalanced_ms != self._rebalanced_ms:
            self._rebalanced_ms = rebalanced_ms
            before = self._most[-2:]
            if self.behind_since_ms is None and len(before):
                self.behind_since_ms, self.usual, self.was_behind = rebalanced_ms, max(before), True
        if self.behind_since_ms is not None and lag <= self.usual:
            self.behind_since_ms = None
        minute = at_ms // MINUTE_MS
        if len(self._minutes) and self._minutes[-1] >= minute:
            self._least[-1], self._most[-1] = min(self._least[-1], lag), max(self._most[-1], lag)
            return
        self._minutes.append(minute)
        self._least.append(lag)
        self._most.append(lag)
        if len(self._minutes) > 2 + KEPT_MS // MINUTE_MS:
            del self._minutes[0], self._least[0], self._most[0]

    def knows(self, at_ms: int, within_ms: int) -> bool:
        """Whether it was seen for so long."""
        return self.begun_ms is not None and self.begun_ms <= at_ms - within_ms

    def growth(self, at_ms: int, within_ms: int) -> int:
        """By how much the least lag of this minute and the one before is greater than that of those ``within_ms`` ago."""
        until = bisect_right(self._minutes, (at_ms - within_ms) // MINUTE_MS)
        return min(self._least[-2:]) - min(self._least[max(0, until - 2) : until]) if until else 0
