"""Long work outlives a database server that restarts: what it must store is tried again, until the database is back."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable
from typing import Final, TypeVar

from django.db import InterfaceError, OperationalError, connection

from groups.reserve import is_full

log = logging.getLogger(__name__)

AWAY_MOST_S: Final = 600.0
"""How long a database may be away: a restart takes seconds, a failover or an update some minutes."""

AGAIN_S: Final = 1.0
"""Pause between two tries."""

T = TypeVar("T")


def is_away(error: Exception) -> bool:
    """Whether a database server did not answer: nothing was wrong with what it was asked. A file's database is never away."""
    if connection.vendor == "sqlite" or not isinstance(error, OperationalError | InterfaceError):
        return False
    return not is_full(error)


def patiently(do: Callable[[], T]) -> T:
    """The result of ``do``, which is called again while the database is away. Raises its error after ``AWAY_MOST_S``."""
    until_s = time.monotonic() + AWAY_MOST_S
    while True:
        try:
            return do()
        except (OperationalError, InterfaceError) as error:
            if not is_away(error) or time.monotonic() > until_s:
                raise
            log.warning("The database is away, and is tried again: %s", str(error).partition("\n")[0])
            # A connection that broke stays broken; the next try opens another one.
            with contextlib.suppress(Exception):
                connection.close()
            time.sleep(AGAIN_S)
