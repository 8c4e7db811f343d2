"""Reads a split of a ``__cluster_metadata`` segment or checkpoint: its records about topics."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from groups.pipeline.reading.rows import Row
from groups.pipeline.reading.split_reading import SplitReading
from groups.wire.errors import RecordError
from groups.wire.logs.batches import BatchProblem, read_batches
from groups.wire.logs.metadata_log import decode_metadata_record
from groups.wire.logs.record_batch import RecordBatch


class MetadataReading(SplitReading):
    """A ``__cluster_metadata`` segment or checkpoint: its records about topics."""

    def rows(self, data: memoryview) -> Iterator[Row]:
        reached: int | None = None
        waiting: BatchProblem | None = None
        for found in read_batches(data):
            if isinstance(found, BatchProblem):
                if waiting is not None:
                    self.damage(waiting, reached, None)
                waiting = found
                continue
            if waiting is not None:
                self.damage(waiting, reached, found.base_offset)
                waiting = None
            reached = found.last_offset
            yield from self._batch(found)
        if waiting is not None:
            self.damage(waiting, reached, None)
        yield self.last_row()

    def _batch(self, batch: RecordBatch) -> Iterator[Row]:
        self.facts.read += len(batch.records)
        self.facts.decoded += len(batch.records)
        if batch.is_control:
            return
        for record in batch.records:
            try:
                payload = decode_metadata_record(record.value)
            except RecordError as error:
                self.facts.decoded -= 1
                reason = f"a cluster metadata record cannot be read: {error}"
                self.problem(reason, reason, record.offset, records=1, last=record.offset, normal=False)
                continue
            if payload is not None:
                line = {"at_ms": record.timestamp_ms, "offset": record.offset, "record": payload}
                yield self.row("topic", orjson.dumps(line), first=record.offset)
