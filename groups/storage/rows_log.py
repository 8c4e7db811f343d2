"""A timeline whose entries stand in rows: case studies, simulations, entries that were added; it may still grow."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import orjson
from django.db.models import Max, QuerySet

from groups.history.digests import Digest, joined
from groups.history.entries import EntryLine
from groups.history.evidence.committed import Committed, TopicPartition, committed_in
from groups.history.replay.fold import FOLD_VERSION
from groups.models import Batch, Digested, Folded, Timeline
from groups.packs.opening import OpenedChunk, join
from groups.storage.chunk import Chunk
from groups.storage.digests import FINEST, Stretch, Wanted, covering, level_for, read_row
from groups.storage.errors import NotReady
from groups.storage.thinning import entries_in

ROWS_AT_ONCE: Final = 50
"""Rows that are read in one query: a row is some ten kilobytes."""


@dataclass(frozen=True, slots=True)
class RowsLog:
    """Reads the rows of one timeline."""

    timeline: Timeline

    def chunks(self) -> list[Chunk]:
        beginnings = self._folded().filter(checkpoint__isnull=False, first__lte=self.timeline.last)
        firsts = list(beginnings.order_by("first").values_list("first", flat=True))
        lasts = [first - 1 for first in firsts[1:]] + [self.timeline.last]
        moments = [0] * len(firsts)
        for first, count in self._digested(level=FINEST).values_list("first", "moments"):
            if (at := bisect_right(firsts, first) - 1) >= 0:
                moments[at] += count
        return [
            Chunk(number=number, first=first, last=last, moments=count)
            for number, (first, last, count) in enumerate(zip(firsts, lasts, moments, strict=False))
        ]

    def summary(self) -> dict[str, Any]:
        return self.timeline.summary

    def opened(self, first: int) -> tuple[OpenedChunk, Chunk, bool] | None:
        """The chunk that begins with ``first``, where it ends by now, and whether it is closed."""
        rows = list(self._rows_of_chunk(first))
        if not rows or rows[0].checkpoint is None:
            return None
        last = rows[-1].last
        running = self.timeline.status == Timeline.Status.RUNNING
        closed = not running or self._folded().filter(first=last + 1).exists()
        checkpoint = orjson.loads(rows[0].checkpoint)
        opened = OpenedChunk(
            frame=orjson.dumps(checkpoint["frame"]),
            metrics=orjson.dumps(checkpoint["metrics"]),
            changes=join([bytes(row.changes) for row in rows]),
            moments=join([bytes(row.moments) for row in rows]),
            digests=b"[]",
        )
        return opened, Chunk(number=0, first=first, last=last), closed

    def before(self, sequence: int) -> tuple[OpenedChunk, Chunk] | None:
        """The chunk in which entry ``sequence`` is."""
        start = (
            self._folded().filter(checkpoint__isnull=False, first__lte=sequence).order_by("-first").first()
        )
        if start is None:
            return None
        found = self.opened(start.first)
        return None if found is None else found[:2]

    def changes_after(self, after: int) -> Iterator[tuple[int, int, bytes, bytes]]:
        """``first, last, changes, moments`` of the rows that hold what follows on ``after``."""
        for row in self._folded().filter(last__gt=after).order_by("first").iterator(chunk_size=ROWS_AT_ONCE):
            yield row.first, row.last, bytes(row.changes), bytes(row.moments)

    def entries_between(self, first: int, last: int) -> Iterator[EntryLine]:
        rows = self._batches().filter(last__gte=first, first__lte=last).order_by("first")
        for row in rows.iterator(chunk_size=ROWS_AT_ONCE):
            for entry in entries_in(row.entries):
                if first <= entry["sequence"] <= last:
                    yield entry

    def committed_between(
        self, first: int, last: int, wanted: frozenset[TopicPartition] | None
    ) -> Iterator[tuple[TopicPartition, Committed]]:
        """The commits of entries ``first`` to ``last``, of these partitions or of all."""
        for found in committed_in(self.entries_between(first, last)):
            if wanted is None or found[0] in wanted:
                yield found

    def every_entry(self) -> Iterator[EntryLine]:
        """All entries in order, some rows at a time.

        No query stays open between them: who writes while it reads would find SQLite's "database is locked" as soon as
        another process has written, since a snapshot that has grown old cannot become a writer.
        """
        rows = self._batches().order_by("first")
        last = 0
        while some := list(rows.filter(last__gt=last)[:ROWS_AT_ONCE]):
            for row in some:
                # Rows may have been merged since those before them were read.
                yield from (entry for entry in entries_in(row.entries) if entry["sequence"] > last)
            last = some[-1].last

    def entries_before(self, sequence: int) -> Iterator[EntryLine]:
        """The entries before ``sequence``, the nearest first, some rows at a time (see ``every_entry``)."""
        rows = self._batches().order_by("-first")
        while some := list(rows.filter(first__lt=sequence)[:ROWS_AT_ONCE]):
            for row in some:
                for entry in reversed(entries_in(row.entries)):
                    if entry["sequence"] < sequence:
                        yield entry
            sequence = some[-1].first

    def members_most(self) -> int:
        """As many members as were there at once."""
        found = self._digested(level=FINEST).aggregate(most=Max("members_most"))
        return found["most"] or 0

    def digest(self, first: int, last: int, columns: int, wanted: Wanted) -> Digest | None:
        """A digest that covers entries ``first`` to ``last`` in about as many columns or more; null without entries."""
        rows = self._digested()
        stretches = [
            Stretch(*stored)
            for stored in rows.order_by("level", "first").values_list(
                "level", "first", "last", "begins", "columns", "moments"
            )
        ]
        if not stretches:
            return None
        level = level_for((each for each in stretches if each.last >= first and each.first <= last), columns)
        covered = covering([each for each in stretches if each.level == level], first, last)
        parts = rows.filter(level=level, first__gte=covered[0].first, first__lte=covered[-1].first)
        if not wanted.members:
            parts = parts.defer("members", "members_start")
        if not wanted.partitions:
            parts = parts.defer("partitions", "partitions_start")
        found = parts.order_by("first").iterator(chunk_size=ROWS_AT_ONCE)
        return joined([read_row(row, wanted, start=at == 0).unpack() for at, row in enumerate(found)])

    def _batches(self) -> QuerySet[Batch]:
        return Batch.objects.filter(timeline=self.timeline)

    def _folded(self) -> QuerySet[Folded]:
        return Folded.objects.filter(timeline_id=self.timeline.id, fold_version=self._version())

    def _digested(self, **which: int) -> QuerySet[Digested]:
        return Digested.objects.filter(timeline_id=self.timeline.id, fold_version=self._version(), **which)

    def _version(self) -> int:
        if self.timeline.fold_version != FOLD_VERSION:
            raise NotReady(self.timeline.id, is_newer=self.timeline.fold_version > FOLD_VERSION)
        return FOLD_VERSION

    def _rows_of_chunk(self, first: int) -> QuerySet[Folded]:
        rows = self._folded().filter(first__gte=first).order_by("first")
        following = (
            rows.filter(first__gt=first, checkpoint__isnull=False).values_list("first", flat=True).first()
        )
        return rows if following is None else rows.filter(first__lt=following)
