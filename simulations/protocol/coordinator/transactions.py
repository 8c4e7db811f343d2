"""Offsets that producers committed in transactions which have not ended, and what becomes of them.

Kafka: ``OffsetMetadataManager`` (``pendingTransactionalOffsets``, ``openTransactions``, ``replayEndTransactionMarker``). The
tables are walked as if they never had held more than they hold now.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from groups.history.entries import RecordPayload
from groups.wire.generated.classic import OFFSET_COMMIT
from simulations.protocol.assignors.java_orders import TimelineOrder, int_hash, string_hash

TRANSACTION_END: Final = -1
"""The type of what stands for the end of a transaction in a list of records. In the log it is a control record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingOffset:
    """``record`` is the commit as it will be in force; ``passed``: a newer one of the partition is in force by now."""

    producer: int
    topic: str
    partition: int
    record: RecordPayload
    passed: bool = False

    @property
    def place(self) -> tuple[str, int]:
        return self.topic, self.partition


Pending = tuple[PendingOffset, ...]
"""In the order of the log."""


def end_of(producer: int, *, committed: bool) -> RecordPayload:
    """The end of a producer's transaction as an item among records."""
    return {
        "type": TRANSACTION_END,
        "key": {},
        "version": None,
        "value": {"committed": committed},
        "producer": producer,
    }


def plain(record: RecordPayload) -> RecordPayload:
    """The record as it is outside of transactions."""
    return {
        "type": record["type"],
        "key": record["key"],
        "version": record["version"],
        "value": record["value"],
    }


def with_commit(pending: Pending, producer: int, record: RecordPayload) -> Pending:
    """One more commit of a transaction; it replaces what the same producer committed for the partition before."""
    key = record["key"]
    one = PendingOffset(
        producer=producer, topic=key["topic"], partition=key["partition"], record=plain(record)
    )
    return (*(each for each in pending if each.producer != producer or each.place != one.place), one)


def after_record(pending: Pending, record: RecordPayload) -> Pending:
    """A commit outside of transactions passes the pending ones of its partition; a tombstone removes them."""
    if not pending or record["type"] != OFFSET_COMMIT:
        return pending
    place = record["key"]["topic"], record["key"]["partition"]
    if record["value"] is None:
        return tuple(each for each in pending if each.place != place)
    return tuple(replace(each, passed=True) if each.place == place else each for each in pending)


def ended(pending: Pending, producer: int, *, committed: bool) -> tuple[Pending, tuple[RecordPayload, ...]]:
    """What is still pending, and the commits that are in force from here on."""
    left: list[PendingOffset] = []
    held: dict[tuple[str, int], RecordPayload] = {}
    # From the newest on: a commit of this transaction passes older ones of other transactions.
    for each in reversed(pending):
        if each.producer != producer:
            left.append(replace(each, passed=True) if each.place in held else each)
        elif committed and not each.passed:
            held[each.place] = each.record
    return tuple(reversed(left)), tuple(held[place] for place in _walked(reversed(held)))


class InForce:
    """Takes the records of a log in their order and gives back those that are in force, each from when it is."""

    def __init__(self) -> None:
        self._pending: Pending = ()

    def after(self, record: RecordPayload) -> tuple[RecordPayload, ...]:
        """A commit of a transaction is in force at its end, if that commits it and no newer commit has passed it."""
        producer = record.get("producer")
        if producer is None:
            self._pending = after_record(self._pending, record)
            return (record,)
        if record["type"] != TRANSACTION_END:
            self._pending = with_commit(self._pending, producer, record)
            return ()
        self._pending, held = ended(self._pending, producer, committed=is_commit(record))
        return held


def is_commit(end: RecordPayload) -> bool:
    """Whether the end of a transaction commits it."""
    return bool((end["value"] or {}).get("committed"))


def places(pending: Pending) -> list[tuple[str, int]]:
    """Partitions with pending commits, as the coordinator's table of open transactions is walked."""
    return _walked(each.place for each in pending)


def producers_of(pending: Pending) -> tuple[int, ...]:
    """Producers with pending commits, as a coordinator's table of producers is walked that has no other group's."""
    return tuple(TimelineOrder(_long_hash, (each.producer for each in pending)))


def by_producer(pending: Pending, producers: Iterable[int]) -> list[PendingOffset]:
    """Pending commits, those of one producer after those of another."""
    found = {(each.producer, *each.place): each for each in pending}
    return [
        found[producer, *place]
        for producer in producers
        for place in places(tuple(each for each in pending if each.producer == producer))
    ]


def _walked(found: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    topics: dict[str, list[int]] = {}
    for topic, partition in found:
        topics.setdefault(topic, []).append(partition)
    return [
        (topic, partition)
        for topic in TimelineOrder(string_hash, topics)
        for partition in TimelineOrder(int_hash, topics[topic])
    ]


def _long_hash(number: int) -> int:
    """``Long.hashCode`` as an unsigned 32-bit number."""
    return (number ^ number >> 32) & 0xFFFFFFFF
