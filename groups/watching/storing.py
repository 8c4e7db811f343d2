"""What a round saw becomes entries of timelines and rows of groups, stored and announced.

A group has one timeline that grows. It ends when the group is deleted, or when it is long enough
(``LIVE_ENTRIES_MOST``): the next one begins with the group as it is. Where the recording stands is stored with the
row, so that whoever takes the cluster after this process goes on where it ended, and says for how long nobody looked.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from django.conf import settings
from django.db import transaction

from groups import storage
from groups.cluster_models import GROUP_NAME_LENGTH_MOST, Cluster, WatchedGroup
from groups.clusters.cluster import Listed
from groups.clusters.faults import ClusterError
from groups.history.entries import Entry
from groups.history.passes.recorder import Recorder
from groups.history.polls.description import GroupDescription, Told
from groups.history.polls.recording import Condition, PolledGroup
from groups.history.state.plain import from_plain, to_plain
from groups.jobs.announce import announce, cluster_group
from groups.models import Timeline
from groups.watching import registry
from groups.watching.pulling import Round

log = logging.getLogger(__name__)

MISSING: Final = "missing"
"""A group that no broker lists now, and of which no coordinator said that it is gone."""

RECORDED_MOST: Final = 2_000
"""Groups that are recorded; the others are listed with their state. A recorder holds some 100 KB of a small group."""

UNWATCHED_TOLD_AFTER_MS: Final = 2_000
"""A pause that is not much longer than between two rounds hides no more than they do."""

REBALANCES_KEPT: Final = 60
"""Times of the last rebalances, for the list's small figure."""


@dataclass(slots=True)
class Recording:
    """One group under way: its row, its polls, its recorder and its timeline's writer."""

    row: WatchedGroup
    polled: PolledGroup
    recorder: Recorder
    writer: storage.Writer | None
    listed: Listed | None = None
    facts: dict[str, Any] = field(default_factory=dict)


