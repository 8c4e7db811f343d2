"""Entries that this product exported (``timeline show --format entries``, the API), as the records that they are of.

Records come back with their partition, offset and batch. Entries of other kinds belong to the timeline that was exported.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from groups.texts.found import PASSED_OVER, Found, LineProblem, NewFile, Remark, TextFormat
from groups.wire.codecs.values import Value
from groups.wire.errors import RecordError
from groups.wire.logs.record_batch import Record, coordinator_batch
from groups.wire.records import encode_record

_ENTRY: Final = re.compile(r'^[ \t]*(?:\[[ \t]*)?\{"sequence":\s?\d+,\s?"at_ms":\s?-?\d+,\s?"kind":')


@dataclass(slots=True)
class EntriesReader:
    """One export after the other; each partition's records are of a file of their own."""

    partition: int | None = None
    begun: bool = False
    reached: int = -1
    batch: int = -1
    records: list[Record] = field(default_factory=list)
    others: int = 0
    inferred: int = 0

    def take(self, number: int, line: str) -> Iterable[Found] | None:
        if not _ENTRY.match(line):
            return None
        try:
            entry: Mapping[str, Value] = json.loads(line.strip().lstrip("[").rstrip(",]"))
            if entry["kind"] != "record":
                self.others += 1
                return PASSED_OVER
            if entry.get("provenance") != "recorded" or entry.get("offset") is None:
                self.inferred += 1
                return PASSED_OVER
            key, value = encode_record(entry["payload"])
            at_ms, offset, batch = (int(entry[name]) for name in ("at_ms", "offset", "batch"))
            partition = entry.get("partition")
            partition = partition if partition is None else int(partition)
        except (RecordError, RecursionError, ValueError, TypeError, LookupError, AttributeError) as error:
            return [LineProblem(number, None, f"the entry is cut off, or none of a record: {error!s:.80}")]
        found = list[Found]()
        if not self.begun or partition != self.partition or offset <= self.reached:
            found += self._batch()
            name = "" if partition is None else f"__consumer_offsets-{partition}"
            found.append(NewFile(name))
            self.begun, self.partition = True, partition
        elif batch != self.batch:
            found += self._batch()
        self.reached, self.batch = offset, batch
        self.records.append(Record(offset, at_ms, key, value))
        return found

    def end(self) -> Iterator[Found]:
        yield from self._batch()
        left = self.others + self.inferred
        if left:
            yield Remark(
                f"{left:,} entries are no recorded records (requests, timers, notes, what was inferred or simulated) and left out: "
                "manage.py timeline add stores an export whole"
            )

    def _batch(self) -> list[Found]:
        records, self.records = self.records, []
        if not records:
            return []
        pairs = [(record.key, record.value) for record in records]
        made = coordinator_batch(base_offset=self.batch, timestamp_ms=records[0].timestamp_ms, records=pairs)
        last = records[-1].offset - self.batch
        if last < 0 or last >= 2**31:
            return []
        return [
            made._replace(
                records=tuple(records),
                last_offset_delta=last,
                max_timestamp_ms=max(record.timestamp_ms for record in records),
            )
        ]


EXPORTED_ENTRIES: Final = TextFormat(
    name="exported entries",
    recognised=re.compile(_ENTRY.pattern, re.MULTILINE),
    reader=lambda _written_ms: EntriesReader(),
    carries="the records of the group, with their places in the log",
    lacks="entries that are no records, and other groups of that log",
)
