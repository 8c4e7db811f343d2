"""The door for anyone who has a link and no token of this server: which requests may pass it, before Django hears of them.

A guess ends here: a token that this installation did not draw is recognised by its checksum, and costs neither a thread nor a query. Anyone who
guesses on is answered with a line.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Final

from django.http import HttpResponse

from explorer.accounts.guesses import Guesses
from explorer.sharing import tokens
from explorer.sharing.addresses import token_of
from explorer.sharing.gone import gone

GUESSES_MOST: Final = 60
"""Wrong tokens of one address in ``WITHIN_S``: a person who mistypes has three, a chat that cuts links has some."""

WITHIN_S: Final = 60.0


class Door:
    """Knows who has guessed lately. ``clock`` is in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.guesses = Guesses(GUESSES_MOST, WITHIN_S, clock)

    def refused(
        self, method: str, path: str, headers: Mapping[bytes, bytes], client: str
    ) -> HttpResponse | None:
        """The answer to a request that shows no token of ours; null if Django may look it up."""
        if method in ("GET", "HEAD") and tokens.is_ours(token_of(path, headers)):
            return None
        if self.guesses.are_too_many(client):
            response = HttpResponse(
                "Too many links that open nothing were tried. Wait a minute.\n", status=429
            )
            response["Content-Type"] = "text/plain; charset=utf-8"
            response["Cache-Control"] = "no-store"
            return response
        return gone()
