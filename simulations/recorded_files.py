"""Reads what ``conform`` is given: request logs, segments of the offsets topic and of the metadata log."""

from __future__ import annotations

import gzip
import mmap
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from io import TextIOWrapper
from itertools import groupby
from pathlib import Path
from typing import Any, cast

from groups.history.entries import RecordPayload
from groups.history.replay.record_types import OFFSET_TYPES
from groups.pipeline.reading.recognising import FileKind
from groups.pipeline.reading.sources import Source
from groups.pipeline.reading.splitting import list_sources
from groups.texts.found import LineProblem
from groups.texts.request_log import LoggedRequest, read_request_log
from groups.wire.errors import RecordError
from groups.wire.logs.batches import read_batches
from groups.wire.logs.control import ControlRecord, ControlType, decode_control
from groups.wire.logs.metadata_log import decode_metadata_record
from groups.wire.logs.record_batch import Record, RecordBatch
from groups.wire.records import decode_record
from simulations.proof.conformance import GROUP_APIS, ImageChange, Written, images_of
from simulations.protocol.coordinator.transactions import end_of


@dataclass(slots=True)
class Files:
    """What was read, and what of it could not be: lines for people."""

    requests: list[LoggedRequest] = field(default_factory=list)
    written: dict[str, list[Written]] = field(default_factory=dict)
    images: tuple[ImageChange, ...] = ()
    problems: list[str] = field(default_factory=list)
    open: dict[tuple[int, int], dict[str, None]] = field(default_factory=dict)
    """By partition and producer the groups of a transaction that has not ended in what was read."""


def read(requests: str, paths: Sequence[str], utc_offset: timedelta) -> Files:
    """``OSError`` if the request log cannot be opened; everything else that is wrong is a problem."""
    files = Files()
    try:
        for each in _requests(Path(requests), utc_offset):
            if isinstance(each, LineProblem):
                files.problems.append(f"{requests}, line {each.line}: {each.reason}")
            else:
                files.requests.append(each)
    except (EOFError, zlib.error):
        files.problems.append(
            f"{requests}: its compressed data is cut off or damaged; what stands before that is read"
        )
    listing = list_sources(paths)
    files.problems += [
        f"{problem.file}: {problem.reason}" for problem in listing.problems if not problem.normal
    ]
    sources = sorted(
        (source for source in listing.sources if source.repeats is None),
        key=lambda source: (source.partition or 0, source.first_offset or 0),
    )
    for source in sources:
        if source.kind is FileKind.OFFSETS:
            _offsets(source, files)
    metadata = [
        batch for source in sources if source.kind is FileKind.METADATA for batch in _metadata(source, files)
    ]
    # A checkpoint contains again what the log contained; offsets order them.
    metadata.sort(key=lambda batch: batch[1])
    files.images = images_of(metadata)
    return files


def _requests(path: Path, utc_offset: timedelta) -> Iterator[LoggedRequest | LineProblem]:
    # Kafka writes UTF-8, whatever this machine's locale is; a byte that is none spoils its own line at most.
    opened = gzip.open(path) if path.suffix == ".gz" else path.open("rb")  # noqa: SIM115
    with opened as data, TextIOWrapper(data, encoding="utf-8", errors="replace") as lines:
        yield from read_request_log(lines, apis=GROUP_APIS, utc_offset=utc_offset)


def _batches(source: Source, files: Files) -> Iterator[RecordBatch]:
    with (
        Path(source.path).open("rb") as file,
        mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
    ):
        for batch in read_batches(data):
            if isinstance(batch, RecordBatch):
                yield batch
            elif not batch.is_normal:
                files.problems.append(f"{source.file}, offset {batch.offset}: {batch.reason}")


def _offsets(source: Source, files: Files) -> None:
    partition = source.partition or 0
    for batch in _batches(source, files):
        producer = batch.producer_id if batch.is_transactional else None
        for record in batch.records:
            if batch.is_control:
                groups, payload = _ended(partition, batch, record, files)
            else:
                decoded = decode_record(record.key, record.value)
                group = _group_of(decoded)
                groups = () if group is None else (group,)
                # What could not be read has bytes in the place of key and value, which its readers ask for with `get`.
                payload = cast(RecordPayload, decoded)
                if producer is not None:
                    payload["producer"] = producer
                    files.open.setdefault((partition, producer), {}).update(dict.fromkeys(groups))
            for group in groups:
                files.written.setdefault(group, []).append(
                    Written(
                        partition=partition,
                        offset=record.offset,
                        batch=batch.base_offset,
                        at_ms=record.timestamp_ms,
                        payload=payload,
                    )
                )


def _ended(
    partition: int, batch: RecordBatch, record: Record, files: Files
) -> tuple[Iterable[str], RecordPayload]:
    """What a control record means to the groups of which its producer has records: their transaction is over."""
    try:
        marker = decode_control(record.key, record.value)
    except RecordError as problem:
        files.problems.append(f"partition {partition}, offset {record.offset}: {problem}")
        marker = ControlRecord(type=ControlType.UNKNOWN)
    is_end = marker.type in (ControlType.ABORT, ControlType.COMMIT)
    groups = files.open.pop((partition, batch.producer_id), {}) if is_end else {}
    return groups, end_of(batch.producer_id, committed=marker.type is ControlType.COMMIT)


def _group_of(payload: Mapping[str, Any]) -> str | None:
    if "key_bytes" in payload:
        group = payload.get("group")
    else:
        group = payload["key"]["group" if payload["type"] in (*OFFSET_TYPES, 2) else "groupId"]
    return group if isinstance(group, str) else None


def _metadata(source: Source, files: Files) -> Iterator[tuple[int, int, list[dict[str, Any]]]]:
    for batch in _batches(source, files):
        if batch.is_control:
            continue
        known = (
            (record.timestamp_ms, decode_metadata_record(record.value, with_environment=True))
            for record in batch.records
        )
        # One timestamp a batch, but in a checkpoint each record may have its own.
        for at_ms, records in groupby(
            (each for each in known if each[1] is not None), key=lambda each: each[0]
        ):
            yield at_ms, batch.next_offset - 1, [record for _, record in records if record is not None]
