"""Folds the blocks of groups into stored timelines: what a folding task does, on Spark and without it.

Blocks come sorted by group, partition and first batch. A group's records are gone through twice: first for what they
report about topics, so that names are known before the first entry is made, then for the entries.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import orjson

from groups.address_space import forget_peak
from groups.history.entries import Kind
from groups.history.passes.units import units
from groups.history.replay.record_types import CLASSIC_GROUP, EPOCH_TYPES
from groups.packs.files import RIGHTS, Files, open_files
from groups.packs.packs import PackWriter
from groups.pipeline.collector import calm_collector
from groups.pipeline.folding.commit_runs import RunColumns
from groups.pipeline.folding.context import Context, log_of
from groups.pipeline.folding.finished import Line, keep_finished
from groups.pipeline.folding.group_records import GroupRecord
from groups.pipeline.folding.merging import Merger, Run
from groups.pipeline.folding.spool import Spool
from groups.pipeline.folding.timelines import TimelineFolding
from groups.pipeline.folding.transactions import Transactions
from groups.pipeline.held_memory import give_back
from groups.pipeline.reading.entry_lines import entry_of
from groups.pipeline.reading.group_blocks import NO_PRODUCER, CommitRows, GroupBlock, OtherRecord, Tables
from groups.pipeline.reading.offsets_split import forget_keys
from groups.pipeline.reading.transactions import OPEN, Ends, LeftOut, settled, without_open
from groups.pipeline.times import TimedFiles, Times
from groups.pipeline.topics.facts import FACT_TYPES, GroupFacts
from groups.pipeline.topics.naming import plan
from groups.texts.found import LogEvent, TextEntry
from groups.texts.inferred import inferred_entries
from groups.texts.one_axis import Recorded
from groups.wire.commit_payloads import commit_payload


def commit_records(run: Run, group: str, tables: Tables) -> list[GroupRecord]:
    records = []
    for row in run.commits.tolist():
        (
            offset,
            batch,
            at_ms,
            _,
            committed,
            commit_ms,
            expire_ms,
            leader_epoch,
            key,
            metadata,
            topic_id,
            version,
        ) = row
        topic, partition = tables.keys[key]
        payload = commit_payload(
            group=group, topic=topic, partition=partition, version=version, committed=committed,
            leader_epoch=leader_epoch, metadata=tables.texts[metadata], commit_ms=commit_ms, expire_ms=expire_ms,
            topic_id=tables.topic_ids[topic_id] if topic_id >= 0 else None,
        )  # fmt: skip
        records.append(GroupRecord(run.partition, offset, batch, at_ms, 1, payload, orjson.dumps(payload)))
    return records


@dataclass(slots=True)
class GroupTexts:
    """Lines come before the records of their group, in the order in which blocks are sorted."""

    lines: list[bytes] = field(default_factory=list)
    recorded: Recorded = field(default_factory=Recorded)

    def note_record(self, record: GroupRecord) -> None:
        """When a generation or an epoch began, for the lines that belong to it."""
        if not self.lines:
            return
        self.recorded.any = True
        value = record.payload.get("value")
        if not value:
            return
        if record.type == CLASSIC_GROUP:
            self.recorded.generations.setdefault(value.get("generation"), record.at_ms)
        elif record.type in EPOCH_TYPES:
            self.recorded.epochs.setdefault(value.get("epoch"), record.at_ms)

    def last_ms(self) -> int | None:
        return max((entry_of(line).at_ms for line in self.lines), default=None)

    def entries(self) -> deque[TextEntry]:
        """By time. Entries that texts state whole are taken as they are; log lines are put together first."""
        found = [entry_of(line) for line in self.lines]
        entries = [each for each in found if isinstance(each, TextEntry)]
        if self.recorded.any:
            # Records say what the group was; what looks at it would infer is not put next to them.
            entries = [each for each in entries if each.kind not in (Kind.RECORD, Kind.OBSERVATION)]
        elif entries:
            self.recorded.any = True
        entries += inferred_entries([each for each in found if isinstance(each, LogEvent)], self.recorded)
        entries.sort(key=lambda each: each.at_ms)
        return deque(entries)


COMMIT_TYPES: Final = frozenset({0, 1})
"""Commits that did not fit the columns (those of the first brokers, odd ones) may share a request with others; such
groups are folded record by record."""

_FACTS: Final = frozenset(FACT_TYPES)


class Folded(NamedTuple):
    """One line of folding's output: ``timeline``, ``repeated``, ``left_out`` or ``times``."""

    kind: str
    payload: bytes


