"""Request coalescing: a request that came before an answer was begun gets that answer, too.

A hundred programs that ask for one list wait for their turn one behind the other. The answer to the first of them is as true for all
who wait: it was read after they asked.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

from django.http import HttpRequest

CAME_S = "came_s"
"""When a request came, on the process's monotonic clock: the gate writes it into the scope."""


class Coalesced:
    """An answer that is the same for everybody; ``make`` reads what it shows when it is called. Safe to ask from any thread."""

    def __init__(self, make: Callable[[], bytes]) -> None:
        self._make = make
        self._turn = threading.Lock()
        self._begun_s = -math.inf
        self._body = b""

    def body(self, request: HttpRequest) -> bytes:
        """An answer that was begun after ``request`` came."""
        # A test's request has come past the gate.
        came_s = getattr(request, "scope", {}).get(CAME_S, math.inf)
        with self._turn:
            if came_s > self._begun_s:
                begun_s = time.monotonic()
                self._body, self._begun_s = self._make(), begun_s
            return self._body