class Store:
    """All recordings of one cluster; one process has it."""

    def __init__(self, cluster: Cluster, owner: str) -> None:
        self.cluster = cluster
        self.owner = owner
        self.recordings: dict[str, Recording] = {}
        self._resumed = False

    def take(self, seen: Round) -> list[dict[str, Any]]:
        """Store one round; the rows that changed, as they are announced."""
        if not self._resumed:
            self._resume(seen.at_ms)
        changed = []
        for name, row in seen.listing.groups.items():
            told = seen.told.get(name)
            if name not in self.recordings and not self._begins(name, row, told):
                continue
            recording = self.recordings[name]
            recording.listed = row
            if told is not None or recording.row.condition == MISSING:
                changed += self._told(recording, told, seen)
            elif name in seen.asked:
                recording.polled.polled_ms = seen.at_ms
        for name, recording in self.recordings.items():
            if name not in seen.listing.groups and not self._belongs_to_silent(recording, seen):
                changed += self._missing(recording, seen)
        if seen.lag is not None:
            changed += self._lag(seen.lag)
        rows = {row["group"]: row for row in changed}
        return list(rows.values())

    def found(self, name: str, told: Told, seen: Round) -> list[dict[str, Any]]:
        """What a coordinator answered about a group that is missing from the listing."""
        recording = self.recordings.get(name)
        return [] if recording is None else self._told(recording, told, seen)

    def missing(self) -> list[str]:
        """Groups that are listed nowhere, and of which their coordinator must be asked."""
        return [name for name, each in self.recordings.items() if each.row.condition == MISSING]

    def _resume(self, at_ms: int) -> None:
        """Take up what another process recorded, and say for how long nobody looked."""
        self._resumed = True
        # The rows of groups are written when something changes, that of the cluster in every round.
        looked_ms = registry.get(self.cluster.pk).seen.get("at_ms")
        # Whoever follows the log next begins with all of it: what is polled now is in no position.
        Cluster.objects.filter(pk=self.cluster.pk).exclude(positions={}).update(positions={})
        for row in WatchedGroup.objects.filter(cluster=self.cluster).select_related("timeline"):
            try:
                polled = from_plain(PolledGroup, row.polled) if row.polled else PolledGroup(group=row.group)
            except (LookupError, TypeError, ValueError) as error:
                log.warning("The recording of %s begins anew: %s", row.group, error)
                polled = PolledGroup(group=row.group)
            if polled.polled_ms is not None and looked_ms is not None:
                polled.polled_ms = max(polled.polled_ms, looked_ms)
            recording = self._resumed_one(row, polled, at_ms)
            self.recordings[row.group] = recording

    def _resumed_one(self, row: WatchedGroup, polled: PolledGroup, at_ms: int) -> Recording:
        fresh = Recording(
            row, PolledGroup(group=row.group), Recorder(group=row.group), None, facts=dict(row.facts)
        )
        timeline = row.timeline
        if row.followed:
            # It was followed; what is polled from here on is another timeline, so that each says how it was watched.
            row.followed, row.checkpoint = {}, None
            if timeline is not None and timeline.status == Timeline.Status.RUNNING:
                end_timeline(
                    timeline.pk, "The log could not be followed any more: the group is polled from here on."
                )
            return fresh
        if timeline is None or timeline.status != Timeline.Status.RUNNING or polled.next != timeline.last + 1:
            if timeline is not None and timeline.status == Timeline.Status.RUNNING:
                end_timeline(timeline.pk, "Its recording could not be taken up again.")
            return fresh
        recorder = Recorder(group=row.group)
        for entry in storage.every_entry(timeline):
            recorder.add(Entry.from_json(entry))
        recorder.flush(final=True)
        # The cluster's lease is held, so whoever wrote before is gone.
        Timeline.objects.filter(pk=timeline.pk).update(lease_owner="")
        writer = storage.open_writer(timeline.pk, self.owner)
        recording = Recording(row, polled, recorder, writer, facts=dict(row.facts))
        if polled.polled_ms is not None and polled.last is not None:
            length_ms = at_ms - polled.polled_ms
            if length_ms >= UNWATCHED_TOLD_AFTER_MS:
                says = f"Nobody looked for {length_ms / 1000:.0f} s"
                self._append(recording, polled.interrupted(at_ms, says))
        return recording

    def _begins(self, name: str, row: Listed, told: Told | ClusterError | None) -> bool:
        if told is None or len(self.recordings) >= RECORDED_MOST or len(name) > GROUP_NAME_LENGTH_MOST:
            return False
        stored, _ = WatchedGroup.objects.get_or_create(cluster=self.cluster, group=name)
        self.recordings[name] = Recording(stored, PolledGroup(group=name), Recorder(group=name), None, row)
        return True

    def _belongs_to_silent(self, recording: Recording, seen: Round) -> bool:
        return recording.listed is not None and recording.listed.broker in seen.listing.silent

    def _told(
        self, recording: Recording, told: Told | ClusterError | None, seen: Round
    ) -> list[dict[str, Any]]:
        if told is None:
            # Listed again, and its answer is that of before.
            told = recording.polled.shown
        if told is None:
            return []
        if isinstance(told, ClusterError):
            return self._write(recording, recording.polled.away(seen.at_ms), seen)
        if isinstance(told, GroupDescription) and recording.polled.condition is Condition.DELETED:
            # One of the same name: another incarnation, with a timeline of its own.
            recording.polled = PolledGroup(group=recording.row.group)
        entries = recording.polled.take(told, seen.at_ms, partitions=seen.partitions)
        return self._write(recording, entries, seen)

    def _missing(self, recording: Recording, seen: Round) -> list[dict[str, Any]]:
        if recording.polled.condition is Condition.DELETED:
            return []
        return self._write(recording, recording.polled.away(seen.at_ms), seen, condition=MISSING)

    def _write(
        self, recording: Recording, entries: list[Entry], seen: Round, condition: str | None = None
    ) -> list[dict[str, Any]]:
        """Append the entries, and keep the row; empty where the row says what it said before."""
        before = (recording.row.kind, recording.row.state, recording.row.condition, recording.facts)
        polled, listed = recording.polled, recording.listed
        row = recording.row
        row.condition = condition or polled.condition.value
        shown = polled.shown
        if shown is not None:
            row.kind, row.state = shown.kind.value, shown.state
        elif listed is not None:
            row.kind, row.state = listed.kind.value if listed.kind else "", listed.state
        recording.facts = self._facts(recording, shown, seen)
        if entries:
            self._append(recording, entries)
        polled = recording.polled
        if polled.condition is Condition.DELETED:
            self._finish(recording)
        elif recording.writer is not None and recording.writer.last >= settings.LIVE_ENTRIES_MOST:
            self._roll(recording, seen)
        after = (row.kind, row.state, row.condition, recording.facts)
        if after == before and not entries:
            return []
        row.facts = recording.facts
        row.polled = to_plain(polled)
        row.save()
        return [row_of(row)]

    def _facts(self, recording: Recording, shown: GroupDescription | None, seen: Round) -> dict[str, Any]:
        old = recording.facts
        times = list(old.get("rebalanced_ms", []))
        if shown is None:
            return old | {"rebalancing": False}
        epoch = shown.group_epoch
        began = shown.is_rebalancing and not old.get("rebalancing")
        jumped = epoch is not None and old.get("group_epoch") is not None and epoch != old["group_epoch"]
        if began or jumped:
            times = [*times, seen.at_ms][-REBALANCES_KEPT:]
        return {
            "group_epoch": epoch,
            "assignment_epoch": shown.assignment_epoch,
            "members": len(shown.members),
            "behind": sum(
                1
                for member in shown.members
                if member.epoch is not None and member.epoch != shown.assignment_epoch
            ),
            "lag": old.get("lag"),
            "rebalancing": shown.is_rebalancing,
            "since_ms": seen.at_ms if began else (old.get("since_ms") if shown.is_rebalancing else None),
            "rebalanced_ms": times,
        }

    def _append(self, recording: Recording, entries: list[Entry]) -> None:
        for entry in entries:
            recording.recorder.add(entry)
        batch = recording.recorder.flush(final=True)
        if batch is None:
            return
        try:
            with transaction.atomic():
                if recording.writer is None:
                    recording.writer = self._begin_timeline(recording.row)
                recording.writer.append(batch)
                recording.row.polled = to_plain(recording.polled)
                recording.row.save()
        except (storage.LeaseLost, storage.NoSuchTimeline):
            # Somebody deleted the timeline: the next one begins with the group as it is, at the next change.
            recording.writer = None
            recording.row.timeline = None
            recording.polled = PolledGroup(group=recording.row.group)
            recording.recorder = Recorder(group=recording.row.group)

    def _begin_timeline(self, row: WatchedGroup) -> storage.Writer:
        return begin_timeline(self.cluster, self.owner, row)

    def _finish(self, recording: Recording) -> None:
        """The group is gone: its timeline is whole. One of the same name is another incarnation."""
        self._complete(recording)
        recording.polled = PolledGroup(group=recording.row.group, condition=Condition.DELETED)
        recording.recorder = Recorder(group=recording.row.group)

    def _roll(self, recording: Recording, seen: Round) -> None:
        """The timeline is long enough: the next one begins with the group as it is."""
        shown = recording.polled.last
        self._complete(recording)
        recording.polled = PolledGroup(group=recording.row.group)
        recording.recorder = Recorder(group=recording.row.group)
        if shown is not None:
            self._append(recording, recording.polled.take(shown, seen.at_ms, partitions=seen.partitions))

    def _complete(self, recording: Recording) -> None:
        if recording.writer is not None:
            with contextlib.suppress(storage.LeaseLost, storage.NoSuchTimeline):
                recording.writer.finish(Timeline.Status.COMPLETE)
        recording.writer = None

    def _lag(self, lag: Mapping[str, int | None]) -> list[dict[str, Any]]:
        changed = []
        for name, value in lag.items():
            recording = self.recordings.get(name)
            if recording is None or recording.facts.get("lag") == value:
                continue
            recording.facts = recording.facts | {"lag": value}
            recording.row.facts = recording.facts
            recording.row.save(update_fields=["facts", "changed"])
            changed.append(row_of(recording.row))
        return changed

    def announce(self, rows: list[dict[str, Any]], seen: Mapping[str, Any]) -> None:
        message = {"type": "groups", "groups": rows, "seen": seen, "status": self.cluster.status}
        text = orjson.dumps(message).decode()
        announce(cluster_group(self.cluster.pk), {"type": "cluster.groups", "text": text})


