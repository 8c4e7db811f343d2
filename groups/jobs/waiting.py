"""Notices that work in a thread waits for another process, so that its place can serve others meanwhile."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextvars import ContextVar

_noticed: ContextVar[Callable[[], object] | None] = ContextVar("noticed", default=None)


@contextlib.contextmanager
def noticed_by(notice: Callable[[], object]) -> Iterator[None]:
    """Work inside, in this context, calls ``notice`` when it begins to wait. ``notice`` may be called from any thread."""
    token = _noticed.set(notice)
    try:
        yield
    finally:
        _noticed.reset(token)


def begins() -> None:
    """From here on the caller only waits for another process, however long that takes."""
    if (notice := _noticed.get()) is not None:
        notice()
