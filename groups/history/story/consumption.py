"""What a run cost its records, in one sentence."""

from __future__ import annotations

from groups.history.frames.shapes import ConsumptionSummary
from groups.history.words import counted, duration


def consumption_words(consumption: ConsumptionSummary, first_ms: int) -> str:
    """How far the group fell behind, what was read twice or never, and how long nobody fetched.

    >>> consumption_words({"lag": 0, "lag_max": 6_322, "lag_max_at_ms": 31_000, "read_twice": 0, "skipped": 40,
    ...     "unread_ms": 27_496, "unread_max_ms": 9_010}, 1_000).replace(chr(0x2009), " ")
    'Lag at most 6,322 records, 30.0 s in; 0 records read twice, 40 skipped; 27.5 partition-seconds not read, 9.0 s the longest'
    """
    lag = "No lag"
    if consumption["lag_max"]:
        when = duration(consumption["lag_max_at_ms"] - first_ms)
        lag = f"Lag at most {counted(consumption['lag_max'], 'record')}, {when} in"
    twice = f"{counted(consumption['read_twice'], 'record')} read twice"
    if consumption["skipped"]:
        twice += f", {consumption['skipped']:,} skipped"
    unread = f"{consumption['unread_ms'] / 1000:,.1f} partition-seconds not read"
    if consumption["unread_ms"]:
        unread += f", {duration(consumption['unread_max_ms'])} the longest"
    return f"{lag}; {twice}; {unread}"
