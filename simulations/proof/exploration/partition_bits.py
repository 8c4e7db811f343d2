"""Partitions as bits, so that what is owned, held and assigned is compared at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


class Bits:
    """Gives each partition a bit of its own, for as long as an exploration lasts."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, int], int] = {}
        self._partitions: list[tuple[str, int]] = []

    def of(self, partitions: Iterable[tuple[str, int]]) -> int:
        """The bits of partitions, each a topic id and a number."""
        mask = 0
        for partition in partitions:
            number = self._numbers.get(partition)
            if number is None:
                number = self._numbers[partition] = len(self._partitions)
                self._partitions.append(partition)
            mask |= 1 << number
        return mask

    def of_topics(self, partitions: Mapping[str, Iterable[int]]) -> int:
        return self.of((topic_id, number) for topic_id, numbers in partitions.items() for number in numbers)

    def partitions(self, mask: int) -> set[tuple[str, int]]:
        """Topic ids and numbers of the bits."""
        return {partition for number, partition in enumerate(self._partitions) if mask >> number & 1}
