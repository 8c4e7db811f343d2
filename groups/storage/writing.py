"""One writer per timeline.

The rules that make a task harmless when it is delivered twice, stopped half-way or overtaken:

1. A writer holds the timeline's lease: ``lease_owner`` is its name and nobody else's. A lease is taken by one
   conditional update, so of two takers one loses.
2. An append is one transaction that begins with a conditional update: still running, still this owner, and
   ``last`` still what this writer left. If any of it is false, nothing is stored.
3. What is stored already is skipped: a batch that ends at or before ``last`` is ignored, one that reaches
   beyond it is cut to its tail, one that begins after ``last + 1`` is refused.
4. Announcements go out when the transaction is committed, never before.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import orjson
from django.db import transaction
from django.db.models import F, Q, QuerySet

from groups.history.digests.packed import later_digests
from groups.history.entries import ENTRY_FORMAT
from groups.history.replay.fold import FOLD_VERSION
from groups.jobs.announce import announce, timeline_group
from groups.jobs.leases import from_now
from groups.jobs.serving import RUNS, why_not_served
from groups.models import TITLE_LENGTH_MOST, Folded, Note, Timeline
from groups.models import Batch as StoredBatch
from groups.packs.listed_summary import GROUP_LENGTH_MOST
from groups.reserve import makes_room
from groups.storage import digests
from groups.storage.errors import LeaseLost, NoSuchTimeline, SequenceGap
from groups.storage.names import named_json, named_summary
from groups.storage.searching import listed_columns

if TYPE_CHECKING:
    from groups.history.passes.recorder import RecordedBatch

LEASE_S = 30
"""A writer that has not renewed for so long is taken for dead. Long against a pause of the machine or a slow
disk, short compared with a person's patience with a board that does not move."""

QUEUED_S = 600
"""A task that no worker took for so long is taken for lost. A queue can be long; the same run queued twice is
harmless, since the second finds the lease taken or the run ended."""

MESSAGE_BYTES_MOST = 256 * 1024
"""A larger batch is announced without its changes, and browsers fetch it over HTTP: the channel layer keeps
messages in memory for each reader, and an import's batches are large while nobody watches its middle."""

SUMMARY_BYTES_MOST = 32 * 1024
"""A larger summary is not sent with every batch; browsers have it from the detail and from the end's message."""

ID_ALPHABET = "abcdefghijklmnopqrstuvwxyz234567"
ID_LENGTH = 10


def new_id() -> str:
    """Ten characters of lower-case base 32: 50 bits, so that two of a million timelines meet with p < 0.001."""
    return "".join(secrets.choice(ID_ALPHABET) for _ in range(ID_LENGTH))


def create_timeline(
    *,
    title: str,
    source: str,
    timeline_id: str | None = None,
    group: str = "",
    protocol: str = "",
    semantics: str = "",
    release: str = "",
    scenario: str = "",
    seed: int | None = None,
    engine: str = "",
    parent_id: str | None = None,
    fork_sequence: int | None = None,
    cluster_id: str | None = None,
    provenance: str = "",
) -> Timeline:
    """A timeline without entries, running, that the first writer may take at once."""
    return Timeline.objects.create(
        id=timeline_id or new_id(),
        title=title[:TITLE_LENGTH_MOST],
        source=source,
        group=group[:GROUP_LENGTH_MOST],
        protocol=protocol,
        semantics=semantics,
        release=release,
        scenario=scenario,
        seed=seed,
        engine=engine,
        parent_id=parent_id,
        fork_sequence=fork_sequence,
        cluster_id=cluster_id,
        provenance=provenance,
        entry_format=ENTRY_FORMAT,
        fold_version=FOLD_VERSION,
        lease_until=from_now(QUEUED_S),
    )


def open_writer(timeline_id: str, owner: str) -> Writer:
    """Take the lease. ``owner`` must be another one for each attempt, or two attempts would share the lease.

    ``LeaseLost`` if another writer has it or the timeline is not running, ``NoSuchTimeline`` if there is none.
    """
    # Servers and workers of two versions may share a database while it is updated: a run is one version's from its first entry.
    _running(timeline_id).filter(last=0, fold_version__lt=FOLD_VERSION).update(fold_version=FOLD_VERSION)
    ours = Q(fold_version=FOLD_VERSION) | Q(source=Timeline.Source.LIVE)
    taken = (
        _running(timeline_id)
        .filter(
            ours,
            Q(lease_owner="") | Q(lease_owner=owner) | Q(lease_until__lte=from_now()),
        )
        .update(
            lease_owner=owner,
            lease_until=from_now(LEASE_S),
            attempts=F("attempts") + 1,
        )
    )
    if not taken:
        raise _why_lost(timeline_id, owner)
    return Writer(timeline_id=timeline_id, owner=owner, last=Timeline.objects.get(pk=timeline_id).last)


