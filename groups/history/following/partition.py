"""One partition of ``__consumer_offsets`` as it is fetched: batches in, records of groups out.

Compaction leaves no error: a fetch at an offset that is gone begins at the next batch. So continuity is checked here,
offset by offset, within batches too. Records of a transaction wait for its marker (isolation 0 is asked for: with
read_committed one open transaction would hide every group of the partition).
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from groups.history.following.transactions import PRODUCERS_MOST, OpenTransaction, committed_by
from groups.history.passes.units import LogRecord
from groups.wire.errors import BatchError, RecordError
from groups.wire.group_of_key import group_of_unknown_key
from groups.wire.logs.control import ControlType, decode_control
from groups.wire.logs.record_batch import LENGTH_END, Record, RecordBatch, parse_batch
from groups.wire.records import decode_record, is_opaque

OPEN_RECORDS_MOST: Final = 100_000
"""Records of open transactions that one partition keeps: a transaction commits some thousand offsets at most."""

HOLES_KEPT_MOST: Final = 1_000
"""Beyond, the two oldest holes are merged: records may be missing between them."""

NO_EPOCH: Final = -1

_LENGTH: Final = struct.Struct(">qi")


class Hole(NamedTuple):
    """Offsets that no record was read of; both ends are in it. ``reason`` is empty where compaction took them."""

    first: int
    last: int
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRecords:
    """Records of one group in one batch, or in one transaction. They hold from offset ``settled`` on: their last, or the marker.

    ``ended_ms`` is that marker's time, ``producer`` its producer. Aborted records are in no force, and change nothing. ``first`` is the offset from which the log must be read again to see them again.
    """

    group: str
    settled: int
    leader_epoch: int
    records: tuple[LogRecord, ...]
    producer: int | None = None
    ended_ms: int | None = None
    aborted: bool = False

    @property
    def written_ms(self) -> int:
        """When the newest of what made them settled was written."""
        return self.ended_ms if self.ended_ms is not None else max(each.at_ms for each in self.records)

    @property
    def first(self) -> int:
        return self.records[0].offset


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where a partition's following goes on.

    ``next`` is the offset to read from: all records below are stored, or no transaction's any more. ``high`` is the end of
    what was ever read, ``epoch`` the leader epoch of the last batch there: with both, a log that was cut is noticed.
    """

    next: int = 0
    high: int = 0
    epoch: int = NO_EPOCH


