"""Which epoch holds each partition of a topic: an immutable map of which a few entries change at a time.

A plain dict would be copied as a whole for each member that moves: with 10,000 partitions and 1,000 members that is what
a joining group would spend most of its time on. This one is cut into blocks, and only those that change are copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TypeVar, overload

T = TypeVar("T")

BLOCK_BITS: Final = 6
"""64 partitions in a block: of 10,000 partitions neither the blocks nor what is in one are many to copy."""


class EpochMap(Mapping[int, int]):
    """Partition → epoch. Equal to any mapping with the same entries."""

    __slots__ = ("_blocks", "_length")

    def __init__(self, entries: Mapping[int, int] | None = None) -> None:
        self._blocks: dict[int, dict[int, int]] = {}
        self._length = 0
        if entries:
            for partition, epoch in entries.items():
                self._blocks.setdefault(partition >> BLOCK_BITS, {})[partition] = epoch
            self._length = len(entries)

    def __getitem__(self, partition: int) -> int:
        return self._blocks[partition >> BLOCK_BITS][partition]

    def __contains__(self, partition: object) -> bool:
        return isinstance(partition, int) and partition in self._blocks.get(partition >> BLOCK_BITS, ())

    def __iter__(self) -> Iterator[int]:
        return (partition for block in self._blocks.values() for partition in block)

    def __len__(self) -> int:
        return self._length

    def __repr__(self) -> str:
        return f"EpochMap({dict(self)})"

    @overload
    def get(self, key: int, /) -> int | None: ...

    @overload
    def get(self, key: int, /, default: int | T) -> int | T: ...

    def get(self, key: int, /, default: object = None) -> object:
        partition = key
        block = self._blocks.get(partition >> BLOCK_BITS)
        return default if block is None else block.get(partition, default)

    def edited(self) -> Edit:
        """Changes go into the edit; this map stays as it is."""
        return Edit(self._blocks, self._length)

    @classmethod
    def _of(cls, blocks: dict[int, dict[int, int]], length: int) -> EpochMap:
        made = cls()
        made._blocks, made._length = blocks, length
        return made


class Edit:
    """A map that is being made from another one; blocks are copied when they first change."""

    __slots__ = ("_blocks", "_length", "_own")

    def __init__(self, blocks: dict[int, dict[int, int]], length: int) -> None:
        self._blocks = dict(blocks)
        self._length = length
        self._own: set[int] = set()

    def get(self, partition: int) -> int | None:
        block = self._blocks.get(partition >> BLOCK_BITS)
        return None if block is None else block.get(partition)

    def put(self, partition: int, epoch: int) -> None:
        before = self.get(partition)
        if before != epoch:
            self._mine(partition >> BLOCK_BITS)[partition] = epoch
            self._length += before is None

    def remove(self, partition: int) -> None:
        at = partition >> BLOCK_BITS
        block = self._mine(at)
        del block[partition]
        self._length -= 1
        if not block:
            del self._blocks[at]
            self._own.discard(at)

    def done(self) -> EpochMap:
        """The map; the edit is over."""
        return EpochMap._of(self._blocks, self._length)

    def _mine(self, at: int) -> dict[int, int]:
        if at in self._own:
            return self._blocks[at]
        block = self._blocks[at] = dict(self._blocks.get(at, ()))
        self._own.add(at)
        return block
