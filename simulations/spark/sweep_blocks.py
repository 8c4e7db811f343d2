"""The sweep's DataFrame steps: ``tasks(spark, …)`` → ``answered``. Cases are made where they are answered."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import orjson

from simulations.sweeps.answering import rows_of
from simulations.sweeps.axes import Axes, Block

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

ANSWERED = "cell int, first int, took_s double, rows binary"
"""``rows`` is a JSON array: a row of ``answering`` for each seed from ``first`` on; ``took_s`` is the worker's time."""

Deal = list[list[Block]]
"""What each task answers."""


def dealt(wanted: Sequence[Block], tasks: int) -> Deal:
    """Blocks for so many tasks: neighbours cost about the same, so each task gets of all."""
    tasks = max(1, min(tasks, len(wanted)))
    return [list(wanted[turn::tasks]) for turn in range(tasks)]


def tasks(spark: SparkSession, deal: Deal) -> DataFrame:
    """A row for each task, in a partition of its own: its place in ``deal``."""
    return spark.range(0, len(deal), 1, len(deal))


def answered(tasks: DataFrame, axes: Axes, deal: Deal) -> DataFrame:
    """The blocks of the tasks, each with its rows."""

    def answer(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for place in batch.column(0).to_pylist():
                for block in deal[place]:
                    yield _answer(axes, block)

    return tasks.mapInArrow(answer, ANSWERED)


def _answer(axes: Axes, block: Block) -> pa.RecordBatch:
    import pyarrow as pa

    begun = time.perf_counter()
    rows = orjson.dumps(list(rows_of(axes, block, time.perf_counter)))
    took_s = time.perf_counter() - begun
    return pa.RecordBatch.from_pydict(
        {
            "cell": pa.array([block.cell], pa.int32()),
            "first": pa.array([block.first], pa.int32()),
            "took_s": pa.array([took_s], pa.float64()),
            "rows": pa.array([rows], pa.binary()),
        }
    )
