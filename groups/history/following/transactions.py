"""Commits that a transaction holds back or aborted, as notes of their group's timeline. Imports and followed groups write the same ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, TypedDict

from groups.history.passes.units import LogRecord
from groups.wire.generated.classic import OFFSET_COMMIT

PRODUCERS_MOST: Final = 100
"""Producers with an open transaction that are kept of a group; each has one transaction at a time."""

COMMITS_MOST: Final = 1_000
"""Commits that are kept of one producer."""

OPEN_LEAST_MS: Final = 10_000
"""A shorter transaction is at work; Kafka ends one by itself after a minute (transaction.timeout.ms)."""

Place = tuple[str, int]


class OpenNote(TypedDict):
    """The payload of a note of an open transaction; ``partition`` is that of ``__consumer_offsets``, where it is known."""

    note: str
    producer: int
    from_ms: int
    from_offset: int
    partition: int | None
    partitions: dict[str, list[int]]
    committed: list[int]


class OpenTransaction(NamedTuple):
    """The commits of one group that an open transaction holds: the offset of each partition's last one."""

    producer: int
    from_ms: int
    from_offset: int
    committed: dict[Place, int]


def committed_by(records: Iterable[LogRecord]) -> dict[Place, int]:
    """The offset that each partition's last commit has, for ``COMMITS_MOST`` partitions."""
    found: dict[Place, int] = {}
    for record in records:
        key, value = record.payload.get("key"), record.payload.get("value")
        if record.payload.get("type") != OFFSET_COMMIT or key is None or value is None:
            continue
        place = str(key["topic"]), int(key["partition"])
        if place in found or len(found) < COMMITS_MOST:
            found[place] = int(value["offset"])
    return found


def open_note(one: OpenTransaction, partition: int | None) -> OpenNote:
    partitions, committed = _columns(one.committed)
    return {
        "note": "transaction",
        "producer": one.producer,
        "from_ms": one.from_ms,
        "from_offset": one.from_offset,
        "partition": partition,
        "partitions": partitions,
        "committed": committed,
    }


def ended_note(producer: int, committed: bool | None) -> dict[str, object]:
    """``committed`` is null where the log's marker was not seen."""
    return {"note": "transaction_ended", "producer": producer, "committed": committed}


def aborted_note(
    producer: int, from_ms: int, of: int | None, committed: Mapping[Place, int]
) -> dict[str, object]:
    """``of``: how many requests with aborted commits the log has; null while it grows."""
    partitions, offsets = _columns(committed)
    return {
        "note": "aborted",
        "producer": producer,
        "from_ms": from_ms,
        "of": of,
        "partitions": partitions,
        "committed": offsets,
    }


def _columns(committed: Mapping[Place, int]) -> tuple[dict[str, list[int]], list[int]]:
    """Partitions by topic, and their offsets in that order."""
    partitions: dict[str, list[int]] = {}
    for topic, number in sorted(committed):
        partitions.setdefault(topic, []).append(number)
    return partitions, [offset for _, offset in sorted(committed.items())]
