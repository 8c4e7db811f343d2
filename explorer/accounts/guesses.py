"""Counts guesses of a secret by a key such as a client's address, in bounded memory."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

KEYS_MOST: Final = 10_000
"""Keys that are remembered: some hundred bytes each. Of more, the one whose last guess is oldest is forgotten."""


class Guesses:
    """How often each key has guessed within a time. ``clock`` is in seconds."""

    def __init__(self, most: int, within_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self.within_s = within_s
        self._clock = clock
        self._counts: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._counts)

    def are_too_many(self, key: str) -> bool:
        """Counts a guess; whether there were too many before it."""
        now = self._clock()
        since, count = self._counts.pop(key, (now, 0))
        if now - since > self.within_s:
            since, count = now, 0
        self._counts[key] = (since, count + 1)
        while len(self._counts) > KEYS_MOST:
            self._counts.popitem(last=False)
        return count >= self.most

    def forget(self, key: str) -> None:
        """A guess was right: the key begins at zero."""
        self._counts.pop(key, None)
