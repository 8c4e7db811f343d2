"""Entries and events of texts, a line each, on their way from the text to the task that folds their group."""

from __future__ import annotations

from typing import Final

import orjson

from groups.history.entries import Kind, Provenance
from groups.texts.found import LogEvent, TextEntry

ENTRIES_NAME: Final = "entries.jsonl"


def entry_line(found: TextEntry | LogEvent) -> bytes:
    """The line of an entry or an event; its group comes first."""
    return orjson.dumps(found, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS, default=list)


def entry_of(line: bytes) -> TextEntry | LogEvent:
    """The inverse of ``entry_line``."""
    values = orjson.loads(line)
    if len(values) == len(LogEvent._fields):
        return LogEvent(*values)
    group, at_ms, kind, actor, payload, provenance, settled, caused = values
    return TextEntry(group, at_ms, Kind(kind), actor, payload, Provenance(provenance), settled, caused)
