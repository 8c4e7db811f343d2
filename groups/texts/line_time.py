"""The time in front of a line of a log, in the forms that Kafka's programs and those around them write."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timezone
from typing import Final, NamedTuple

_EPOCH_MS: Final = re.compile(r"(?<![\d.,:-])(\d{13})(?!\d)")
_EPOCH_S: Final = re.compile(r"\|(\d{10})\.(\d{3})\|")
_DATE: Final = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:[.,](\d{3})\d*)?\s*(Z|UTC|[+-]\d\d:?\d\d)?(?=[\]\s,;|\"]|$)"
)
_DATE_COMMAND: Final = re.compile(r"\b(\w{3})\s+(\d{1,2})\s+(\d\d:\d\d:\d\d)\s+(UTC|GMT)\s+(\d{4})\b")
_UTC: Final = ("Z", "UTC")
MOST_MS: Final = 4_102_444_800_000
"""The year 2100: a number above it is no time."""


class LineTime(NamedTuple):
    """``zoned``: whether the line states its zone, or needs none."""

    at_ms: int
    zoned: bool


def line_time(text: str, zone: timezone = UTC) -> LineTime | None:
    """The first time in a text; ``zone`` is that of a date which states none.

    >>> line_time("[2026-11-27 12:30:09,090] INFO x"), line_time("%7|1795782607.745|MEMBERID|c-1| [thrd:app]: x")
    (LineTime(at_ms=1795782609090, zoned=False), LineTime(at_ms=1795782607745, zoned=True))
    """
    if found := _DATE.search(text):
        day, time, millis, stated = found.groups()
        suffix = "" if stated is None else "+00:00" if stated in _UTC else stated
        return _of(f"{day}T{time}.{millis or '000'}{suffix}", "%Y-%m-%dT%H:%M:%S.%f", zone)
    if found := _EPOCH_S.search(text):
        return LineTime(int(found[1] + found[2]), zoned=True)
    if found := _EPOCH_MS.search(text):
        return LineTime(int(found[1]), zoned=True) if int(found[1]) < MOST_MS else None
    if found := _DATE_COMMAND.search(text):
        month, day, time, _, year = found.groups()
        return _of(f"{day} {month} {year} {time}+0000", "%d %b %Y %H:%M:%S", zone)
    return None


def _of(text: str, form: str, zone: timezone) -> LineTime | None:
    zoned = bool(re.search(r"[+-]\d\d:?\d\d$", text))
    try:
        when = datetime.strptime(text, f"{form}%z" if zoned else form)  # noqa: DTZ007 - the zone comes next
        when = when if when.tzinfo else when.replace(tzinfo=zone)
        return LineTime(round(when.timestamp() * 1000), zoned)
    except (ValueError, OverflowError):
        return None