def fold_blocks(
    blocks: Iterable[GroupBlock], context: Context, ended: Callable[[int], None] = lambda groups: None
) -> Iterator[Folded]:
    """The timelines of every group in ``blocks``, stored; a line for each once its pack has its name. Last, how long it took."""
    calm_collector()
    # The same process may have read: it holds keys, and room for a split.
    forget_keys()
    give_back()
    forget_peak()
    times = Times()
    begun = times.clock()
    files = TimedFiles(open_files(context.store, RIGHTS[context.rights]), times)
    folding = Folding(context, files, times, ended)
    yield from folding.run(times.pulled("shuffle", blocks))
    elsewhere = sum(times.seconds.values())
    times.add("fold", times.clock() - begun - elsewhere, folding.records)
    times.end_task("fold")
    yield Folded("times", orjson.dumps(times.report()))


class Folding:
    """One task: groups in, packs and lines out."""

    def __init__(
        self,
        context: Context,
        files: Files,
        times: Times,
        ended: Callable[[int], None] = lambda groups: None,
    ) -> None:
        self.context = context
        self.times = times
        self.ended = ended
        self.records = 0
        self.files = files
        self.packs = PackWriter(files, context.folder)
        self.finished: list[str] = []
        self.repeated: list[Line] = []
        self.reports: list[dict[str, Any]] = []
        self.left_out: dict[tuple[int, int], LeftOut] = {}

    def run(self, blocks: Iterable[GroupBlock]) -> Iterator[Folded]:
        group: GroupFolding | None = None
        try:
            for block in blocks:
                if group is None or group.name != block.group:
                    if group is not None:
                        yield from self._end(group)
                    group = GroupFolding(block.group, self)
                begun = self.times.clock()
                group.add(block)
                self.times.add_part("fold", group.name, self.times.clock() - begun)
            if group is not None:
                yield from self._end(group)
            yield from self._close_pack()
        except BaseException:
            self.packs.drop()
            raise
        for (source, outcome), some in self.left_out.items():
            report = {
                "source": source,
                "outcome": outcome,
                "records": some.records,
                "first": some.first,
                "last": some.last,
            }
            yield Folded("left_out", orjson.dumps(report))

    def timeline(self, report: dict[str, Any]) -> Iterator[Folded]:
        """A timeline is whole; its line waits for the pack's name."""
        self.reports.append(report)
        self.records += report["records"]
        self.packs.rest()
        if self.packs.is_full:
            yield from self._close_pack()

    def _end(self, group: GroupFolding) -> Iterator[Folded]:
        begun = self.times.clock()
        yield from group.finish()
        self.times.add_part("fold", group.name, self.times.clock() - begun)
        if group.merger.repeated or group.merger.conflicts:
            report = {
                "group": group.name,
                "records": group.merger.repeated,
                "conflicts": group.merger.conflicts,
            }
            payload = orjson.dumps(report)
            self.repeated.append(Line(group.name, 0, "repeated", payload.decode()))
            yield Folded("repeated", payload)
        self.finished.append(group.name)
        self.ended(1)

    def _close_pack(self) -> Iterator[Folded]:
        if not self.reports:
            return
        pack = self.packs.close()
        lines = []
        for report in self.reports:
            report["index"] = pack.place(report["index"]).plain()
            payload = orjson.dumps(report).decode()
            lines.append(Line(report["group"], report["incarnation"], "timeline", payload))
        if self.context.resume:
            keep_finished(self.files, self.context.resume, pack.name, self.finished, self.repeated + lines)
        yield from (Folded(line.kind, line.payload.encode()) for line in lines)
        self.reports, self.finished, self.repeated = [], [], []


