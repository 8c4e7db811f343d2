"""Reads splits into rows: what a reading task does, on Spark and without it."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import orjson
import xxhash

from groups.address_space import forget_peak
from groups.pipeline.collector import calm_collector
from groups.pipeline.held_memory import give_back
from groups.pipeline.reading.entry_lines import entry_of
from groups.pipeline.reading.group_blocks import COMMIT, GroupBlock, Tables
from groups.pipeline.reading.offsets_split import OffsetsReading
from groups.pipeline.reading.recognising import FileKind
from groups.pipeline.reading.rows import EVERYTHING, Row, Wanted
from groups.pipeline.reading.split_reading import SplitReading
from groups.pipeline.reading.splitting import SPLIT_BYTES, Split
from groups.pipeline.times import Times
from groups.wire.errors import RecordError
from groups.wire.logs.batches import BatchProblem, read_batches
from groups.wire.logs.metadata_log import decode_metadata_record
from groups.wire.logs.record_batch import RecordBatch


class MetadataReading(SplitReading):
    """A ``__cluster_metadata`` segment or checkpoint: its records about topics."""

    def rows(self, data: memoryview) -> Iterator[Row]:
        reached: int | None = None
        waiting: BatchProblem | None = None
        for found in read_batches(data):
            if isinstance(found, BatchProblem):
                if waiting is not None:
                    self.damage(waiting, reached, None)
                waiting = found
                continue
            if waiting is not None:
                self.damage(waiting, reached, found.base_offset)
                waiting = None
            reached = found.last_offset
            yield from self._batch(found)
        if waiting is not None:
            self.damage(waiting, reached, None)
        yield self.last_row()

    def _batch(self, batch: RecordBatch) -> Iterator[Row]:
        self.facts.read += len(batch.records)
        self.facts.decoded += len(batch.records)
        if batch.is_control:
            return
        for record in batch.records:
            try:
                payload = decode_metadata_record(record.value)
            except RecordError as error:
                self.facts.decoded -= 1
                reason = f"a cluster metadata record cannot be read: {error}"
                self.problem(reason, reason, record.offset, records=1, last=record.offset, normal=False)
                continue
            if payload is not None:
                line = {"at_ms": record.timestamp_ms, "offset": record.offset, "record": payload}
                yield self.row("topic", orjson.dumps(line), first=record.offset)


BLOCK_LINES: Final = 10_000
"""Lines of one group that are handed on at once: some megabytes."""


class EntriesReading(SplitReading):
    """A file of such lines as blocks of its groups."""

    def rows(self, data: memoryview, wanted: Wanted) -> Iterator[Row]:
        waiting: dict[str, list[bytes]] = {}
        seen: dict[str, list[int]] = {}
        for line in bytes(data).splitlines():
            found = entry_of(line)
            if not wanted.has(found.group) or (wanted.until_ms is not None and found.at_ms > wanted.until_ms):
                continue
            self.facts.read += 1
            self.facts.decoded += 1
            count, first, last = seen.get(found.group, (0, found.at_ms, found.at_ms))
            seen[found.group] = [count + 1, min(first, found.at_ms), max(last, found.at_ms)]
            lines = waiting.setdefault(found.group, [])
            lines.append(line)
            if len(lines) >= BLOCK_LINES:
                yield self._block(found.group, waiting.pop(found.group))
        for group, lines in waiting.items():
            yield self._block(group, lines)
        self.facts.groups = {group: [*some, []] for group, some in seen.items()}
        self.facts.group_hashes = [xxhash.xxh3_64_intdigest(group.encode()) >> 1 for group in seen]
        yield self.last_row()

    def _block(self, group: str, lines: list[bytes]) -> Row:
        block = GroupBlock(
            group, None, self.split.source, self.number, np.empty(0, COMMIT), Tables(), [], lines
        )
        return self.row("block", block.pack(), group=group, first=-1, records=len(lines))


PIECE_BYTES: Final = 1024 * 1024

Task = list[tuple[int, Split]]
"""Splits with their numbers."""


def tasks_of(splits: Sequence[Split], task_bytes: int = SPLIT_BYTES) -> list[Task]:
    """Splits put together into tasks: an offsets topic has 50 partitions, most of them nearly empty."""
    tasks: list[Task] = []
    room = 0
    for number, split in enumerate(splits):
        size = split.end - split.start
        if not tasks or size > room:
            tasks.append([])
            room = task_bytes
        tasks[-1].append((number, split))
        room -= size
    return tasks


def read_task(task: Task, wanted: Wanted = EVERYTHING) -> Iterator[Row]:
    """The rows of all splits of one task; the last one reports how long it took."""
    calm_collector()
    forget_peak()
    times = Times()
    for number, split in task:
        with times.taking("read", split.end - split.start):
            page_in(split)
        before_s = times.seconds.get("decode", 0.0)
        yield from times.pulled("decode", read_split(number, split, wanted))
        # By the number of the file, whose partition the import knows.
        times.add_part("decode", str(split.source), times.seconds["decode"] - before_s)
        give_back()
    times.end_task("decode")
    number, split = task[0]
    # Rows were counted; the records are those of the splits' facts.
    times.rows["decode"] = 0
    yield Row("times", None, None, split.source, number, None, 0, orjson.dumps(times.report()))


def page_in(split: Split) -> None:
    """Read a split's bytes once, in order, so that the disk is waited for here and not amid decoding."""
    buffer = bytearray(PIECE_BYTES)
    with Path(split.path).open("rb", buffering=0) as opened:
        opened.seek(split.start)
        left = split.end - split.start
        while left > 0 and (read := opened.readinto(memoryview(buffer)[: min(left, PIECE_BYTES)])):
            left -= read


def read_split(number: int, split: Split, wanted: Wanted = EVERYTHING) -> Iterator[Row]:
    """The rows of one split; the last one holds its facts."""
    with (
        Path(split.path).open("rb") as opened,
        mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        whole = memoryview(data)
        part = whole[split.start : split.end]
        try:
            if split.kind is FileKind.METADATA:
                yield from MetadataReading(number, split).rows(part)
            elif split.kind is FileKind.ENTRIES:
                yield from EntriesReading(number, split).rows(part, wanted)
            else:
                yield from OffsetsReading(number, split, wanted).rows(part)
        finally:
            part.release()
            whole.release()
