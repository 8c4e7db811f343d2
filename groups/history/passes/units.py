"""Units: which records of a group's log belong to one request.

States inside a unit never existed, so a reader has to know where units end. A batch may hold several requests (the
coordinator collects them, ``group.coordinator.append.linger.ms``), and no record shows which request it belongs to. What holds, and is
used here:

1. the records of one request never span batches, and carry one timestamp;
2. each kind of request writes its records in an order of its own (``_Unit.takes``); records that do not go on in that
   order begin the next unit.

Two requests of one batch and one millisecond whose records happen to go on in each other's order are distinguished by
the member they speak of. Type 8 of the requesting member is the last record of its heartbeat.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from groups.history.entries import Payload
from groups.history.replay.record_types import meaning

COORDINATOR: Final = "coordinator"

# Where each record is in a heartbeat's order; a tombstone is written as the negative of its type. Records of the
# share and the streams protocol have the numbers of the consumer protocol's that mean the same; a streams group's
# topology (23) is in the place of type 4, a share group's state (15) behind all.
_HEARTBEAT_RANK: Final[Mapping[int, int]] = {5: 1, -16: 2, 4: 3, 23: 3, 3: 4, -4: 5, 7: 6, 6: 7, 8: 8, 15: 9}
_REPEATABLE: Final = frozenset({7, -16})

# What may follow what when a group ends: its offsets, then itself; an empty one may become classic at once.
_END_RANK: Final[Mapping[int, int]] = {-1: 1, -6: 2, -16: 3, -4: 4, -15: 4, -3: 5, -2: 5, 2: 6, -23: 6}

# The last consumer member leaves and classic ones stay: everything is deleted kind by kind, then type 2.
_DOWNGRADE_RANK: Final[Mapping[int, int]] = {-8: 1, -7: 2, -6: 3, -5: 4, -16: 5, -4: 6, -3: 7, 2: 8}

# Members leave one after the other (8†, 7†, 5† each), then come what all of them change. Releases from 4.4 on add a
# type 6 when the group is empty.
_LEAVE_TAIL_RANK: Final[Mapping[int, int]] = {-16: 1, 4: 2, 3: 3, 6: 4}
_LEAVE_NEXT: Final[Mapping[int, int]] = {-8: -7, -7: -5}


class Written(Protocol):
    """What is looked at of a record: the base offset of its batch, its timestamp, and its decoded payload."""

    @property
    def batch(self) -> int: ...
    @property
    def at_ms(self) -> int: ...
    @property
    def payload(self) -> Payload: ...


R = TypeVar("R", bound=Written)


def units(records: Iterable[R]) -> Iterator[list[R]]:
    """The records of one group, in the order of their offsets, cut between requests."""
    unit: _Unit | None = None
    held: list[R] = []
    for record in records:
        if held:
            if record.batch == held[0].batch and record.at_ms == held[0].at_ms:
                if unit is None:
                    unit = _Unit(held[0])
                if unit.takes(record):
                    unit.add(record)
                    held.append(record)
                    continue
            yield held
        # Nearly every batch has one record: nothing is asked of a unit to which nothing can belong any more.
        unit, held = None, [record]
    if held:
        yield held


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRecord:
    """A decoded record as it stood in the log. ``batch`` is the base offset of its batch."""

    offset: int
    batch: int
    at_ms: int
    payload: Payload


class _Unit:
    """The records of one request so far."""

    def __init__(self, record: Written) -> None:
        self.records: list[Written] = []
        self._kinds: list[int | None] = []
        self._partitions: set[str] = set()
        self._targets: set[str] = set()
        self.add(record)

    def add(self, record: Written) -> None:
        kind = _kind(record.payload)
        self.records.append(record)
        self._kinds.append(kind)
        if kind in (0, 1):
            self._partitions.add(_partition(record))
        elif kind == 7:
            self._targets.add(_member(record))
        elif kind == 8:
            # Another target may follow in one unit only after the upgrade's own part.
            self._targets.clear()

    def takes(self, record: Written) -> bool:
        """Whether ``record`` goes on in the order of the request that began here."""
        last = self.records[-1]
        if record.batch != last.batch or record.at_ms != last.at_ms:
            return False
        kind = _kind(record.payload)
        first = self._kinds[0]
        if kind is None or first is None:
            return False
        if first in (0, 1):
            # A request commits a partition once; the second one is the next request's.
            return kind in (0, 1) and _partition(record) not in self._partitions
        if first in (-1, -6):
            return _goes_on(_END_RANK, self._kinds[-1], kind, repeatable=(-1, -16))
        if first == -2:
            return self._upgrade_takes(record, kind)
        if first == -8:
            return self._leave_takes(record, kind)
        if first == 16:
            return kind in (16, 3) and self._kinds[-1] == 16
        return self._heartbeat_takes(record, kind, self.records, self._kinds)

    def _heartbeat_takes(
        self, record: Written, kind: int, records: list[Written], kinds: list[int | None]
    ) -> bool:
        """``5 · 16† · 4 · 3 · 4† · 7 … 7 · 6 · 8``; the 8 is of the member that the 5 was of."""
        if not _goes_on(_HEARTBEAT_RANK, kinds[-1], kind, repeatable=_REPEATABLE):
            return False
        member = _member(record)
        if kind == 7:
            return member not in self._targets
        if kind == 8 and kinds[0] == 5:
            return _member(records[0]) == member
        return True

    def _upgrade_takes(self, record: Written, kind: int) -> bool:
        """``2†``, then a join (the classic group was empty), or the upgrade's records and then a join.

        The upgrade is ``5 … 5 · 3 · 7 … 7 · 6 · 8 … 8`` of the classic members; its type 8 records, other than a
        join's, have the previous epoch equal to the epoch.
        """
        last = self._kinds[-1]
        joiner = next(
            (i for i, known in enumerate(self._kinds) if known == 5 and self._kinds[i - 1] == 8), None
        )
        if joiner is not None:
            return self._heartbeat_takes(record, kind, self.records[joiner:], self._kinds[joiner:])
        if last == -2:
            return kind == 5
        if last == 5 and kind == 5:
            return True
        if last == 8:
            value = self.records[-1].payload["value"]
            upgraded = value.get("previousMemberEpoch") == value.get("memberEpoch")
            return upgraded and kind in (5, 8)
        return _goes_on(_HEARTBEAT_RANK, last, kind, repeatable=_REPEATABLE)

    def _leave_takes(self, record: Written, kind: int) -> bool:
        """A leave, a replacement of a static member, or a downgrade: all begin with a type 8 tombstone."""
        last = self._kinds[-1]
        if self._kinds[:2] == [-8, -8] or (len(self._kinds) == 1 and kind == -8):
            return _goes_on(_DOWNGRADE_RANK, last, kind, repeatable=(-8, -7, -5, -16))
        if 5 in self._kinds:
            return self._replacement_takes(record, kind)
        if last in _LEAVE_NEXT:
            return kind == _LEAVE_NEXT.get(last or 0) and _member(record) == _member(self.records[-1])
        if last == -5:
            return kind in (-8, 5) or kind in (-16, 4, 3)
        if kind == 6 and (record.payload["value"] or {}).get("assignmentTimestamp"):
            # A target that was computed at a time is a heartbeat's.
            return False
        return _goes_on(_LEAVE_TAIL_RANK, last, kind, repeatable=(-16,))

    def _replacement_takes(self, record: Written, kind: int) -> bool:
        """``8† 7† 5† · 5 7 8`` (the copy), then the heartbeat of the same member goes on, from a 5 or later."""
        start = self._kinds.index(5)
        copy = _member(self.records[start])
        length = len(self._kinds) - start
        if length < 3:
            return kind == (7, 8)[length - 1] and _member(record) == copy
        if length == 3:
            return kind in _HEARTBEAT_RANK and (kind not in (5, 8) or _member(record) == copy)
        if kind == 8 and _member(record) != copy:
            return False
        return self._heartbeat_takes(record, kind, self.records[start + 3 :], self._kinds[start + 3 :])


def _goes_on(rank: Mapping[int, int], last: int | None, kind: int, *, repeatable: Iterable[int] = ()) -> bool:
    if last is None or last not in rank or kind not in rank:
        return False
    return rank[kind] > rank[last] or (kind == last and kind in repeatable)


def _kind(payload: Payload) -> int | None:
    """The record's type by meaning, negative for a tombstone; ``None`` for what was kept as bytes."""
    record_type = payload.get("type")
    if not isinstance(record_type, int) or payload.get("key") is None:
        return None
    return meaning(record_type) if payload.get("value") is not None else -meaning(record_type)


def _member(record: Written) -> str:
    key = record.payload.get("key")
    return str(key.get("memberId")) if type(key) is dict or isinstance(key, Mapping) else ""


def _partition(record: Written) -> str:
    key = record.payload.get("key")
    return (
        f"{key.get('topic')}-{key.get('partition')}" if type(key) is dict or isinstance(key, Mapping) else ""
    )