@dataclass(slots=True, kw_only=True)
class Writer:
    """Appends to one timeline. ``last`` is the last sequence that is stored."""

    timeline_id: str
    owner: str
    last: int
    renewed_s: float = 0.0

    def append(self, batch: RecordedBatch) -> bool:
        """Store the batch and announce it; false if all of it is stored already.

        ``SequenceGap`` if entries are missing before it, ``LeaseLost`` if this writer may not write any more.
        """
        if batch.last <= self.last:
            return False
        if batch.first > self.last + 1:
            raise SequenceGap(self.timeline_id, expected=self.last + 1, first=batch.first)
        if batch.first <= self.last:
            batch = tail_of(batch, after=self.last)
        with transaction.atomic():
            self._advance(batch)
            _store(self.timeline_id, batch)
            names = Timeline.objects.values_list("topic_names", flat=True).get(pk=self.timeline_id)
            message = changes_message(batch, names)
            transaction.on_commit(lambda: announce(timeline_group(self.timeline_id), message))
        self.last = batch.last
        self.renewed_s = time.monotonic()
        return True

    def renew(self) -> None:
        """Keep the lease while there is nothing to append; cheap enough to be called in a waiting loop.

        ``LeaseLost`` means that the task's timeline was cancelled or deleted, or went to another writer.
        """
        held = self._held().update(lease_until=from_now(LEASE_S))
        if not held:
            raise _why_lost(self.timeline_id, self.owner)
        self.renewed_s = time.monotonic()

    def release(self) -> None:
        """Give the lease back with the timeline still running: this process ends, another one may go on."""
        self._held().update(lease_owner="", lease_until=from_now())

    @makes_room
    def finish(self, status: str, problem: str = "", work: Mapping[str, Any] | None = None) -> None:
        """End the timeline with its last status, give the lease back, and notify those who watch. ``work``: how long it took."""
        with transaction.atomic():
            ended = self._held().update(
                status=status, problem=problem, work=work, lease_owner="", lease_until=None
            )
            if not ended:
                raise _why_lost(self.timeline_id, self.owner)
            announce_status(self.timeline_id)

    def _held(self) -> QuerySet[Timeline]:
        return _running(self.timeline_id).filter(lease_owner=self.owner)

    def _advance(self, batch: RecordedBatch) -> None:
        advanced = (
            self._held()
            .filter(last=self.last)
            .update(
                last=batch.last,
                summary=batch.summary,
                **listed_columns(batch.summary),
                group=str(batch.summary.get("group") or "")[:GROUP_LENGTH_MOST],
                protocol=str(batch.summary.get("protocol") or ""),
                lease_until=from_now(LEASE_S),
            )
        )
        if not advanced:
            raise _why_lost(self.timeline_id, self.owner)


def replace_timeline(timeline_id: str, batches: Iterable[RecordedBatch], **facts: Any) -> Timeline:
    """Store a whole timeline in the place of one that may be there: a case study made again.

    One transaction: those who look see the old one or the new one, and a failure leaves the old one. Notes stay at their steps,
    as far as there are such.
    """
    with transaction.atomic():
        notes = Note.objects.filter(timeline=timeline_id)
        kept = create_timeline(**facts)
        notes.update(timeline=kept)
        Timeline.objects.filter(pk=timeline_id).delete()
        timeline = create_timeline(timeline_id=timeline_id, **facts)
        for batch in batches:
            if batch.first != timeline.last + 1:
                raise SequenceGap(timeline_id, expected=timeline.last + 1, first=batch.first)
            _store(timeline_id, batch)
            timeline.last = batch.last
            timeline.summary = dict(batch.summary)
        for column, value in listed_columns(timeline.summary).items():
            setattr(timeline, column, value)
        timeline.group = str(timeline.summary.get("group") or timeline.group)[:GROUP_LENGTH_MOST]
        timeline.protocol = str(timeline.summary.get("protocol") or timeline.protocol)
        timeline.status = Timeline.Status.COMPLETE
        timeline.lease_until = None
        timeline.save()
        kept.notes.filter(sequence__lte=timeline.last).update(timeline=timeline)
        kept.delete()
    return timeline


@makes_room
def cancel(timeline_id: str) -> bool:
    """End a running timeline; its writer notices at its next append or renewal. False if it had ended."""
    with transaction.atomic():
        ended = _running(timeline_id).update(
            status=Timeline.Status.CANCELLED, lease_owner="", lease_until=None
        )
        if ended:
            announce_status(timeline_id)
    return bool(ended)


def lost_timelines() -> QuerySet[Timeline]:
    """Running timelines whose writer has not been seen: to be resumed, or to be interrupted.

    Not those of live groups: the holder of their cluster's lease goes on with them, also after an hour.
    """
    running = Timeline.objects.filter(status=Timeline.Status.RUNNING, lease_until__lte=from_now())
    return running.exclude(source=Timeline.Source.LIVE)


def requeue(timeline_id: str) -> bool:
    """Take a lost timeline from its writer, for the queue. False if another process did so, or it was not lost."""
    return bool(
        lost_timelines().filter(pk=timeline_id).update(lease_owner="", lease_until=from_now(QUEUED_S))
    )


