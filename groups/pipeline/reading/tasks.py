"""Reads splits into rows: what a reading task does, on Spark and without it."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import orjson

from groups.pipeline.collector import calm_collector
from groups.pipeline.held_memory import give_back
from groups.pipeline.reading.entries_split import EntriesReading
from groups.pipeline.reading.metadata_split import MetadataReading
from groups.pipeline.reading.offsets_split import OffsetsReading
from groups.pipeline.reading.recognising import FileKind
from groups.pipeline.reading.rows import EVERYTHING, Row, Wanted
from groups.pipeline.reading.splitting import SPLIT_BYTES, Split
from groups.pipeline.times import Times

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
    times = Times()
    for number, split in task:
        with times.taking("read", split.end - split.start):
            page_in(split)
        yield from times.pulled("decode", read_split(number, split, wanted))
        give_back()
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
