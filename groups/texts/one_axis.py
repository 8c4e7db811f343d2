"""Events of several programs, each with a clock of its own, on the axis of the records of their group."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median
from typing import Final

from groups.history.entries import Kind
from groups.texts.found import LogEvent, TextEntry

COORDINATOR: Final = "coordinator"
LOG_LINE: Final = "log_line"
"""The note of what a line states beyond what happened to the group."""

MOVED_LEAST_MS: Final = 1_000
"""A smaller skew is not noted: a line is written a moment after its record."""


@dataclass(slots=True)
class Recorded:
    """When records of the same group began its generations and epochs; empty where there is no record."""

    generations: dict[int | None, int] = field(default_factory=dict)
    epochs: dict[int | None, int] = field(default_factory=dict)
    any: bool = False


def on_one_axis(events: Iterable[LogEvent], recorded: Recorded) -> tuple[list[LogEvent], list[TextEntry]]:
    """The events with the records' times, and a note of each source that was moved by a second or more."""
    sources: dict[str, list[LogEvent]] = {}
    for event in events:
        sources.setdefault(event.source, []).append(event)
    moved: list[LogEvent] = []
    notes: list[TextEntry] = []
    for source, some in sources.items():
        skews = [
            at_ms - event.at_ms
            for event in some
            for name, known in (("generation", recorded.generations), ("epoch", recorded.epochs))
            if event.what in ("assigned", "synced", "bumped")
            and (at_ms := known.get(number(event.fields.get(name)))) is not None
        ]
        skew = round(median(skews)) if skews else 0
        moved += [event._replace(at_ms=event.at_ms + skew) for event in some]
        if abs(skew) >= MOVED_LEAST_MS:
            text = f"The clock of the lines of {source} is {abs(skew) / 1000:,.1f} s {'behind' if skew > 0 else 'ahead of'} the records': they are moved by that"
            notes.append(note(some[0].group, min(each.at_ms for each in some) + skew, text))
        elif recorded.any and not skews:
            text = f"No generation or epoch is both in the lines of {source} and in a record: their clock is taken to be the records'"
            notes.append(note(some[0].group, min(each.at_ms for each in some), text))
    return moved, notes


def note(group: str, at_ms: int, text: str) -> TextEntry:
    """A note of a line's own words."""
    return TextEntry(group, at_ms, Kind.NOTE, COORDINATOR, {"note": LOG_LINE, "says": text})


def number(text: str | None) -> int | None:
    """The number that a text is, ``None`` for another text."""
    return int(text) if text is not None and re.fullmatch(r"-?\d{1,9}", text) else None
