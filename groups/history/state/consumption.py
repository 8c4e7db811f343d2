"""How far records were read, where a source reports at what rate they are written: positions, lag, what was read twice.

Nothing is counted record by record. A partition's log grows evenly from a known offset, so its end at any time is arithmetic;
a client that fetches is at the end of the log, one that does not stays where it was. So only what changes who reads
what is an entry (the note ``reads``), and everything between two of them follows.

``read`` is the offset up to which anybody has read a partition. What a client reads below it was read before: those are
the records read twice. A reader that begins beyond it leaves records out, which nobody ever reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

SECOND_MS: Final = 1_000

READS: Final = "reads"
"""The note of a client that reads other partitions from here on, or fetches again, or no more."""


class Reader(NamedTuple):
    """A client at a partition: where it is, which is the end of the log by now if it ``fetches``."""

    position: int
    fetches: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionConsumption:
    """One partition as of ``at_ms``. ``read`` is ``None`` until somebody has read it.

    ``begin_offset`` is the end of its log at ``begin_ms``. ``skipped``: records that no reader will come back to.
    ``unread_ms``: how long nobody fetched it, from its first reader on (of an added partition from its first record on);
    ``unread_since_ms``: since when nobody fetches. An owner in a callback, one that does not poll, a paused or cut off one do not.
    """

    begin_ms: int
    begin_offset: int = 0
    at_ms: int = 0
    read: int | None = None
    readers: Mapping[str, Reader] = field(default_factory=dict)
    read_twice: int = 0
    skipped: int = 0
    lag_max: int = 0
    unread_since_ms: int | None = None
    unread_ms: int = 0
    unread_max_ms: int = 0

    @property
    def is_fetched(self) -> bool:
        return any(reader.fetches for reader in self.readers.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicConsumption:
    """``rate`` is records a second that each of its partitions gets."""

    rate: int
    partitions: Mapping[int, PartitionConsumption]


class Sums(NamedTuple):
    """Of all partitions, so that the group's figures at any time need no look at each.

    ``waiting_rate`` and ``waiting`` are of those that nobody fetches: their lag is ``(waiting + waiting_rate * at_ms) / 1000``
    records. ``unread_count`` and ``unread_since_ms`` are of the same partitions.
    """

    waiting_rate: int = 0
    waiting: int = 0
    unread_count: int = 0
    unread_since_ms: int = 0
    unread_ms: int = 0
    read_twice: int = 0
    skipped: int = 0

    def changed(self, old: Sums, new: Sums) -> Sums:
        """With ``new`` in place of ``old``."""
        return Sums(*(mine - gone + come for mine, gone, come in zip(self, old, new, strict=True)))

    def lag(self, at_ms: int) -> int:
        """Records of all partitions that are written and not read by then."""
        return (self.waiting + self.waiting_rate * at_ms) // SECOND_MS

    def unread_until(self, at_ms: int) -> int:
        """Partition-milliseconds in which nobody fetched a partition that had had a reader."""
        return self.unread_ms + self.unread_count * at_ms - self.unread_since_ms


NO_SUMS: Final = Sums()


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumption:
    """By topic name. ``lag_max`` is that of all partitions together at its greatest, which was at ``lag_max_at_ms``.

    ``members``: member → topic → the partitions that it has at hand. ``unread_max_ms``: the longest time that ended in which
    nobody fetched a partition.
    """

    topics: Mapping[str, TopicConsumption] = field(default_factory=dict)
    members: Mapping[str, Mapping[str, tuple[int, ...]]] = field(default_factory=dict)
    sums: Sums = NO_SUMS
    lag_max: int = 0
    lag_max_at_ms: int = 0
    unread_max_ms: int = 0


def end_of(partition: PartitionConsumption, rate: int, at_ms: int) -> int:
    """The offset that the next record gets (``log end offset``)."""
    return partition.begin_offset + rate * max(at_ms - partition.begin_ms, 0) // SECOND_MS


def lag_of(partition: PartitionConsumption, rate: int, at_ms: int) -> int:
    """Records of it that are written and that nobody has read; 0 before anybody read it."""
    if partition.read is None or partition.is_fetched:
        return 0
    return max(end_of(partition, rate, at_ms) - partition.read, 0)


def position_of(topic: TopicConsumption, number: int, member_id: str, at_ms: int) -> int | None:
    """The offset of the record that a member reads next; ``None`` where it has none."""
    partition = topic.partitions.get(number)
    reader = partition.readers.get(member_id) if partition is not None else None
    if partition is None or reader is None:
        return None
    return max(end_of(partition, topic.rate, at_ms), reader.position) if reader.fetches else reader.position


def sums_of(partition: PartitionConsumption, rate: int) -> Sums:
    """What a partition adds to those of all."""
    since_ms, read = partition.unread_since_ms, partition.read
    waits = read is not None and not partition.is_fetched
    return Sums(
        waiting_rate=rate if waits else 0,
        waiting=SECOND_MS * (partition.begin_offset - (read or 0)) - rate * partition.begin_ms
        if waits
        else 0,
        unread_count=0 if since_ms is None else 1,
        unread_since_ms=since_ms or 0,
        unread_ms=partition.unread_ms,
        read_twice=partition.read_twice,
        skipped=partition.skipped,
    )


def longest_unread_ms(consumption: Consumption, at_ms: int) -> int:
    """The longest time in which nobody fetched one partition; one that has not ended counts until now."""
    open_ms = (
        at_ms - partition.unread_since_ms
        for topic in consumption.topics.values()
        for partition in topic.partitions.values()
        if partition.unread_since_ms is not None
    )
    return max(consumption.unread_max_ms, *open_ms, 0)
