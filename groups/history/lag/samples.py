"""The offsets of one topic's partitions at the times when brokers were asked, in columns.

An offset is 0 or more. A negative number is the reason why there is none.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from operator import sub
from typing import Final

import cramjam
import orjson

NO_ANSWER: Final = -1
"""The broker gave none of this partition; of a committed offset: none was committed."""

NEW_LOG: Final = -2
"""The topic had another id at this look: what follows is another log."""

NO_RIGHT: Final = -29
"""TOPIC_AUTHORIZATION_FAILED."""


@dataclass(slots=True)
class OffsetColumns:
    """``offsets``: by partition, one for each of ``times_ms``, which rise."""

    times_ms: array[int] = field(default_factory=lambda: array("q"))
    offsets: dict[int, array[int]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.times_ms)

    def add(self, at_ms: int, offsets: Mapping[int, int]) -> None:
        """Append one look at the partitions. One that is not before the last one is left out: a clock was set back."""
        if self.times_ms and at_ms <= self.times_ms[-1]:
            return
        for partition in offsets.keys() - self.offsets.keys():
            self.offsets[partition] = array("q", [NO_ANSWER]) * len(self.times_ms)
        for partition, column in self.offsets.items():
            column.append(offsets.get(partition, NO_ANSWER))
        self.times_ms.append(at_ms)

    def extend(self, later: OffsetColumns) -> None:
        """Append what follows; what is not later than the last time is left out."""
        last_ms = self.times_ms[-1] if self.times_ms else None
        skipped = 0 if last_ms is None else sum(1 for at_ms in later.times_ms if at_ms <= last_ms)
        had, new = len(self), len(later) - skipped
        self.times_ms.extend(later.times_ms[skipped:])
        for partition in later.offsets.keys() - self.offsets.keys():
            self.offsets[partition] = array("q", [NO_ANSWER]) * had
        for partition, column in self.offsets.items():
            column.extend(
                later.offsets[partition][skipped:]
                if partition in later.offsets
                else array("q", [NO_ANSWER]) * new
            )

    def only(self, kept: Iterable[int]) -> OffsetColumns:
        """Those of some places."""
        places = list(kept)
        return OffsetColumns(
            array("q", [self.times_ms[at] for at in places]),
            {
                partition: array("q", [column[at] for at in places])
                for partition, column in self.offsets.items()
            },
        )

    def packed(self) -> bytes:
        """Compressed: differences, which are small where offsets rise at an even pace."""
        value = {
            "times_ms": _differences(self.times_ms),
            "partitions": list(self.offsets),
            "offsets": [_differences(column) for column in self.offsets.values()],
        }
        return bytes(cramjam.zstd.compress(orjson.dumps(value)))


def unpacked(packed: bytes, wanted: Callable[[int], bool] = lambda partition: True) -> OffsetColumns:
    """What ``packed`` gave, of the partitions that are ``wanted``."""
    value = orjson.loads(bytes(cramjam.zstd.decompress(packed)))
    return OffsetColumns(
        array("q", accumulate(value["times_ms"])),
        {
            partition: array("q", accumulate(column))
            for partition, column in zip(value["partitions"], value["offsets"], strict=True)
            if wanted(partition)
        },
    )


def thinned(columns: OffsetColumns, every_ms: int) -> OffsetColumns:
    """The first and the last look, one in each ``every_ms``, and all between which an offset fell or an answer came or went.

    So a topic that was made again, and a time without answers, keep their exact ends.
    """
    times_ms, last = columns.times_ms, len(columns) - 1
    kept = {at for at in (0, last) if at >= 0}
    kept |= {at for at in range(1, last) if times_ms[at] // every_ms != times_ms[at - 1] // every_ms}
    # An end of a long pause is one of a time of which nothing is known.
    for at in range(1, last + 1):
        if times_ms[at] - times_ms[at - 1] > every_ms:
            kept |= {at - 1, at}
    for column in columns.offsets.values():
        for at in range(1, last + 1):
            if column[at] < column[at - 1] or column[at - 1] < 0 <= column[at]:
                kept |= {at - 1, at}
    return columns if len(kept) == len(columns) else columns.only(sorted(kept))


def _differences(column: array[int]) -> list[int]:
    return [*column[:1], *map(sub, column[1:], column)]
