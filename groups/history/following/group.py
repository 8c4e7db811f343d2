"""One group of a followed log: its records become the entries of its timeline.

Recorded, all of them: an entry has its partition, offset and batch. Records that were taken before are
known by their offset and are not taken again, so that the log may be read from any earlier place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from groups.history.entries import FIRST_SEQUENCE, Entry, Kind, Payload, Provenance
from groups.history.findings.log_notes import ABORTED_MOST
from groups.history.following.commits import Commits, is_commit_unit, is_readable_commit, records_of
from groups.history.following.life import COMPACTED, ends_life, gap_note
from groups.history.following.partition import GroupRecords, Hole, PartitionLog
from groups.history.following.topics import MENTIONS_KEPT_MOST, TopicFacts, Topics, mentioned
from groups.history.following.transactions import (
    OPEN_LEAST_MS,
    PRODUCERS_MOST,
    OpenNote,
    OpenTransaction,
    aborted_note,
    committed_by,
    ended_note,
    open_note,
)
from groups.history.passes.units import COORDINATOR, LogRecord, units
from groups.history.polls.description import GroupDescription
from groups.history.polls.phases import Phases
from groups.history.polls.settings import changed_settings, settings_note
from groups.history.replay.record_types import CLASSIC_GROUP, OFFSET_TYPES

WATCHER: Final = "watcher"


@dataclass(slots=True, kw_only=True)
class FollowedGroup:
    """The following of one group so far; one of these for each of its lives. ``next`` is the sequence of its next entry."""

    group: str
    partition: int
    next: int = FIRST_SEQUENCE
    reached: int = 0
    """Records that hold from an offset below this one are in the timeline, or in one before it."""

    began: int = 0
    """Offset of this life's first record: what is read again to begin its timeline again."""

    covered: int = 0
    """Holes below this offset are reported, or lie before the group's beginning."""

    leader_epoch: int | None = None
    alive: list[int] = field(default_factory=list)
    ended: bool = False
    topics: dict[str, TopicFacts] = field(default_factory=dict)
    """Those that the timeline reports."""

    settings: dict[str, int] = field(default_factory=dict)
    """The group's settings that the timeline contains."""

    names: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    """Topics that records spoke of."""

    phases: Phases = field(default_factory=Phases)
    """What the coordinator described of a classic group since its last record."""

    at_ms: int = 0
    kept: int = 0
    """Entries at the timeline's beginning that make the group what it was at the end of the one before."""

    held: list[OpenNote] = field(default_factory=list)
    """Notes of open transactions that the timeline contains, without an end so far; ``PRODUCERS_MOST`` at most."""

    aborted: int = 0
    """Notes of aborted commits that the timeline contains; ``ABORTED_MOST`` at most."""

    commits: Commits = field(default_factory=Commits, init=False)
    """Those that wait to become one entry; they are not stored with the group."""

    @property
    def has_begun(self) -> bool:
        return self.next > FIRST_SEQUENCE

    def takes(self, records: GroupRecords) -> bool:
        """Whether these were not taken before."""
        return records.settled >= self.reached

    def take(self, batch: GroupRecords, log: PartitionLog, topics: Topics) -> list[Entry]:
        """The entries that these records make. It stops where the group ends: the rest is ``left`` for its next life."""
        if batch.aborted:
            return self._abort(batch)
        first = batch.records[0]
        entries: list[Entry] = []
        if not self.has_begun and not self.commits.lines:
            self.began = first.offset
        hole = log.hole_from(self.covered, until=batch.settled)
        if hole is not None:
            entries += self._hole(hole, log, first.at_ms)
        if self.leader_epoch is not None and batch.leader_epoch != self.leader_epoch:
            entries += self._note(first.at_ms, {"note": "coordinator", "leader_epoch": batch.leader_epoch})
        self.leader_epoch = batch.leader_epoch
        self._mention(batch.records)
        entries += self.name(topics, first.at_ms)
        entries += self._end_of(batch)
        for unit in units(batch.records):
            if is_commit_unit(unit, self.group):
                entries += self.settle() if not self.commits.takes(unit) else ()
                self.commits.add(unit)
                self.at_ms = max(self.at_ms, unit[-1].at_ms)
                continue
            entries += self.settle()
            entries += self._unit(unit)
            self._live(unit)
            if self.ended:
                self.reached = unit[-1].offset + 1
                return entries
        self.reached = batch.settled + 1
        self.covered = max(self.covered, self.reached)
        return entries

    def settle(self) -> list[Entry]:
        """The entry of the commits that wait; empty where none do. Every other entry comes after it."""
        commits, self.commits = self.commits, Commits()
        if not commits.lines:
            return []
        payload = commits.payload(self.partition)
        return [self._new(Kind.COMMITS, COORDINATOR, commits.last_ms, {**payload})]

    def left(self, batch: GroupRecords) -> GroupRecords | None:
        """The records of ``batch`` behind the end of this life; null where there are none."""
        rest = tuple(record for record in batch.records if record.offset >= self.reached)
        if not self.ended or not rest:
            return None
        return GroupRecords(
            group=batch.group, settled=batch.settled, leader_epoch=batch.leader_epoch, records=rest
        )

    def next_life(self) -> FollowedGroup:
        """What follows the records of another incarnation of this name."""
        return FollowedGroup(
            group=self.group, partition=self.partition, reached=self.reached, covered=self.reached
        )

    def restarted(self, reached: int) -> FollowedGroup:
        """What follows the same group again from ``reached`` on, in a timeline of its own."""
        return FollowedGroup(group=self.group, partition=self.partition, reached=reached, covered=reached)

    def caught_up(self, log: PartitionLog) -> list[Entry]:
        """The log was read to its end: a hole behind the group's last record is reported, too.

        Compaction keeps the newest record of each key, but a tombstone only for a day (``delete.retention.ms``).
        """
        if not (self.has_begun or self.commits.lines) or self.ended or log.initial:
            return []
        hole = log.hole_from(max(self.covered, self.reached))
        return [] if hole is None else self._hole(hole, log, self.at_ms)

    def observe(self, records: GroupDescription, at_ms: int) -> list[Entry]:
        """What its coordinator described at ``at_ms`` of the time between two generations; empty where that is known."""
        observed = self.phases.take(records, self.next + bool(self.commits.lines), None)
        return [] if observed is None else self._by_watcher(Kind.OBSERVATION, at_ms, observed)

    def hold(self, some: Iterable[OpenTransaction], at_ms: int) -> list[Entry]:
        """Notes of transactions that are open at ``at_ms`` and have been for a while; of those noted before, the end of each other one.

        ``some`` are all that are open: the end of one that is not among them is not in the log any more.
        """
        open_now = {one.producer: one for one in some}
        noted = {note["producer"]: note for note in self.held}
        entries: list[Entry] = []
        for producer in noted.keys() - open_now.keys():
            entries += self._ends(producer, None, at_ms)
        for producer, one in open_now.items():
            known, note = noted.get(producer), open_note(one, self.partition)
            is_due = at_ms - one.from_ms >= OPEN_LEAST_MS and len(self.held) < PRODUCERS_MOST
            if known is None and is_due:
                if not self.has_begun and not self.commits.lines:
                    self.began = one.from_offset
                self.held.append(note)
            elif known is not None and known["partitions"] != note["partitions"]:
                self.held[self.held.index(known)] = note
            else:
                continue
            entries += self._note(at_ms, {**note})
        return entries

    def _end_of(self, some: GroupRecords) -> list[Entry]:
        """The end of the transaction of these records, if the timeline has a note that it is open."""
        if some.producer is None or some.ended_ms is None:
            return []
        return self._ends(some.producer, not some.aborted, some.ended_ms)

    def _ends(self, producer: int, committed: bool | None, at_ms: int) -> list[Entry]:
        left = [note for note in self.held if note["producer"] != producer]
        if len(left) == len(self.held):
            return []
        self.held = left
        return self._note(at_ms, ended_note(producer, committed))

    def _abort(self, some: GroupRecords) -> list[Entry]:
        """Notes of commits that were aborted with their transaction, one for each request; none begins a timeline."""
        self.reached = some.settled + 1
        if not self.has_begun and not self.commits.lines:
            return []
        entries = self._end_of(some)
        for unit in units(some.records):
            committed = committed_by(unit)
            if committed and some.producer is not None and self.aborted < ABORTED_MOST:
                self.aborted += 1
                note = aborted_note(some.producer, unit[0].at_ms, None, committed)
                entries += self._note(some.written_ms, note)
        return entries

    def set(self, settings: Mapping[str, int]) -> list[Entry]:
        """The group's settings, as its cluster reports them; empty if the timeline contains them."""
        changed = {} if self.ended or not self.has_begun else changed_settings(self.settings, settings)
        self.settings |= changed
        return self._note(self.at_ms, settings_note(changed)) if changed else []

    def gap(self, text: str, at_ms: int) -> list[Entry]:
        """What could not be seen, in a sentence."""
        known = {"note": "gap", "partition": self.partition, "from_offset": None, "to_offset": None}
        return self._note(at_ms, {**known, "says": text})

    def name(self, topics: Topics, at_ms: int) -> list[Entry]:
        """A note of topics that the group speaks of and that are not in the timeline yet; empty if all are."""
        known = {name: topics[name] for name in self.names if name in topics}
        if self.ids:
            wanted = set(self.ids)
            known |= {name: facts for name, facts in topics.items() if facts.topic_id in wanted}
        changed = {name: facts for name, facts in known.items() if self.topics.get(name) != facts}
        if not changed:
            return []
        self.topics |= changed
        given = {
            name: {"id": facts.topic_id, "partitions": facts.partitions}
            for name, facts in sorted(changed.items())
        }
        return self._note(at_ms, {"note": "topics", "topics": given, "source": "cluster"})

    def continued(self, latest: Iterable[Entry]) -> list[Entry]:
        """The first entries of the next timeline: the newest record of each key, from the entries of the one before.

        Replaying them gives the group as it is, as Kafka itself does with a log that was compacted.
        """
        kept = list(latest)
        known = self.topics
        settings = self.settings
        self.next, self.topics, self.settings, self.aborted = FIRST_SEQUENCE, {}, {}, 0
        if not kept:
            return []
        text = (
            "The timeline before this one was long enough: this one begins with the newest record of each key"
        )
        first, last = kept[0].offset or 0, self.reached - 1
        hole = gap_note(self.partition, first, last, COMPACTED, compacted=True, continued=True, says=text)
        entries = [*self._note(kept[0].at_ms, hole), *self.name(known, kept[0].at_ms)]
        records: list[Entry] = []
        commits: list[Entry] = []
        for record in kept:
            (commits if is_readable_commit(record.payload, self.group) else records).append(record)
        unit = self.next
        for record in records:
            entries.append(self._entry(record.at_ms, record.payload, unit, record is records[-1], record))
        entries += self.set(settings)
        self.commits.add(sorted(commits, key=lambda record: record.at_ms))
        entries += self.settle()
        for note in self.held:
            entries += self._note(self.at_ms, {**note})
        self.kept = len(entries)
        return entries

    def _hole(self, hole: Hole, log: PartitionLog, at_ms: int) -> list[Entry]:
        self.covered = hole.last + 1
        more = {} if hole.reason else {"compacted": True}
        return self._note(
            at_ms, gap_note(self.partition, hole.first, hole.last, hole.reason or COMPACTED, **more)
        )

    def _mention(self, records: Iterable[LogRecord]) -> None:
        ids, names = mentioned(records)
        for new, known in ((ids - set(self.ids), self.ids), (names - set(self.names), self.names)):
            known += sorted(new)[: max(0, MENTIONS_KEPT_MOST - len(known))]

    def _live(self, unit: Iterable[LogRecord]) -> None:
        """Follows what keeps a group in being: its epoch record or its classic record."""
        if any(each.payload.get("type") == CLASSIC_GROUP and "key" in each.payload for each in unit):
            self.phases.end()
        # A tombstone of a group that the log did not show ends nothing.
        was_alive = bool(self.alive)
        self.ended = (ends_life(self.alive, unit) and was_alive) or self.ended

    def _unit(self, unit: list[LogRecord]) -> list[Entry]:
        first = self.next
        return [self._entry(each.at_ms, each.payload, first, each is unit[-1], each) for each in unit]

    def _entry(
        self, at_ms: int, payload: Payload, unit: int, settled: bool, place: LogRecord | Entry
    ) -> Entry:
        entry = Entry(
            sequence=self.next,
            at_ms=at_ms,
            kind=Kind.RECORD,
            actor=COORDINATOR,
            provenance=Provenance.RECORDED,
            payload=payload,
            settled=settled,
            partition=self.partition,
            offset=place.offset,
            batch=place.batch,
            unit=unit,
        )
        self.next += 1
        self.at_ms = max(self.at_ms, at_ms)
        return entry

    def _note(self, at_ms: int, payload: Payload) -> list[Entry]:
        return self._by_watcher(Kind.NOTE, at_ms, payload)

    def _by_watcher(self, kind: Kind, at_ms: int, payload: Payload) -> list[Entry]:
        return [*self.settle(), self._new(kind, WATCHER, at_ms, payload)]

    def _new(self, kind: Kind, actor: str, at_ms: int, payload: Payload) -> Entry:
        entry = Entry(
            sequence=self.next,
            at_ms=at_ms,
            kind=kind,
            actor=actor,
            provenance=Provenance.RECORDED,
            payload=payload,
        )
        self.next += 1
        return entry


def newest(entries: Iterable[Entry], group: str) -> list[Entry]:
    """The newest record of each key that is no tombstone, in the order of the log."""
    kept: dict[str, Entry] = {}
    for entry in entries:
        for record in records_of(entry, group) if entry.kind is Kind.COMMITS else (entry,):
            if record.kind is not Kind.RECORD:
                continue
            payload = record.payload
            key = repr((payload.get("type"), payload.get("key"), payload.get("key_bytes")))
            kept.pop(key, None)
            if payload.get("value") is not None or payload.get("value_bytes") is not None:
                kept[key] = record
    return list(kept.values())


def is_commit(entry: Entry) -> bool:
    """Whether nothing of the group changes but what it committed."""
    return entry.kind is Kind.COMMITS or (
        entry.kind is Kind.RECORD and entry.payload.get("type") in OFFSET_TYPES
    )
