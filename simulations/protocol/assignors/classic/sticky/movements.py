"""Partitions of one topic that moved from member to member, so that a move back undoes an earlier one.

Kafka: ``AbstractStickyAssignor.PartitionMovements``. Which of several movements is undone is the first of a Java
``HashSet``.
"""

from __future__ import annotations

from typing import Final

from simulations.protocol.assignors.java_orders import DEFAULT_TABLE, int_hash, string_hash

Pair = tuple[int, int]
"""Places of the members from which and to which a partition moved."""

_PRIME: Final = 31


class Movements:
    """The movements of one topic's partitions."""

    __slots__ = ("_moved", "_pairs", "_topic_hash")

    def __init__(self, topic: str) -> None:
        self._topic_hash = string_hash(topic)
        self._moved: dict[int, Pair] = {}
        self._pairs: dict[Pair, _JavaSet] = {}

    def to_be_moved(self, partition: int, old: int, new: int) -> int:
        """The partition to move instead: one that moved the other way round, if there is one."""
        if partition in self._moved:
            old = self._moved[partition][0]
        back = self._pairs.get((new, old))
        return partition if back is None else back.first(self._topic_hash)

    def move(self, partition: int, old: int, new: int) -> None:
        """Notes a move; one that moved before moved from where it first was, and nowhere if it came back."""
        earlier = self._moved.pop(partition, None)
        if earlier is not None:
            pair = self._pairs[earlier]
            pair.remove(partition)
            if not pair:
                del self._pairs[earlier]
            old = earlier[0]
            if old == new:
                return
        self._moved[partition] = (old, new)
        if (old, new) not in self._pairs:
            self._pairs[old, new] = _JavaSet()
        self._pairs[old, new].add(partition)


class _JavaSet:
    """A ``HashSet`` of partitions of one topic, of which only the first is ever asked for."""

    __slots__ = ("_partitions", "_table")

    def __init__(self) -> None:
        self._partitions: dict[int, None] = {}
        self._table = DEFAULT_TABLE

    def __len__(self) -> int:
        return len(self._partitions)

    def add(self, partition: int) -> None:
        self._partitions[partition] = None
        if len(self._partitions) > self._table * 0.75:
            self._table *= 2

    def remove(self, partition: int) -> None:
        del self._partitions[partition]

    def first(self, topic_hash: int) -> int:
        mask = self._table - 1

        def slot(partition: int) -> int:
            # ``TopicPartition.hashCode``.
            mixed = int_hash(_PRIME * (_PRIME + partition) + topic_hash)
            return (mixed ^ mixed >> 16) & mask

        return min(self._partitions, key=slot)
