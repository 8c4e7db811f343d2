"""Rows: the one shape in which reading tasks hand on what they read, distinguished by ``kind``.

===== =========================================================================================================
block  records of one group from one stretch of a file, packed (``group_blocks``); ``first`` is its first batch
topic  a record of the cluster metadata log about a topic; ``payload`` is it as JSON
facts  what the split held besides records (``split_facts``)
times  how long a task read and decoded (``times``), as JSON
===== =========================================================================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

ROW: Final = "kind string, group string, partition int, source int, split int, first long, records long, payload binary"
"""The rows' schema in Spark's words."""

ROWS_A_BATCH: Final = 64
"""Rows that go to Spark at once: each holds up to half a megabyte of records."""

BYTES_A_BATCH: Final = 2 * 1024 * 1024


class Row(NamedTuple):
    """See the module. ``split`` is the split's number, ``source`` its file's."""

    kind: str
    group: str | None
    partition: int | None
    source: int
    split: int
    first: int | None
    records: int
    payload: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be read of a log: all of it, or some groups, up to a time."""

    groups: frozenset[str] | None = None
    until_ms: int | None = None

    def has(self, group: str) -> bool:
        return self.groups is None or group in self.groups


EVERYTHING: Final = Wanted()


def arrow_schema(text: str) -> pa.Schema:
    """Spark's words for a schema, in Arrow's."""
    import pyarrow as pa

    types = {"string": pa.string(), "int": pa.int32(), "long": pa.int64(), "binary": pa.binary()}
    return pa.schema([(name, types[kind]) for name, kind in (field.split() for field in text.split(", "))])


def arrow_batches(rows: Iterator[Row]) -> Iterator[pa.RecordBatch]:
    """The rows as Spark takes them, some at once."""
    held: list[Row] = []
    size = 0
    for row in rows:
        held.append(row)
        size += len(row.payload)
        if len(held) >= ROWS_A_BATCH or size >= BYTES_A_BATCH:
            yield _batch(held)
            held, size = [], 0
    if held:
        yield _batch(held)


def _batch(rows: Sequence[Row]) -> pa.RecordBatch:
    import pyarrow as pa

    columns: list[Any] = list(map(list, zip(*rows, strict=True)))
    return pa.RecordBatch.from_pydict(dict(zip(Row._fields, columns, strict=True)), schema=arrow_schema(ROW))
