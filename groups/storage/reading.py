"""Reading timelines: chunks, frames, changes, entries. Each answer is bounded; each seek costs one chunk."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson
from django.db.models import QuerySet

from groups.history.changes import apply
from groups.history.entries import Entry
from groups.history.fold import FOLD_VERSION
from groups.history.frames import frame
from groups.history.metrics import Metrics
from groups.history.state import Semantics, initial_state
from groups.models import Batch, Folded, Timeline
from groups.storage.errors import NoSuchTimeline, NotReady
from groups.storage.names import named, named_json, named_summary

ENTRIES_MOST = 2000
"""Entries in one answer: about a megabyte, a screenful a hundred times over."""

CHANGES_BYTES_MOST = 1024 * 1024
"""Bytes of changes in one answer to a browser that catches up; it asks again for the rest."""


ROWS_AT_ONCE = 50
"""Rows that are read in one query: a row is some ten kilobytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Entries ``first`` to ``last``, which one checkpoint begins. ``number`` counts from 0."""

    number: int
    first: int
    last: int


def listing() -> QuerySet[Timeline]:
    """All timelines, the newest first, without what is large."""
    return Timeline.objects.defer("scenario")


def get(timeline_id: str) -> Timeline:
    timeline = Timeline.objects.filter(pk=timeline_id).first()
    if timeline is None:
        raise NoSuchTimeline(timeline_id)
    return timeline


def version(timeline: Timeline) -> str:
    """What a chunk's address carries, so that it can be kept for good.

    Entry format, fold version, and a mark of this very recording (a case study can be made anew under its name)
    and of the topic names that a user gave.
    """
    of = orjson.dumps([timeline.created.isoformat(), timeline.topic_names], option=orjson.OPT_SORT_KEYS)
    mark = hashlib.sha256(of).hexdigest()[:8]
    return f"{timeline.entry_format}.{timeline.fold_version}.{mark}"


def describe(timeline: Timeline) -> dict[str, Any]:
    """A timeline's facts without its chunks: what lists and the detail of the API have in common."""
    summary = named_summary(timeline.summary, timeline.topic_names)
    return {
        "id": timeline.id,
        "title": timeline.title,
        "group": timeline.group,
        "protocol": timeline.protocol,
        "source": timeline.source,
        "status": timeline.status,
        "problem": timeline.problem,
        "semantics": timeline.semantics,
        "seed": timeline.seed,
        "last": timeline.last,
        "entries": timeline.last,
        "first_ms": summary.get("first_ms"),
        "last_ms": summary.get("last_ms"),
        "created": timeline.created.isoformat(),
        "summary": summary,
    }


def chunks(timeline: Timeline) -> list[Chunk]:
    beginnings = (
        _folded(timeline).filter(checkpoint__isnull=False, first__lte=timeline.last).order_by("first")
    )
    firsts = list(beginnings.values_list("first", flat=True))
    lasts = [first - 1 for first in firsts[1:]] + [timeline.last]
    return [
        Chunk(number=number, first=first, last=last)
        for number, (first, last) in enumerate(zip(firsts, lasts, strict=False))
    ]


def chunk_text(timeline: Timeline, first: int) -> tuple[bytes, bool] | None:
    """A chunk as JSON text (frame before it, changes, moments), and whether it is closed; null if none begins there."""
    rows = list(_rows_of_chunk(timeline, first))
    if not rows or rows[0].checkpoint is None:
        return None
    names = timeline.topic_names
    last = rows[-1].last
    closed = timeline.status != Timeline.Status.RUNNING or _folded(timeline).filter(first=last + 1).exists()
    text = orjson.dumps(
        {
            "first": first,
            "last": last,
            "frame": named(_checkpoint_frame(rows[0]), names),
            "changes": orjson.Fragment(named_json(_join(row.changes for row in rows), names)),
            "moments": orjson.Fragment(named_json(_join(row.moments for row in rows), names)),
        }
    )
    return text, closed


def frame_at(timeline: Timeline, sequence: int) -> dict[str, Any] | None:
    """The frame after entry ``sequence`` (0: before the first); null beyond the end."""
    if not 0 <= sequence <= timeline.last:
        return None
    start = (
        _folded(timeline).filter(checkpoint__isnull=False, first__lte=sequence + 1).order_by("-first").first()
    )
    if start is None:
        return frame(initial_state(timeline.group, timeline.semantics or Semantics.KAFKA))
    fresh: dict[str, Any] = _checkpoint_frame(start)
    for row in _folded(timeline).filter(first__gte=start.first, first__lte=sequence).order_by("first"):
        fresh = apply(
            fresh, [change for change in orjson.loads(row.changes) if change["sequence"] <= sequence]
        )
    named_frame: dict[str, Any] = named(fresh, timeline.topic_names)
    return named_frame


