"""Commits of one group that a transaction still holds back at the end of what was read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from groups.pipeline.reading.group_blocks import GroupBlock
from groups.pipeline.topics.naming import Note

PRODUCERS_MOST: Final = 100
"""Producers with an open transaction that are kept of a group; each has one transaction at a time."""

PARTITIONS_MOST: Final = 1_000
"""Partitions that are kept of one transaction."""

OPEN_LEAST_MS: Final = 10_000
"""A shorter transaction at the end of a log is at work; Kafka ends one by itself after a minute (transaction.timeout.ms)."""


@dataclass(slots=True)
class OpenTransaction:
    from_ms: int
    offset: int
    """Of its first record in the log."""
    committed: dict[tuple[str, int], int] = field(default_factory=dict)


class OpenTransactions:
    """Those of one group, by producer."""

    def __init__(self) -> None:
        self._of: dict[int, OpenTransaction] = {}

    def add(self, block: GroupBlock) -> None:
        """Takes in the commits of a block whose transactions have no end."""
        for row in block.commits[block.commits["producer"] >= 0]:
            producer, at_ms, offset = int(row["producer"]), int(row["at_ms"]), int(row["offset"])
            one = self._of.get(producer)
            if one is None:
                if len(self._of) >= PRODUCERS_MOST:
                    continue
                one = self._of[producer] = OpenTransaction(at_ms, offset)
            one.from_ms, one.offset = min(one.from_ms, at_ms), min(one.offset, offset)
            place = block.tables.keys[row["key"]]
            if place in one.committed or len(one.committed) < PARTITIONS_MOST:
                one.committed[place] = int(row["committed"])

    def notes(self, last_ms: int) -> Iterator[Note]:
        """A note for each that was open for a while when the log ended, at its first record's place."""
        for producer, one in sorted(self._of.items(), key=lambda item: item[1].offset):
            if last_ms - one.from_ms < OPEN_LEAST_MS:
                continue
            partitions: dict[str, list[int]] = {}
            for topic, partition in sorted(one.committed):
                partitions.setdefault(topic, []).append(partition)
            payload: dict[str, Any] = {
                "note": "transaction",
                "producer": producer,
                "from_ms": one.from_ms,
                "from_offset": one.offset,
                "partitions": partitions,
                "committed": [offset for _, offset in sorted(one.committed.items())],
            }
            yield Note(offset=one.offset, at_ms=None, topics={}, source="", payload=payload)
