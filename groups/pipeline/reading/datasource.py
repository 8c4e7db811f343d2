"""A Spark data source for segments of ``__consumer_offsets``: ``spark.read.format("offsets_log")``.

A file is cut at batch boundaries (``sources``), so that one large segment uses every core and a task's memory does not
depend on the file. Options: ``paths``, a JSON list of files and folders; or ``tasks``, the splits that were made of them
already; ``wanted``, ``{"groups": [...], "until_ms": …}``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

import orjson
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from groups.pipeline.reading.recognising import FileKind
from groups.pipeline.reading.rows import ROW, Row, Wanted, columns
from groups.pipeline.reading.splitting import Split, list_sources
from groups.pipeline.reading.tasks import Task, read_task, tasks_of

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT: Final = "offsets_log"

ROWS_A_BATCH: Final = 64
"""Rows that go to Spark at once: each holds up to half a megabyte of records."""

BYTES_A_BATCH: Final = 2 * 1024 * 1024


def tasks_text(tasks: Sequence[Task]) -> str:
    """Tasks as the option ``tasks``."""
    return orjson.dumps([[[number, asdict(split)] for number, split in task] for task in tasks]).decode()


def wanted_text(wanted: Wanted) -> str:
    groups = None if wanted.groups is None else sorted(wanted.groups)
    return orjson.dumps({"groups": groups, "until_ms": wanted.until_ms}).decode()


class ReadingTask(InputPartition):
    """What one task reads."""

    def __init__(self, splits: Task) -> None:
        self.splits = splits


class OffsetsLog(DataSource):
    """See the module."""

    @classmethod
    def name(cls) -> str:
        return FORMAT

    def schema(self) -> str:
        return ROW

    def reader(self, schema: Any) -> OffsetsLogReader:
        return OffsetsLogReader(dict(self.options))


class OffsetsLogReader(DataSourceReader):
    """Plans the tasks, and reads one of them."""

    def __init__(self, options: dict[str, str]) -> None:
        parsed = orjson.loads(options.get("wanted") or b"{}")
        groups = parsed.get("groups")
        self.wanted = Wanted(
            groups=None if groups is None else frozenset(groups), until_ms=parsed.get("until_ms")
        )
        if "tasks" in options:
            self.tasks = [
                [(number, Split(**{**split, "kind": FileKind(split["kind"])})) for number, split in task]
                for task in orjson.loads(options["tasks"])
            ]
        else:
            self.tasks = tasks_of(list_sources(orjson.loads(options["paths"])).splits)

    def partitions(self) -> Sequence[InputPartition]:
        return [ReadingTask(task) for task in self.tasks]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, ReadingTask)
        yield from _batches(read_task(partition.splits, self.wanted), arrow_schema(ROW))


def arrow_schema(text: str) -> pa.Schema:
    """Spark's words for a schema, in Arrow's."""
    import pyarrow as pa

    types = {"string": pa.string(), "int": pa.int32(), "long": pa.int64(), "binary": pa.binary()}
    return pa.schema([(name, types[kind]) for name, kind in (field.split() for field in text.split(", "))])


def _batches(rows: Iterator[Row], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    held: list[Row] = []
    size = 0
    for row in rows:
        held.append(row)
        size += len(row.payload)
        if len(held) >= ROWS_A_BATCH or size >= BYTES_A_BATCH:
            yield pa.RecordBatch.from_pydict(columns(held), schema=schema)
            held, size = [], 0
    if held:
        yield pa.RecordBatch.from_pydict(columns(held), schema=schema)
