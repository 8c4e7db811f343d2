"""The tasks of an import on Spark: this machine's, or a cluster's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from groups.pipeline import transformations
from groups.pipeline.folding.context import Context
from groups.pipeline.reading.rows import Wanted
from groups.pipeline.reading.tasks import Task
from groups.pipeline.spark.session import folding_tasks

if TYPE_CHECKING:
    from pyspark import Accumulator
    from pyspark.sql import DataFrame, SparkSession


class SparkEngine:
    """An import on an open session."""

    def __init__(self, session: SparkSession) -> None:
        self._session = session
        self._kept: list[DataFrame] = []
        # Tasks report at their end. One that is done again after a machine was lost counts its groups again.
        self._ended: Accumulator[int] = session.sparkContext.accumulator(0)
        self._executors: set[str] = set()

    def executors_lost(self) -> int:
        """Executors that were there at an earlier look and are gone; a look comes with each count."""
        infos = self._session.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
        # One that is being added has no port yet.
        now = {f"{info.host()}:{info.port()}" for info in infos if info.port() > 0}
        self._executors |= now
        return len(self._executors - now)

    def tasks_done(self) -> int:
        self.executors_lost()
        tracker = self._session.sparkContext.statusTracker()
        found = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        return max((info.numCompletedTasks for info in found if info), default=0)

    def groups_done(self) -> int:
        self.executors_lost()
        return int(self._ended.value)

    def read(self, tasks: Sequence[Task], wanted: Wanted) -> Iterator[tuple[str, int, bytes]]:
        self._rows = self._persist(transformations.rows(self._session, tasks, wanted))
        for row in transformations.facts(self._rows).collect():
            yield row.kind, row.source, bytes(row.payload)

    def fold(
        self, context: Context, *, fill_partitions: bool, bytes_read: int
    ) -> Iterator[tuple[str, bytes]]:
        blocks = transformations.blocks(self._rows)
        if fill_partitions:
            blocks = blocks.transform(transformations.with_partitions_known)
        count = folding_tasks(bytes_read, self._session.sparkContext.defaultParallelism)
        ordered = blocks.transform(transformations.in_group_order, count)
        folded = self._persist(transformations.folded(ordered, context, self._ended.add))
        # One job over all tasks, as many at once as the cluster has cores. The lines are fetched afterwards, one task's
        # at a time: those of a large log do not fit into the driver together.
        folded.count()
        for row in folded.toLocalIterator():
            yield row.kind, bytes(row.payload)

    def close(self) -> None:
        while self._kept:
            self._kept.pop().unpersist()

    def _persist(self, rows: DataFrame) -> DataFrame:
        from pyspark import StorageLevel

        self._kept.append(rows.persist(StorageLevel.DISK_ONLY))
        return rows
