"""Reads splits into rows: what a reading task does, without Spark.

A row is one record, or one fact about what was read. All rows have one shape (``ROW``), told apart by ``kind``:

========== ====================================================================================================
record     a coordinator record; ``payload`` is its entry payload as JSON
marker     the end of a transaction; ``type`` is 1 for commit, 0 for abort, ``producer`` whose it was
topic      a record of the cluster metadata log about a topic; ``payload`` is it as JSON
name       a topic id and its name, told by a commit or by a record of older releases; ``payload`` tells both
group      what this split holds of a group; ``payload`` has counts
problem    something that could not be read; ``payload`` has the reason
tally      how many records this split held, and how many were decoded
========== ====================================================================================================
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from groups.history.record_types import SHARE_STATE
from groups.history.share import UNKNOWN_TOPIC_NAME
from groups.pipeline.recognising import Kind
from groups.pipeline.sources import Split
from groups.wire.errors import RecordError
from groups.wire.logs.batches import BatchProblem, Record, RecordBatch, read_batches
from groups.wire.logs.control import ControlType, decode_control
from groups.wire.logs.metadata_log import decode_metadata_record
from groups.wire.records import decode_record, is_opaque

ROW = (
    "kind string, source int, partition int, offset long, batch long, at_ms long, "
    "producer long, type int, group string, payload binary"
)
"""The rows' schema in Spark's words."""

PROBLEMS_A_SPLIT_MOST = 100
"""Damage is told place by place up to here; a file that is damaged everywhere is told as one number beyond it."""

OFFSET_COMMIT, PARTITION_METADATA = 1, 4


class Row(NamedTuple):
    """See the module. ``source`` is the file's number, ``producer`` is None outside of transactions."""

    kind: str
    source: int
    partition: int | None
    offset: int | None
    batch: int | None
    at_ms: int | None
    producer: int | None
    type: int | None
    group: str | None
    payload: bytes | None


@dataclass(slots=True)
class Tally:
    """What a split held, gathered while it is read."""

    read: int = 0
    decoded: int = 0
    transactional: int = 0
    problems: dict[str, dict[str, Any]] = field(default_factory=dict)
    unlisted: int = 0
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    groups: dict[str, dict[str, Any]] = field(default_factory=dict)

    def problem(
        self,
        key: str,
        reason: str,
        offset: int | None,
        *,
        records: int,
        last: int | None,
        normal: bool,
        lost: bool = False,
    ) -> None:
        """Counts a problem: one line for each ``key``, which grows to its last offset.

        ``lost`` says that the offsets themselves are gone, not only what one record meant.
        """
        known = self.problems.get(key)
        if known is not None:
            known["records"] += records
            known["last_offset"] = last
        elif len(self.problems) < PROBLEMS_A_SPLIT_MOST:
            self.problems[key] = {
                "offset": offset,
                "last_offset": last,
                "reason": reason,
                "records": records,
                "normal": normal,
                "lost": lost,
            }
        else:
            self.unlisted += records


