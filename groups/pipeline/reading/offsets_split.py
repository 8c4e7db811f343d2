"""Reads a split of a ``__consumer_offsets`` segment, by columns: its records in blocks, a block a group and stretch."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import orjson
import xxhash

from groups.history.replay.fields import INT64_MAX
from groups.history.replay.record_types import SHARE_STATE
from groups.history.replay.share import UNKNOWN_TOPIC_NAME
from groups.pipeline.reading.columns import Commits, Damage, KeyMemory, Stretch, read_stretches
from groups.pipeline.reading.gathering import Gathering
from groups.pipeline.reading.group_blocks import (
    COMMIT,
    NO_PRODUCER,
    CommitRows,
    GroupBlock,
    OtherRecord,
    Tables,
    cut,
)
from groups.pipeline.reading.rows import Row, Wanted
from groups.pipeline.reading.split_facts import GROUPS_A_SPLIT_MOST, HOLES_A_SPLIT_MOST, LEADERS_A_SPLIT_MOST
from groups.pipeline.reading.split_reading import SplitReading
from groups.pipeline.reading.splitting import Split
from groups.pipeline.reading.transactions import ABORTED, COMMITTED, Ends, LeftOut, settled
from groups.wire.commit_payloads import TOMBSTONE, commit_payload
from groups.wire.errors import RecordError
from groups.wire.group_of_key import group_of_unknown_key
from groups.wire.logs.control import ControlType, decode_control
from groups.wire.logs.record_batch import RecordBatch
from groups.wire.records import decode_record, is_opaque

if TYPE_CHECKING:
    from numpy.typing import NDArray

PARTITION_METADATA: Final = 4

_memory: Final = KeyMemory()
"""Keys that this process has decoded: the splits of a log repeat them. It is bounded by itself."""


def forget_keys() -> None:
    """For a process that reads no more for now."""
    _memory.clear()


class OffsetsReading(SplitReading):
    """A ``__consumer_offsets`` segment."""

    __slots__ = ("ends", "gathering", "held", "names", "seen", "wanted")

    def __init__(self, number: int, split: Split, wanted: Wanted) -> None:
        super().__init__(number, split)
        self.wanted = wanted
        self.ends = Ends()
        self.gathering = Gathering()
        self.held: list[GroupBlock] = []
        """Blocks with transactional records: their ends may stand further on in the split."""
        self.names: set[tuple[str, str, str]] = set()
        self.seen: dict[str, list[Any]] = {}

    def rows(self, data: memoryview) -> Iterator[Row]:
        for stretch in read_stretches(data, memory=_memory):
            self._count(stretch)
            for batch in stretch.controls:
                self._markers(batch)
            self._others(stretch)
            if len(stretch.commits):
                self._names_of(stretch.commits)
                self.gathering.add_commits(stretch.commits)
                self.facts.decoded += len(stretch.commits)
            if self.gathering.is_full:
                yield from self._gathered()
        yield from self._gathered()
        yield from self._resolved()
        facts = self.facts
        facts.names = sorted(self.names)
        largest = sorted(self.seen.items(), key=lambda item: -item[1][0])[:GROUPS_A_SPLIT_MOST]
        facts.groups = {group: [*seen[:3], sorted(seen[3])] for group, seen in largest}
        facts.group_hashes = [xxhash.xxh3_64_intdigest(group.encode()) >> 1 for group in self.seen]
        facts.ends = self.ends.first()
        yield self.last_row()

    def _count(self, stretch: Stretch) -> None:
        for damage in stretch.damage:
            self._damage(damage)
        facts = self.facts
        facts.leaders += stretch.leaders[: LEADERS_A_SPLIT_MOST - len(facts.leaders)]
        facts.read += stretch.records
        if stretch.first_offset is None or stretch.last_offset is None:
            return
        offsets = [stretch.commits.offset, np.array([other.offset for other in stretch.others], np.int64)]
        offsets += [np.array([r.offset for r in batch.records], np.int64) for batch in stretch.controls]
        before = facts.last_offset if facts.last_offset is not None else self.split.before
        damaged = {self.split.before if one.before is None else one.before for one in stretch.damage}
        self._holes(np.sort(np.concatenate(offsets)), before, stretch.last_offset, damaged)
        if facts.first_offset is None:
            facts.first_offset = stretch.first_offset
        facts.last_offset = stretch.last_offset

    def _damage(self, damage: Damage) -> None:
        self.damage(damage.problem, damage.before, damage.after)

    def _holes(
        self, offsets: NDArray[np.int64], before: int | None, last: int, damaged: set[int | None]
    ) -> None:
        """Offsets that no record has, though batches before and behind are there: compaction took them.

        Those behind the offsets ``damaged`` are shown as what could not be read.
        """
        edges = np.concatenate(([before] if before is not None else offsets[:1] - 1, offsets, [last + 1]))
        steps = np.diff(edges)
        places = np.flatnonzero(steps > 1)
        if damaged:
            places = places[~np.isin(edges[places], [one for one in damaged if one is not None])]
        if not len(places):
            return
        room = HOLES_A_SPLIT_MOST - len(self.facts.hole_ranges)
        self.facts.hole_ranges += [
            (int(edges[place]) + 1, int(edges[place + 1]) - 1) for place in places[: max(room, 0)]
        ]
        first, final = int(edges[places[0]]) + 1, int(edges[places[-1] + 1]) - 1
        missing = int((steps[places] - 1).sum())
        known = self.facts.holes
        self.facts.holes = [first, final, missing] if known is None else [known[0], final, known[2] + missing]

    def _markers(self, batch: RecordBatch) -> None:
        for record in batch.records:
            self.facts.decoded += 1
            try:
                control = decode_control(record.key, record.value)
            except RecordError as error:
                self.facts.decoded -= 1
                reason = f"a control record cannot be read: {error}"
                self.problem(reason, reason, record.offset, records=1, last=record.offset, normal=False)
                continue
            if control.type in (ControlType.COMMIT, ControlType.ABORT):
                outcome = COMMITTED if control.type is ControlType.COMMIT else ABORTED
                self.ends.add(batch.producer_id, record.offset, outcome)

    # -- blocks

    def _gathered(self) -> Iterator[Row]:
        """Makes blocks of what was gathered, and restarts."""
        for block in self._blocks():
            yield from self._settled_or_held(block)
        self.gathering = Gathering()

    def _blocks(self) -> Iterator[GroupBlock]:
        others = self.gathering.others
        for group, commits, tables in self.gathering.commits():
            if not self.wanted.has(group):
                continue
            self._see(group, len(commits), int(commits["at_ms"].min()), int(commits["at_ms"].max()), 1)
            commits = self._without_tombstones(group, commits, tables.keys, others)
            if len(commits):
                yield self._block(group, commits, tables, others.pop(group, []))
        for group, some in others.items():
            yield self._block(group, np.empty(0, COMMIT), Tables(), some)

    def _block(
        self, group: str, commits: CommitRows, tables: Tables, others: list[OtherRecord]
    ) -> GroupBlock:
        if self.wanted.until_ms is not None:
            commits = commits[commits["at_ms"] <= self.wanted.until_ms]
            others = [other for other in others if other.at_ms <= self.wanted.until_ms]
        if len(commits) and (np.diff(commits["offset"]) < 0).any():
            commits = commits[np.argsort(commits["offset"], kind="stable")]
        if any(later.offset < one.offset for one, later in pairwise(others)):
            others.sort(key=lambda other: other.offset)
        return GroupBlock(
            group, self.split.partition, self.split.source, self.number, commits, tables, others
        )

    def _others(self, stretch: Stretch) -> None:
        """Gathers the records that are no commits, by group."""
        for offset, batch, at_ms, producer, key, value in stretch.others:
            if not -INT64_MAX <= at_ms <= INT64_MAX:
                reason = "a record's timestamp is beyond what Kafka can hold (an int64): left out"
                self.problem(reason, reason, offset, records=1, last=offset, normal=False)
                continue
            payload = decode_record(key, value)
            group = self._group_of(offset, at_ms, key, payload)
            if group is None or not self.wanted.has(group):
                continue
            record = OtherRecord(
                offset, batch, at_ms, NO_PRODUCER if producer is None else producer, payload["type"],
                orjson.dumps(payload),
            )  # fmt: skip
            self.gathering.add_other(group, record)

    def _group_of(self, offset: int, at_ms: int, key: bytes | None, payload: dict[str, Any]) -> str | None:
        """Counts a record, notes what it reports about topics, and gives back its group (None if it is unknown)."""
        if is_opaque(payload):
            reason = f"{payload.pop('reason')}; kept as bytes"
            self.problem(reason, reason, offset, records=1, last=offset, normal=False)
            group = payload.pop("group") if "group" in payload else group_of_unknown_key(key)
            return str(group) if group is not None else None
        self.facts.decoded += 1
        fields, value, number = payload["key"], payload["value"], payload["type"]
        group = str(fields["group"] if "group" in fields else fields["groupId"])
        if number == PARTITION_METADATA and value:
            for topic in value.get("topics") or ():
                self.names.add((topic["topicId"], topic["topicName"], "record"))
        elif number == SHARE_STATE and value:
            for topic in (*(value.get("initializingTopics") or ()), *(value.get("initializedTopics") or ())):
                if topic["topicName"] != UNKNOWN_TOPIC_NAME:
                    self.names.add((topic["topicId"], topic["topicName"], "share state"))
        elif number == 1 and value and value.get("topicId"):
            self.names.add((value["topicId"], fields["topic"], "commit"))
        self._see(group, 1, at_ms, at_ms, number)
        return group

    def _see(self, group: str, records: int, first_ms: int, last_ms: int, number: int) -> None:
        known = self.seen.get(group)
        if known is None:
            self.seen[group] = [records, first_ms, last_ms, {number}]
            return
        known[0] += records
        if first_ms < known[1]:
            known[1] = first_ms
        if last_ms > known[2]:
            known[2] = last_ms
        known[3].add(number)

    def _without_tombstones(
        self, group: str, rows: CommitRows, keys: list[tuple[str, int]], others: dict[str, list[OtherRecord]]
    ) -> CommitRows:
        """Tombstones belong to other requests than commits do: they are no commits from here on."""
        gone = rows["version"] < 0
        if not gone.any():
            return rows
        mine = others.setdefault(group, [])
        for row in rows[gone]:
            topic, partition = keys[row["key"]]
            payload = commit_payload(group=group, topic=topic, partition=partition, version=TOMBSTONE)
            mine.append(
                OtherRecord(
                    offset=int(row["offset"]),
                    batch=int(row["batch"]),
                    at_ms=int(row["at_ms"]),
                    producer=int(row["producer"]),
                    type=1,
                    payload=orjson.dumps(payload),
                )
            )
        mine.sort(key=lambda other: other.offset)
        return rows[~gone]

    def _names_of(self, commits: Commits) -> None:
        """Topic ids that commits report next to the topic's name."""
        has_id = commits.topic_id >= 0
        if not has_id.any():
            return
        pairs = commits.topic_id[has_id].astype(np.int64) << 32 | commits.key[has_id].astype(np.int64)
        for pair in np.unique(pairs).tolist():
            topic_id, topic = commits.topic_ids[pair >> 32], commits.keys[pair & 0xFFFFFFFF].topic
            self.names.add((topic_id, topic, "commit"))

    # -- transactions

    def _settled_or_held(self, block: GroupBlock) -> Iterator[Row]:
        commits = block.commits["producer"] >= 0
        others = [other for other in block.others if other.producer >= 0]
        if others or commits.any():
            plain = [other for other in block.others if other.producer < 0]
            held = GroupBlock(
                block.group, block.partition, block.source, block.split, block.commits[commits], block.tables,
                others,
            )  # fmt: skip
            self.held.append(held)
            block = GroupBlock(
                block.group, block.partition, block.source, block.split, block.commits[~commits], block.tables,
                plain,
            )  # fmt: skip
        yield from self._block_rows(block)

    def _resolved(self) -> Iterator[Row]:
        left_out = {ABORTED: LeftOut()}
        still_open: set[int] = set()
        for block in self.held:
            block.commits, block.others, some_open = settled(block.commits, block.others, self.ends, left_out)
            if some_open:
                producers = block.commits["producer"]
                still_open.update(np.unique(producers[producers > NO_PRODUCER]).tolist())
                still_open.update(other.producer for other in block.others)
            yield from self._block_rows(block)
        self.facts.open = sorted(still_open - {NO_PRODUCER})
        aborted = left_out[ABORTED]
        self.facts.aborted = [aborted.records, aborted.first, aborted.last]

    def _block_rows(self, block: GroupBlock) -> Iterator[Row]:
        if not block.records:
            return
        for part in cut(block):
            if part.records:
                yield self.row(
                    "block", part.pack(), group=part.group, first=part.first_batch, records=part.records
                )
