"""The cache made again: what a new fold makes of entries that are stored."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import orjson
from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

from groups.history.entries import ENTRY_FORMAT, FIRST_SEQUENCE, Entry
from groups.history.passes.indexing import Indexer
from groups.history.passes.recorder import Recorder
from groups.history.replay.fold import FOLD_VERSION
from groups.history.state.group import Semantics
from groups.jobs.leases import from_now
from groups.models import Digested, Folded, Timeline
from groups.packs.blocks import entries_of
from groups.packs.chained import CheckpointWriter
from groups.packs.files import open_files
from groups.packs.index import INDEX_FORMAT, StoredChunk, TimelineIndex, read_index
from groups.packs.listed_summary import listed_summary, packed_verdict, plain
from groups.packs.packs import PackWriter, Place, read_blob
from groups.storage.deleting import collect
from groups.storage.logs import log_of
from groups.storage.searching import listed_columns
from groups.storage.stored_log import StoredLog
from groups.storage.timeline_reader import every_entry
from groups.storage.writing import LEASE_S, store_folded

RENEW_EVERY_S = LEASE_S / 6
"""Often enough that a machine which stalls for some seconds does not lose the lease."""


def stale() -> QuerySet[Timeline]:
    """Timelines whose cache is of an older fold, and which nobody is writing.

    That of a newer one is another server's, which is updated already: to fold it again would have both do so for ever.
    """
    return Timeline.objects.filter(fold_version__lt=FOLD_VERSION).exclude(status=Timeline.Status.RUNNING)


def refold(timeline_id: str, owner: str) -> bool:
    """Fold a timeline's entries again. False if that is done, another one is at it, or it is being written.

    Rows of the new version are stored next to the old ones; the last update makes them count. So a fold that is
    stopped half-way changes nothing that anybody sees.
    """
    free = Q(lease_until__isnull=True) | Q(lease_until__lte=from_now())
    if not stale().filter(free, pk=timeline_id).update(lease_owner=owner, lease_until=from_now(LEASE_S)):
        return False
    timeline = Timeline.objects.get(pk=timeline_id)
    if timeline.entry_format != ENTRY_FORMAT:
        raise ValueError(
            f"Timeline {timeline_id} stores entries of format {timeline.entry_format}, "
            f"but this version reads format {ENTRY_FORMAT}."
        )
    lease = _Lease(timeline_id, owner)
    if timeline.index_place is not None:
        return _refold_packs(timeline, lease)
    return _refold_rows(timeline, lease)


class _Lease:
    """Kept while a fold goes on: by the clock, not by the batch, since one of a large group can take longer than it."""

    def __init__(self, timeline_id: str, owner: str) -> None:
        self.held = Timeline.objects.filter(pk=timeline_id, lease_owner=owner)
        self.renew_s = time.monotonic() + RENEW_EVERY_S

    def lost(self) -> bool:
        """Whether somebody else has it by now."""
        if time.monotonic() < self.renew_s:
            return False
        self.renew_s = time.monotonic() + RENEW_EVERY_S
        return not self.held.update(lease_until=from_now(LEASE_S))


def _refold_rows(timeline: Timeline, lease: _Lease) -> bool:
    rows = Folded.objects.filter(timeline_id=timeline.pk)
    digested = Digested.objects.filter(timeline_id=timeline.pk)
    rows.filter(fold_version=FOLD_VERSION).delete()
    digested.filter(fold_version=FOLD_VERSION).delete()
    recorder = fresh_recorder(timeline)
    for entry in every_entry(timeline):
        recorder.add(Entry.from_json(entry))
        if lease.lost():
            return False
        if recorder.full and (batch := recorder.flush()) is not None:
            store_folded(timeline.pk, batch)
    final = recorder.flush(final=True)
    if final is not None:
        store_folded(timeline.pk, final)
    with transaction.atomic():
        made = {"summary": final.summary, **listed_columns(final.summary)} if final is not None else {}
        if not lease.held.update(fold_version=FOLD_VERSION, lease_owner="", lease_until=None, **made):
            return False
        rows.filter(fold_version__lt=FOLD_VERSION).delete()
        digested.filter(fold_version__lt=FOLD_VERSION).delete()
    return True


def _refold_packs(timeline: Timeline, lease: _Lease) -> bool:
    """The first pass again over stored entries: a new index next to the old one, with the same chunks."""
    files = open_files(settings.STORE_URL)
    old = read_index(files, Place.of(timeline.index_place or []))
    packs = PackWriter(files, timeline.folder)
    checkpoints = CheckpointWriter(packs)
    indexer = Indexer(group=old["summary"]["group"], semantics=timeline.semantics or Semantics.KAFKA)
    chunks: list[StoredChunk] = []
    try:
        for chunk in old["chunks"]:
            checkpoint = checkpoints.add(indexer.checkpoint())
            for entry in entries_of(read_blob(files, Place.of(chunk["entries"]))):
                indexer.add(Entry.from_json(entry))
            digest = asdict(indexer.digest())
            chunks.append(
                {**chunk, "checkpoint": checkpoint.place, "chain": checkpoint.chain, "digest": digest}
            )
            if lease.lost():
                packs.drop()
                return False
        summary = dict(indexer.summary())
        index: TimelineIndex = {
            **old,
            "format": INDEX_FORMAT,
            "fold_version": FOLD_VERSION,
            "summary": summary,
            "chunks": chunks,
        }
        place = packs.add(orjson.dumps(index))
        pack = packs.close()
    except BaseException:
        packs.drop()
        raise
    short = listed_summary(summary)
    columns = listed_columns(summary)
    verdict = packed_verdict(short.pop("verdict"))
    needed = {chunk["entries"][0] for chunk in chunks} | {pack.name}
    with transaction.atomic():
        made = {
            "summary": plain(short) | {"offsets": timeline.summary.get("offsets")},
            "verdict": verdict,
            **columns,
            "index_place": list(pack.place(place)),
            "packs": sorted(needed),
        }
        if not lease.held.update(fold_version=FOLD_VERSION, lease_owner="", lease_until=None, **made):
            return False
        transaction.on_commit(lambda: collect(timeline.folder))
    return True


def summary_at(timeline: Timeline, sequence: int) -> dict[str, Any]:
    """The summary (findings, verdict) as it would be if the timeline ended with entry ``sequence``."""
    log = log_of(timeline)
    if isinstance(log, StoredLog):
        return _stored_summary_at(log, sequence)
    recorder = fresh_recorder(timeline)
    for entry in every_entry(timeline):
        if entry["sequence"] > sequence:
            break
        recorder.add(Entry.from_json(entry))
    final = recorder.flush(final=True)
    return dict(final.summary) if final is not None else {}


def _stored_summary_at(log: StoredLog, sequence: int) -> dict[str, Any]:
    found = log.checkpoint_before(sequence)
    if found is None or sequence == 0:
        return {}
    checkpoint, chunk = found
    indexer = Indexer.from_checkpoint(checkpoint)
    for entry in log.entries_between(chunk["first"], sequence):
        indexer.add(Entry.from_json(entry))
    return dict(indexer.summary())


def fresh_recorder(timeline: Timeline) -> Recorder:
    """A recorder that begins as the one did that made the timeline."""
    return Recorder(
        group=timeline.group,
        semantics=timeline.semantics or Semantics.KAFKA,
        protocol=protocol_at_start(timeline),
    )


def protocol_at_start(timeline: Timeline) -> str | None:
    """The protocol from before the first entry (of a scenario), which is in no entry."""
    if timeline.index_place is not None:
        return None
    start = Folded.objects.filter(timeline=timeline, first=FIRST_SEQUENCE).first()
    if start is None or start.checkpoint is None:
        return None
    protocol: str | None = orjson.loads(start.checkpoint)["frame"].get("protocol")
    return protocol
