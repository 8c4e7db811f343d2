"""One incarnation of a group: units become entries, entries go through the first pass of the fold and into a pack."""

from __future__ import annotations

from base64 import b64encode
from bisect import bisect_left
from collections import deque
from dataclasses import asdict
from typing import Any, Final

import orjson

from groups.history.entries import FIRST_SEQUENCE, Entry, Kind, Provenance, written
from groups.history.following.life import ends_life, gap_note
from groups.history.passes.checkpoints import chunk_limit
from groups.history.passes.indexing import Indexer
from groups.history.replay.fold import FOLD_VERSION
from groups.packs.chained import CheckpointWriter
from groups.packs.index import INDEX_FORMAT, StoredChunk, TimelineIndex
from groups.packs.listed_summary import listed_name, listed_summary, packed_verdict, words_of
from groups.packs.packs import SMALL_BYTES, PackWriter
from groups.pipeline.folding.commit_columns import PlacedCommits, block
from groups.pipeline.folding.commit_runs import Digest, Progress, RunColumns, commit_run
from groups.pipeline.folding.context import Context, LostOffsets
from groups.pipeline.folding.group_records import GroupRecord, entry_text
from groups.pipeline.folding.notes import compaction_note, leader_note, lost_between, split_due
from groups.pipeline.reading.group_blocks import CommitRows, Tables, joined
from groups.pipeline.topics.naming import Plan
from groups.texts.found import TextEntry

_RECORD: Final = Kind.RECORD
_RECORDED: Final = Provenance.RECORDED

CHUNK_BYTES_LEAST: Final = 512 * 1024
"""A chunk of a small group holds about two thousand entries: they are made into frames in a tenth of a second. What a chunk costs by
itself (a checkpoint of a hundred kilobytes, its digest, its columns) is then a tenth of the first pass."""

COMMIT_BYTES: Final = 250
"""What a commit weighs in a chunk: about what it is as an entry in JSON."""

LOGGED_WITHIN_MS: Final = 500
"""A coordinator logs a removal and writes its records in one go; on a busy machine so far apart."""

GAPS_KEPT_MOST: Final = 100
"""Gaps of one timeline that a report lists; all of them are in its entries."""


