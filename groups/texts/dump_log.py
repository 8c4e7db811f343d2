"""The text that ``kafka-dump-log.sh --print-data-log`` prints, as batches of records again.

With ``--offsets-decoder`` or ``--cluster-metadata-decoder`` (recent releases print JSON, 3.9.1 among them)::

    Dumping /data/__consumer_offsets-3/00000000000000000000.log
    baseOffset: 0 lastOffset: 0 count: 1 … producerId: -1 … partitionLeaderEpoch: 0 … position: 0 CreateTime: 1795233347980 size: 110 …
    | offset: 0 CreateTime: 1795233347980 keySize: 18 … headerKeys: [] key: {"type":"2","data":{…}} payload: {"version":"3","data":{…}}

It carries all that a segment holds but the compression. Of text that was cut, coloured, broken into more lines or mixed with
others, what is understood is read; ``position`` and ``count`` of the batches show what is missing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from groups.texts.found import (
    PASSED_OVER,
    Found,
    LineProblem,
    MissingOffsets,
    NewFile,
    Remark,
    TextFormat,
)
from groups.texts.printed_records import NotPrinted, metadata_value, offsets_pair
from groups.wire.errors import RecordError
from groups.wire.logs.control import ControlRecord, ControlType, encode_control
from groups.wire.logs.record_batch import Record, RecordBatch

JOINED_CHARS_MOST: Final = 4 * 1024 * 1024
"""A record that was broken into lines is put together up to this: four times what a broker takes as a message."""

_RECOGNISED: Final = re.compile(
    r"baseOffset:\s+\d+\s+lastOffset:\s+\d+\s+count:\s+\d+|offset:\s+\d+\s+\w+Time:\s+\d+.{0,200}keySize:\s+-?\d+"
)
_DUMPING: Final = re.compile(r"Dumping\s+(\S+)")
_FOLDER: Final = re.compile(r"(__(?:consumer_offsets|cluster_metadata)-\d{1,9})/[^/]+$")
_BATCH: Final = re.compile(r"baseOffset:\s+(\d{1,18})\s+lastOffset:\s+(\d{1,18})\s+count:\s+(\d{1,9})\b(.*)")
_FIELD: Final = re.compile(r"\b(\w{1,60}):\s+(\S+)")
_RECORD: Final = re.compile(
    r"(?<!\w)offset:\s+(\d{1,18})\s+(?:CreateTime|LogAppendTime):\s+(-?\d{1,15})\s+(.*)", re.DOTALL
)
_SIZES: Final = re.compile(r"keySize:\s+(-?\d{1,9})\s+valueSize:\s+(-?\d{1,9})(?!\d)")
_KEY: Final = re.compile(r"(?<!\w)key:\s+")
_PAYLOAD: Final = re.compile(r"payload:\s+")
_BLANKS: Final = re.compile(r"\s*")
_MARKER: Final = re.compile(r"endTxnMarker:\s+(COMMIT|ABORT)\s+coordinatorEpoch:\s+(-?\d{1,9})")
_NOISE: Final = ("Log starting offset:", "Starting offset:", "Snapshot end offset:", "Last timestamp:")
_JSON: Final = json.JSONDecoder()


class _Lost(NamedTuple):
    """How many records lost something by being printed; each with its first line."""

    raw: int = 0
    first_raw: int = 0
    """Records that are printed without a decoder."""
    shorter: int = 0
    first_shorter: int = 0
    """Records that come to other sizes than the text states: the tool did not know all of their fields."""
    announced: int = 0
    """Records that the batches count, where none of them is printed."""

    def sentences(self) -> Iterator[str]:
        """What is wrong with the whole text, with what would be right."""
        if self.announced:
            yield (
                f"it has {self.announced:,} records in batches, and prints none: dump again with --print-data-log "
                "--offsets-decoder"
            )
        if self.raw:
            yield (
                f"{self.raw:,} records (the first in line {self.first_raw}) are not printed as JSON, so that their bytes are lost: "
                "dump again with --offsets-decoder, of Kafka 3.9 or later"
            )
        if self.shorter:
            yield (
                f"{self.shorter:,} records (the first in line {self.first_shorter}) had more in the log than is printed of them, "
                "topic ids for instance: the tool is older than the broker; what is printed is read"
            )


@dataclass(slots=True)
class _Batch:
    base: int
    last: int
    count: int | None
    """None for a record without its batch's line."""
    fields: dict[str, str] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)
    understood: int = 0
    """Records that were read, those that say nothing of groups or topics among them."""

    def number(self, name: str, otherwise: int) -> int:
        text = self.fields.get(name, "")
        return int(text) if re.fullmatch(r"-?\d{1,18}", text) else otherwise

    def made(self) -> RecordBatch:
        at_ms = self.records[0].timestamp_ms if self.records else self.number("CreateTime", 0)
        return RecordBatch(
            base_offset=self.base,
            records=tuple(self.records),
            last_offset_delta=self.last - self.base,
            base_timestamp_ms=at_ms,
            max_timestamp_ms=max((record.timestamp_ms for record in self.records), default=at_ms),
            partition_leader_epoch=min(self.number("partitionLeaderEpoch", 0), 2**31 - 1),
            is_transactional=self.fields.get("isTransactional") == "true",
            is_control=self.fields.get("isControl") == "true",
            producer_id=self.number("producerId", -1),
            producer_epoch=min(self.number("producerEpoch", -1), 2**15 - 1),
            base_sequence=min(self.number("baseSequence", -1), 2**31 - 1),
        )