class GroupFolding:
    """One group's blocks, in; its timelines, out."""

    def __init__(self, name: str, task: Folding) -> None:
        self.name = name
        self.is_finished = name in task.context.finished
        self.task = task
        self.context = task.context
        self.merger = Merger(files=self.context.files)
        self.spool = Spool()
        self.facts = GroupFacts()
        self.last_ms: int | None = None
        self.slow = False
        self.number = 0
        self.timeline: TimelineFolding | None = None
        self.transactions = Transactions()
        self.texts = GroupTexts()

    def add(self, block: GroupBlock) -> None:
        if self.is_finished:
            # What is left out of it is counted for the report.
            self._settle(block)
            return
        if block.lines:
            self.texts.lines += block.lines
            return
        self._settle(block)
        if block.records:
            self._first_pass(self.merger.add(block))

    def finish(self) -> Iterator[Folded]:
        if self.is_finished:
            return
        self._first_pass(self.merger.finish())
        self.last_ms = max(
            (ms for ms in (self.last_ms, self.texts.last_ms()) if ms is not None), default=None
        )
        try:
            if self.context.from_ms is not None and (self.last_ms or 0) < self.context.from_ms:
                return
            self.plan = plan(self.facts, self.context.known)
            self.open = list(self.transactions.notes(self.last_ms or 0))
            self.open += self.transactions.aborted_notes()
            self.entries = self.texts.entries()
            for run, records in self.spool:
                yield from self._second_pass(run, records)
            if self.timeline is None and self.entries:
                yield from self._begun(begins=True)
            if self.timeline is not None:
                self.timeline.texts_until(None)
            yield from self._close_timeline()
        finally:
            self.spool.close()

    def _settle(self, block: GroupBlock) -> None:
        """Resolves what the reading task left open; what still is counts as not in force."""
        self.transactions.read(block)
        producers = block.commits["producer"] != NO_PRODUCER
        if not producers.any() and all(other.producer < 0 for other in block.others):
            return
        ends = self.context.ends.get(log_of(block.partition, block.source), Ends())
        dropped = {outcome: LeftOut() for outcome in (0, OPEN)}
        commits, others, _ = settled(block.commits, block.others, ends, dropped)
        block.commits = commits
        self.transactions.add(block)
        block.commits, block.others = without_open(commits, others, dropped[OPEN])
        for outcome, some in dropped.items():
            if some.records:
                known = self.task.left_out.setdefault((block.source, outcome), LeftOut())
                known.merge(some.records, some.first, some.last)

    # -- the first pass

    def _first_pass(self, runs: Iterator[Run]) -> None:
        for run in runs:
            for piece in run.pieces():
                self._facts_of(piece)

    def _facts_of(self, run: Run) -> None:
        records = [record_of(other, run.partition) for other in run.others]
        for record in records:
            self.texts.note_record(record)
            if record.type in _FACTS:
                self.facts.add(record.offset, record.payload)
            elif record.type in COMMIT_TYPES and not record.tombstone:
                self.slow = True
        latest = [int(run.commits["at_ms"].max())] if len(run.commits) else []
        latest += [record.at_ms for record in records]
        self.last_ms = max([*latest, *([self.last_ms] if self.last_ms is not None else [])])
        self.spool.add(run, records)

    # -- the second pass

    def _second_pass(self, run: Run, records: list[GroupRecord] | None) -> Iterator[Folded]:
        if records is None:
            records = [record_of(other, run.partition) for other in run.others]
        if self.slow:
            yield from self._records(run, records)
            return
        if not len(run.commits):
            yield from self._units(records)
            return
        bounds = run.commits["offset"].searchsorted([record.offset for record in records]).tolist()
        columns = RunColumns.of(run.commits, bounds, self.merger.tables, run.partition)
        at = begin = 0
        for end, bound in enumerate(bounds):
            if bound > at:
                # A commit goes on in no other request's order.
                yield from self._units(records[begin:end])
                yield from self._commits(columns, at, bound)
                at, begin = bound, end
        yield from self._units(records[begin:])
        yield from self._commits(columns, at, len(run.commits))

    def _records(self, run: Run, others: Sequence[GroupRecord]) -> Iterator[Folded]:
        """Record by record, commits too."""
        records = commit_records(run, self.name, self.merger.tables)
        records += others
        records.sort(key=lambda record: record.offset)
        yield from self._units(records, run.commits)

    def _units(self, records: list[GroupRecord], commits: CommitRows | None = None) -> Iterator[Folded]:
        for unit in units(records):
            if self.timeline is None and all("key" not in record.payload for record in unit):
                # Nothing here can be understood, and nothing proves that the group's name was read rightly.
                continue
            if self.timeline is None or self.timeline.ended:
                yield from self._begun(begins=not all(record.tombstone for record in unit))
            assert self.timeline is not None
            if commits is None:
                self.timeline.unit(unit)
                continue
            first, last = commits["offset"].searchsorted((unit[0].offset, unit[-1].offset + 1)).tolist()
            self.timeline.unit(unit, commits[first:last], self.merger.tables)

    def _commits(self, columns: RunColumns, start: int, end: int) -> Iterator[Folded]:
        if end > start:
            if self.timeline is None or self.timeline.ended:
                yield from self._begun(begins=True)
            assert self.timeline is not None
            self.timeline.commits(columns, start, end)

    def _begun(self, *, begins: bool) -> Iterator[Folded]:
        """A timeline is there. Where something is written for a group that was deleted, it was created again."""
        if self.timeline is not None and self.timeline.ended and begins:
            yield from self._close_timeline()
        if self.timeline is None:
            self.number += 1
            self.timeline = TimelineFolding(self.name, self.number, self.plan, self.context, self.task.packs)
            # What is open at the log's end is of the life in which it began.
            self.timeline.notes += self.open
            # What texts say after one life of the group belongs to its next one.
            self.timeline.texts = self.entries

    def _close_timeline(self) -> Iterator[Folded]:
        if self.timeline is not None:
            report = self.timeline.finish(self.merger.tables)
            self.timeline = None
            yield from self.task.timeline(report)


def record_of(other: OtherRecord, partition: int | None) -> GroupRecord:
    return GroupRecord(
        partition,
        other.offset,
        other.batch,
        other.at_ms,
        other.type,
        orjson.loads(other.payload),
        other.payload,
    )
