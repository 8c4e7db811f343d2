"""Reading timelines: chunks, frames, changes, entries. Each answer is bounded; each seek costs one chunk."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from django.db.models import QuerySet, Sum
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Coalesce, Length

from groups.history.entries import Entry, EntryLine
from groups.history.frames.changes import Change, apply
from groups.history.frames.frame import frame
from groups.history.frames.shapes import Frame
from groups.history.metrics import Metrics
from groups.history.metrics.shapes import MetricsSheet
from groups.history.state.group import Semantics, initial_state
from groups.history.state.plain import from_plain
from groups.models import Batch, Folded, Timeline
from groups.packs.listed_summary import read_verdict
from groups.packs.opening import join
from groups.storage.chunk import Chunk
from groups.storage.errors import NoSuchTimeline
from groups.storage.logs import log_of
from groups.storage.names import named, named_json, named_summary
from groups.storage.searching import matches
from groups.storage.writing import why_it_waits

LISTED_BITS = ("state", "first_ms", "last_ms", "verdict")
"""The parts of a summary that lists show."""

ENTRIES_MOST = 2000
"""Entries in one answer: about a megabyte, a screenful a hundred times over."""

CHUNKS_LOOKED_THROUGH = 8
"""Chunks that are opened to find a moment with members, some tenths of a second each; a group that was empty for longer is named by
its moment."""

CHANGES_BYTES_MOST = 1024 * 1024
"""Bytes of changes in one answer to a browser that catches up; it asks again for the rest."""


def listing() -> QuerySet[Timeline]:
    """All timelines, the newest first, without what is large."""
    return Timeline.objects.defer("scenario")


def get(timeline_id: str) -> Timeline:
    timeline = Timeline.objects.filter(pk=timeline_id).first()
    if timeline is None:
        raise NoSuchTimeline(timeline_id)
    return timeline


def bytes_of_runs() -> int:
    """Bytes of all runs: their entries, and the changes, moments and checkpoints that the fold made of them."""
    of_runs = {"timeline__source": Timeline.Source.SIMULATION}
    entries = Batch.objects.filter(**of_runs).aggregate(held=Sum(Length("entries")))
    parts = (Length("changes"), Length("moments"), Coalesce(Length("checkpoint"), 0))
    folded = Folded.objects.filter(**of_runs).aggregate(held=Sum(sum(parts[1:], start=parts[0])))
    return int(entries["held"] or 0) + int(folded["held"] or 0)


def version(timeline: Timeline) -> str:
    """What a chunk's address carries, so that it can be kept for good.

    Entry format, fold version, and a mark of this very recording (a case study can be made again under its name, a
    longer log can continue an import) and of the topic names that a user gave.
    """
    facts = [timeline.created.isoformat(), timeline.topic_names, timeline.index_place]
    of = orjson.dumps(facts, option=orjson.OPT_SORT_KEYS)
    mark = hashlib.sha256(of).hexdigest()[:8]
    return f"{timeline.entry_format}.{timeline.fold_version}.{mark}"


def describe(timeline: Timeline, *, whole: bool = False) -> dict[str, Any]:
    """A timeline's facts without its chunks: what lists and the detail of the API have in common.

    ``summary`` is what the row holds of it, which for a stored log is its headline; with ``whole`` all of it.
    """
    return _described(timeline, log_of(timeline).summary() if whole else timeline.in_short())


def described(most: int, find: str = "", after: int = 0) -> list[dict[str, Any]]:
    """The newest timelines that have the words ``find``, behind the first ``after``, as ``describe`` gives each, with no more of its summary than ``LISTED_BITS``.

    The database picks them: to read five hundred whole summaries takes a tenth of a second, in which nobody else is answered.
    """
    bits = {f"listed_{bit}": KeyTransform(bit, "summary") for bit in LISTED_BITS}
    rows: list[dict[str, Any]] = []
    found = Timeline.objects.filter(matches(find)).defer("scenario", "summary", "words")
    for timeline in found.annotate(**bits)[after : after + most]:
        summary = {bit: getattr(timeline, f"listed_{bit}") for bit in LISTED_BITS}
        if timeline.verdict is not None:
            summary["verdict"] = read_verdict(bytes(timeline.verdict))
        rows.append(_described(timeline, summary))
    return rows


def _described(timeline: Timeline, summary: Mapping[str, Any]) -> dict[str, Any]:
    summary = named_summary(summary, timeline.topic_names)
    return {
        "id": timeline.id,
        "title": timeline.title,
        "group": timeline.group,
        "protocol": timeline.protocol,
        "source": timeline.source,
        "status": timeline.status,
        "problem": timeline.problem,
        "waits": why_it_waits(timeline.status, timeline.source, timeline.lease_owner),
        "semantics": timeline.semantics,
        "release": timeline.release,
        "seed": timeline.seed,
        "last": timeline.last,
        "entries": timeline.last,
        "first_ms": summary.get("first_ms"),
        "last_ms": summary.get("last_ms"),
        "created": timeline.created.isoformat(),
        "summary": summary,
    }


def summary(timeline: Timeline) -> dict[str, Any]:
    """The whole summary: findings, cast, topics, epochs; ``Timeline.summary`` of a stored log holds its headline alone."""
    return log_of(timeline).summary()


def members_most(timeline: Timeline) -> int:
    """As many members as were in the group at once, so that a board knows its size before it has seen anybody."""
    return log_of(timeline).members_most()


def chunks(timeline: Timeline) -> list[Chunk]:
    return log_of(timeline).chunks()


def chunk_text(timeline: Timeline, first: int, *, lines: bool = False) -> tuple[bytes, bool] | None:
    """A chunk as JSON text (frame before it, changes, moments), and whether it is closed; null if none begins there.

    With ``lines`` in four lines, each an object with some of the fields: ``first`` and ``last``, then each of the others.
    """
    found = log_of(timeline).opened(first)
    if found is None:
        return None
    opened, chunk, closed = found
    names = timeline.topic_names
    place = {"first": first, "last": chunk.last}
    parts = {
        name: orjson.Fragment(named_json(getattr(opened, name), names))
        for name in ("frame", "changes", "moments")
    }
    if lines:
        header = [place, *({name: part} for name, part in parts.items())]
        return b"\n".join(map(orjson.dumps, header)), closed
    return orjson.dumps(place | parts), closed


def frame_at(timeline: Timeline, sequence: int) -> Frame | None:
    """The frame after entry ``sequence`` (0: before the first); null beyond the end."""
    if not 0 <= sequence <= timeline.last:
        return None
    # That before entry 1 is the frame with which the first chunk begins.
    found = log_of(timeline).before(max(1, sequence))
    if found is None:
        return frame(initial_state(timeline.group, timeline.semantics or Semantics.KAFKA))
    begins: Frame = orjson.loads(found[0].frame)
    changes: list[Change] = orjson.loads(found[0].changes)
    fresh = apply(begins, [change for change in changes if change["sequence"] <= sequence])
    named_frame: Frame = named(fresh, timeline.topic_names)
    return named_frame


CHUNKS_BACK_MOST = 20
"""Chunks that are looked through for a change: each is read whole, and somebody waits."""


def last_change(timeline: Timeline, path: list[str], sequence: int) -> int | None:
    """The last entry up to ``sequence`` that changed ``path`` of the frame; null where the nearest chunks have none."""
    log, at = log_of(timeline), min(sequence, timeline.last)
    for _ in range(CHUNKS_BACK_MOST):
        found = log.before(at) if at >= 1 else None
        if found is None:
            return None
        opened, chunk = found
        for change in reversed(orjson.loads(opened.changes)):
            if change["path"] == path and change["sequence"] <= at:
                return int(change["sequence"])
        at = chunk.first - 1
    return None


def last_with_members(timeline: Timeline) -> int:
    """The last moment at which somebody is in the group, of the last chunks; the last entry where there is none.

    A Stable moment is preferred within a chunk: what it shows is the group, and not a step on the way to it.
    """
    for chunk in reversed(chunks(timeline)[-CHUNKS_LOOKED_THROUGH:]):
        found = log_of(timeline).before(chunk.last)
        if found is None:
            break
        opened, _ = found
        shown = orjson.loads(opened.frame)
        changes, place = orjson.loads(opened.changes), 0
        stable = other = 0
        for moment in orjson.loads(opened.moments):
            until = place
            while until < len(changes) and changes[until]["sequence"] <= moment["sequence"]:
                until += 1
            shown, place = apply(shown, changes[place:until]), until
            if shown.get("members"):
                other = moment["sequence"]
                stable = other if shown.get("state") == "Stable" else stable
        if stable or other:
            return int(stable or other)
    return timeline.last


def metrics_at(timeline: Timeline, sequence: int) -> MetricsSheet | None:
    """Kafka's metrics as of entry ``sequence`` (see ``Metrics.values``); null beyond the end. One chunk is read."""
    shown = frame_at(timeline, sequence)
    if shown is None:
        return None
    log = log_of(timeline)
    found = log.before(sequence) if sequence else None
    if found is None:
        return Metrics().values(shown)
    opened, chunk = found
    metrics = from_plain(Metrics, orjson.loads(opened.metrics))
    for entry in log.entries_between(chunk.first, sequence):
        metrics.add(Entry.from_json(entry))
    return metrics.values(shown)


