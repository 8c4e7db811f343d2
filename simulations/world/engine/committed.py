"""The committed records of the group's log, as a broker keeps them: whole, or compacted as its cleaner leaves them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from simulations.protocol.coordinator.consumer.outcome import Record
from simulations.protocol.coordinator.transactions import TRANSACTION_END, is_commit, plain

CLEAN_AT: Final = 50_000
"""Records after which the cleaner goes over the log: a long run would else hold all that it ever wrote."""

Key = tuple[int, tuple[tuple[str, object], ...]]


def key_of(record: Record) -> Key:
    """What a later record of the same group replaces."""
    return record["type"], tuple(sorted(record["key"].items()))


def compacted(records: Sequence[Record], *, tombstones: bool = True) -> list[Record]:
    """The newest record of each key, where it is; ``tombstones`` as long as the cleaner keeps them.

    Nothing is cleaned from the first record of a transaction on that has not ended.
    """
    ended, dirty = without_transactions(records)
    newest: dict[Key, Record] = {}
    for record in ended:
        key = key_of(record)
        newest.pop(key, None)
        newest[key] = record
    return [record for record in newest.values() if tombstones or record["value"] is not None] + dirty


def without_transactions(records: Sequence[Record]) -> tuple[list[Record], list[Record]]:
    """The records up to the first of an open transaction, those of ended ones as they count; and the rest as it is."""
    open_from: dict[int, int] = {}
    for place, record in enumerate(records):
        producer = record.get("producer")
        if producer is not None and record["type"] == TRANSACTION_END:
            open_from.pop(producer, None)
        elif producer is not None:
            open_from.setdefault(producer, place)
    first = min(open_from.values(), default=len(records))
    ended: list[Record] = []
    committed: dict[int, bool] = {}
    for place, record in reversed(list(enumerate(records))):
        producer = record.get("producer")
        if producer is not None and record["type"] == TRANSACTION_END:
            committed[producer] = is_commit(record)
        elif place < first and (producer is None or committed[producer]):
            ended.append(plain(record))
    return ended[::-1], list(records[first:])


class CommittedLog:
    """What any broker can load."""

    def __init__(self) -> None:
        self._records: list[Record] = []
        self._clean_at = CLEAN_AT

    def append(self, records: Sequence[Record]) -> None:
        self._records += records
        if len(self._records) >= self._clean_at:
            self._records = compacted(self._records)
            self._clean_at = 2 * len(self._records) + CLEAN_AT

    def read(self, *, clean: bool = False) -> list[Record]:
        """``clean``: as the cleaner would leave it, and when its tombstones have had their time."""
        return compacted(self._records, tombstones=False) if clean else list(self._records)
