"""Old entries of live groups take little room: commits are thinned, and many small rows become one that is compressed.

Neither changes a sequence, nor the state after any entry: what was folded stays as it is, in one row for each chunk.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import cramjam
import orjson
from django.db import transaction
from django.db.models import QuerySet

from groups.history.digests.levels import LEVELS, coarsened, joined
from groups.history.digests.packed import Packed
from groups.history.entries import EntryLine
from groups.history.replay.commit_runs import thinned
from groups.history.replay.fold import FOLD_VERSION
from groups.models import Batch, Digested, Folded, Timeline
from groups.packs.opening import join
from groups.storage import digests

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
    runs, before = timeline.status == Timeline.Status.RUNNING, timeline.thinned
    yield from _thin_blocks(timeline, before_ms, least_ms if runs else 0)
    if timeline.thinned > before and timeline.fold_version == FOLD_VERSION:
        _merge_chunks(timeline)


def _thin_blocks(timeline: Timeline, before_ms: int, least_ms: int) -> Iterator[int]:
    while block := _block(timeline, before_ms, least_ms):
        rows, entries = block
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


def _block(timeline: Timeline, before_ms: int, least_ms: int) -> tuple[list[Batch], list[EntryLine]] | None:
    """The next rows that become one, and their entries; null where the next row is not old enough."""
    stored = Batch.objects.filter(timeline=timeline).order_by("first")
    rows: list[Batch] = []
    entries: list[EntryLine] = []
    size, last = 0, timeline.thinned
    # The first row alone decides whether the block is old enough.
    while len(rows) < ROWS_MOST and (
        page := list(stored.filter(first__gt=last)[: ROWS_AT_ONCE if rows else 1])
    ):
        for row in page:
            some = entries_in(row.entries)
            if not rows and some[0]["at_ms"] > before_ms - least_ms:
                return None
            if some[-1]["at_ms"] > before_ms or (rows and size + len(row.entries) > BLOCK_BYTES):
                return (rows, entries) if rows else None
            rows.append(row)
            entries += some
            size, last = size + len(row.entries), row.last
    return (rows, entries) if rows else None


def _merge_chunks(timeline: Timeline) -> None:
    """Make one row of all rows of what was folded of a chunk, where the chunk is closed and its entries are merged."""
    folded = Folded.objects.filter(timeline=timeline, fold_version=FOLD_VERSION).order_by("first")
    begins = list(folded.filter(checkpoint__isnull=False).values_list("first", flat=True))
    if timeline.status != Timeline.Status.RUNNING:
        begins.append(timeline.last + 1)
    for first, after in pairwise(begins):
        if after - 1 <= timeline.thinned:
            _merge_chunk(timeline, folded.filter(first__gte=first, first__lt=after))


def _merge_chunk(timeline: Timeline, folded: QuerySet[Folded]) -> None:
    rows = list(folded)
    if len(rows) < 2:
        return
    first, last = rows[0].first, rows[-1].last
    digested = Digested.objects.filter(
        timeline=timeline, fold_version=FOLD_VERSION, first__gte=first, last__lte=last
    )
    wanted = digests.Wanted(members=True, partitions=True)
    finest = digested.filter(level=digests.FINEST).order_by("first")
    parts = [digests.read_row(row, wanted, start=at == 0).unpack() for at, row in enumerate(finest)]
    with transaction.atomic():
        if parts:
            whole = joined(parts)
            coarser = [coarsened(whole, most + 1) for most in LEVELS]
            digested.delete()
            digests.store(timeline.pk, first, last, map(Packed.of, (whole, *coarser)))
        folded.exclude(pk=rows[0].pk).delete()
        folded.filter(pk=rows[0].pk).update(
            last=last,
            changes=join([bytes(row.changes) for row in rows]),
            moments=join([bytes(row.moments) for row in rows]),
        )
