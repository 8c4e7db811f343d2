"""How long requests took in this process, by the pattern of their address and the class of their status."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final

from explorer.server.metrics.table import BUCKETS

NO_ROUTE: Final = "none"
"""The route of an address that is none of ours: all of them are one series."""


@dataclass(slots=True)
class Histogram:
    """Counts by bucket (the last one has no upper bound) and the sum of seconds."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BUCKETS) + 1))
    seconds: float = 0.0

    def add(self, seconds: float) -> None:
        self.counts[bisect_left(BUCKETS, seconds)] += 1
        self.seconds += seconds

    def buckets(self) -> list[tuple[str, float]]:
        """Upper bound → requests up to it, as Prometheus has them."""
        bounds = [*map(str, BUCKETS), "+Inf"]
        return list(zip(bounds, map(float, accumulate(self.counts)), strict=True))


class RequestTimes:
    """All histograms of the process; requests are answered by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._histograms: dict[tuple[str, str], Histogram] = {}

    def add(self, route: str | None, status: int, seconds: float) -> None:
        key = (NO_ROUTE if route is None else f"/{route}", f"{status // 100}xx")
        with self._lock:
            self._histograms.setdefault(key, Histogram()).add(seconds)

    def read(self) -> Iterator[tuple[tuple[str, str], list[tuple[str, float]], float]]:
        """Route and status, the buckets, the sum of seconds."""
        with self._lock:
            yield from [(key, each.buckets(), each.seconds) for key, each in self._histograms.items()]


request_times: Final = RequestTimes()
