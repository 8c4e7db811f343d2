"""Old entries of live groups take little room: commits are thinned, and many small rows become one that is compressed.

Neither changes a sequence, nor the state after any entry: what was folded stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import cramjam
import orjson
from django.db import transaction

from groups.history.entries import EntryLine
from groups.history.replay.commit_runs import thinned
from groups.models import Batch, Timeline

BLOCK_BYTES: Final = 256 * 1024
"""Rows are merged up to this size before compression: to read one entry of it takes some milliseconds."""

ROWS_MOST: Final = 500
"""Rows that become one at most; stored by the minute they are eight hours."""

ROWS_AT_ONCE: Final = 50
"""Rows that are read in one query: while a log is read for the first time a row has a megabyte."""

BLOCK_MS_LEAST: Final = 3_600_000
"""Rows of a running timeline wait until they cover an hour: smaller blocks hardly compress."""

_ARRAY: Final = b"["


def entries_in(stored: bytes | memoryview[int]) -> list[EntryLine]:
    """The entries of a row, compressed or not."""
    text = bytes(stored)
    plain = text if text.startswith(_ARRAY) else bytes(cramjam.zstd.decompress(text))
    entries: list[EntryLine] = orjson.loads(plain)
    return entries


def thin(timeline: Timeline, before_ms: int, *, least_ms: int = BLOCK_MS_LEAST) -> Iterator[int]:
    """Thin entries that are older than ``before_ms``, block by block; the bytes that each block freed.

    Blocks of a running timeline cover ``least_ms`` or more.
    """
    runs = timeline.status == Timeline.Status.RUNNING
    while block := _block(timeline, before_ms):
        rows, entries = block
        if runs and entries[0]["at_ms"] > before_ms - least_ms:
            return
        for entry in entries:
            if entry["kind"] == "commits":
                entry["payload"] = thinned(entry["payload"])
        text = bytes(cramjam.zstd.compress(orjson.dumps(entries)))
        with transaction.atomic():
            Batch.objects.filter(pk__in=[row.pk for row in rows]).delete()
            Batch.objects.create(timeline=timeline, first=rows[0].first, last=rows[-1].last, entries=text)
            Timeline.objects.filter(pk=timeline.pk).update(thinned=rows[-1].last)
        timeline.thinned = rows[-1].last
        yield sum(len(row.entries) for row in rows) - len(text)


def _block(timeline: Timeline, before_ms: int) -> tuple[list[Batch], list[EntryLine]] | None:
    """The next rows that become one, and their entries; null where the next row is not old enough."""
    stored = Batch.objects.filter(timeline=timeline).order_by("first")
    rows: list[Batch] = []
    entries: list[EntryLine] = []
    size, last = 0, timeline.thinned
    while len(rows) < ROWS_MOST and (page := list(stored.filter(first__gt=last)[:ROWS_AT_ONCE])):
        for row in page:
            some = entries_in(row.entries)
            if some[-1]["at_ms"] > before_ms or (rows and size + len(row.entries) > BLOCK_BYTES):
                return (rows, entries) if rows else None
            rows.append(row)
            entries += some
            size, last = size + len(row.entries), row.last
    return (rows, entries) if rows else None
