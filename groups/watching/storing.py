"""What a round saw becomes entries of timelines and rows of groups, stored and announced.

A group has one timeline that grows. It ends when the group is deleted, or when it is long enough
(``LIVE_ENTRIES_MOST``): the next one begins with the group as it is. Where the recording is placed is stored with the
row, so that the next process with this cluster goes on where this one ended, and notes for how long nobody looked.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace
from typing import Final

from django.conf import settings

from groups import storage
from groups.cluster_models import STATE_LENGTH_MOST, Cluster, WatchedGroup, is_recorded
from groups.clusters.brokers import Listed
from groups.clusters.faults import ClusterError
from groups.history.entries import Entry, Provenance
from groups.history.polls.description import DescribedGroup, GroupDescription
from groups.history.polls.recording import Condition, PolledGroup
from groups.history.state.plain import from_plain
from groups.watching import registry
from groups.watching.group_row import GroupRow
from groups.watching.live_group import LiveGroup, LiveStore, can_continue, end_timeline
from groups.watching.pulling import Round
from groups.watching.row_facts import facts_after, view_of_description
from groups.watching.rows import ROWS_AT_ONCE, row_of

log = logging.getLogger(__name__)

MISSING: Final = "missing"
"""A group that no broker lists now, and of which no coordinator said that it is gone."""

RECORDED_MOST: Final = 2_000
"""Groups that are recorded; the others are listed with their state. A recorder holds some 100 KB of a small group."""

FIRST_AT_ONCE: Final = 50
"""Timelines that begin in one round. A cluster of 2,000 groups is listed as soon as it was described; its timelines begin
within the rounds that follow, those of groups that rebalance first, with what was seen of each."""

UNWATCHED_SHOWN_AFTER_MS: Final = 2_000
"""A pause that is not much longer than between two rounds hides no more than they do."""


@dataclass(slots=True)
class Recording(LiveGroup):
    """One polled group under way. Polls are timed by the watcher's own clock."""

    source: PolledGroup
    listed: Listed | None = None
    first: tuple[DescribedGroup | ClusterError, int] | None = None
    """What was seen of it, and when, as long as its timeline has not begun."""


