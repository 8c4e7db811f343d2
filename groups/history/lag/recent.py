"""Where partitions' logs ended in the last hour: how old the first record is that a group has not read.

What ``partition`` computes over stored rounds, for all partitions of a cluster in each round: a few numbers a partition.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from groups.history.lag.partition import PAUSE_KNOWN_MS, SECONDS_SHARE

KEPT_MS: Final = 3_600_000
"""Of a lag that is older it is known that it is older."""

EXACT_MS: Final = 120_000
THINNED_MS: Final = 60_000
"""Rounds of the last ``EXACT_MS`` are kept, of older ones one in each ``THINNED_MS``: 85 of a partition, 1.4 kB."""

MOST: Final = 2 * KEPT_MS // THINNED_MS


class Age(NamedTuple):
    """Milliseconds; ``is_least``: it is this old or older."""

    ms: int
    is_least: bool


@dataclass(slots=True)
class EndsOfPartition:
    """End offsets that rise, at times in milliseconds that rise. One that falls is that of another log."""

    times_ms: array[int] = field(default_factory=lambda: array("q"))
    offsets: array[int] = field(default_factory=lambda: array("q"))

    def add(self, at_ms: int, end: int) -> None:
        """Add what a round saw. A time that is not after the last one is left out: a clock was set back."""
        times_ms, offsets = self.times_ms, self.offsets
        if times_ms and at_ms <= times_ms[-1]:
            return
        if offsets and end < offsets[-1]:
            del times_ms[:], offsets[:]
        if len(offsets) > 1 and offsets[-2] == end and at_ms - times_ms[-2] <= PAUSE_KNOWN_MS:
            times_ms[-1] = at_ms
            return
        times_ms.append(at_ms)
        offsets.append(end)
        if len(times_ms) > MOST:
            self._thin(at_ms)

    def age(self, committed: int, at_ms: int) -> Age | None:
        """How old the record at ``committed`` is; null where no round saw it unread."""
        after = bisect_right(self.offsets, committed)
        if after == len(self.offsets):
            return None
        if not after:
            return Age(at_ms - self.times_ms[0], is_least=True)
        from_ms, to_ms = self.times_ms[after - 1], self.times_ms[after]
        from_offset, to_offset = self.offsets[after - 1], self.offsets[after]
        written_ms = from_ms + (to_ms - from_ms) * (committed - from_offset) // (to_offset - from_offset)
        age_ms = max(0, at_ms - written_ms)
        if to_ms - from_ms > max(PAUSE_KNOWN_MS, SECONDS_SHARE * age_ms):
            return Age(max(0, at_ms - to_ms), is_least=True)
        return Age(age_ms, is_least=False)

    def _thin(self, at_ms: int) -> None:
        times_ms = self.times_ms
        kept = [
            at
            for at, each in enumerate(times_ms)
            if each > at_ms - EXACT_MS
            or (each > at_ms - KEPT_MS and (not at or each // THINNED_MS != times_ms[at - 1] // THINNED_MS))
        ]
        self.times_ms = array("q", [times_ms[at] for at in kept])
        self.offsets = array("q", [self.offsets[at] for at in kept])


@dataclass(slots=True)
class RecentEnds:
    """The ends of a cluster's partitions, by topic and partition."""

    _ends: dict[str, dict[int, EndsOfPartition]] = field(default_factory=dict)

    def add(self, at_ms: int, ends: Mapping[str, Mapping[int, int]], made_again: Iterable[str] = ()) -> None:
        """Add a round. ``made_again``: topics with another id than before. A negative end is none.

        A round without answers forgets nothing; a topic goes when the last answer of it is older than ``KEPT_MS``.
        """
        for topic in made_again:
            self._ends.pop(topic, None)
        for topic in self._ends.keys() - ends.keys():
            if all(each.times_ms[-1] < at_ms - KEPT_MS for each in self._ends[topic].values()):
                del self._ends[topic]
        for topic, partitions in ends.items():
            known = self._ends.setdefault(topic, {})
            for partition, end in partitions.items():
                if end >= 0:
                    known.setdefault(partition, EndsOfPartition()).add(at_ms, end)

    def oldest(self, committed: Iterable[tuple[str, int, int]], at_ms: int) -> Age | None:
        """The age of the oldest record that a group has not read, of its topics, partitions and committed offsets; null where none is unread."""
        oldest: Age | None = None
        for topic, partition, offset in committed:
            ends = self._ends.get(topic, {}).get(partition)
            if offset < 0 or ends is None or ends.offsets[-1] <= offset:
                continue
            age = ends.age(offset, at_ms)
            if age is not None and (oldest is None or age.ms > oldest.ms):
                oldest = age
        return oldest
