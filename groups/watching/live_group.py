"""A group under way, and the groups of one cluster: the one place where timelines of live groups are written.

A group's source is its polls or the records of its log (``PolledGroup``, ``FollowedGroup``): answers or records in, entries out. Below
it nothing differs: a recorder folds the entries, and a batch is stored with the row that the next process goes on from. Recorders are
kept of groups that changed a moment ago; those of the others are made again from what is stored of their timelines.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Generic, TypeVar

import orjson
from django.db import transaction
from django.utils import timezone

from groups import storage
from groups.cluster_models import Cluster, WatchedGroup
from groups.history.entries import Entry, Provenance
from groups.history.following.group import FollowedGroup
from groups.history.passes.recorder import RecordedBatch, Recorder
from groups.history.polls.recording import PolledGroup
from groups.history.state.plain import to_plain
from groups.jobs.announce import announce, cluster_group
from groups.models import Timeline
from groups.shown import shown_name
from groups.watching.group_row import GroupRow, LagFacts
from groups.watching.rows import ROWS_AT_ONCE, row_of

log = logging.getLogger(__name__)

WARM_MOST: Final = 200
"""Groups of one cluster whose recorder is kept, those that changed last: it holds 0.2 MB of a group of 20 members."""


CHECKPOINT_BYTES: Final = 32 * 1024
"""A checkpoint is stored after so many bytes of entries: another process folds about 3,000 commits or 80 other entries, not all."""


@dataclass(slots=True)
class LiveGroup:
    """One group under way. ``recorder`` is made when the first entry comes: most groups are quiet."""

    row: WatchedGroup
    source: PolledGroup | FollowedGroup
    """What makes its entries, and is stored with them."""

    recorder: Recorder | None = field(default=None, kw_only=True)
    """Null before the first entry, and while it is let go: the next entry has it made again."""

    writer: storage.Writer | None = field(default=None, kw_only=True)
    facts: dict[str, Any] = field(default_factory=dict, kw_only=True)
    looked_ms: int | None = field(default=None, kw_only=True)
    """When it was described before; null for never."""

    skew_ms: int | None = field(default=0, kw_only=True)
    """How far the clock of its timeline is ahead of the watcher's; null: not measured."""

    since_checkpoint: int = field(default=0, kw_only=True)

    @property
    def phase_began(self) -> int | None:
        """The entry with which the rebalance under way was first observed, if no record contains it."""
        return self.source.phases.began

    @property
    def last(self) -> int:
        """The last entry of its timeline, as far as it is stored."""
        if self.recorder is not None:
            return self.recorder.last
        return self.row.timeline.last if self.row.timeline is not None else 0

    def is_checkpoint_due(self, size: int) -> bool:
        """Whether its row is to have a checkpoint, now that ``size`` bytes of entries are stored."""
        self.since_checkpoint += size
        if self.since_checkpoint < CHECKPOINT_BYTES:
            return False
        self.since_checkpoint = 0
        return True

    def has_ended(self) -> None:
        """Its timeline is over: what comes next is the beginning of another."""
        self.writer = self.recorder = None
        self.row.checkpoint, self.since_checkpoint = None, 0


G = TypeVar("G", bound=LiveGroup)


