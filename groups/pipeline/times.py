"""How long each stage of an import or of a run took, and how much went through it, added up over its tasks.

======= ========= =====================================================================================
stage   unit      what is counted
======= ========= =====================================================================================
read    bytes     the files' bytes, from the disk into memory
decode  records   batches and records, and their blocks
shuffle blocks    waiting for blocks from other tasks: Spark's sorting and moving
fold    records   the fold, the findings, and packing what is stored
write   bytes     packs, onto the disk
commit  timelines rows in the database; of the server, not of a task
======= ========= =====================================================================================

Of a run (``RUN_UNITS``): ``simulate``, ``fold`` and ``commit`` count entries, ``write`` the bytes of their batches; its slowest parts are kinds of
entries.

Seconds are those of all tasks together: on four cores they are up to four times what passed. ``decode`` also has its slowest
partitions, ``fold`` its slowest groups, and both the most memory that one of their tasks had.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, NotRequired, TypedDict, TypeVar

from groups.address_space import peak_bytes
from groups.packs.files import Files, Writing

UNITS: Final[Mapping[str, str]] = {
    "read": "bytes",
    "decode": "records",
    "shuffle": "blocks",
    "fold": "records",
    "write": "bytes",
    "commit": "timelines",
}
"""Of an import, by stage in their order."""

RUN_UNITS: Final[Mapping[str, str]] = {
    "simulate": "entries",
    "fold": "entries",
    "write": "bytes",
    "commit": "entries",
}

PARTS_MOST: Final = 200
"""Partitions or groups of a stage whose seconds are kept while a task, or the import, is under way."""

T = TypeVar("T")


SLOWEST_MOST: Final = 3
"""Partitions or groups of a stage that are named."""


class Slowest(TypedDict):
    """A partition or a group that took long."""

    name: str
    seconds: float


class StageTime(TypedDict):
    """A stage as a report has it."""

    stage: str
    seconds: float
    rows: int
    unit: str
    slowest: NotRequired[list[Slowest]]
    """Of ``decode`` the partitions, of ``fold`` the groups that took longest; of a run the kinds of entries."""

    memory_bytes: NotRequired[int]
    """The most that the process of one task had."""

    tried_again: NotRequired[int]
    """Tasks that Spark tried again within their stage, since they failed or their machine was lost. A stage that begins again is not counted."""


@dataclass(slots=True)
class Times:
    """Seconds and rows by stage."""

    units: Mapping[str, str] = field(default_factory=lambda: UNITS)
    clock: Callable[[], float] = time.perf_counter
    seconds: dict[str, float] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    parts: dict[str, dict[str, float]] = field(default_factory=dict)
    """By stage and partition or group: seconds."""

    memory: dict[str, int] = field(default_factory=dict)
    tried_again: dict[str, int] = field(default_factory=dict)

    def add(self, stage: str, seconds: float, rows: int = 0) -> None:
        self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds
        self.rows[stage] = self.rows.get(stage, 0) + rows

    def lap(self, stage: str, begun: float, part: str) -> float:
        """Adds one row of a part, for the time since ``begun``; what time it is now."""
        now = self.clock()
        self.add(stage, now - begun, 1)
        self.add_part(stage, part, now - begun)
        return now

    def merge(self, times: Iterable[StageTime]) -> None:
        """Add what another process reports."""
        for one in times:
            stage = one["stage"]
            self.add(stage, one["seconds"], one["rows"])
            for part in one.get("slowest", ()):
                self.add_part(stage, part["name"], part["seconds"])
            if memory := one.get("memory_bytes"):
                self.memory[stage] = max(memory, self.memory.get(stage, 0))
            if again := one.get("tried_again"):
                self.tried_again[stage] = self.tried_again.get(stage, 0) + again

    def add_part(self, stage: str, name: str, seconds: float) -> None:
        """Seconds of one partition or group. Only the slowest are kept."""
        parts = self.parts.setdefault(stage, {})
        parts[name] = parts.get(name, 0.0) + seconds
        if len(parts) > PARTS_MOST:
            self.parts[stage] = dict(_slowest(parts, PARTS_MOST // 2))

    def end_task(self, stage: str) -> None:
        """Notes what this process had of memory, and whether its task is another try."""
        self.memory[stage] = peak_bytes()
        pyspark = sys.modules.get("pyspark")
        task = pyspark.TaskContext.get() if pyspark is not None else None
        if task is not None and (again := task.attemptNumber()):
            self.tried_again[stage] = again

    @contextmanager
    def taking(self, stage: str, rows: int = 0) -> Iterator[None]:
        begun = self.clock()
        try:
            yield
        finally:
            self.add(stage, self.clock() - begun, rows)

    def pulled(self, stage: str, items: Iterable[T]) -> Iterator[T]:
        """The items, with the time that is waited for each."""
        source = iter(items)
        while True:
            begun = self.clock()
            try:
                item = next(source)
            except StopIteration:
                self.add(stage, self.clock() - begun)
                return
            self.add(stage, self.clock() - begun, 1)
            yield item

    def report(self) -> list[StageTime]:
        """The stages that took part, in their order. Seconds are whole microseconds: a small file is written in less than a
        millisecond."""
        return [self._of_stage(stage, unit) for stage, unit in self.units.items() if stage in self.seconds]

    def _of_stage(self, stage: str, unit: str) -> StageTime:
        found = StageTime(
            stage=stage, seconds=round(self.seconds[stage], 6), rows=self.rows.get(stage, 0), unit=unit
        )
        if parts := self.parts.get(stage):
            found["slowest"] = [
                Slowest(name=name, seconds=round(seconds, 6))
                for name, seconds in _slowest(parts, SLOWEST_MOST)
            ]
        if memory := self.memory.get(stage):
            found["memory_bytes"] = memory
        if again := self.tried_again.get(stage):
            found["tried_again"] = again
        return found


def _slowest(parts: Mapping[str, float], count: int) -> list[tuple[str, float]]:
    return sorted(parts.items(), key=lambda part: -part[1])[:count]


def in_words(times: Iterable[StageTime]) -> str:
    """``read 0.1 s (900 bytes), decode …``: a line of a log."""
    return ", ".join(f"{one['stage']} {one['seconds']:.1f} s ({'; '.join(_details(one))})" for one in times)


def _details(one: StageTime) -> Iterator[str]:
    yield f"{one['rows']:,} {one['unit']}"
    if slowest := one.get("slowest"):
        yield "slowest " + ", ".join(f"{part['name']} {part['seconds']:.1f} s" for part in slowest)
    if memory := one.get("memory_bytes"):
        yield f"{memory / 1024**2:,.0f} MiB"
    if again := one.get("tried_again"):
        yield f"{again} tried again"


@dataclass(frozen=True, slots=True)
class TimedFiles:
    """Files, with the time that writing takes."""

    files: Files
    times: Times

    def begin(self, folder: str) -> Writing:
        with self.times.taking("write"):
            return _TimedWriting(self.files.begin(folder), self.times)

    def read(self, name: str, offset: int, length: int) -> bytes:
        return self.files.read(name, offset, length)

    def names(self, folder: str = "") -> list[str]:
        return self.files.names(folder)

    def size(self, name: str) -> int:
        return self.files.size(name)

    def remove(self, name: str) -> None:
        self.files.remove(name)


@dataclass(frozen=True, slots=True)
class _TimedWriting:
    writing: Writing
    times: Times

    def write(self, data: bytes) -> None:
        with self.times.taking("write", len(data)):
            self.writing.write(data)

    def keep(self, name: str) -> None:
        with self.times.taking("write"):
            self.writing.keep(name)

    def drop(self) -> None:
        self.writing.drop()