@dataclass(slots=True, kw_only=True)
class PartitionLog:
    """``take`` what a fetch at ``next`` gave. ``epoch`` is Kafka's ``lastFetchedEpoch`` of that fetch."""

    partition: int
    next: int = 0
    high: int = 0
    high_epoch: int = NO_EPOCH
    epoch: int = NO_EPOCH
    initial: bool = True
    """Whether all that was read since the log's beginning is read for the first time, or again: nothing is outdated by a hole."""

    begins: int | None = None
    """Where reading goes on, once a fetch at the end of what was read said that the log still is what it was."""

    holes: list[Hole] = field(default_factory=list)
    """Those that were met, ascending; a group reports the ones that lie before its next record."""

    read: int = 0
    """Records that were read, of every kind."""

    _open: dict[int, list[tuple[str, int, LogRecord]]] = field(default_factory=dict)
    """By producer: records with group and leader epoch that wait for the marker."""

    @classmethod
    def going_on(cls, partition: int, position: Position) -> PartitionLog:
        """What goes on where another process was: it asks first at the end of what was read, then from ``position.next``."""
        return cls(
            partition=partition,
            next=position.high,
            high=position.high,
            high_epoch=position.epoch,
            epoch=position.epoch,
            initial=False,
            begins=position.next,
        )

    def is_what_it_was(self) -> bool:
        """A fetch at ``next`` went well: the log was not truncated. Whether what came is to be taken."""
        if self.begins is None or self.begins == self.next:
            self.begins = None
            return True
        self.begin_at(self.begins)
        self.initial = False
        return False

    @property
    def position(self) -> Position:
        return Position(next=self.resume, high=self.high, epoch=self.high_epoch)

    @property
    def resume(self) -> int:
        """From where the log must be read again to miss nothing: the oldest open transaction's first record."""
        begins = self.next if self.begins is None else self.begins
        return min([self.next, begins, *(waiting[0][2].offset for waiting in self._open.values())])

    def open_transactions(self) -> dict[str, list[OpenTransaction]]:
        """By group the transactions that have no end in what was read, the oldest first."""
        found: dict[str, list[OpenTransaction]] = {}
        for producer, waiting in self._open.items():
            by_group: dict[str, list[LogRecord]] = {}
            for group, _, each in waiting:
                by_group.setdefault(group, []).append(each)
            for group, some in by_group.items():
                committed = committed_by(some)
                if committed:
                    one = OpenTransaction(producer, some[0].at_ms, some[0].offset, committed)
                    found.setdefault(group, []).append(one)
        return {
            group: sorted(some, key=lambda one: one.from_offset)[:PRODUCERS_MOST]
            for group, some in found.items()
        }

    def hole_from(self, offset: int, until: int | None = None) -> Hole | None:
        """The holes that reach ``offset`` or beyond, and begin before ``until``, as one; null where there is none."""
        at = bisect_left(self.holes, offset, key=lambda hole: hole.last)
        some = [hole for hole in self.holes[at:] if until is None or hole.first < until]
        if not some:
            return None
        reason = next((hole.reason for hole in some if hole.reason), "")
        return Hole(max(some[0].first, offset), some[-1].last, reason)

    def begin_at(self, offset: int) -> None:
        """Read from ``offset`` on, whatever was read before."""
        self.next, self.epoch, self.initial, self.begins = offset, NO_EPOCH, offset == 0, None
        self._open.clear()

    def skip_to(self, offset: int, reason: str) -> None:
        """The log begins at ``offset`` now: what lies before it cannot be read any more."""
        if offset > self.next:
            self._hole(self.next, offset - 1, reason)
            self.next, self.epoch, self.begins = offset, NO_EPOCH, None
            self.high = max(self.high, offset)

    def cut(self, end: int) -> None:
        """The log ends at ``end`` now, and goes on otherwise than it was read."""
        self.holes = [hole for hole in self.holes if hole.last < end]
        if end < self.high:
            self.high, self.high_epoch = end, NO_EPOCH

    def take(self, data: bytes) -> Iterator[GroupRecords]:
        """Whole batches, as a fetch gives them; one that is cut short at the end is left for the next fetch."""
        at = 0
        while at + LENGTH_END <= len(data):
            base, length = _LENGTH.unpack_from(data, at)
            end = at + LENGTH_END + length
            if length < 0 or end > len(data):
                return
            try:
                batch = parse_batch(data[at:end])
            except (BatchError, RecordError) as error:
                # Its number of offsets is not to be believed: the next batch shows it.
                self._damaged(base, str(error))
            else:
                yield from self._batch(batch)
            at = end

    def _damaged(self, base: int, reason: str) -> None:
        first = max(base, self.next)
        self._hole(self.next, first, f"a batch cannot be read: {reason}")
        self.next = first + 1
        self.high = max(self.high, self.next)

    def _batch(self, batch: RecordBatch) -> Iterator[GroupRecords]:
        if batch.next_offset <= self.next:
            # An offset inside a batch was asked for, or a whole answer came twice.
            return
        records = [record for record in batch.records if record.offset >= self.next]
        for record in records:
            self._continues(record.offset)
            self.next = record.offset + 1
        self._continues(batch.next_offset)
        self.next = batch.next_offset
        self.epoch = batch.partition_leader_epoch
        if self.next >= self.high:
            self.high, self.high_epoch = self.next, self.epoch
        self.read += len(records)
        if batch.is_control:
            yield from self._markers(batch, records)
            return
        by_group = self._by_group(batch, records)
        if batch.is_transactional:
            waiting = self._open.setdefault(batch.producer_id, []) if by_group else []
            for group, some in by_group.items():
                waiting += [(group, batch.partition_leader_epoch, each) for each in some]
            waiting.sort(key=lambda row: row[2].offset)
            self._bound_open()
            return
        for group, some in by_group.items():
            yield GroupRecords(
                group=group,
                settled=some[-1].offset,
                leader_epoch=batch.partition_leader_epoch,
                records=tuple(some),
            )

    def _by_group(self, batch: RecordBatch, records: list[Record]) -> dict[str, list[LogRecord]]:
        found: dict[str, list[LogRecord]] = {}
        for record in records:
            payload = decode_record(record.key, record.value)
            if is_opaque(payload):
                payload.pop("reason", None)
                group = payload.pop("group") if "group" in payload else group_of_unknown_key(record.key)
            else:
                key = payload["key"]
                group = key["group"] if "group" in key else key["groupId"]
            if group is not None:
                known = LogRecord(
                    offset=record.offset, batch=batch.base_offset, at_ms=record.timestamp_ms, payload=payload
                )
                found.setdefault(str(group), []).append(known)
        return found

    def _markers(self, batch: RecordBatch, records: list[Record]) -> Iterator[GroupRecords]:
        for record in records:
            try:
                type_ = decode_control(record.key, record.value).type
            except RecordError as error:
                self._hole(record.offset, record.offset, f"a control record cannot be read: {error}")
                continue
            if type_ not in (ControlType.COMMIT, ControlType.ABORT):
                continue
            by_group: dict[str, list[LogRecord]] = {}
            epochs: dict[str, int] = {}
            for group, epoch, each in self._open.pop(batch.producer_id, []):
                by_group.setdefault(group, []).append(each)
                epochs[group] = epoch
            for group, some in by_group.items():
                yield GroupRecords(
                    group=group,
                    settled=record.offset,
                    leader_epoch=epochs[group],
                    records=tuple(some),
                    producer=batch.producer_id,
                    ended_ms=record.timestamp_ms,
                    aborted=type_ is ControlType.ABORT,
                )

    def _bound_open(self) -> None:
        while sum(map(len, self._open.values())) > OPEN_RECORDS_MOST:
            largest = max(self._open, key=lambda producer: len(self._open[producer]))
            waiting = self._open.pop(largest)
            text = f"a transaction of more records than are kept ({OPEN_RECORDS_MOST:,})"
            self._hole(waiting[0][2].offset, waiting[-1][2].offset, text)

    def _continues(self, offset: int) -> None:
        """Whether the log goes on where it was left; what lies between is gone."""
        if offset > self.next:
            self._hole(self.next, offset - 1, "")

    def _hole(self, first: int, last: int, reason: str) -> None:
        holes = self.holes
        if holes and first == holes[-1].last + 1 and reason == holes[-1].reason:
            holes[-1] = Hole(holes[-1].first, last, reason)
        elif holes and first <= holes[-1].last:
            # Read again from an earlier place: known, or inside of what is known.
            known = bisect_left(holes, first, key=lambda hole: hole.last)
            if holes[known].first <= first and last <= holes[known].last:
                return
            holes.append(Hole(first, last, reason))
            holes.sort()
        else:
            holes.append(Hole(first, last, reason))
        if len(holes) > HOLES_KEPT_MOST:
            holes[:2] = [Hole(holes[0].first, max(holes[0].last, holes[1].last), holes[0].reason)]