def metrics_at(timeline: Timeline, sequence: int) -> dict[str, Any] | None:
    """Kafka's metrics as of entry ``sequence`` (see ``Metrics.values``); null beyond the end. One chunk is read."""
    shown = frame_at(timeline, sequence)
    if shown is None:
        return None
    start = _folded(timeline).filter(checkpoint__isnull=False, first__lte=sequence).order_by("-first").first()
    if start is None:
        return Metrics().values(shown)
    metrics = Metrics.from_json(orjson.loads(bytes(start.checkpoint or b""))["metrics"])
    rows = Batch.objects.filter(timeline=timeline, last__gte=start.first, first__lte=sequence)
    for row in rows.order_by("first").iterator(chunk_size=ROWS_AT_ONCE):
        for entry in orjson.loads(row.entries):
            if start.first <= entry["sequence"] <= sequence:
                metrics.add(Entry.from_json(entry))
    return metrics.values(shown)


def changes_after(timeline: Timeline, after: int) -> bytes:
    """What a browser at ``after`` lacks, as JSON text: at most about a megabyte, with ``more`` if there is more."""
    changes: list[bytes] = []
    moments: list[bytes] = []
    last, size, more = after, 0, False
    for row in _folded(timeline).filter(last__gt=after).order_by("first").iterator(chunk_size=50):
        if size > CHANGES_BYTES_MOST:
            more = True
            break
        changes.append(_later(bytes(row.changes), after) if row.first <= after else bytes(row.changes))
        moments.append(_later(bytes(row.moments), after) if row.first <= after else bytes(row.moments))
        size += len(changes[-1]) + len(moments[-1])
        last = row.last
    names = timeline.topic_names
    return orjson.dumps(
        {
            "after": after,
            "last": last,
            "more": more,
            "status": timeline.status,
            "changes": orjson.Fragment(named_json(_join(changes), names)),
            "moments": orjson.Fragment(named_json(_join(moments), names)),
            "summary": named_summary(timeline.summary, names),
        }
    )


def entries_between(timeline: Timeline, first: int, last: int) -> list[dict[str, Any]]:
    """Entries ``first`` to ``last`` as they were recorded, ``ENTRIES_MOST`` of them at most."""
    last = min(last, first + ENTRIES_MOST - 1)
    rows = Batch.objects.filter(timeline=timeline, last__gte=first, first__lte=last).order_by("first")
    return [
        entry
        for row in rows.iterator(chunk_size=50)
        for entry in orjson.loads(row.entries)
        if first <= entry["sequence"] <= last
    ]


def every_entry(timeline: Timeline) -> Iterator[dict[str, Any]]:
    """All entries in order, some rows at a time.

    No query stays open between them: who writes while it reads would find SQLite's "database is locked" as soon as
    another process has written, since a snapshot that has grown old cannot become a writer.
    """
    rows = Batch.objects.filter(timeline=timeline).order_by("first")
    last = 0
    while some := list(rows.filter(first__gt=last)[:ROWS_AT_ONCE]):
        for row in some:
            yield from orjson.loads(row.entries)
        last = some[-1].last


def entries_before(timeline: Timeline, sequence: int) -> Iterator[dict[str, Any]]:
    """The entries before ``sequence``, the nearest first, some rows at a time (see ``every_entry``)."""
    rows = Batch.objects.filter(timeline=timeline).order_by("-first")
    while some := list(rows.filter(first__lt=sequence)[:ROWS_AT_ONCE]):
        for row in some:
            for entry in reversed(orjson.loads(row.entries)):
                if entry["sequence"] < sequence:
                    yield entry
        sequence = some[-1].first


def _folded(timeline: Timeline) -> QuerySet[Folded]:
    if timeline.fold_version != FOLD_VERSION:
        raise NotReady(timeline.id)
    return Folded.objects.filter(timeline_id=timeline.id, fold_version=FOLD_VERSION)


def _rows_of_chunk(timeline: Timeline, first: int) -> QuerySet[Folded]:
    rows = _folded(timeline).filter(first__gte=first).order_by("first")
    following = rows.filter(first__gt=first, checkpoint__isnull=False).values_list("first", flat=True).first()
    return rows if following is None else rows.filter(first__lt=following)


def _checkpoint_frame(row: Folded) -> dict[str, Any]:
    assert row.checkpoint is not None
    fresh: dict[str, Any] = orjson.loads(row.checkpoint)["frame"]
    return fresh


def _later(text: bytes, after: int) -> bytes:
    return orjson.dumps([item for item in orjson.loads(text) if item["sequence"] > after])


def _join(arrays: Any) -> bytes:
    """One JSON array of several, by their text."""
    inner = [text for text in (bytes(array).strip()[1:-1] for array in arrays) if text]
    return b"[" + b",".join(inner) + b"]"
