"""The import's DataFrame → DataFrame steps.

``rows(spark, tasks)`` → ``blocks`` → ``with_partitions_known`` → ``in_group_order`` → ``folded``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from groups.pipeline.folding.context import Context
from groups.pipeline.folding.tasks import fold_blocks
from groups.pipeline.reading.group_blocks import GroupBlock
from groups.pipeline.reading.rows import EVERYTHING, ROW, Wanted, arrow_batches, arrow_schema
from groups.pipeline.reading.tasks import Task, read_task

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

BLOCK: Final = "group string, partition int, source int, split int, first long, payload binary"
"""A row of the folding stage."""

FOLDED: Final = "kind string, payload binary"

LINES_A_BATCH: Final = 256


def rows(spark: SparkSession, tasks: Sequence[Task], wanted: Wanted = EVERYTHING) -> DataFrame:
    """The rows of all splits (``rows.ROW``); each task of reading is one of Spark's."""

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from arrow_batches(read_task(tasks[number], wanted))

    return spark.range(0, len(tasks), 1, max(1, len(tasks))).mapInArrow(read, ROW)


def facts(rows: DataFrame) -> DataFrame:
    """Everything that is no block: what the splits held, and topics of the cluster metadata."""
    return rows.where("kind <> 'block'").select("kind", "source", "payload")


def blocks(rows: DataFrame) -> DataFrame:
    """The records, a row for each group and stretch."""
    return rows.where("kind = 'block'").select([field.split()[0] for field in BLOCK.split(", ")])


def with_partitions_known(blocks: DataFrame) -> DataFrame:
    """Gives blocks from files without a folder's name the partition in which other files have the same group.

    A group lives in one partition; without this the same segment given twice, once with its folder and once
    without, would count as two.
    """
    from pyspark.sql import functions as F

    known = (
        blocks.where("partition is not null")
        .groupBy("group")
        .agg(F.min("partition").alias("known"), F.max("partition").alias("other"))
        .where("known = other")
        .select("group", "known")
    )
    return (
        blocks.join(known, on="group", how="left")
        .withColumn("partition", F.coalesce("partition", "known"))
        .select(blocks.columns)
    )


def in_group_order(blocks: DataFrame, tasks: int) -> DataFrame:
    """Each group's blocks together, by partition, first batch and file; in so many tasks."""
    return blocks.repartition(tasks, "group").sortWithinPartitions("group", "partition", "first", "source")


def folded(
    ordered: DataFrame, context: Context, ended: Callable[[int], None] = lambda groups: None
) -> DataFrame:
    """Folds and stores the timelines; gives their rows of the report (``FOLDED``). ``ended`` counts, in the tasks, groups that are folded."""

    def fold(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        schema = arrow_schema(FOLDED)
        held: list[tuple[str, bytes]] = []
        for line in fold_blocks(_blocks(batches), context, ended):
            held.append(line)
            if len(held) >= LINES_A_BATCH:
                yield pa.RecordBatch.from_pydict(_columns(held), schema=schema)
                held = []
        yield pa.RecordBatch.from_pydict(_columns(held), schema=schema)

    return ordered.mapInArrow(fold, FOLDED)


def _columns(lines: Sequence[tuple[str, bytes]]) -> dict[str, list[object]]:
    return {"kind": [kind for kind, _ in lines], "payload": [payload for _, payload in lines]}


def _blocks(batches: Iterable[pa.RecordBatch]) -> Iterator[GroupBlock]:
    for batch in batches:
        group, partition, source, split, _, payload = batch.columns
        for row in zip(group, partition, source, split, payload, strict=True):
            # One at a time: a payload may have megabytes, a batch many of them.
            yield GroupBlock.unpack(*(value.as_py() for value in row))
