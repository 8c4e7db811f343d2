"""Folds the records of groups into timelines: what a folding task does, without Spark.

Records come sorted by group; those that tell about topics come twice, first as facts (``turn`` 0), so that names
are known before the first entry is made, and memory stays that of one batch however many commits a group has.

A timeline is one incarnation of a group, from its creation to its deletion; a migration between protocols stays
within it. Out come JSON lines, each with the key of its timeline.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import orjson

from groups.history.entries import FIRST_SEQUENCE, Entry, Kind, Provenance
from groups.history.record_types import meaning
from groups.history.recorder import Batch, Recorder
from groups.history.units import units
from groups.pipeline.group_records import LIFE_TYPES, GroupRecord
from groups.pipeline.naming import Note, Plan, plan
from groups.pipeline.topic_facts import GroupFacts, Known

FLUSH_ENTRIES = 500
"""Entries of one stored batch: small enough that progress moves, large enough that rows are few."""

CONFLICTS_MOST = 20
"""Offsets that are told one by one where two files disagree."""

FACTS, RECORDS = 0, 1


class Ordered(NamedTuple):
    """A row of the folding stage, in the order of its columns; sorted by group, turn, partition, offset."""

    group: str
    turn: int
    partition: int | None
    offset: int
    batch: int
    at_ms: int
    type: int | None
    source: int
    payload: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class LostOffsets:
    """Offsets of a partition that could not be read or were not given."""

    from_offset: int
    to_offset: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What every folding task knows: the names known beforehand, and what is missing in each partition."""

    known: Known
    lost: Mapping[int | None, tuple[LostOffsets, ...]] = field(default_factory=dict)
    files: tuple[str, ...] = ()


class Line(NamedTuple):
    """One line of output: the timeline's key (empty where it is of none) and the JSON."""

    timeline: str
    json: bytes


def fold_rows(rows: Iterable[Ordered], context: Context) -> Iterator[Line]:
    """The timelines of every group in ``rows``."""
    folding: GroupFolding | None = None
    for row in rows:
        if folding is None or folding.group != row.group:
            if folding is not None:
                yield from folding.finish()
            folding = GroupFolding(row.group, context)
        yield from folding.add(row)
    if folding is not None:
        yield from folding.finish()


class GroupFolding:
    """One group's rows, in; lines, out."""

    def __init__(self, group: str, context: Context) -> None:
        self.group = group
        self.context = context
        self.facts = GroupFacts()
        self.plan: Plan | None = None
        self.batch: list[GroupRecord] = []
        self.last: Ordered | None = None
        self.number = 0
        self.timeline: TimelineFolding | None = None
        self.repeated = 0
        self.conflicts: list[dict[str, Any]] = []

    def add(self, row: Ordered) -> Iterator[Line]:
        if row.turn == FACTS:
            self.facts.add(row.offset, orjson.loads(row.payload))
            return
        last = self.last
        if last is not None and (last.partition, last.offset) == (row.partition, row.offset):
            # The same segment given twice, or two segments that overlap: one of the two is kept.
            self.repeated += 1
            if last.payload != row.payload:
                self.conflict(row, last)
            return
        if last is not None and (last.partition, last.batch) != (row.partition, row.batch):
            yield from self.close_batch()
        self.last = row
        self.batch.append(
            GroupRecord(row.partition, row.offset, row.batch, row.at_ms, row.type, orjson.loads(row.payload))
        )

    def finish(self) -> Iterator[Line]:
        yield from self.close_batch()
        yield from self.close_timeline()
        if self.repeated or self.conflicts:
            told = {
                "type": "repeated",
                "group": self.group,
                "records": self.repeated,
                "conflicts": self.conflicts,
            }
            yield Line("", orjson.dumps(told))

    def conflict(self, row: Ordered, kept: Ordered) -> None:
        if len(self.conflicts) < CONFLICTS_MOST:
            files = self.context.files
            reason = f"another record than in {files[kept.source]} at the same offset; the latter is kept"
            self.conflicts.append(
                {"file": files[row.source], "offset": row.offset, "reason": reason, "records": 1}
            )

    def close_batch(self) -> Iterator[Line]:
        if self.plan is None:
            self.plan = plan(self.facts, self.context.known)
        for unit in units(self.batch):
            yield from self.unit(unit)
        self.batch = []

    def unit(self, unit: list[GroupRecord]) -> Iterator[Line]:
        if self.timeline is not None and self.timeline.ended and not all(record.tombstone for record in unit):
            # Something is written for a group that was deleted: it was created again.
            yield from self.close_timeline()
        if self.timeline is None:
            if all("key" not in record.payload for record in unit):
                # Nothing here can be understood, and nothing says that the group's name was read rightly.
                return
            assert self.plan is not None
            self.number += 1
            self.timeline = TimelineFolding(self.group, self.number, self.plan, self.context)
            yield self.timeline.opening()
        yield from self.timeline.unit(unit)

    def close_timeline(self) -> Iterator[Line]:
        if self.timeline is not None:
            yield from self.timeline.finish()
            self.timeline = None