class Store(LiveStore[Recording]):
    """All recordings of one cluster."""

    provenance = Provenance.INFERRED
    column = "polled"

    def __init__(self, cluster: Cluster, owner: str) -> None:
        super().__init__(cluster, owner)
        self._resumed = False

    def take(self, seen: Round) -> list[GroupRow]:
        """Store one round; the rows that changed, as they are announced."""
        registry.fence(self.cluster.pk, self.owner)
        if not self._resumed:
            self._resume(seen.at_ms)
        changed = self._take_new(seen)
        for name, row in seen.listing.groups.items():
            recording = self.groups.get(name)
            if recording is None:
                continue
            answer = seen.answers.get(name)
            recording.listed = row
            if recording.first is not None:
                recording.first = (answer, seen.at_ms) if answer is not None else recording.first
                if recording.row.condition == MISSING:
                    recording.row.condition = Condition.SEEN.value
            elif answer is not None or recording.row.condition == MISSING:
                changed += self._record_poll(recording, answer, seen)
            elif name in seen.asked and recording.source.is_set_otherwise(seen.settings.get(name)):
                changed += self._record_poll(recording, None, seen)
            elif name in seen.asked:
                recording.source.polled_ms = seen.at_ms
        for name, recording in self.groups.items():
            if name not in seen.listing.groups and not self._belongs_to_silent(recording, seen):
                changed += self._missing(recording, seen)
        changed += self._begin_some(seen)
        if seen.lag is not None:
            changed += self.lag(seen.lag)
        rows = {row["group"]: row for row in changed}
        return list(rows.values())

    def found(self, name: str, answer: DescribedGroup, seen: Round) -> list[GroupRow]:
        """What a coordinator answered about a group that is missing from the listing."""
        recording = self.groups.get(name)
        return [] if recording is None else self._record_poll(recording, answer, seen)

    def missing(self) -> list[str]:
        """Groups that are listed nowhere, and of which their coordinator must be asked."""
        return [name for name, each in self.groups.items() if each.row.condition == MISSING]

    def _resume(self, at_ms: int) -> None:
        """Take up what another process recorded, and say for how long nobody looked."""
        self._resumed = True
        # The rows of groups are written when something changes, that of the cluster in every round.
        looked_ms = registry.get(self.cluster.pk).seen.get("at_ms")
        # Anyone who follows the log next begins with all of it: what is polled now has no position.
        Cluster.objects.filter(pk=self.cluster.pk).exclude(positions={}).update(positions={})
        rows = WatchedGroup.objects.filter(cluster=self.cluster).select_related("timeline")
        for row in rows.defer("timeline__summary"):
            if row.timeline is None and not row.polled and not row.followed:
                # Its timeline has not begun: it is as new as one that was never seen.
                continue
            try:
                polled = from_plain(PolledGroup, row.polled) if row.polled else PolledGroup(group=row.group)
            except (LookupError, TypeError, ValueError) as error:
                log.warning("The recording of %s begins anew: %s", row.group, error)
                polled = PolledGroup(group=row.group)
            if polled.polled_ms is not None and looked_ms is not None:
                polled.polled_ms = max(polled.polled_ms, looked_ms)
            recording = self._resumed_one(row, polled, at_ms)
            self.groups[row.group] = recording
            row.polled = {}

    def _resumed_one(self, row: WatchedGroup, polled: PolledGroup, at_ms: int) -> Recording:
        fresh = Recording(row, PolledGroup(group=row.group), facts=dict(row.facts))
        if row.followed:
            # It was followed; what is polled from here on is another timeline, so that each shows how it was watched.
            row.followed, row.checkpoint = {}, None
            end_timeline(row, "The log could not be followed any more: the group is polled from here on.")
            return fresh
        if not can_continue(row, polled.next):
            return fresh
        recording = Recording(row, polled, writer=self._take_up(row), facts=dict(row.facts))
        if polled.polled_ms is not None and polled.last is not None:
            length_ms = at_ms - polled.polled_ms
            if length_ms >= UNWATCHED_SHOWN_AFTER_MS:
                text = f"Nobody looked for {length_ms / 1000:.0f} s"
                self._add(recording, polled.interrupted(at_ms, text))
        return recording

    def _take_new(self, seen: Round) -> list[GroupRow]:
        """Groups that were described for the first time: all of their rows are there at once."""
        room = max(0, RECORDED_MOST - len(self.groups))
        new: list[Recording] = []
        for name, listed in seen.listing.groups.items():
            answer = seen.answers.get(name)
            if answer is None or name in self.groups or not is_recorded(name):
                continue
            if len(new) == room:
                break
            row = WatchedGroup(cluster=self.cluster, group=name)
            recording = Recording(row, PolledGroup(group=name), listed=listed, first=(answer, seen.at_ms))
            self._look(recording, answer if isinstance(answer, GroupDescription) else None, seen)
            is_seen = isinstance(answer, GroupDescription)
            row.condition, row.facts = Condition.SEEN.value if is_seen else "", recording.facts
            new.append(recording)
        WatchedGroup.objects.bulk_create(
            [each.row for each in new],
            batch_size=ROWS_AT_ONCE,
            update_conflicts=True,
            unique_fields=["cluster", "group"],
            update_fields=["kind", "state", "condition", "facts", "changed"],
        )
        self.groups |= {each.row.group: each for each in new}
        return [row_of(each.row) for each in new]

    def _begin_some(self, seen: Round) -> list[GroupRow]:
        """Begin the timelines of some groups that have none yet, of those that rebalance first."""
        waiting = [
            each for each in self.groups.values() if each.first is not None and each.row.condition != MISSING
        ]
        waiting.sort(key=lambda each: not each.facts.get("rebalancing"))
        changed = []
        for recording in waiting[:FIRST_AT_ONCE]:
            assert recording.first is not None
            answer, at_ms = recording.first
            changed += self._record_poll(recording, answer, replace(seen, at_ms=at_ms))
        return changed

    def _belongs_to_silent(self, recording: Recording, seen: Round) -> bool:
        return recording.listed is not None and recording.listed.broker in seen.listing.silent

    def _record_poll(
        self, recording: Recording, answer: DescribedGroup | ClusterError | None, seen: Round
    ) -> list[GroupRow]:
        recording.first = None
        if answer is None:
            # Listed again, and its answer is that of before.
            answer = recording.source.shown
        if answer is None:
            return []
        if isinstance(answer, ClusterError):
            return self._take(recording, recording.source.away(seen.at_ms), seen)
        if isinstance(answer, GroupDescription) and recording.source.condition is Condition.DELETED:
            # One of the same name: another incarnation, with a timeline of its own.
            recording.source = PolledGroup(group=recording.row.group)
        recording.looked_ms = recording.source.polled_ms
        entries = self._entries(recording, answer, seen)
        return self._take(recording, entries, seen)

    @staticmethod
    def _entries(recording: Recording, answer: DescribedGroup, seen: Round) -> list[Entry]:
        settings = seen.settings.get(recording.row.group)
        return recording.source.take(answer, seen.at_ms, partitions=seen.partitions, settings=settings)

    def _missing(self, recording: Recording, seen: Round) -> list[GroupRow]:
        if recording.source.condition is Condition.DELETED:
            return []
        return self._take(recording, recording.source.away(seen.at_ms), seen, condition=MISSING)

    def _take(
        self, recording: Recording, entries: list[Entry], seen: Round, condition: str | None = None
    ) -> list[GroupRow]:
        """Append the entries, and keep the row; empty if the row is unchanged."""
        row = recording.row
        before = (row.kind, row.state, row.condition, recording.facts)
        row.condition = condition or recording.source.condition.value
        self._look(recording, recording.source.shown, seen)
        row.facts = recording.facts
        if not entries and before == (row.kind, row.state, row.condition, recording.facts):
            return []
        is_saved = bool(entries) and self._add(recording, entries)
        if recording.source.condition is Condition.DELETED:
            # Its timeline is whole. One of the same name is another incarnation.
            self._complete(recording)
            recording.source = PolledGroup(group=row.group, condition=Condition.DELETED)
        elif recording.writer is not None and recording.writer.last >= settings.LIVE_ENTRIES_MOST:
            self._roll(recording, seen)
        elif is_saved:
            return [row_of(row)]
        self._save(recording)
        return [row_of(row)]

    def _look(self, recording: Recording, shown: GroupDescription | None, seen: Round) -> None:
        """The contents of the group's row, from its description or else from the listing."""
        row, listed = recording.row, recording.listed
        old = recording.facts
        if shown is not None:
            view = view_of_description(shown)
            recording.facts = facts_after(old, row.state, view, seen.at_ms, recording.looked_ms)
            row.kind, row.state = view.kind, view.state
            return
        if listed is not None:
            row.kind, row.state = listed.kind.value if listed.kind else "", listed.state[:STATE_LENGTH_MOST]
        recording.facts = old | {"rebalancing": False}

    def _add(self, recording: Recording, entries: list[Entry]) -> bool:
        """Store entries and row together; false where there was nothing to store, or no place for it any more."""
        try:
            recorder = self._recorder(recording, begins=recording.writer is None)
        except (storage.LeaseLost, storage.NoSuchTimeline):
            self._lost(recording)
            return False
        self._let_go_of_cold()
        for entry in entries:
            recorder.add(entry)
        batch = recorder.flush(final=True)
        return batch is not None and self._append(recording, batch)

    def _lost(self, recording: Recording) -> None:
        """The next timeline begins with the group as it is, at the next change."""
        self._restart_timeline(recording, PolledGroup(group=recording.row.group))

    def _roll(self, recording: Recording, seen: Round) -> None:
        """The timeline is long enough: the next one begins with the group as it is."""
        shown = recording.source.last
        self._complete(recording)
        recording.source = PolledGroup(group=recording.row.group)
        if shown is not None:
            self._add(recording, self._entries(recording, shown, seen))