class LiveStore(ABC, Generic[G]):
    """All groups of one cluster under way, by name; one process has it."""

    provenance: ClassVar[Provenance]
    """Of all records of its timelines."""

    column: ClassVar[str]
    """Where a row has the source of its group."""

    def __init__(self, cluster: Cluster, owner: str) -> None:
        self.cluster = cluster
        self.owner = owner
        self.groups: dict[str, G] = {}
        self._warm: dict[str, G] = {}
        """Those that have a recorder, the one that changed last at the end."""

    def lag(self, lag: Mapping[str, LagFacts]) -> list[GroupRow]:
        """Store the lags that are new, many rows at once: in a living cluster nearly all of them change. The rows in which they are."""
        changed = []
        for name, facts in lag.items():
            each = self.groups.get(name)
            if each is not None and any(each.facts.get(key) != value for key, value in facts.items()):
                each.facts = {**each.facts, **facts}
                each.row.facts, each.row.changed = each.facts, timezone.now()
                changed.append(each.row)
        WatchedGroup.objects.bulk_update(changed, ["facts", "changed"], batch_size=ROWS_AT_ONCE)
        return [row_of(row) for row in changed]

    def announce(self, rows: list[GroupRow], seen: Mapping[str, Any]) -> None:
        message = {"type": "groups", "groups": rows, "seen": seen, "status": self.cluster.status}
        text = orjson.dumps(message).decode()
        announce(cluster_group(self.cluster.pk), {"type": "cluster.groups", "text": text})

    def _recorder(self, group: G, *, begins: bool) -> Recorder:
        """Its recorder, which is among those that are kept now. ``begins``: nothing of its timeline is stored."""
        if group.recorder is None:
            group.recorder = Recorder(group=group.row.group) if begins else restored(group.row)
            if not begins and group.writer is None:
                group.writer = self._take_up(group.row)
        self._warm.pop(group.row.group, None)
        self._warm[group.row.group] = group
        return group.recorder

    def _let_go_of_cold(self) -> None:
        """Let go of the recorders beyond ``WARM_MOST``, of those that changed longest ago."""
        while len(self._warm) > WARM_MOST:
            name = next(iter(self._warm))
            group = self._warm[name]
            self._leave(group)
            self._warm.pop(name, None)
            if group.recorder is not None:
                group.recorder = None
                if group.row.timeline_id is not None:
                    read_again(group.row)

    def _leave(self, group: G) -> None:
        """Store of a group whose recorder is let go what has to outlast it."""

    def _take_up(self, row: WatchedGroup) -> storage.Writer:
        """The writer of a timeline that another process began."""
        # The cluster's lease is held, so a former writer is gone.
        Timeline.objects.filter(pk=row.timeline_id).update(lease_owner="")
        assert row.timeline_id is not None
        return storage.open_writer(row.timeline_id, self.owner)

    def _append(self, group: G, batch: RecordedBatch) -> bool:
        """Store a batch with the row, both or neither; false where its timeline is no longer this process's to write."""
        try:
            with transaction.atomic():
                self._write(group, batch)
                if group.recorder is not None and group.is_checkpoint_due(len(batch.entries)):
                    group.row.checkpoint = group.recorder.checkpoint()
                    self._save(group)
                else:
                    self._save(group, "timeline", "kind", "state", "condition", "facts", "changed")
        except (storage.LeaseLost, storage.NoSuchTimeline):
            self._lost(group)
            return False
        return True

    @abstractmethod
    def _lost(self, group: G) -> None:
        """Somebody deleted or ended its timeline: prepare the next one."""

    def _restart_timeline(self, group: G, source: PolledGroup | FollowedGroup) -> None:
        """Its timeline cannot be continued: what ``source`` makes begins the next one."""
        self._forget(group)
        group.row.timeline, group.source = None, source
        self._save(group)

    def _save(self, group: G, *fields: str) -> None:
        """Store the row, or these fields of it, with the group's source."""
        row = group.row
        row.polled, row.followed = {}, {}
        setattr(row, self.column, to_plain(group.source))
        row.save(update_fields=[*fields, "polled", "followed"] if fields else None)
        # It is as large as the description that it holds, and nobody here reads it.
        row.polled, row.followed = {}, {}

    def _write(self, group: G, batch: RecordedBatch) -> None:
        """Append to its timeline, which begins with the first batch."""
        if group.writer is None:
            group.row.timeline = storage.create_timeline(
                title=f"{shown_name(group.row.group)} on {self.cluster.name}",
                source=Timeline.Source.LIVE,
                group=group.row.group,
                semantics="kafka",
                cluster_id=self.cluster.pk,
                provenance=self.provenance.value,
            )
            group.writer = storage.open_writer(group.row.timeline.pk, self.owner)
        group.writer.append(batch)

    def _complete(self, group: G) -> None:
        """Its timeline is whole."""
        if group.writer is not None:
            try:
                group.writer.finish(Timeline.Status.COMPLETE)
            except (storage.LeaseLost, storage.NoSuchTimeline):
                log.info("The timeline of %s was ended by somebody else.", group.row.group)
        self._forget(group)

    def _forget(self, group: G) -> None:
        """What comes next of this group is the beginning of a timeline."""
        group.has_ended()
        self._warm.pop(group.row.group, None)


def can_continue(row: WatchedGroup, sequence: int) -> bool:
    """Whether the row's timeline still grows and its next entry is ``sequence``; one that grows and cannot continue is ended."""
    timeline = row.timeline
    if timeline is None or timeline.status != Timeline.Status.RUNNING:
        return False
    if timeline.last + 1 == sequence:
        return True
    end_timeline(row, "Its recording could not be taken up again.")
    return False


def end_timeline(row: WatchedGroup, problem: str) -> None:
    """End the row's timeline, if it still grows, and say why it cannot continue."""
    if row.timeline is not None and row.timeline.status == Timeline.Status.RUNNING:
        Timeline.objects.filter(pk=row.timeline.pk).update(
            status=Timeline.Status.INTERRUPTED, problem=problem, lease_owner="", lease_until=None
        )


def restored(row: WatchedGroup) -> Recorder:
    """The recorder of a group's timeline as it is stored: its last checkpoint, and the entries behind it."""
    assert row.timeline_id is not None
    recorder, after = Recorder(group=row.group), 0
    if row.checkpoint is not None:
        try:
            recorder = Recorder.from_checkpoint(bytes(row.checkpoint))
            after = recorder.frame["sequence"]
        except (LookupError, TypeError, ValueError):
            log.info("The checkpoint of %s is of another version: its entries are folded again.", row.group)
    timeline = storage.get(row.timeline_id)
    while after < timeline.last and (some := storage.entries_between(timeline, after + 1, timeline.last)):
        for entry in some:
            recorder.add(Entry.from_json(entry))
        after = some[-1]["sequence"]
    recorder.flush(final=True)
    return recorder


def read_again(row: WatchedGroup) -> None:
    """The row's timeline as it is stored now; its summary is read when somebody looks at it, and not before."""
    row.timeline = Timeline.objects.defer("summary").filter(pk=row.timeline_id).first() or row.timeline