@dataclass(slots=True)
class DumpReader:
    batch: _Batch | None = None
    reached: int = -1
    """The last offset of the file's batches so far."""
    position: int | None = None
    """Where the next batch begins in the segment, if nothing is left out."""
    folder: str = ""
    held: list[str] = field(default_factory=list)
    """The lines of a record, to which the next line may belong."""
    held_chars: int = 0
    held_line: int = 0
    unread: _Lost = field(default_factory=_Lost)
    printed: int = 0
    """Lines of records, read or not."""
    announced: int = 0

    def take(self, number: int, line: str) -> Iterable[Found] | None:
        if (dumping := _DUMPING.search(line)) is not None:
            return self._next_file(dumping[1])
        if (batch := _BATCH.search(line)) is not None:
            return self._begin(batch)
        if _RECORD.search(line) is not None:
            found = list(self._end_record())
            self.held, self.held_chars, self.held_line = [line], len(line), number
            return found
        if self.held and self.held_chars + len(line) <= JOINED_CHARS_MOST:
            self.held.append(line)
            self.held_chars += len(line)
            return PASSED_OVER
        return PASSED_OVER if line.lstrip().startswith(_NOISE) else None

    def end(self) -> Iterator[Found]:
        yield from self._end_batch()
        unread = self.unread if self.printed else self.unread._replace(announced=self.announced)
        yield from map(Remark, unread.sentences())

    def _next_file(self, path: str) -> Iterator[Found]:
        yield from self._end_batch()
        folder = _FOLDER.search(path)
        self.folder = folder[1] if folder else ""
        yield from self._new_file()

    def _new_file(self) -> Iterator[Found]:
        self.reached, self.position = -1, None
        yield NewFile(self.folder)

    def _begin(self, found: re.Match[str]) -> Iterator[Found]:
        yield from self._end_batch()
        base, last, count = int(found[1]), int(found[2]), int(found[3])
        if last < base or last - base > 2**31 - 2:
            return
        batch = _Batch(base, last, count, dict(_FIELD.findall(found[4])))
        if base <= self.reached:
            yield from self._new_file()
        place = batch.number("position", -1)
        if self.position is not None and place >= 0 and place != self.position and base > self.reached + 1:
            yield MissingOffsets(self.reached + 1, base - 1)
        size = batch.number("size", -1)
        self.position = place + size if place >= 0 and size >= 0 else None
        self.batch = batch
        self.announced += count

    def _end_batch(self) -> Iterator[Found]:
        yield from self._end_record()
        batch, self.batch = self.batch, None
        if batch is None:
            return
        if batch.count is None or batch.understood == batch.count:
            if batch.records or not batch.understood:
                yield batch.made()
        elif self.printed:
            # A request's records change a group together: half of them would show what never was.
            yield MissingOffsets(batch.base, batch.last)
        self.reached = max(self.reached, batch.last)

    def _end_record(self) -> Iterator[Found]:
        text, self.held = "".join(self.held), []
        found = _RECORD.search(text) if text else None
        if found is None:
            return
        offset, at_ms, rest = int(found[1]), int(found[2]), found[3]
        if self.batch is None or not self.batch.base <= offset <= self.batch.last:
            yield from self._end_batch()
            if offset <= self.reached:
                yield from self._new_file()
            self.batch = _Batch(offset, offset, None)
        self.printed += 1
        try:
            pair = _pair(rest)
        except _RawBytes:
            first = self.unread.first_raw or self.held_line
            self.unread = self.unread._replace(raw=self.unread.raw + 1, first_raw=first)
            yield from self._lose(offset)
            return
        except (NotPrinted, RecordError) as error:
            too_long = (
                f"the record has more than {JOINED_CHARS_MOST:,} characters, the most that is read of one"
            )
            yield LineProblem(
                self.held_line, offset, too_long if len(text) >= JOINED_CHARS_MOST else str(error)
            )
            yield from self._lose(offset)
            return
        self.batch.understood += 1
        if pair is not None and pair[0] is not None and not _has_stated_sizes(rest, *pair):
            first = self.unread.first_shorter or self.held_line
            self.unread = self.unread._replace(shorter=self.unread.shorter + 1, first_shorter=first)
        if pair is not None and (not self.batch.records or self.batch.records[-1].offset < offset):
            self.batch.records.append(Record(offset, at_ms, *pair))

    def _lose(self, offset: int) -> Iterator[Found]:
        """A record without its batch's line is missing by itself; of others the whole batch is, at its end."""
        if self.batch is not None and self.batch.count is None:
            self.batch = None
            self.reached = max(self.reached, offset)
            yield MissingOffsets(offset, offset)


