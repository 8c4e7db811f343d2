"""Cuts the records of one group into units: the records of one request each.

A batch can hold several requests, so it is not the unit. All records of a request have one timestamp and stand in
one batch; within the same millisecond their pattern tells where a request begins. Patterns of Kafka 4.x, in the
order in which the coordinator writes (types; † is a tombstone)::

    join, subscription        5 (16) (4) 3 7… 6 8
    target, then the member   7… 6 8
    a member moves on         8
    leave, time-out           8† 7† 5† (16†) 3
    static member replaced    8† 7† 5†  5 7 8 5 8
    regex resolved            16… 3
    classic to consumer       2† 5… 3 7… 6 8…  and the one who joins: 5 3 7… 6 8
    consumer to classic       8†… 7†… 6† 5†… 4† 3†  2
    deletion                  1†… 6† 4† 3†  or  1†… 2†
    commit                    1…
    classic rebalance         2
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

COMMITS = (0, 1)
CLASSIC, EPOCH, PARTITION_METADATA, MEMBER = 2, 3, 4, 5
TARGET_EPOCH, TARGET, CURRENT, REGEX = 6, 7, 8, 16

ORDER = {MEMBER: 0, REGEX: 1, PARTITION_METADATA: 2, EPOCH: 3, TARGET: 4, TARGET_EPOCH: 5, CURRENT: 6}
"""The place of a type within the records of a request that changes a consumer group."""

REPEATED = {MEMBER: False, REGEX: True, PARTITION_METADATA: False, EPOCH: False, TARGET: True}
"""Whether a type may follow itself within such a request; those that are not here may not."""


@dataclass(frozen=True, slots=True)
class GroupRecord:
    """One record of a group, as far as units, incarnations and entries need it."""

    partition: int | None
    offset: int
    batch: int
    at_ms: int
    type: int | None
    payload: Mapping[str, Any]

    @property
    def tombstone(self) -> bool:
        return "value" in self.payload and self.payload["value"] is None

    @property
    def member(self) -> str | None:
        key = self.payload.get("key")
        return key.get("memberId") if key else None


def units(records: Sequence[GroupRecord]) -> Iterator[list[GroupRecord]]:
    """The records of one group, in order of offset, cut between requests. Every record is in exactly one unit."""
    unit: list[GroupRecord] = []
    for record in records:
        if unit and begins(unit, record):
            yield unit
            unit = []
        unit.append(record)
    if unit:
        yield unit


def begins(unit: Sequence[GroupRecord], record: GroupRecord) -> bool:
    """Whether ``record`` is the first one of the next request, ``unit`` being what was gathered so far."""
    last = unit[-1]
    if (record.batch, record.at_ms, record.partition) != (last.batch, last.at_ms, last.partition):
        return True
    if record.type in COMMITS or last.type in COMMITS:
        return not _goes_on_from_commits(last, record)
    if record.type == CLASSIC or last.type == CLASSIC:
        return not _migrates(last, record)
    if record.type not in ORDER or last.type not in ORDER:
        return True
    if record.tombstone:
        # Tombstones stand together, in front; only a regex goes after the epoch's place in a request of its own.
        return not (last.tombstone or record.type == REGEX)
    if last.tombstone:
        # A leave ends with the epoch, a replacement goes on with the member's copy; a deleted group begins anew.
        return last.type == EPOCH or record.type not in (EPOCH, MEMBER, REGEX)
    return _breaks_order(unit, last, record)


def _goes_on_from_commits(last: GroupRecord, record: GroupRecord) -> bool:
    if record.type in COMMITS:
        return last.type in COMMITS and last.tombstone == record.tombstone
    return last.tombstone and record.tombstone


def _migrates(last: GroupRecord, record: GroupRecord) -> bool:
    if record.type == CLASSIC:
        return not record.tombstone and last.type == EPOCH and last.tombstone
    return last.tombstone and record.type == MEMBER and not record.tombstone


def _breaks_order(unit: Sequence[GroupRecord], last: GroupRecord, record: GroupRecord) -> bool:
    """The same for two values: the order of a request's types is broken, and no longer pattern explains it."""
    upgrade = unit[0].type == CLASSIC and unit[0].tombstone
    assert record.type is not None
    assert last.type is not None
    if record.type == MEMBER:
        if upgrade:
            # The members that are taken over, and after their assignments, once, the one who joins.
            took_over = any(one.type == CURRENT for one in unit)
            return took_over and _restarted(unit)
        replacement = unit[0].tombstone and unit[0].type != CLASSIC
        return not (replacement and last.type == CURRENT and _first_member(unit) == record.member)
    if record.type == CURRENT and last.type == CURRENT:
        return not (upgrade and not _restarted(unit))
    if record.type == last.type:
        return not REPEATED.get(record.type, False)
    if ORDER[record.type] < ORDER[last.type]:
        return True
    joiner = _last_member(unit)
    return record.type == CURRENT and joiner is not None and not upgrade and joiner != record.member


def _restarted(unit: Sequence[GroupRecord]) -> bool:
    """Whether a member's record stands behind an assignment in this unit."""
    seen = False
    for one in unit:
        if one.type == CURRENT and not one.tombstone:
            seen = True
        elif one.type == MEMBER and seen:
            return True
    return False


def _first_member(unit: Sequence[GroupRecord]) -> str | None:
    return next((one.member for one in unit if one.type == MEMBER and not one.tombstone), None)


def _last_member(unit: Sequence[GroupRecord]) -> str | None:
    return next((one.member for one in reversed(unit) if one.type == MEMBER and not one.tombstone), None)