def end_timeline(timeline_id: str, problem: str) -> None:
    """End a timeline that cannot be gone on with, and say why."""
    Timeline.objects.filter(pk=timeline_id).update(
        status=Timeline.Status.INTERRUPTED, problem=problem, lease_owner="", lease_until=None
    )


def begin_timeline(cluster: Cluster, owner: str, row: WatchedGroup) -> storage.Writer:
    """A timeline that grows, of a group of this cluster."""
    timeline = storage.create_timeline(
        title=f"{row.group} on {cluster.name}",
        source=Timeline.Source.LIVE,
        group=row.group,
        semantics="kafka",
        cluster_id=cluster.pk,
    )
    row.timeline = timeline
    return storage.open_writer(timeline.pk, owner)


def row_of(row: WatchedGroup) -> dict[str, Any]:
    """A group as lists show it: the API's form, and what is pushed."""
    return {
        "group": row.group,
        "type": row.kind or None,
        "state": row.state or None,
        "condition": row.condition or None,
        "timeline": row.timeline_id,
        "group_epoch": row.facts.get("group_epoch"),
        "assignment_epoch": row.facts.get("assignment_epoch"),
        "members": row.facts.get("members"),
        "behind": row.facts.get("behind"),
        "lag": row.facts.get("lag"),
        "rebalancing": bool(row.facts.get("rebalancing")),
        "since_ms": row.facts.get("since_ms"),
        "rebalanced_ms": row.facts.get("rebalanced_ms", []),
    }