def read_split(split: Split) -> Iterator[Row]:
    """The rows of one split, records first and in their order, facts at the end."""
    tally = Tally()
    with (
        Path(split.path).open("rb") as opened,
        mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        whole = memoryview(data)
        part = whole[split.start : split.end]
        try:
            read = metadata_rows if split.kind is Kind.METADATA else offsets_rows
            yield from read(split, part, tally)
        finally:
            part.release()
            whole.release()
    yield from facts(split, tally)


def offsets_rows(split: Split, data: memoryview, tally: Tally) -> Iterator[Row]:
    """Rows of a ``__consumer_offsets`` segment."""
    for batch in told(split, data, tally):
        if batch.is_control:
            yield from marker_rows(split, batch, tally)
            continue
        producer = batch.producer_id if batch.is_transactional else None
        for record in batch.records:
            payload = decode_record(record.key, record.value)
            tally.read += 1
            group = count_record(record, payload, tally)
            if producer is not None:
                tally.transactional += 1
            if group is None:
                continue
            yield Row(
                kind="record",
                source=split.source,
                partition=split.partition,
                offset=record.offset,
                batch=batch.base_offset,
                at_ms=record.timestamp_ms,
                producer=producer,
                type=payload["type"],
                group=group,
                payload=orjson.dumps(payload),
            )


def metadata_rows(split: Split, data: memoryview, tally: Tally) -> Iterator[Row]:
    """Rows of a ``__cluster_metadata`` segment or checkpoint: those that tell of topics."""
    for batch in told(split, data, tally):
        tally.read += len(batch.records)
        tally.decoded += len(batch.records)
        if batch.is_control:
            continue
        for record in batch.records:
            try:
                payload = decode_metadata_record(record.value)
            except RecordError as error:
                tally.decoded -= 1
                reason = f"a cluster metadata record cannot be read: {error}"
                tally.problem(reason, reason, record.offset, records=1, last=record.offset, normal=False)
                continue
            if payload is not None:
                yield Row(
                    kind="topic",
                    source=split.source,
                    partition=split.partition,
                    offset=record.offset,
                    batch=batch.base_offset,
                    at_ms=record.timestamp_ms,
                    producer=None,
                    type=None,
                    group=None,
                    payload=orjson.dumps(payload),
                )


def told(split: Split, data: memoryview, tally: Tally) -> Iterator[RecordBatch]:
    """The batches that can be read; what lies between them is told as a problem with the offsets that are lost."""
    reached = split.before
    waiting: BatchProblem | None = None
    for found in read_batches(data):
        if isinstance(found, BatchProblem):
            if waiting is not None:
                lost_batch(split, waiting, reached, None, tally)
            waiting = found
            continue
        if waiting is not None:
            lost_batch(split, waiting, reached, found.base_offset, tally)
            waiting = None
        reached = found.last_offset
        yield found
    if waiting is not None:
        lost_batch(split, waiting, reached, split.after, tally)


def lost_batch(
    split: Split, problem: BatchProblem, before: int | None, after: int | None, tally: Tally
) -> None:
    """Tells of bytes that are no batch. The neighbours tell which offsets are gone: a damaged header cannot."""
    first = before + 1 if before is not None else problem.offset
    last = after - 1 if after is not None else None
    records = 0
    if not problem.is_normal:
        records = max(1, last - first + 1) if first is not None and last is not None else 1
    place = f"at byte {split.start + problem.position} of the file"
    tally.problem(
        place,
        f"{problem.reason}; the batch begins {place}",
        first,
        records=records,
        last=last,
        normal=problem.is_normal,
        lost=not problem.is_normal,
    )
    if not problem.is_normal:
        tally.read += records


def marker_rows(split: Split, batch: RecordBatch, tally: Tally) -> Iterator[Row]:
    for record in batch.records:
        tally.read += 1
        tally.decoded += 1
        try:
            control = decode_control(record.key, record.value)
        except RecordError as error:
            tally.decoded -= 1
            reason = f"a control record cannot be read: {error}"
            tally.problem(reason, reason, record.offset, records=1, last=record.offset, normal=False)
            continue
        if control.type in (ControlType.COMMIT, ControlType.ABORT):
            yield Row(
                kind="marker",
                source=split.source,
                partition=split.partition,
                offset=record.offset,
                batch=batch.base_offset,
                at_ms=record.timestamp_ms,
                producer=batch.producer_id,
                type=int(control.type is ControlType.COMMIT),
                group=None,
                payload=None,
            )


def count_record(record: Record, payload: dict[str, Any], tally: Tally) -> str | None:
    """Counts a record, notes what it tells about topics, and gives back its group (None where it cannot be told)."""
    if is_opaque(payload):
        reason = f"{payload.pop('reason')}; kept as bytes"
        tally.problem(reason, reason, record.offset, records=1, last=record.offset, normal=False)
        group = payload.pop("group", None) or group_of_unknown_key(record.key)
        return str(group) if group is not None else None
    tally.decoded += 1
    key, value, number = payload["key"], payload["value"], payload["type"]
    group = str(key["group"] if "group" in key else key["groupId"])
    if number == OFFSET_COMMIT and value and value.get("topicId"):
        tally.names.setdefault((value["topicId"], key["topic"]), "commit")
    elif number == PARTITION_METADATA and value:
        for topic in value.get("topics") or ():
            tally.names.setdefault((topic["topicId"], topic["topicName"]), "record")
    elif number == SHARE_STATE and value:
        for topic in (*(value.get("initializingTopics") or ()), *(value.get("initializedTopics") or ())):
            if topic["topicName"] != UNKNOWN_TOPIC_NAME:
                tally.names.setdefault((topic["topicId"], topic["topicName"]), "share state")
    known = tally.groups.get(group)
    if known is None:
        known = tally.groups[group] = {"records": 0, "first_ms": record.timestamp_ms, "types": set()}
    known["records"] += 1
    known["last_ms"] = record.timestamp_ms
    known["types"].add(number)
    return group


def group_of_unknown_key(key: bytes | None) -> str | None:
    """The group in a key of a type that nobody here knows: in all known types the group's name stands first.

    >>> group_of_unknown_key(bytes.fromhex("001f0006") + b"orders" + b"...")
    'orders'
    """
    if key is None or len(key) < 5:
        return None
    length = struct.unpack_from(">h", key, 2)[0]
    name = key[4 : 4 + length] if length > 0 else b""
    if not name or len(name) < length:
        return None
    try:
        text = name.decode()
    except UnicodeDecodeError:
        return None
    return text if text.isprintable() else None


def facts(split: Split, tally: Tally) -> Iterator[Row]:
    """What the split held, as rows."""

    def row(kind: str, content: dict[str, Any], group: str | None = None) -> Row:
        return Row(
            kind, split.source, split.partition, None, None, None, None, None, group, orjson.dumps(content)
        )

    for (topic_id, name), source in tally.names.items():
        yield row("name", {"id": topic_id, "name": name, "source": source})
    for group, seen in tally.groups.items():
        yield row("group", {**seen, "types": sorted(seen["types"])}, group)
    for problem in tally.problems.values():
        yield row("problem", problem)
    yield row(
        "tally",
        {
            "read": tally.read,
            "decoded": tally.decoded,
            "transactional": tally.transactional,
            "unlisted": tally.unlisted,
        },
    )


def columns(rows: Sequence[Row]) -> dict[str, list[Any]]:
    """Rows turned into columns, which is the form Arrow takes."""
    turned = list(zip(*rows, strict=True)) if rows else [()] * len(Row._fields)
    return {name: list(values) for name, values in zip(Row._fields, turned, strict=True)}