def _has_stated_sizes(text: str, key: bytes | None, value: bytes | None) -> bool:
    """Whether a record has the length that the tool printed for it."""
    stated = _SIZES.search(text)
    lengths = [-1 if part is None else len(part) for part in (key, value)]
    return stated is None or [int(stated[1]), int(stated[2])] == lengths


class _RawBytes(Exception):
    """The record is printed without a decoder: as UTF-8, which its bytes are not."""


def _pair(text: str) -> tuple[bytes | None, bytes | None] | None:
    """Key and value of a printed record; ``None`` for one that is not about groups or topics."""
    if (marker := _MARKER.search(text)) is not None:
        kind = ControlType.COMMIT if marker[1] == "COMMIT" else ControlType.ABORT
        return encode_control(ControlRecord(type=kind, coordinator_epoch=int(marker[2])))
    if re.search(r"headerKeys: \[[^]]{0,200}\]\s+(?:LeaderChange|KRaft\w+|Snapshot\w+)", text):
        return None
    key = _KEY.search(text)
    payload = _PAYLOAD.search(text) if key is None else None
    if key is None and payload is None:
        raise NotPrinted(
            "the record is cut off before its key: dump with --print-data-log, and send the whole line"
        )
    if payload is not None:
        value = metadata_value(_parsed(text, payload.end(), "payload")[0])
        return None if value is None else (None, value)
    assert key is not None
    printed, end = _parsed(text, key.end(), "key")
    blanks = _BLANKS.match(text, end)
    behind = _PAYLOAD.match(text, blanks.end() if blanks is not None else end)
    if behind is None:
        raise NotPrinted("the line is cut off behind its key")
    if text.startswith(("<DELETE>", "null"), behind.end()):
        return offsets_pair(printed, None)
    return offsets_pair(printed, _parsed(text, behind.end(), "payload")[0])


def _parsed(text: str, at: int, what: str) -> tuple[object, int]:
    if at < len(text) and text[at] != "{":
        raise _RawBytes
    try:
        return _JSON.raw_decode(text, at)
    except (ValueError, RecursionError):
        raise NotPrinted(f"the line is cut off within its {what}, or is no JSON there") from None


DUMP_LOG: Final = TextFormat(
    name="kafka-dump-log text",
    recognised=_RECOGNISED,
    reader=lambda _written_ms: DumpReader(),
    carries="all that a segment holds",
    lacks="its compression",
)
