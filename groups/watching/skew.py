"""How far the clock of a broker is from the watcher's, measured from records that are read as they are written.

A record's time is its broker's; that of its arrival the watcher's. The difference is the skew less the way, so of some records the
greatest is the nearest. Records that were written before somebody looked say nothing.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Final

SAMPLES_KEPT: Final = 16
"""A clock that is set back is noticed after so many batches."""

SHOWN_FROM_MS: Final = 1_000
"""A smaller skew changes no reading of a board, and lies within the way of a record on a busy machine."""


@dataclass(slots=True)
class Skew:
    """The skew of one broker's clock."""

    _samples: deque[int] = field(default_factory=lambda: deque(maxlen=SAMPLES_KEPT))

    def take(self, written_ms: int, received_ms: int) -> None:
        self._samples.append(written_ms - received_ms)

    @property
    def ms(self) -> int | None:
        """How far it is ahead; null while nothing was measured."""
        return max(self._samples, default=None)


def shown(skews: dict[int, int]) -> dict[str, int]:
    """Those that are worth a word, by partition."""
    return {str(partition): ms for partition, ms in sorted(skews.items()) if abs(ms) >= SHOWN_FROM_MS}
