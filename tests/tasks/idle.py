"""Children that are kept for the next question."""

from __future__ import annotations

from groups.jobs import children


def close_idle_children() -> None:
    """Ends every one, as the end of the process does."""
    with children._idle_lock:
        idle = list(children._idle.values())
        children._idle.clear()
    for child in idle:
        child.close()
