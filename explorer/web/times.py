"""Times of day on the server: always in UTC and with its name; the browser then shows the zone that its reader chose.

The one place in Python that prints a time of day, as ``static/js/shared/times.js`` is in the browser.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from django.utils.html import format_html
from django.utils.safestring import SafeString

MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def stamp(moment: datetime) -> str:
    """``22 Nov 2026, 14:05 UTC``, whatever the locale.

    >>> stamp(datetime(2026, 11, 22, 14, 5, tzinfo=UTC))
    '22 Nov 2026, 14:05 UTC'
    """
    utc = moment.astimezone(UTC)
    return f"{utc.day} {MONTHS[utc.month - 1]} {utc.year}, {utc:%H:%M} UTC"


def time_element(from_ms: int, until_ms: int | None = None) -> SafeString:
    """A ``<time>`` that reads in UTC without scripts; with them the page rewrites it (``showTimes``)."""
    begin = datetime.fromtimestamp(from_ms / 1000, UTC)
    if until_ms is None:
        return format_html('<time data-ms="{}">{}</time>', from_ms, stamp(begin))
    end = stamp(datetime.fromtimestamp(until_ms / 1000, UTC))
    said = f"{stamp(begin).removesuffix(' UTC')} to {end}"
    return format_html('<time data-ms="{}" data-until="{}">{}</time>', from_ms, until_ms, said)
