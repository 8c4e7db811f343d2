"""What became of transactional records: the next marker of their producer decides, in the same log.

A reading task resolves what it can within its split. What is left open there is resolved by the first marker of the
same producer in the splits that follow (``Ends``), which is little: a producer has one transaction at a time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from groups.pipeline.reading.group_blocks import NO_PRODUCER, CommitRows, OtherRecord

if TYPE_CHECKING:
    from numpy.typing import NDArray

COMMITTED: Final = 1
ABORTED: Final = 0
OPEN: Final = -1
"""What became of a record's transaction; open: no marker in what was read."""

PLAIN: Final = 2
"""A record outside of any transaction."""


def aborted_by(producer: Any) -> Any:
    """A producer as the column has it of a commit that was aborted (below ``NO_PRODUCER``), and back; of one, or of a whole column."""
    return -2 - producer


Log = tuple[str, int]
"""A partition of the topic, or a file of an unknown partition: ``("partition", 17)``, ``("file", 3)``."""


@dataclass(slots=True)
class Ends:
    """Markers by producer: their offsets in ascending order, and the kind of each."""

    offsets: dict[int, list[int]] = field(default_factory=dict)
    outcomes: dict[int, list[int]] = field(default_factory=dict)

    def add(self, producer: int, offset: int, outcome: int) -> None:
        offsets = self.offsets.setdefault(producer, [])
        at = bisect_right(offsets, offset)
        if at and offsets[at - 1] == offset:
            return
        offsets.insert(at, offset)
        self.outcomes.setdefault(producer, []).insert(at, outcome)

    def of(self, producer: int, offset: int) -> int:
        offsets = self.offsets.get(producer)
        if offsets is None:
            return OPEN
        at = bisect_right(offsets, offset)
        return self.outcomes[producer][at] if at < len(offsets) else OPEN

    def of_rows(self, rows: CommitRows) -> NDArray[np.int8]:
        """The outcome of each commit, ``PLAIN`` where it is of no transaction."""
        outcomes = np.full(len(rows), PLAIN, np.int8)
        for producer in np.unique(rows["producer"]).tolist():
            if producer < 0:
                continue
            mine = np.flatnonzero(rows["producer"] == producer)
            offsets = self.offsets.get(producer, [])
            at = np.searchsorted(np.array(offsets, np.int64), rows["offset"][mine], "right")
            known = np.array([*self.outcomes.get(producer, ()), OPEN], np.int8)
            outcomes[mine] = known[at]
        return outcomes

    def first(self) -> list[tuple[int, int, int]]:
        """``(producer, offset, outcome)`` of the first marker of each producer."""
        return [(producer, some[0], self.outcomes[producer][0]) for producer, some in self.offsets.items()]


@dataclass(slots=True)
class LeftOut:
    """Records of one outcome that are not in force, in one file."""

    records: int = 0
    first: int | None = None
    last: int | None = None

    def add(self, offset: int) -> None:
        self.records += 1
        self.first = offset if self.first is None else min(self.first, offset)
        self.last = offset if self.last is None else max(self.last, offset)

    def merge(self, records: int, first: int | None, last: int | None) -> None:
        self.records += records
        self.first = min((one for one in (self.first, first) if one is not None), default=None)
        self.last = max((one for one in (self.last, last) if one is not None), default=None)


def settled(
    commits: CommitRows, others: Iterable[OtherRecord], ends: Ends, left_out: Mapping[int, LeftOut]
) -> tuple[CommitRows, list[OtherRecord], bool]:
    """The records with committed ones as plain ones, and of aborted ones the commits alone, marked. Whether some are still open.

    ``left_out`` counts what is not in force, by outcome.
    """
    outcomes = ends.of_rows(commits)
    aborted = outcomes == ABORTED
    for offset in commits["offset"][aborted].tolist():
        left_out[ABORTED].add(offset)
    if (outcomes != PLAIN).any():
        commits = commits.copy()
        commits["producer"][outcomes == COMMITTED] = NO_PRODUCER
        commits["producer"][aborted] = aborted_by(commits["producer"][aborted])
    some_open = bool((outcomes == OPEN).any())
    found: list[OtherRecord] = []
    for other in others:
        outcome = ends.of(other.producer, other.offset) if other.producer >= 0 else PLAIN
        if outcome == ABORTED:
            left_out[ABORTED].add(other.offset)
            continue
        some_open = some_open or outcome == OPEN
        found.append(other._replace(producer=-1) if outcome == COMMITTED else other)
    return commits, found, some_open


def without_open(
    commits: CommitRows, others: Iterable[OtherRecord], left_out: LeftOut
) -> tuple[CommitRows, list[OtherRecord]]:
    """What is in force once nothing more can be learned: neither open transactions nor aborted ones."""
    for offset in commits["offset"][commits["producer"] >= 0].tolist():
        left_out.add(offset)
    found = []
    for other in others:
        if other.producer >= 0:
            left_out.add(other.offset)
        else:
            found.append(other)
    return commits[commits["producer"] == NO_PRODUCER], found
