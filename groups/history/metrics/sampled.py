"""A statistic over the last windows of time, as Kafka keeps it: two windows of 30 s, and a third being recycled.

Kafka: ``SampledStat``, ``Rate``, ``Avg``, ``Max``. Averages and greatest values therefore forget what is older than a minute,
and a rate divides by the time since the oldest window began.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from operator import le
from typing import Final

from groups.history.state.declared import row

WINDOW_MS: Final = 30_000
"""``metrics.sample.window.ms`` at its default."""

WINDOWS: Final = 2
"""``metrics.num.samples`` at its default."""

_START, _LAST, _COUNT, _SUM, _MAX = range(5)


@row
@dataclass(slots=True)
class Sampled:
    """``record`` values in order of time; then ask at a moment. Milliseconds throughout."""

    _windows: list[list[float]] = field(default_factory=list)
    _current: int = 0

    def record(self, value: float, at_ms: int) -> None:
        if not self._windows:
            self._windows.append(_fresh(at_ms))
        window = self._windows[self._current]
        if at_ms - window[_START] >= WINDOW_MS:
            # One more than is looked at is kept, so that the oldest that still overlaps is whole.
            self._current = (self._current + 1) % (WINDOWS + 1)
            window = _fresh(at_ms)
            if self._current >= len(self._windows):
                self._windows.append(window)
            else:
                self._windows[self._current] = window
        window[_LAST] = at_ms
        window[_COUNT] += 1
        window[_SUM] += value
        window[_MAX] = max(window[_MAX], value) if window[_COUNT] > 1 else value

    def record_many(self, value: float, times_ms: Sequence[int]) -> None:
        """``record`` the same value at each of the times, in order; the cost is that of windows, not of times.

        Times that run backwards are recorded one by one: a window begins where its first event is.
        """
        if not all(map(le, times_ms, islice(times_ms, 1, None))):
            for at_ms in times_ms:
                self.record(value, at_ms)
            return
        at = 0
        while at < len(times_ms):
            self.record(value, times_ms[at])
            window = self._windows[self._current]
            end = bisect_left(times_ms, window[_START] + WINDOW_MS, at + 1)
            if end > at + 1:
                window[_LAST] = times_ms[end - 1]
                window[_COUNT] += end - at - 1
                window[_SUM] += value * (end - at - 1)
            at = end

    def average(self, now_ms: int) -> float | None:
        """``None`` if nothing happened lately; Kafka reports NaN."""
        live = self._live(now_ms)
        count = sum(window[_COUNT] for window in live)
        return sum(window[_SUM] for window in live) / count if count else None

    def greatest(self, now_ms: int) -> float | None:
        return max((window[_MAX] for window in self._live(now_ms) if window[_COUNT]), default=None)

    def count_rate(self, now_ms: int, unit_ms: int = 1000) -> float:
        """Events in ``unit_ms``."""
        live = self._live(now_ms)
        return sum(window[_COUNT] for window in live) * unit_ms / self._elapsed_ms(live, now_ms)

    def _live(self, now_ms: int) -> list[list[float]]:
        """Windows with an event in the time that is looked at; the others restart, now."""
        return [
            window if now_ms - window[_LAST] < WINDOWS * WINDOW_MS else _fresh(now_ms)
            for window in self._windows
        ]

    def _elapsed_ms(self, live: list[list[float]], now_ms: int) -> float:
        """Since the oldest window began; windows that are missing count as whole ones without an event."""
        elapsed = now_ms - min((window[_START] for window in live), default=now_ms)
        return elapsed + max(WINDOWS - 1 - elapsed // WINDOW_MS, 0) * WINDOW_MS


def _fresh(at_ms: int) -> list[float]:
    return [at_ms, at_ms, 0, 0, 0]
