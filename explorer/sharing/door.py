"""The door for whoever has a link and no token of this server: which requests may pass it, before Django hears of them.

A guess ends here: a token that this installation did not draw is told by its checksum, and costs neither a thread nor a query. Whoever
guesses on is answered with a line.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Final

from django.http import HttpResponse

from explorer.sharing import tokens
from explorer.sharing.addresses import token_of
from explorer.sharing.gone import gone

GUESSES_MOST: Final = 60
"""Wrong tokens of one address in ``WITHIN_S``: a person who mistypes has three, a chat that cuts links has some."""

WITHIN_S: Final = 60.0

ADDRESSES_MOST: Final = 10_000
"""Addresses that are remembered: some hundred bytes each. Of more, the longest unheard are forgotten."""


class Door:
    """Knows who has guessed lately. ``clock`` is in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._guesses: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def refused(
        self, method: str, path: str, headers: Mapping[bytes, bytes], client: str
    ) -> HttpResponse | None:
        """The answer to a request that shows no token of ours; null if Django may look it up."""
        if method in ("GET", "HEAD") and tokens.is_ours(token_of(path, headers)):
            return None
        if self._has_guessed(client):
            response = HttpResponse(
                "Too many links that open nothing were tried. Wait a minute.\n", status=429
            )
            response["Content-Type"] = "text/plain; charset=utf-8"
            response["Cache-Control"] = "no-store"
            return response
        return gone()

    def _has_guessed(self, client: str) -> bool:
        """Counts a guess; whether there were too many."""
        now = self._clock()
        since, count = self._guesses.pop(client, (now, 0))
        if now - since > WITHIN_S:
            since, count = now, 0
        self._guesses[client] = (since, count + 1)
        while len(self._guesses) > ADDRESSES_MOST:
            self._guesses.popitem(last=False)
        return count >= GUESSES_MOST