def why_it_waits(status: str, source: str, lease_owner: str) -> str:
    """Why a run that waits for a worker does not begin; empty where one will take it, and of everything else."""
    waits = status == Timeline.Status.RUNNING and source == Timeline.Source.SIMULATION and not lease_owner
    return why_not_served(RUNS) if waits else ""


def forget_queue() -> int:
    """Call every timeline lost that waits for a worker: a queue in memory is empty when its process starts."""
    waiting = Timeline.objects.filter(status=Timeline.Status.RUNNING, lease_owner="")
    return waiting.update(lease_until=from_now())


@makes_room
def interrupt(timeline_id: str, problem: str) -> bool:
    """Say of a lost timeline that it ends here. False if a writer took it in the meantime."""
    with transaction.atomic():
        ended = (
            lost_timelines()
            .filter(pk=timeline_id)
            .update(status=Timeline.Status.INTERRUPTED, problem=problem, lease_owner="", lease_until=None)
        )
        if ended:
            announce_status(timeline_id)
    return bool(ended)


def announce_status(timeline_id: str) -> None:
    """Announce, once committed, what the timeline has come to."""
    timeline = Timeline.objects.get(pk=timeline_id)
    text = orjson.dumps(
        {
            "type": "status",
            "status": timeline.status,
            "problem": timeline.problem,
            "last": timeline.last,
            "summary": named_summary(timeline.summary, timeline.topic_names),
        }
    ).decode()
    transaction.on_commit(
        lambda: announce(timeline_group(timeline_id), {"type": "timeline.status", "text": text})
    )


def changes_message(batch: RecordedBatch, names: dict[str, str]) -> dict[str, Any]:
    """What the channel layer carries of a batch: its parts as JSON text, so that nobody parses or encodes again."""
    message: dict[str, Any] = {"type": "timeline.changes", "after": batch.first - 1, "last": batch.last}
    if len(batch.changes) + len(batch.moments) > MESSAGE_BYTES_MOST:
        return message | {"type": "timeline.tail"}
    summary = orjson.dumps(named_summary(batch.summary, names))
    return message | {
        "changes": named_json(batch.changes, names).decode(),
        "moments": named_json(batch.moments, names).decode(),
        "summary": summary.decode() if len(summary) <= SUMMARY_BYTES_MOST else None,
    }


def tail_of(batch: RecordedBatch, *, after: int) -> RecordedBatch:
    """The part of a batch that follows on ``after``.

    A run that is resumed simulates from its start again, and its child cuts batches by wall time, so the batch
    that crosses ``after`` is another one than that which was stored. Its chunk began with a stored row.
    """

    def later(text: bytes) -> bytes:
        return orjson.dumps([item for item in orjson.loads(text) if item["sequence"] > after])

    moments = later(batch.moments)
    return replace(
        batch,
        first=after + 1,
        entries=later(batch.entries),
        changes=later(batch.changes),
        moments=moments,
        checkpoint=None,
        digests=later_digests(batch.digests, after, orjson.loads(moments)),
    )


def _store(timeline_id: str, batch: RecordedBatch) -> None:
    StoredBatch.objects.create(
        timeline_id=timeline_id, first=batch.first, last=batch.last, entries=batch.entries
    )
    store_folded(timeline_id, batch)


def store_folded(timeline_id: str, batch: RecordedBatch) -> None:
    """Store what this version's fold makes of a batch's entries: the cache, which is made again when the fold changes."""
    Folded.objects.create(
        timeline_id=timeline_id,
        first=batch.first,
        last=batch.last,
        fold_version=FOLD_VERSION,
        changes=batch.changes,
        moments=batch.moments,
        checkpoint=batch.checkpoint,
    )
    digests.store(timeline_id, batch.first, batch.last, batch.digests)


def _running(timeline_id: str) -> QuerySet[Timeline]:
    return Timeline.objects.filter(pk=timeline_id, status=Timeline.Status.RUNNING)


def _why_lost(timeline_id: str, owner: str) -> LeaseLost | NoSuchTimeline:
    found = (
        Timeline.objects.filter(pk=timeline_id)
        .values("status", "lease_owner", "last", "fold_version", "source")
        .first()
    )
    if found is None:
        return NoSuchTimeline(timeline_id)
    if found["status"] != Timeline.Status.RUNNING:
        return LeaseLost(f"Timeline {timeline_id} has ended: it is {found['status']}.")
    if found["fold_version"] != FOLD_VERSION and found["source"] != Timeline.Source.LIVE:
        return LeaseLost(f"Timeline {timeline_id} is being written by another version of this program.")
    if found["lease_owner"] != owner:
        return LeaseLost(f"Timeline {timeline_id} is being written by another task.")
    return LeaseLost(f"Timeline {timeline_id} was appended to by another task: it ends at {found['last']}.")
