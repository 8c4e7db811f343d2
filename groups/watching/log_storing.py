"""What was read of the log becomes entries of timelines, stored with the place to go on from: all of it, or nothing.

One transaction holds the entries of a fetch and the positions behind them, so there is no entry twice and no hole that
is not marked, whenever this process dies. Commits, nine tenths of a log, wait for a moment to be stored together; a
position never passes what waits.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from groups import storage
from groups.cluster_models import Cluster, WatchedGroup, is_recorded
from groups.history.entries import Entry, Kind, Provenance
from groups.history.following.group import FollowedGroup, is_commit, newest
from groups.history.following.partition import GroupRecords, PartitionLog, Position
from groups.history.following.topics import Topics
from groups.history.following.transactions import OPEN_LEAST_MS, OpenTransaction
from groups.history.polls.description import GroupDescription
from groups.history.polls.recording import Condition
from groups.history.state.plain import from_plain
from groups.watching import registry
from groups.watching.followed import Followed, epochs_of, held_from, waited
from groups.watching.group_row import GroupRow
from groups.watching.live_group import LiveStore, can_continue, end_timeline
from groups.watching.rows import row_of
from groups.watching.storing import RECORDED_MOST

log = logging.getLogger(__name__)


TIMELINE_MOST: Final = timedelta(days=1)
"""A timeline ends after a day: only timelines that ended are removed, so a week of a group is kept day by day."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What one fetch gave of one partition. ``at_end`` is true where the log was read to its end.

    ``position`` is where the partition goes on once this is stored; others are read on meanwhile.
    """

    log: PartitionLog
    records: Sequence[GroupRecords]
    at_end: bool
    position: Position


class LogStore(LiveStore[Followed]):
    """All followed groups of one cluster. After an error it is not used again: another one restarts."""

    provenance = Provenance.RECORDED
    column = "followed"

    def __init__(self, cluster: Cluster, owner: str, groups: Sequence[str] | None = None) -> None:
        super().__init__(cluster, owner)
        self.wanted = None if groups is None else frozenset(groups)
        self.positions: dict[int, Position] = {}
        """Behind what was taken, by partition."""

        self.again: set[int] = set()
        """Partitions that are to be read again from their beginning: a timeline must restart."""

        self.session_timeouts: Mapping[str, Mapping[str, int]] = {}
        """By group, as the cluster reports them; by the setting's name."""

        self.left_out: set[str] = set()
        self.entries = 0
        self._broken = False
        self._changed: list[WatchedGroup] = []

    # -- the beginning

    def begin(self) -> dict[int, Position]:
        """Take up what was followed before; where each partition goes on."""
        stored = Cluster.objects.values_list("positions", flat=True).get(pk=self.cluster.pk)
        for row in WatchedGroup.objects.filter(cluster=self.cluster).select_related("timeline"):
            if row.followed:
                group = self._taken_up(row)
                if group is not None:
                    waits = not group.has_begun and group.partition in self.again
                    self.groups[row.group] = Followed(row, group, facts=dict(row.facts), waits=waits)
            else:
                # It was polled: what is recorded from here on is another timeline.
                end_timeline(row, "The log is followed from here on, in a timeline of its own.")
        wanted = sorted(self.wanted) if self.wanted is not None else None
        if stored.get("groups") == wanted:
            partitions = stored.get("partitions", {})
            self.positions = {int(partition): Position(**each) for partition, each in partitions.items()}
        return dict(self.positions)

    def _taken_up(self, row: WatchedGroup) -> FollowedGroup | None:
        try:
            group = from_plain(FollowedGroup, row.followed)
        except (LookupError, TypeError, ValueError) as error:
            log.warning("The following of %s begins anew: %s", row.group, error)
            return None
        if not group.has_begun or can_continue(row, group.next):
            return group
        self.again.add(group.partition)
        return group.restarted(group.began)

    # -- records

    def take(self, some: Sequence[Taken], topics: Topics) -> list[GroupRow]:
        """Store what was fetched; the rows that changed, as they are announced."""
        if self._broken:
            raise RuntimeError("this store failed before: what it remembers is not what is stored")
        self._broken, self._changed = True, []
        with transaction.atomic():
            registry.fence(self.cluster.pk, self.owner)
            for taken in some:
                self.positions[taken.log.partition] = taken.position
                for records in taken.records:
                    self._records(records, taken.log, topics)
                if taken.at_end:
                    self._caught_up(taken.log)
            self._store_due(at_end={taken.log.partition for taken in some if taken.at_end})
            self._store_positions()
        self._broken = False
        rows = {row.group: row for row in self._changed}
        return [row_of(row) for row in rows.values()]

    def _records(self, records: GroupRecords, log: PartitionLog, topics: Topics) -> None:
        if records.aborted and records.group not in self.groups:
            return
        left: GroupRecords | None = records
        while left is not None:
            followed = self._of(left.group, log.partition)
            if followed is None or followed.waits or not followed.source.takes(left):
                return
            known = tuple(each for each in left.records if each.offset >= followed.source.reached)
            if left.settled == left.records[-1].offset and len(known) < len(left.records):
                # A batch of which a former life took its part.
                left = GroupRecords(
                    group=left.group, settled=left.settled, leader_epoch=left.leader_epoch, records=known
                )
            entries = followed.source.take(left, log, topics)
            # They come with the group's next records: groups that are quiet are not touched.
            entries += followed.source.set(self.session_timeouts.get(left.group, {}))
            self._add(followed, entries, first=left.first)
            if followed.source.commits.lines:
                followed.hold(left.first, urgent=False)
            rest = followed.source.left(left)
            if followed.source.ended:
                self._finish(followed)
            left = rest

    def _of(self, group: str, partition: int) -> Followed | None:
        known = self.groups.get(group)
        if known is not None:
            return known
        if self.wanted is not None and group not in self.wanted:
            return None
        if len(self.groups) >= RECORDED_MOST or not is_recorded(group):
            if len(self.left_out) < RECORDED_MOST:
                self.left_out.add(group)
            return None
        row, _ = WatchedGroup.objects.get_or_create(cluster=self.cluster, group=group)
        made = Followed(row, FollowedGroup(group=group, partition=partition), facts=dict(row.facts))
        self.groups[group] = made
        return made

    def _add(self, followed: Followed, entries: Iterable[Entry], first: int) -> None:
        for entry in entries:
            self._fold(followed, entry)
            urgent = not is_commit(entry)
            if urgent and entry.kind is Kind.RECORD:
                followed.stirred_ms = time.time_ns() // 1_000_000
            followed.hold(first, urgent=urgent)
        if followed.recorder is not None and followed.recorder.full:
            self._store(followed)
        self._let_go_of_cold()

    def _fold(self, followed: Followed, entry: Entry) -> None:
        begins = entry.sequence == 1 or followed.row.timeline is None
        self._recorder(followed, begins=begins).add(entry)
        self.entries += 1

    def _leave(self, followed: Followed) -> None:
        if followed.held_first is not None:
            self._store(followed)
        if followed.recorder is not None:
            followed.left = epochs_of(followed.recorder.frame)

    def _caught_up(self, log: PartitionLog) -> None:
        if log.holes:
            for followed in self.groups.values():
                if followed.source.partition == log.partition:
                    self._add(followed, followed.source.caught_up(log), first=log.next)
                    # Who comes later begins later: these holes are recorded wherever they matter.
                    followed.source.covered = max(followed.source.covered, log.next)
            log.holes.clear()
        log.initial = False

    # -- storing

    def has_due(self) -> bool:
        """Whether something waits that is to be stored by now."""
        return bool(waited(list(self.groups.values())))

    def _store_due(self, at_end: set[int]) -> None:
        for followed in waited(self.groups.values()):
            self._store(followed)
        for followed in self.groups.values():
            if followed.held_first is not None and followed.urgent and followed.source.partition in at_end:
                self._store(followed)
        self._let_go_of_cold()

    def flush(self) -> list[GroupRow]:
        """Store what waits: nothing more comes."""
        if self._broken:
            return []
        self._broken, self._changed = True, []
        with transaction.atomic():
            registry.fence(self.cluster.pk, self.owner)
            for followed in self.groups.values():
                self._store(followed)
                self._let_go_of_cold()
            self._store_positions()
        self._broken = False
        return [row_of(row) for row in self._changed]

    def _store(self, followed: Followed) -> None:
        for entry in followed.source.settle():
            self._fold(followed, entry)
        batch = followed.recorder.flush(final=True) if followed.recorder is not None else None
        followed.is_held_no_more()
        if batch is None:
            return
        if followed.described is None:
            followed.look(time.time_ns() // 1_000_000)
        row = followed.row
        row.condition = Condition.SEEN.value
        if not self._append(followed, batch):
            return
        self._changed.append(row)
        # A group whose newest records alone are many would begin a timeline with each of them.
        long = batch.last >= settings.LIVE_ENTRIES_MOST or self._is_old(row)
        if long and not followed.source.ended and batch.last >= 2 * followed.source.kept:
            self._roll(followed)

    @staticmethod
    def _is_old(row: WatchedGroup) -> bool:
        return row.timeline is not None and timezone.now() - row.timeline.created > TIMELINE_MOST

    def _store_positions(self) -> None:
        held = held_from(self.groups.values())
        stored: dict[str, Position] = {}
        for partition, position in sorted(self.positions.items()):
            start = 0 if partition in self.again else min(position.next, held.get(partition, position.next))
            stored[str(partition)] = replace(position, next=start)
        wanted = sorted(self.wanted) if self.wanted is not None else None
        Cluster.objects.filter(pk=self.cluster.pk).update(
            positions={"groups": wanted, "partitions": {name: asdict(each) for name, each in stored.items()}}
        )

    # -- the ends of timelines

    def _finish(self, followed: Followed) -> None:
        """The group is gone: its timeline is whole. One of the same name is another incarnation."""
        self._store(followed)
        self._complete(followed)
        followed.source = followed.source.next_life()
        row = followed.row
        row.condition = Condition.DELETED.value
        followed.facts, followed.described = {"rebalanced_ms": followed.facts.get("rebalanced_ms", [])}, None
        row.facts = followed.facts
        self._save(followed)
        self._changed.append(row)

    def _roll(self, followed: Followed) -> None:
        """The timeline is long enough: the next one begins with the group as it is."""
        timeline = followed.row.timeline
        assert timeline is not None
        latest = newest(
            map(Entry.from_json, storage.every_entry(storage.get(timeline.pk))), followed.source.group
        )
        self._complete(followed)
        self._add(followed, followed.source.continued(latest), first=followed.source.reached)
        self._save(followed)
        self._store(followed)

    def _lost(self, followed: Followed) -> None:
        self._restart(followed, followed.source.began)

    def _restart(self, followed: Followed, reached: int) -> None:
        """Its timeline cannot be gone on with: the log is read again for the next one."""
        followed.is_held_no_more()
        followed.waits = True
        self._restart_timeline(followed, followed.source.restarted(reached))
        self.again.add(followed.source.partition)

    def cut(self, partition: int, end: int, now_ms: int) -> list[GroupRow]:
        """The log was truncated at ``end``: what was recorded of the offsets beyond is not so any more.

        Timelines that reach beyond say so and end; the next ones begin with the log as it is.
        """
        self._broken, self._changed = True, []
        with transaction.atomic():
            registry.fence(self.cluster.pk, self.owner)
            text = f"The log was truncated: offsets from {end:,} on are gone, and what they told"
            for followed in self.groups.values():
                if followed.source.partition != partition or followed.source.reached <= end:
                    continue
                group = followed.source
                if group.has_begun and not group.ended:
                    self._add(followed, group.gap(text, followed.log_ms(now_ms)), first=end)
                    self._store(followed)
                    self._complete(followed)
                self._restart(followed, group.began if group.began < end else 0)
                self._changed.append(followed.row)
            self.again.add(partition)
            self.positions[partition] = Position(high=end)
            self._store_positions()
        self._broken = False
        return [row_of(row) for row in self._changed]

    def say(self, group: str, text: str, now_ms: int) -> None:
        """A gap of one group that was found otherwise than by reading the log."""
        followed = self.groups[group]
        if followed.source.has_begun:
            self._watched({group: followed.source.gap(text, followed.log_ms(now_ms))})

    def observe(self, some: Mapping[str, GroupDescription], now_ms: int) -> None:
        """Store what coordinators described at ``now_ms`` of classic groups between two generations."""
        groups = {name: self.groups[name] for name in some}
        self._watched(
            {name: each.source.observe(some[name], each.log_ms(now_ms)) for name, each in groups.items()}
        )

    def hold(self, some: Mapping[int, Mapping[str, list[OpenTransaction]]], now_ms: int) -> list[GroupRow]:
        """Store notes of the transactions that are open at ``now_ms``, and of ends that the log has no more; rows that changed.

        ``some`` are, by partition of the log, all that are open in it, by group. Each partition was read to its end.
        """
        noted = [name for name, each in self.groups.items() if each.source.held]
        entries: dict[str, list[Entry]] = {}
        for partition, open_now in some.items():
            for name in sorted({*noted, *open_now}):
                held = open_now.get(name, [])
                if name not in self.groups and not any(now_ms - one.from_ms >= OPEN_LEAST_MS for one in held):
                    continue
                followed = self._of(name, partition)
                if followed is not None and not followed.waits and followed.source.partition == partition:
                    entries[name] = followed.source.hold(held, followed.log_ms(now_ms))
        if entries := {name: each for name, each in entries.items() if each}:
            self._watched(entries)
            return [row_of(row) for row in self._changed]
        return []

    def _watched(self, entries: Mapping[str, list[Entry]]) -> None:
        """Store entries that come from the watching itself, and not from the log."""
        self._broken, self._changed = True, []
        with transaction.atomic():
            registry.fence(self.cluster.pk, self.owner)
            for name, some in entries.items():
                followed = self.groups[name]
                self._add(followed, some, first=followed.source.reached)
                self._store(followed)
            self._store_positions()
        self._broken = False

    # -- what others ask

    def reads_again(self, partition: int) -> None:
        """The partition is read from its beginning now: timelines that wait for it begin."""
        self.again.discard(partition)
        for followed in self.groups.values():
            if followed.source.partition == partition:
                followed.waits = False

    def stirred(self) -> Collection[str]:
        """Groups of which the log has news that their coordinator was not asked about yet."""
        return {name for name, each in list(self.groups.items()) if each.stirred_ms is not None}

    def names(self) -> Mapping[str, Followed]:
        """The groups that have a timeline now, by name."""
        return {name: each for name, each in self.groups.items() if each.source.has_begun}