def changes_after(timeline: Timeline, after: int) -> bytes:
    """What a browser at ``after`` lacks, as JSON text: at most about a megabyte, with ``more`` if there is more."""
    changes: list[bytes] = []
    moments: list[bytes] = []
    last, size, more = after, 0, False
    for first, to, some_changes, some_moments in log_of(timeline).changes_after(after):
        if size > CHANGES_BYTES_MOST:
            more = True
            break
        changes.append(_later(some_changes, after) if first <= after else some_changes)
        moments.append(_later(some_moments, after) if first <= after else some_moments)
        size += len(changes[-1]) + len(moments[-1])
        last = to
    names = timeline.topic_names
    return orjson.dumps(
        {
            "after": after,
            "last": last,
            "more": more,
            "status": timeline.status,
            "changes": orjson.Fragment(named_json(join(changes), names)),
            "moments": orjson.Fragment(named_json(join(moments), names)),
            "summary": named_summary(log_of(timeline).summary(), names),
        }
    )


def entries_between(timeline: Timeline, first: int, last: int) -> list[EntryLine]:
    """Entries ``first`` to ``last`` as they were recorded, ``ENTRIES_MOST`` of them at most."""
    return list(log_of(timeline).entries_between(first, min(last, first + ENTRIES_MOST - 1)))


def every_entry(timeline: Timeline) -> Iterator[EntryLine]:
    """All entries in order, some at a time."""
    return log_of(timeline).every_entry()


def entries_before(timeline: Timeline, sequence: int) -> Iterator[EntryLine]:
    """The entries before ``sequence``, the nearest first, some at a time."""
    return log_of(timeline).entries_before(sequence)


def _later(text: bytes, after: int) -> bytes:
    return orjson.dumps([item for item in orjson.loads(text) if item["sequence"] > after])