class TimelineFolding:
    """One incarnation: units become entries, entries go through the recorder."""

    def __init__(self, group: str, number: int, plan: Plan, context: Context) -> None:
        self.key = f"{group}#{number}"
        self.group = group
        self.number = number
        self.context = context
        self.notes = list(plan.notes)
        self.nameless = plan.nameless
        self.named: dict[str, dict[str, Any]] = {}
        self.recorder = Recorder(group=group)
        self.sequence = FIRST_SEQUENCE
        self.unflushed = 0
        self.alive: set[int] = set()
        self.ended = False
        self.reached: dict[int | None, int] = {}
        self.first_ms: int | None = None
        self.last_ms = 0
        self.records = 0
        self.mentioned: set[str] = set()

    def opening(self) -> Line:
        told = {"type": "timeline", "timeline": self.key, "group": self.group, "incarnation": self.number}
        return Line(self.key, orjson.dumps(told))

    def unit(self, unit: list[GroupRecord]) -> Iterator[Line]:
        first, last = unit[0], unit[-1]
        for lost in self.lost_before(first):
            self.add_gap(lost, first.partition, first.at_ms)
        for source, topics in self.due_notes(last.offset, first.at_ms):
            self.add_note({"note": "topics", "topics": topics, "source": source}, first.at_ms)
        begins = self.sequence
        for record in unit:
            self.add_entry(
                Entry(
                    sequence=self.sequence,
                    at_ms=record.at_ms,
                    kind=Kind.RECORD,
                    actor="coordinator",
                    provenance=Provenance.RECORDED,
                    settled=record is last,
                    partition=record.partition,
                    offset=record.offset,
                    batch=record.batch,
                    unit=begins,
                    payload=record.payload,
                )
            )
            self.records += 1
        self.reached[last.partition] = last.offset
        self.count_life(unit)
        if self.unflushed >= FLUSH_ENTRIES or self.recorder.full:
            yield from self.flush(final=False)

    def finish(self) -> Iterator[Line]:
        if not self.ended:
            for partition, reached in self.reached.items():
                for lost in self.context.lost.get(partition, ()):
                    if lost.from_offset > reached:
                        self.add_gap(lost, partition, self.last_ms)
        yield from self.flush(final=True)
        told = {
            "type": "folded",
            "timeline": self.key,
            "group": self.group,
            "incarnation": self.number,
            "records": self.records,
            "deleted": self.ended,
            "named": list(self.named.values()),
            "nameless": [topic for topic in self.nameless if topic["id"] in self.mentioned],
        }
        yield Line(self.key, orjson.dumps(told))

    def add_entry(self, entry: Entry) -> None:
        self.recorder.add(entry)
        self.sequence += 1
        self.unflushed += 1
        self.first_ms = entry.at_ms if self.first_ms is None else self.first_ms
        self.last_ms = entry.at_ms

    def add_note(self, payload: dict[str, Any], at_ms: int) -> None:
        self.add_entry(
            Entry(
                sequence=self.sequence,
                at_ms=at_ms,
                kind=Kind.NOTE,
                actor="coordinator",
                provenance=Provenance.INFERRED,
                payload=payload,
            )
        )

    def add_gap(self, lost: LostOffsets, partition: int | None, at_ms: int) -> None:
        self.add_note(
            {
                "note": "gap",
                "partition": partition,
                "from_offset": lost.from_offset,
                "to_offset": lost.to_offset,
                "reason": lost.reason,
            },
            at_ms,
        )

    def lost_before(self, record: GroupRecord) -> Iterator[LostOffsets]:
        """What is missing between the last record of this timeline and the next one."""
        reached = self.reached.get(record.partition)
        if reached is None:
            return
        for lost in self.context.lost.get(record.partition, ()):
            if reached < lost.from_offset <= record.offset:
                yield lost

    def due_notes(self, offset: int, at_ms: int) -> Iterator[tuple[str, dict[str, Any]]]:
        """Notes about topics that hold from this unit on, merged by source; a topic told anew replaces the old."""
        due: dict[str, dict[str, Any]] = {}
        later: list[Note] = []
        for note in self.notes:
            by_offset = note.offset is not None and note.offset <= offset
            if by_offset or (note.at_ms is not None and note.at_ms <= at_ms):
                due.setdefault(note.source, {}).update(note.topics)
                for name, topic in note.topics.items():
                    if topic is None:
                        continue
                    self.named[topic["id"]] = {"id": topic["id"], "name": name, "source": note.source}
            else:
                later.append(note)
        if due:
            self.notes = later
        yield from due.items()

    def count_life(self, unit: list[GroupRecord]) -> None:
        """Follows what keeps a group in being: its epoch record or its classic record."""
        removed = False
        for record in unit:
            value = record.payload.get("value")
            for part in ("topicPartitions", "assignedPartitions", "partitionsPendingRevocation"):
                for topic in (value or {}).get(part) or ():
                    self.mentioned.add(topic["topicId"])
            if "key" not in record.payload or record.type is None or meaning(record.type) not in LIFE_TYPES:
                continue
            if record.tombstone:
                self.alive.discard(record.type)
                removed = True
            else:
                self.alive.add(record.type)
        if removed and not self.alive:
            self.ended = True

    def flush(self, *, final: bool) -> Iterator[Line]:
        batch: Batch | None = self.recorder.flush(final=final)
        self.unflushed = 0
        if batch is not None:
            # The line is JSON already; its timeline is put in front without reading it again.
            line = batch.to_line().strip()
            yield Line(self.key, b'{"timeline":' + orjson.dumps(self.key) + b"," + line[1:])
