"""Entries as JSON Lines, back into a stored timeline: what ``timeline show``, ``simulate`` and ``conform`` write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from groups import storage
from groups.history.entries import FIRST_SEQUENCE, Entry
from groups.history.passes.recorder import RecordedBatch, Recorder
from groups.history.state.group import Semantics
from groups.models import Timeline


class BadExport(ValueError):
    """One line: where, what, and what would be right."""


def add(lines: Iterable[bytes], *, title: str, semantics: Semantics) -> Timeline:
    """Stores the entries as a new timeline; ``BadExport`` names the first line that is none, and stores nothing."""
    entries = [_entry(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not entries:
        raise BadExport("no entries: a line for each was expected, as `timeline show ID` writes them")
    group = next((group for entry in entries if (group := _group(entry.payload))), None)
    if group is None:
        raise BadExport("no entry tells the group: neither a record nor a request is among them")
    return storage.replace_timeline(
        storage.new_id(),
        _batches(entries, group, semantics),
        title=title,
        source=Timeline.Source.IMPORT,
        semantics=semantics,
    )


def _entry(number: int, line: bytes) -> Entry:
    try:
        entry = Entry.from_json(orjson.loads(line))
    except orjson.JSONDecodeError as error:
        raise BadExport(f"line {number} is no JSON: {error}") from None
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise BadExport(f"line {number} is no entry: {type(error).__name__}: {error}") from None
    if entry.sequence != number - 1 + FIRST_SEQUENCE:
        raise BadExport(
            f"line {number} has sequence {entry.sequence}: entries are numbered from {FIRST_SEQUENCE} on, without gaps"
        )
    return entry


def _group(payload: Any) -> str | None:
    for part in (payload.get("key"), payload.get("body")):
        if isinstance(part, dict):
            group = part.get("groupId") or part.get("group")
            if isinstance(group, str):
                return group
    return None


def _batches(entries: Iterable[Entry], group: str, semantics: Semantics) -> Iterator[RecordedBatch]:
    recorder = Recorder(group=group, semantics=semantics)
    for entry in entries:
        recorder.add(entry)
        if recorder.full and (batch := recorder.flush()):
            yield batch
    if batch := recorder.flush(final=True):
        yield batch
