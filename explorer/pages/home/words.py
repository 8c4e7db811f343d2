"""Words of the first page."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

MINUTE: Final = timedelta(minutes=1)
HOUR: Final = timedelta(hours=1)
DAY: Final = timedelta(days=1)


def ago(age: timedelta) -> str:
    """How long ago, as one would write it."""
    if age < MINUTE:
        return "just now"
    if age < HOUR:
        return f"{age // MINUTE} min ago"
    if age < DAY:
        return f"{age // HOUR} h ago"
    return "yesterday" if age < 2 * DAY else f"{age // DAY} days ago"
