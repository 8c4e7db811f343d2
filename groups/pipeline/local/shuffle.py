"""Blocks on their way from reading to folding without Spark: each group's together, in the order of Spark's shuffle."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from itertools import groupby
from typing import Final, NamedTuple

from groups.pipeline.reading.rows import Row

MEMORY_BYTES: Final = 32 * 1024 * 1024
"""Packed blocks in memory: those of a log of ten times the size. More goes to a file without a name."""

Packed = tuple[str, int | None, int, int, bytes]
"""What ``GroupBlock.unpack`` takes."""


class Place(NamedTuple):
    """Where a block is kept, and what it is sorted by."""

    group: str
    partition: int | None
    first: int
    source: int
    split: int
    offset: int
    length: int

    def order(self) -> tuple[bool, int, int, int]:
        """Within its group; a block whose partition is unknown comes first."""
        return self.partition is not None, self.partition or 0, self.first, self.source


class Shuffle:
    """``add`` every block, then take ``groups`` and fetch their blocks, from any thread."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=MEMORY_BYTES)  # noqa: SIM115 - closed by close()
        self._lock = threading.Lock()
        self._places: list[Place] = []
        self._end = 0

    def add(self, row: Row) -> None:
        self._file.write(row.payload)
        place = Place(
            row.group or "", row.partition, row.first or 0, row.source, row.split, self._end, len(row.payload)
        )
        self._places.append(place)
        self._end += len(row.payload)

    def fill_partitions(self) -> None:
        """Gives blocks from files without a folder's name the one partition in which other files have the same group."""
        known: dict[str, set[int]] = {}
        for place in self._places:
            if place.partition is not None:
                known.setdefault(place.group, set()).add(place.partition)
        self._places = [
            place._replace(partition=min(known[place.group]))
            if place.partition is None and len(known.get(place.group, ())) == 1
            else place
            for place in self._places
        ]

    def groups(self) -> list[list[Place]]:
        """The places of each group's blocks, in the order in which they are folded."""
        self._places.sort(key=lambda place: (place.group, place.order()))
        return [list(places) for _, places in groupby(self._places, key=lambda place: place.group)]

    def fetch(self, places: list[Place]) -> Iterator[Packed]:
        for place in places:
            with self._lock:
                self._file.seek(place.offset)
                payload = self._file.read(place.length)
            yield place.group, place.partition, place.source, place.split, payload

    def close(self) -> None:
        self._file.close()
