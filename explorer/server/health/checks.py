"""What this process needs to work, each part asked now: database, its tables, Redis, the store, and whether workers are there."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from django.conf import settings
from django.db import DatabaseError, connection

from explorer.server.redis_client import client, errors
from groups import database
from groups.jobs.serving import QUEUES, why_not_served
from groups.one_line import one_line
from groups.packs.files import MissingFile, open_files

KEPT_S: Final = 2.0
"""An answer serves all who ask within it: nobody makes the database work by asking for its health."""

STORE_S: Final = 3.0
"""A monitor gives up soon after."""

NEEDED: Final = ("database", "tables", "redis", "store")
"""Without one of these a process is not ready. Without workers it is: pages open, and waiting work is shown as waiting."""


def check() -> dict[str, str]:
    """The problem of each part in one line, empty where it is well. At most ``KEPT_S`` old."""
    with _lock:
        if _kept and time.monotonic() - _kept[0][0] < KEPT_S:
            return _kept[0][1]
        found = {name: _asked(ask) for name, ask in _PARTS.items()}
        _kept[:] = [(time.monotonic(), found)]
        return found


_lock: Final = threading.Lock()
_kept: Final[list[tuple[float, dict[str, str]]]] = []


def _asked(ask: Callable[[], str]) -> str:
    try:
        return ask()
    except DatabaseError as error:
        connection.close()
        return database.unreachable(error)
    except errors() as error:
        return f"Redis cannot be reached: {one_line(error)}. Look at REDIS_URL."
    except (MissingFile, OSError, ValueError) as error:
        return one_line(error)


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return ""


def _tables() -> str:
    return "" if database.is_up_to_date() else "The tables are not up to date: run `manage.py migrate`."


def _redis() -> str:
    if settings.REDIS_URL:
        with client(settings.REDIS_URL) as asked:
            asked.ping()
    return ""


def _store() -> str:
    """A store on the network is checked in parallel: it may take a minute until it is known to be away."""
    global _asking
    if _asking is None or _asking.done():
        _asking = _looker.submit(_look_into_store, settings.STORE_URL)
    try:
        _asking.result(timeout=STORE_S)
    except TimeoutError:
        return f"The store does not answer within {STORE_S:.0f} s (STORE_URL)."
    return ""


def _look_into_store(url: str) -> None:
    open_files(url).names("health")


_looker: Final = ThreadPoolExecutor(1, thread_name_prefix="health")
_asking: Future[None] | None = None


def _workers() -> str:
    return " ".join(filter(None, map(why_not_served, QUEUES)))


_PARTS: Final[dict[str, Callable[[], str]]] = {
    "database": _database,
    "tables": _tables,
    "redis": _redis,
    "store": _store,
    "workers": _workers,
}