class TimelineFolding:
    """``unit`` and ``commits`` in the order of their offsets, then ``finish``."""

    def __init__(self, group: str, number: int, plan: Plan, context: Context, packs: PackWriter) -> None:
        self.group = group
        self.number = number
        self.context = context
        self.packs = packs
        self.notes = list(plan.notes)
        self.nameless = plan.nameless
        self.named: dict[str, dict[str, Any]] = {}
        self.mentioned: set[str] = set()
        self.indexer = Indexer(group=group)
        self.digest = Digest()
        self.progress = Progress()
        self.earlier: dict[int, dict[str, str]] = {}
        """Ids of the group's stored timelines by their length and digest: two of its lives may be as long."""
        for one in context.earlier.get(listed_name(group), ()):
            self.earlier.setdefault(one.entries, {})[one.digest] = one.id
        self.texts: deque[TextEntry] = deque()
        """Entries that texts made, by time, which are still to come."""
        self.continues: str | None = None
        self.sequence = FIRST_SEQUENCE
        self.records = 0
        self.alive: list[int] = []
        self.ended = False
        self.reached: dict[int | None, int] = {}
        self.begun: dict[int | None, int] = {}
        self.last_ms = 0
        self.chunks: list[StoredChunk] = []
        self._checkpoints = CheckpointWriter(packs)
        self._shares = False
        """Whether it is so small that others are compressed with it."""
        self._begin_chunk()

    # -- records

    def unit(
        self, unit: list[GroupRecord], commits: CommitRows | None = None, tables: Tables | None = None
    ) -> None:
        """The records of one request. ``commits`` are the rows of those that are commits, where they come as records."""
        first, last = unit[0], unit[-1]
        self._settings_first(first.at_ms)
        if first.partition not in self.begun or self._is_watched(first.partition):
            self._gaps_before(first.partition, first.offset, first.at_ms)
            self._notes_until(last.offset, first.at_ms)
        cause = self._cause_in_texts(unit) if self.texts else None
        begins = self.sequence
        entries = [
            written(
                sequence,
                record.at_ms,
                _RECORD,
                "coordinator",
                _RECORDED,
                record.payload,
                cause=cause,
                settled=record is last,
                partition=record.partition,
                offset=record.offset,
                batch=record.batch,
                unit=begins,
            )
            for sequence, record in enumerate(unit, begins)
        ]
        self.indexer.add_unit(entries)
        texts = [entry_text(entry, record.text) for entry, record in zip(entries, unit, strict=True)]
        self._others += texts
        self._weight += sum(map(len, texts))
        if commits is not None:
            rows = set(commits["offset"].tolist())
            texts = [text for text, record in zip(texts, unit, strict=True) if record.offset not in rows]
        for text in texts:
            self.digest.add(text)
        self.sequence = begins + len(unit)
        self.last_ms = last.at_ms
        if self.nameless:
            for record in unit:
                self._mentions(record)
        self.records += len(unit)
        self.begun.setdefault(first.partition, first.offset)
        self.reached[last.partition] = last.offset
        if commits is not None and tables is not None:
            self._count(commits, 0, len(commits), tables)
        self.ended = ends_life(self.alive, unit) or self.ended
        self._rest()

    def commits(self, columns: RunColumns, start: int, end: int) -> None:
        """Offset commits that follow each other; they begin and end with whole requests."""
        partition = columns.partition
        offsets, starts = columns.offsets, columns.starts
        unit, last = bisect_left(starts, start), bisect_left(starts, end)
        self._settings_first(columns.at_ms[starts[unit]])
        if partition not in self.begun:
            at = starts[unit]
            self._compaction_before(partition, offsets[at], columns.at_ms[at])
            self.begun[partition] = offsets[start]
        watched = self._is_watched(partition)
        while unit < last:
            if watched:
                at = starts[unit]
                self._gaps_before(partition, offsets[at], columns.at_ms[at])
                self._notes_until(offsets[columns.ends[unit] - 1], columns.at_ms[at])
                self.texts_until(columns.at_ms[at])
            until = self._units_until(columns, unit, last, watched=watched)
            self._add_commits(columns, unit, until)
            unit = until

    def _is_watched(self, partition: int | None) -> bool:
        """Whether something may stand between two requests: a note, a gap, another leader."""
        context = self.context
        return bool(self.notes or self.texts or context.lost.get(partition) or context.leaders.get(partition))

    def finish(self, tables: Tables) -> dict[str, Any]:
        """Ends the timeline: its row of the report, and its index in the pack (whose name is still to come)."""
        if not self.ended:
            for partition, reached in self.reached.items():
                for lost in self.context.lost.get(partition, ()):
                    if lost.from_offset > reached:
                        self._add_gap(lost, partition, self.last_ms)
            for note in self.notes:
                if note.payload is not None:
                    self._add_note(dict(note.payload), self.last_ms)
        self._end_chunk(tables, ends=True)
        summary = self.indexer.summary()
        index = TimelineIndex(
            format=INDEX_FORMAT,
            fold_version=FOLD_VERSION,
            summary=summary,
            chunks=self.chunks,
            commits=self.progress.of_partitions(tables),
        )
        text = orjson.dumps(index)
        short = listed_summary(summary)
        verdict = packed_verdict(short.pop("verdict"))
        return {
            "group": self.group,
            "incarnation": self.number,
            "entries": self.sequence - FIRST_SEQUENCE,
            "records": self.records,
            "inferred": not self.records,
            "deleted": self.ended,
            "named": list(self.named.values()),
            "nameless": [topic for topic in self.nameless if topic["id"] in self.mentioned],
            "headline": short,
            "words": words_of(summary),
            "verdict": b64encode(verdict).decode(),
            "gaps": summary["gaps"][:GAPS_KEPT_MOST],
            "offsets": [[partition, self.begun[partition], last] for partition, last in self.reached.items()],
            "digest": self.digest.text(),
            "continues": self.continues,
            "index": self.packs.share(text) if self._shares else self.packs.add(text),
        }

    # -- entries

    def _add(self, entry: Entry, text: bytes) -> None:
        self.indexer.add(entry)
        self.digest.add(text)
        self._others.append(text)
        self._weight += len(text)
        self.sequence += 1
        self.last_ms = entry.at_ms

    def _add_commits(self, columns: RunColumns, unit: int, until: int) -> None:
        run = commit_run(columns, unit, until, self.sequence)
        self.indexer.add_commits(run)
        start, end = columns.starts[unit], columns.ends[until - 1]
        count = end - start
        placed = self._commits[-1] if self._commits else None
        if placed is None or placed.rows is not columns.rows or placed.end != start:
            placed = PlacedCommits(columns.rows, columns.begins, columns.partition, start, start, [], [])
            self._commits.append(placed)
        placed.end = end
        placed.firsts.append(self.sequence)
        placed.lengths.append(count)
        self._count(columns.rows, start, end, columns.tables)
        self._weight += COMMIT_BYTES * count
        self.sequence += count
        self.records += count
        self.last_ms = run.last_ms
        self.reached[columns.partition] = columns.offsets[end - 1]
        self._rest()

    def _units_until(self, columns: RunColumns, unit: int, last: int, *, watched: bool) -> int:
        """Up to which request nothing else is to be done: no note, no gap, no full chunk, no earlier timeline's end."""
        offsets, times, starts, ends = columns.offsets, columns.at_ms, columns.starts, columns.ends
        commits = max(1, -(-(self._limit - self._weight) // COMMIT_BYTES))
        for entries in self.earlier:
            if entries >= self.sequence:
                commits = min(commits, entries - self.sequence + 1)
        until = bisect_left(ends, starts[unit] + commits) + 1
        if watched:
            for note in self.notes:
                if note.offset is not None:
                    until = min(until, bisect_left(ends, note.offset, key=lambda end: offsets[end - 1]))
                if note.at_ms is not None:
                    late = (at for at in range(unit + 1, min(last, until)) if times[starts[at]] >= note.at_ms)
                    until = min(until, next(late, until))
            if self.texts:
                due_ms = self.texts[0].at_ms
                late = (at for at in range(unit + 1, min(last, until)) if times[starts[at]] >= due_ms)
                until = min(until, next(late, until))
            passed = offsets[ends[unit] - 1]
            for lost in self.context.lost.get(columns.partition, ()):
                if lost.from_offset > passed:
                    until = min(until, bisect_left(starts, lost.from_offset, key=offsets.__getitem__))
            for led_from, _ in self.context.leaders.get(columns.partition, ()):
                if led_from > passed:
                    until = min(until, bisect_left(starts, led_from, key=offsets.__getitem__))
        return min(max(until, unit + 1), last)

    def _rest(self) -> None:
        """Between two requests: an earlier timeline may end here, and a chunk."""
        known = self.earlier.get(self.sequence - FIRST_SEQUENCE)
        if known is not None:
            self._sum_up()
            self.continues = known.get(self.digest.text(), self.continues)
        if self._weight >= self._limit:
            self._end_chunk(self._tables)
            self._begin_chunk()

    # -- chunks

    def _begin_chunk(self) -> None:
        checkpoint = self.indexer.checkpoint()
        begins = self.sequence == FIRST_SEQUENCE
        self._checkpoint = self._checkpoints.nothing() if begins else self._checkpoints.add(checkpoint)
        self._first = self.sequence
        self._others: list[bytes] = []
        self._commits: list[PlacedCommits] = []
        self._tables = Tables()
        self._counted: list[tuple[CommitRows, int, int]] = []
        """Rows that are not in the digest and the sums yet, each with where they begin and end."""
        self._weight = 0
        self._limit = chunk_limit(len(checkpoint), CHUNK_BYTES_LEAST)

    def _count(self, rows: CommitRows, start: int, end: int, tables: Tables) -> None:
        if start == end:
            return
        counted = self._counted
        if counted and counted[-1][0] is rows and counted[-1][2] == start:
            counted[-1] = (rows, counted[-1][1], end)
        else:
            counted.append((rows, start, end))
        self._tables = tables

    def _sum_up(self) -> None:
        """Takes the chunk's commits, as far as that was not done, into the digest and the sums."""
        if self._counted:
            rows = joined([rows[start:end] for rows, start, end in self._counted])
            self._counted = []
            self.digest.add_commits(rows, self._tables)
            self.progress.add(rows, len(self._tables.keys))

    def _end_chunk(self, tables: Tables, *, ends: bool = False) -> None:
        last = self.sequence - 1
        if last < self._first:
            return
        self._sum_up()
        text = block(self.group, self._first, last, self._commits, tables, self._others)
        self._shares = ends and not self.chunks and len(text) <= SMALL_BYTES
        # Before the next checkpoint is made: of a large group both are megabytes.
        self._others, self._commits = [], []
        self.chunks.append(
            StoredChunk(
                first=self._first,
                last=last,
                entries=(self.packs.share(text) if self._shares else self.packs.add(text)).plain(),
                checkpoint=self._checkpoint.place,
                chain=self._checkpoint.chain,
                digest=asdict(self.indexer.digest()),
            )
        )

    # -- what texts say

    def _cause_in_texts(self, unit: list[GroupRecord]) -> int | None:
        """Adds the texts before a unit. Returns the sequence of the one with the reason, if these records remove a member."""
        at_ms = unit[0].at_ms
        self.texts_until(at_ms - LOGGED_WITHIN_MS)
        gone = {record.member for record in unit if record.tombstone} - {None}
        for each in self.texts:
            if each.at_ms > at_ms + LOGGED_WITHIN_MS:
                break
            member = each.payload.get("member", each.actor)
            if gone and each.kind in (Kind.TIMER, Kind.REQUEST) and member in gone:
                # The line is written a moment before or after the record; the cause comes first.
                self.texts.remove(each)
                self.texts_until(at_ms)
                self.texts.appendleft(each._replace(at_ms=at_ms))
                self.texts_until(at_ms)
                return self.sequence - 1
        self.texts_until(at_ms)
        return None

    def texts_until(self, at_ms: int | None) -> None:
        """Adds the entries of texts up to a time; all that are left where there is none."""
        while self.texts and (at_ms is None or self.texts[0].at_ms <= at_ms):
            self._settings_first(self.texts[0].at_ms)
            unit = [self.texts.popleft()]
            while not unit[-1].settled and self.texts:
                unit.append(self.texts.popleft())
            first = self.sequence
            entries = [
                Entry(
                    sequence=sequence,
                    at_ms=each.at_ms,
                    kind=each.kind,
                    actor=each.actor,
                    provenance=each.provenance,
                    payload=each.payload,
                    cause=first - 1 if each.caused else None,
                    settled=each is unit[-1],
                    unit=first if each.kind is _RECORD else None,
                )
                for sequence, each in enumerate(unit, first)
            ]
            for entry in entries:
                self._add(entry, orjson.dumps(entry.to_json()))
            self._rest()

    # -- notes

    def _add_note(self, payload: dict[str, Any], at_ms: int) -> None:
        entry = Entry(
            sequence=self.sequence,
            at_ms=at_ms,
            kind=Kind.NOTE,
            actor="coordinator",
            provenance=Provenance.INFERRED,
            payload=payload,
        )
        self._add(entry, orjson.dumps(entry.to_json()))

    def _settings_first(self, at_ms: int) -> None:
        """The given settings of the consumers come first."""
        if self.sequence == FIRST_SEQUENCE and self.context.settings:
            self._add_note({"note": "settings", "settings": dict(self.context.settings)}, at_ms)

    def _add_gap(self, lost: LostOffsets, partition: int | None, at_ms: int) -> None:
        self._add_note(gap_note(partition, lost.from_offset, lost.to_offset, lost.reason), at_ms)

    def _gaps_before(self, partition: int | None, offset: int, at_ms: int) -> None:
        """What is missing between the last record of this timeline and the next one, and who leads from there on."""
        if partition not in self.begun:
            self._compaction_before(partition, offset, at_ms)
        reached = self.reached.get(partition)
        for lost in lost_between(self.context.lost.get(partition, ()), reached, offset):
            self._add_gap(lost, partition, at_ms)
        leader = leader_note(self.context.leaders.get(partition, ()), reached, offset)
        if leader is not None:
            self._add_note(leader, at_ms)

    def _compaction_before(self, partition: int | None, offset: int, at_ms: int) -> None:
        """Before a timeline's first record."""
        some = self.context.compacted.get(partition)
        if some is not None and offset <= some.last:
            self._add_note(compaction_note(some, partition), at_ms)

    def _notes_until(self, offset: int, at_ms: int) -> None:
        """Notes about topics that hold from this unit on, merged by source; a later note of a topic replaces the older one."""
        if not self.notes:
            return
        due, self.notes = split_due(self.notes, offset, at_ms)
        sources: dict[str, dict[str, Any]] = {}
        for note in due:
            if note.payload is not None:
                self._add_note(dict(note.payload), min(at_ms, int(note.payload["from_ms"])))
                continue
            sources.setdefault(note.source, {}).update(note.topics)
            for name, topic in note.topics.items():
                if topic is not None:
                    self.named[topic["id"]] = {"id": topic["id"], "name": name, "source": note.source}
        for source, topics in sources.items():
            self._add_note({"note": "topics", "topics": topics, "source": source}, at_ms)

    def _mentions(self, record: GroupRecord) -> None:
        value = record.payload.get("value")
        for part in ("topicPartitions", "assignedPartitions", "partitionsPendingRevocation"):
            for topic in (value or {}).get(part) or ():
                self.mentioned.add(topic["topicId"])
