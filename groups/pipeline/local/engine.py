"""The tasks of an import without Spark. A small log is read in this process, a larger one by workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from groups.address_space import processors
from groups.pipeline.folding.context import Context
from groups.pipeline.folding.tasks import fold_blocks
from groups.pipeline.local.memory import bounded
from groups.pipeline.local.shuffle import Place, Shuffle
from groups.pipeline.local.worker import ENDED, FOLD, READ
from groups.pipeline.local.workers import WORKERS_MOST, Work, Workers
from groups.pipeline.reading.group_blocks import GroupBlock
from groups.pipeline.reading.rows import Row, Wanted
from groups.pipeline.reading.tasks import Task, read_task

PARALLEL_BYTES_LEAST: Final = 4 * 1024 * 1024
"""Two seconds of work, of which two workers save one; each takes half a second to start."""

TASKS_A_WORKER: Final = 4
"""Folding tasks for each worker, so that one with large groups does not leave the others idle."""


class LocalEngine:
    """``workers``: how many processes; 0: this one alone."""

    def __init__(self, workers: int = 0) -> None:
        self._shuffle = Shuffle()
        self._workers = Workers(workers) if workers else None
        self._tasks_done = self._groups_done = 0

    def executors_lost(self) -> int:
        """A worker that ends has the import fail."""
        return 0

    def tasks_done(self) -> int:
        return self._tasks_done

    def groups_done(self) -> int:
        return self._groups_done

    def read(self, tasks: Sequence[Task], wanted: Wanted) -> Iterator[tuple[str, int, bytes]]:
        facts: list[list[tuple[str, int, bytes]]] = [[] for _ in tasks]
        ended: set[int] = set()
        reported = 0
        for number, row in self._rows(tasks, wanted):
            if row.kind == "block":
                self._shuffle.add(row)
                continue
            facts[number].append((row.kind, row.source, row.payload))
            if row.kind == "times":
                # The last row of a task. Tasks end in any order, and are reported in their own.
                ended.add(number)
                self._tasks_done += 1
                while reported in ended:
                    yield from facts[reported]
                    reported += 1

    def _rows(self, tasks: Sequence[Task], wanted: Wanted) -> Iterator[tuple[int, Row]]:
        if self._workers is not None:
            yield from self._workers.run([Work(READ, (task, wanted)) for task in tasks])
            return
        with bounded():
            for number, task in enumerate(tasks):
                for row in read_task(task, wanted):
                    yield number, row

    def fold(
        self, context: Context, *, fill_partitions: bool, bytes_read: int
    ) -> Iterator[tuple[str, bytes]]:
        if fill_partitions:
            self._shuffle.fill_partitions()
        groups = self._shuffle.groups()
        if self._workers is None:
            blocks = (GroupBlock.unpack(*packed) for group in groups for packed in self._shuffle.fetch(group))
            with bounded():
                yield from fold_blocks(blocks, context, self._count)
            return
        works = [
            Work(FOLD, context, self._shuffle.fetch(places))
            for places in shared_out(groups, TASKS_A_WORKER * len(self._workers))
        ]
        for _, (kind, payload) in self._workers.run(works):
            if kind == ENDED:
                self._count(int(payload))
            else:
                yield kind, payload

    def _count(self, groups: int) -> None:
        self._groups_done += groups

    def close(self) -> None:
        if self._workers is not None:
            self._workers.close()
        self._shuffle.close()


def workers_for(size: int) -> int:
    """How many workers read so many bytes; 0 where this process does it sooner."""
    if size < PARALLEL_BYTES_LEAST:
        return 0
    cores = processors()
    return 0 if cores < 2 else min(cores, WORKERS_MOST)


def shared_out(groups: list[list[Place]], tasks: int) -> list[list[Place]]:
    """The groups in at most so many tasks of about one size, the largest groups first."""
    shares: list[list[Place]] = [[] for _ in range(min(tasks, len(groups)))]
    sizes = [0] * len(shares)
    for places in sorted(groups, key=_size, reverse=True):
        least = sizes.index(min(sizes))
        sizes[least] += _size(places)
        shares[least] += places
    return shares


def _size(places: list[Place]) -> int:
    return sum(place.length for place in places)
