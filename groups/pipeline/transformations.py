"""The import's DataFrame → DataFrame steps. Each opens or closes with the columns that it promises.

``rows(spark, splits)`` → ``records`` → ``without_open_transactions`` → ``with_partitions_known`` →
``in_group_order`` → ``folded``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from groups.pipeline.reading import ROW, columns, read_split
from groups.pipeline.sources import SPLIT_BYTES, Split
from groups.pipeline.timelines import FACTS, RECORDS, Context, Ordered, fold_rows
from groups.pipeline.topic_facts import FACT_TYPES

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

ROWS_A_BATCH = 4096
"""Rows that go to Spark at once: large against the cost of a batch, small against memory."""

LINE_BYTES_A_BATCH = 4 * 1024 * 1024
"""Bytes of folded lines that go to Spark at once."""

RECORD_COLUMNS = [
    *("source", "partition", "offset", "batch", "at_ms", "producer", "type", "group", "payload"),
]

ORDERED = "group string, turn int, partition int, offset long, batch long, at_ms long, type int, source int, payload binary"

LINE = "timeline string, line binary"

COMMIT, ABORT, OPEN = 1, 0, -1
"""What became of a transaction: its marker's type, or no marker in the files."""


def rows(spark: SparkSession, splits: Sequence[Split]) -> DataFrame:
    """The rows of all splits (``reading.ROW``); small splits share a task."""
    schema = _arrow_row()
    tasks = shared(splits)

    def read(numbers: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in numbers:
            for number in batch.column(0).to_pylist():
                for split in tasks[number]:
                    yield from _arrow_batches(read_split(split), schema)

    return spark.range(0, len(tasks), 1, max(1, len(tasks))).mapInArrow(read, ROW)


def shared(splits: Sequence[Split], task_bytes: int = SPLIT_BYTES) -> list[list[Split]]:
    """Splits put together into tasks: an offsets topic has 50 partitions, most of them nearly empty."""
    tasks: list[list[Split]] = []
    room = 0
    for split in splits:
        size = split.end - split.start
        if not tasks or size > room:
            tasks.append([])
            room = task_bytes
        tasks[-1].append(split)
        room -= size
    return tasks


def facts(rows: DataFrame) -> DataFrame:
    """Everything that is no record: what the splits held, problems, names, topics."""
    return rows.where("kind not in ('record', 'marker')").select(
        "kind", "source", "at_ms", "offset", "group", "payload"
    )


def records(rows: DataFrame, group: str | None = None) -> DataFrame:
    """The coordinator records, of one group or of all."""
    from pyspark.sql import functions as F

    is_record = F.col("kind") == "record"
    wanted = is_record if group is None else is_record & (F.col("group") == group)
    return rows.where(wanted).select(RECORD_COLUMNS)


def outcomes(rows: DataFrame, group: str | None = None) -> DataFrame:
    """Transactional records, each with what became of its transaction: the next marker of its producer tells."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    is_marker = F.col("kind") == "marker"
    is_wanted = F.col("kind") == "record" if group is None else F.col("group") == group
    # Files whose partition nobody told are logs of their own.
    log = F.coalesce(F.col("partition"), -1 - F.col("source"))
    onwards = (
        Window.partitionBy("log", "producer").orderBy("offset").rowsBetween(0, Window.unboundedFollowing)
    )
    return (
        rows.where(F.col("producer").isNotNull() & (is_marker | is_wanted))
        .withColumn("log", log)
        .withColumn("marker", F.when(is_marker, F.col("type")))
        .withColumn("outcome", F.coalesce(F.first("marker", ignorenulls=True).over(onwards), F.lit(OPEN)))
        .where("kind = 'record'")
        .select([*RECORD_COLUMNS, "outcome"])
    )


def without_open_transactions(records: DataFrame, outcomes: DataFrame) -> DataFrame:
    """Plain records, and those of transactions that were committed."""
    plain = records.where("producer is null")
    committed = outcomes.where(f"outcome = {COMMIT}").select(RECORD_COLUMNS)
    return plain.unionByName(committed)


def left_out(outcomes: DataFrame) -> DataFrame:
    """How many records of each file belong to transactions that were aborted, or that have no end in the files."""
    from pyspark.sql import functions as F

    return (
        outcomes.where(f"outcome <> {COMMIT}")
        .groupBy("source", "outcome")
        .agg(F.count("*").alias("records"), F.min("offset").alias("first"), F.max("offset").alias("last"))
        .select("source", "outcome", "records", "first", "last")
    )


def with_partitions_known(records: DataFrame, partitions: Mapping[str, int]) -> DataFrame:
    """Gives records from files without a folder's name the partition in which other files have the same group.

    A group lives in one partition; without this the same segment given twice, once with its folder and once
    without, would count as two.
    """
    if not partitions:
        return records.select(RECORD_COLUMNS)
    from pyspark.sql import functions as F

    known = records.sparkSession.createDataFrame(sorted(partitions.items()), "group string, known int")
    return (
        records.join(F.broadcast(known), on="group", how="left")
        .withColumn("partition", F.coalesce("partition", "known"))
        .select(RECORD_COLUMNS)
    )


def in_group_order(records: DataFrame) -> DataFrame:
    """Each group's records together, by partition and offset; those that tell about topics stand in front again."""
    from pyspark.sql import functions as F

    wanted = [field.split()[0] for field in ORDERED.split(", ")]
    whole = records.withColumn("turn", F.lit(RECORDS))
    telling = records.where(F.col("type").isin(*FACT_TYPES)).withColumn("turn", F.lit(FACTS))
    return (
        whole.unionByName(telling)
        .select(wanted)
        .repartition("group")
        .sortWithinPartitions("group", "turn", "partition", "offset", "source")
    )


def folded(ordered: DataFrame, context: Context) -> DataFrame:
    """The timelines as lines of JSON (``LINE``), each group's in order."""

    def fold(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        timelines: list[str] = []
        lines: list[bytes] = []
        held = 0
        for line in fold_rows(_ordered(batches), context):
            timelines.append(line.timeline)
            lines.append(line.json)
            held += len(line.json)
            if held >= LINE_BYTES_A_BATCH:
                yield pa.RecordBatch.from_pydict(
                    {"timeline": timelines, "line": pa.array(lines, pa.binary())}
                )
                timelines, lines, held = [], [], 0
        yield pa.RecordBatch.from_pydict(
            {"timeline": pa.array(timelines, pa.string()), "line": pa.array(lines, pa.binary())}
        )

    return ordered.mapInArrow(fold, LINE)


def _ordered(batches: Iterable[pa.RecordBatch]) -> Iterator[Ordered]:
    for batch in batches:
        for values in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            yield Ordered(*values)


def _arrow_batches(rows: Iterable[Any], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    held = []
    for row in rows:
        held.append(row)
        if len(held) >= ROWS_A_BATCH:
            yield pa.RecordBatch.from_pydict(columns(held), schema=schema)
            held = []
    if held:
        yield pa.RecordBatch.from_pydict(columns(held), schema=schema)


def _arrow_row() -> pa.Schema:
    import pyarrow as pa

    types = {"string": pa.string(), "int": pa.int32(), "long": pa.int64(), "binary": pa.binary()}
    return pa.schema([(name, types[kind]) for name, kind in (field.split() for field in ROW.split(", "))])
