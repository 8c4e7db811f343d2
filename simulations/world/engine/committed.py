"""The committed records of the group's log, as a broker keeps them: whole, or compacted as its cleaner leaves them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from simulations.protocol.coordinator.consumer.outcome import Record

CLEAN_AT: Final = 50_000
"""Records after which the cleaner goes over the log: a long run would else hold all that it ever wrote."""

Key = tuple[int, tuple[tuple[str, object], ...]]


def key_of(record: Record) -> Key:
    """What a later record of the same group replaces."""
    return record["type"], tuple(sorted(record["key"].items()))


def compacted(records: Iterable[Record], *, tombstones: bool = True) -> list[Record]:
    """The newest record of each key, where it stands; ``tombstones`` as long as the cleaner keeps them."""
    newest: dict[Key, Record] = {}
    for record in records:
        key = key_of(record)
        newest.pop(key, None)
        newest[key] = record
    return [record for record in newest.values() if tombstones or record["value"] is not None]


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
