"""How long each stage of an import took, and how much went through it, added up over its tasks.

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

Seconds are those of all tasks together: on four cores they are up to four times what passed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, TypedDict, TypeVar

from groups.packs.files import Files, Writing

UNITS: Final[Mapping[str, str]] = {
    "read": "bytes",
    "decode": "records",
    "shuffle": "blocks",
    "fold": "records",
    "write": "bytes",
    "commit": "timelines",
}
"""By stage, in their order."""

T = TypeVar("T")


class StageTime(TypedDict):
    """A stage as a report has it."""

    stage: str
    seconds: float
    rows: int
    unit: str


@dataclass(slots=True)
class Times:
    """Seconds and rows by stage."""

    clock: Callable[[], float] = time.perf_counter
    seconds: dict[str, float] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)

    def add(self, stage: str, seconds: float, rows: int = 0) -> None:
        self.seconds[stage] = self.seconds.get(stage, 0.0) + seconds
        self.rows[stage] = self.rows.get(stage, 0) + rows

    def merge(self, times: Iterable[StageTime]) -> None:
        """Add what another process reports."""
        for one in times:
            self.add(one["stage"], one["seconds"], one["rows"])

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
        return [
            StageTime(
                stage=stage, seconds=round(self.seconds[stage], 6), rows=self.rows.get(stage, 0), unit=unit
            )
            for stage, unit in UNITS.items()
            if stage in self.seconds
        ]


def in_words(times: Iterable[StageTime]) -> str:
    """``read 0.1 s (900 bytes), decode …``: a line of a log."""
    return ", ".join(
        f"{one['stage']} {one['seconds']:.1f} s ({one['rows']:,} {one['unit']})" for one in times
    )


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
