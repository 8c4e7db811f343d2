"""The cache made anew: what a new fold makes of entries that are stored."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any

import orjson
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from groups.history.entries import ENTRY_FORMAT, FIRST_SEQUENCE, Entry
from groups.history.fold import FOLD_VERSION
from groups.history.recorder import Batch, Recorder
from groups.history.state import Semantics
from groups.models import Folded, Timeline
from groups.storage.reading import every_entry
from groups.storage.writing import LEASE_S

RENEW_EVERY_S = LEASE_S / 6
"""Often enough that a machine which stalls for some seconds does not lose the lease."""


def stale() -> QuerySet[Timeline]:
    """Timelines whose cache is of another fold, and which nobody is writing."""
    return Timeline.objects.exclude(fold_version=FOLD_VERSION).exclude(status=Timeline.Status.RUNNING)


def refold(timeline_id: str, owner: str) -> bool:
    """Fold a timeline's entries again. False if that is done, another one is at it, or it is being written.

    Rows of the new version are stored beside the old ones; the last update makes them count. So a fold that is
    stopped half-way changes nothing that anybody sees.
    """
    free = Q(lease_until__isnull=True) | Q(lease_until__lt=timezone.now())
    if not stale().filter(free, pk=timeline_id).update(lease_owner=owner, lease_until=_lease_end()):
        return False
    timeline = Timeline.objects.get(pk=timeline_id)
    if timeline.entry_format != ENTRY_FORMAT:
        raise ValueError(
            f"Timeline {timeline_id} stores entries of format {timeline.entry_format}, "
            f"but this version reads format {ENTRY_FORMAT}."
        )
    Folded.objects.filter(timeline_id=timeline_id, fold_version=FOLD_VERSION).delete()
    recorder = fresh_recorder(timeline)
    renew = time.monotonic() + RENEW_EVERY_S
    for entry in every_entry(timeline):
        recorder.add(Entry.from_json(entry))
        if time.monotonic() >= renew:
            # By the clock, not by the batch: one of a large group can take longer than a lease.
            if not Timeline.objects.filter(pk=timeline_id, lease_owner=owner).update(
                lease_until=_lease_end()
            ):
                return False
            renew = time.monotonic() + RENEW_EVERY_S
        if recorder.full and (batch := recorder.flush()) is not None:
            _store(timeline_id, batch)
    final = recorder.flush(final=True)
    if final is not None:
        _store(timeline_id, final)
    with transaction.atomic():
        held = Timeline.objects.filter(pk=timeline_id, lease_owner=owner)
        made = {"summary": final.summary} if final is not None else {}
        if not held.update(fold_version=FOLD_VERSION, lease_owner="", lease_until=None, **made):
            return False
        Folded.objects.filter(timeline_id=timeline_id).exclude(fold_version=FOLD_VERSION).delete()
    return True


def summary_at(timeline: Timeline, sequence: int) -> dict[str, Any]:
    """The summary (findings, verdict) as it would be if the timeline ended with entry ``sequence``."""
    recorder = fresh_recorder(timeline)
    for entry in every_entry(timeline):
        if entry["sequence"] > sequence:
            break
        recorder.add(Entry.from_json(entry))
    final = recorder.flush(final=True)
    return dict(final.summary) if final is not None else {}


def fresh_recorder(timeline: Timeline) -> Recorder:
    """A recorder that begins as the one did that made the timeline."""
    return Recorder(
        group=timeline.group,
        semantics=timeline.semantics or Semantics.KAFKA,
        protocol=protocol_at_start(timeline),
    )


def protocol_at_start(timeline: Timeline) -> str | None:
    """The protocol that was told before the first entry (by a scenario), which no entry tells."""
    start = Folded.objects.filter(timeline=timeline, first=FIRST_SEQUENCE).first()
    if start is None or start.checkpoint is None:
        return None
    protocol: str | None = orjson.loads(start.checkpoint)["frame"].get("protocol")
    return protocol


def _store(timeline_id: str, batch: Batch) -> None:
    Folded.objects.create(
        timeline_id=timeline_id,
        fold_version=FOLD_VERSION,
        first=batch.first,
        last=batch.last,
        changes=batch.changes,
        moments=batch.moments,
        checkpoint=batch.checkpoint,
    )


def _lease_end() -> object:
    return timezone.now() + timedelta(seconds=LEASE_S)
