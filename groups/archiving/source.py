"""The log of a cluster's groups as Spark streams it: a source that fetches what is new, and a sink that appends it.

Spark plans from offsets that it keeps in its checkpoint, a task for each partition that has news. The segments contain
where a task begins: what a query that died had appended is not fetched twice. Settings hold secrets, so both are classes
made for one cluster; a source's options would stand in Spark's plans.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
    InputPartition,
    WriterCommitMessage,
)
from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow

from groups.archiving.fetching import look, pieces
from groups.archiving.segments import TOPICS, PartitionArchive, Piece, write_whole
from groups.clusters.settings import ClusterSettings
from groups.history.following.topics import TopicFacts
from groups.pipeline.reading.rows import arrow_schema

if TYPE_CHECKING:
    import pyarrow as pa

SOURCE: Final = "consumer_offsets_topic"
SINK: Final = "consumer_offsets_segments"

ROW: Final = "partition int, start long, next long, data binary"
"""A fetch: ``segments.Piece`` and its partition."""

Offsets = dict[str, int]
"""Where each partition is read to, by its number: what a checkpoint holds."""


class Stretch(InputPartition):
    """What one task reads: a partition up to an offset."""

    def __init__(self, partition: int, end: int) -> None:
        self.partition = partition
        self.end = end


class LogReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Plans from the ends of the partitions. A partition without a leader keeps its previous plan."""

    def __init__(self, settings: ClusterSettings, folder: Path) -> None:
        self.settings = settings
        self.folder = folder
        self.target: Offsets | None = None

    def initialOffset(self) -> Offsets:
        """No partition is known yet: each is read from its beginning."""
        return {}

    def prepareForTriggerAvailableNow(self) -> None:
        self.target = self._ends()

    def latestOffset(self, start: Offsets, limit: ReadLimit) -> Offsets:
        """All that is there, whatever the limit: a task holds one fetch at a time."""
        return merged(start, self.target if self.target is not None else self._ends())

    def partitions(self, start: Offsets, end: Offsets) -> Sequence[InputPartition]:
        return [Stretch(int(number), to) for number, to in end.items() if to > start.get(number, 0)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        assert isinstance(partition, Stretch)
        schema = arrow_schema(ROW)
        for piece in pieces(self.settings, self.folder, partition.partition, partition.end):
            columns = {
                "partition": [partition.partition],
                "start": [piece.start],
                "next": [piece.next],
                "data": [piece.data],
            }
            yield pa.RecordBatch.from_pydict(columns, schema=schema)

    def _ends(self) -> Offsets:
        _, ends, topics = asyncio.run(look(self.settings))
        keep_topics(self.folder, topics)
        return {str(number): end for number, end in ends.items()}


class SegmentsWriter(DataSourceStreamArrowWriter):
    """Appends; a batch that Spark does again adds what is missing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        with contextlib.ExitStack() as stack:
            archives: dict[int, PartitionArchive] = {}
            for batch in iterator:
                for row in batch.to_pylist():
                    partition = row.pop("partition")
                    if partition not in archives:
                        archives[partition] = stack.enter_context(PartitionArchive(self.folder, partition))
                    archives[partition].append(Piece(**row))
        return WriterCommitMessage()


def merged(start: Mapping[str, int], found: Mapping[str, int]) -> Offsets:
    """The later of both for each partition, in the partitions' order: a source never goes back."""
    numbers = sorted(start.keys() | found.keys(), key=int)
    return {number: max(start.get(number, 0), found.get(number, 0)) for number in numbers}


def keep_topics(folder: Path, topics: Mapping[str, TopicFacts]) -> None:
    """Add the topics to those that are known: one that is deleted later keeps its name here."""
    file = folder / TOPICS
    known = json.loads(file.read_bytes()) if file.exists() else {}
    merged = known | {
        facts.topic_id: {"name": name, "partitions": facts.partitions}
        for name, facts in topics.items()
        if facts.topic_id is not None
    }
    if merged != known:
        write_whole(file, json.dumps(merged, indent=1, sort_keys=True).encode())


def source_of(settings: ClusterSettings, folder: Path) -> type[DataSource]:
    """The streaming source of one cluster."""

    class OffsetsTopic(DataSource):
        @classmethod
        def name(cls) -> str:
            return SOURCE

        def schema(self) -> str:
            return ROW

        def streamReader(self, schema: Any) -> LogReader:
            return LogReader(settings, folder)

    return OffsetsTopic


def sink_of(folder: Path) -> type[DataSource]:
    """The sink that appends to the segments of one folder."""

    class OffsetsSegments(DataSource):
        @classmethod
        def name(cls) -> str:
            return SINK

        def streamWriter(self, schema: Any, overwrite: bool) -> SegmentsWriter:
            return SegmentsWriter(folder)

    return OffsetsSegments
