"""One group's blocks put together: in the order of offsets, each record once, whatever files it came from.

Blocks come by partition and first batch. What several files hold (a segment given twice, several brokers' copies,
segments that overlap) is kept once, from the file that was named first; where two disagree, that is reported. Only blocks
that overlap are in memory at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from groups.pipeline.reading.group_blocks import COMMIT, CommitRows, GroupBlock, OtherRecord, Tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

CONFLICTS_MOST: Final = 20
"""Offsets that are listed one by one where two files disagree."""

PIECE_BYTES: Final = 1024 * 1024
"""Of records that are no commits: read, they take six times as much, and what is folded is let go piece by piece."""

_CONTENT: Final = [name for name in COMMIT.names or () if name != "producer"]


@dataclass(slots=True)
class Run:
    """Records of one partition; indexes of ``commits`` are those of the group's tables."""

    partition: int | None
    commits: CommitRows
    others: list[OtherRecord]

    def pieces(self) -> Iterator[Run]:
        """The run, cut between batches so that no piece has much more than ``PIECE_BYTES`` of other records."""
        begins = row = size = 0
        for at, other in enumerate(self.others):
            if size > PIECE_BYTES and other.batch != self.others[at - 1].batch:
                until = int(np.searchsorted(self.commits["batch"], other.batch))
                yield Run(self.partition, self.commits[row:until], self.others[begins:at])
                begins, row, size = at, until, 0
            size += len(other.payload)
        yield Run(self.partition, self.commits[row:], self.others[begins:]) if begins else self


@dataclass(slots=True)
class Merger:
    """``add`` blocks in their order, then ``finish``; both give what is complete by now."""

    files: tuple[str, ...] = ()
    tables: Tables = field(default_factory=Tables)
    repeated: int = 0
    conflicts: list[dict[str, Any]] = field(default_factory=list)
    _numbers: tuple[dict[Any, int], dict[Any, int], dict[Any, int]] = field(
        default_factory=lambda: ({}, {}, {})
    )
    _waiting: list[tuple[GroupBlock, CommitRows]] = field(default_factory=list)

    def add(self, block: GroupBlock) -> Iterator[Run]:
        first = block.first_batch
        if self._waiting:
            if self._waiting[0][0].partition != block.partition:
                yield from self.finish()
            else:
                yield from self._before(first)
        self._waiting.append((block, self._unified(block)))

    def finish(self) -> Iterator[Run]:
        if self._waiting:
            yield self._merged(self._waiting)
            self._waiting = []

    def _before(self, batch: int) -> Iterator[Run]:
        """What waits of batches before ``batch``: no later block can hold any of them."""
        ready: list[tuple[GroupBlock, CommitRows]] = []
        later: list[tuple[GroupBlock, CommitRows]] = []
        for block, commits in self._waiting:
            at = int(np.searchsorted(commits["batch"], batch))
            others = [other for other in block.others if other.batch < batch]
            if at or others:
                ready.append((_with(block, others), commits[:at]))
            if at < len(commits) or len(others) < len(block.others):
                later.append((_with(block, block.others[len(others) :]), commits[at:]))
        self._waiting = later
        if ready:
            yield self._merged(ready)

    def _merged(self, parts: list[tuple[GroupBlock, CommitRows]]) -> Run:
        partition = parts[0][0].partition
        if len(parts) == 1 and _each_once(*parts[0]):
            block, commits = parts[0]
            return Run(partition, commits, block.others)
        parts = sorted(parts, key=lambda part: part[0].source)
        commits, sources = self._merged_commits(parts)
        others = self._merged_others(parts)
        if len(commits) and others:
            commits, others = self._without_both(commits, sources, others)
        return Run(partition, commits, [other for other, _ in others])

    def _merged_commits(
        self, parts: list[tuple[GroupBlock, CommitRows]]
    ) -> tuple[CommitRows, NDArray[np.int32]]:
        rows = np.concatenate([commits for _, commits in parts])
        sources = np.concatenate([np.full(len(commits), block.source, np.int32) for block, commits in parts])
        order = np.argsort(rows["offset"], kind="stable")
        rows, sources = rows[order], sources[order]
        again = np.zeros(len(rows), bool)
        again[1:] = rows["offset"][1:] == rows["offset"][:-1]
        if not again.any():
            return rows, sources
        self.repeated += int(again.sum())
        first = np.flatnonzero(~again)
        kept = first[np.cumsum(~again) - 1]
        differs = np.zeros(len(rows), bool)
        for name in _CONTENT:
            differs |= rows[name] != rows[name][kept]
        for at in np.flatnonzero(differs)[:CONFLICTS_MOST].tolist():
            self._conflict(int(rows["offset"][at]), int(sources[at]), int(sources[kept[at]]))
        return rows[first], sources[first]

    def _merged_others(self, parts: list[tuple[GroupBlock, CommitRows]]) -> list[tuple[OtherRecord, int]]:
        found: dict[int, tuple[OtherRecord, int]] = {}
        for block, _ in parts:
            for other in block.others:
                known = found.setdefault(other.offset, (other, block.source))
                if known[0] is other:
                    continue
                self.repeated += 1
                if known[0].payload != other.payload:
                    self._conflict(other.offset, block.source, known[1])
        return sorted(found.values(), key=lambda pair: pair[0].offset)

    def _without_both(
        self, commits: CommitRows, sources: NDArray[np.int32], others: list[tuple[OtherRecord, int]]
    ) -> tuple[CommitRows, list[tuple[OtherRecord, int]]]:
        """One file has a commit where another has something else: the first file's record is taken."""
        offsets = np.array([other.offset for other, _ in others], np.int64)
        both = np.intersect1d(commits["offset"], offsets)
        for offset in both.tolist():
            at = int(np.searchsorted(commits["offset"], offset))
            number = int(np.searchsorted(offsets, offset))
            self.repeated += 1
            theirs, ours = others[number][1], int(sources[at])
            self._conflict(offset, max(theirs, ours), min(theirs, ours))
            if theirs < ours:
                keep = np.arange(len(commits)) != at
                commits, sources = commits[keep], sources[keep]
            else:
                others = others[:number] + others[number + 1 :]
                offsets = np.delete(offsets, number)
        return commits, others

    def _conflict(self, offset: int, source: int, kept: int) -> None:
        if len(self.conflicts) < CONFLICTS_MOST and source != kept:
            reason = f"another record than in {self.files[kept]} at the same offset; the latter is kept"
            self.conflicts.append(
                {"file": self.files[source], "offset": offset, "reason": reason, "records": 1}
            )

    def _unified(self, block: GroupBlock) -> CommitRows:
        """The block's commits with the indexes of the group's tables."""
        if not len(block.commits):
            return block.commits
        commits = block.commits.copy()
        theirs: tuple[list[Any], ...] = (block.tables.keys, block.tables.texts, block.tables.topic_ids)
        ours: tuple[list[Any], ...] = (self.tables.keys, self.tables.texts, self.tables.topic_ids)
        for name, table, common, numbers in zip(
            ("key", "metadata", "topic_id"), theirs, ours, self._numbers, strict=True
        ):
            looked_up = [self._number(value, common, numbers) for value in table]
            if looked_up != list(range(len(table))):
                # −1 (no topic id) finds the last element of the look-up, which is −1 again.
                commits[name] = np.array([*looked_up, -1], np.int32)[commits[name]]
        return commits

    @staticmethod
    def _number(value: Any, common: list[Any], numbers: dict[Any, int]) -> int:
        number = numbers.get(value)
        if number is None:
            number = numbers[value] = len(common)
            common.append(value)
        return number


def _each_once(block: GroupBlock, commits: CommitRows) -> bool:
    """Whether no two records have one offset: in a file that holds its batches twice they do."""
    offsets = commits["offset"]
    if len(offsets) > 1 and not (offsets[1:] > offsets[:-1]).all():
        return False
    others = np.array([other.offset for other in block.others], np.int64)
    if len(others) > 1 and not (others[1:] > others[:-1]).all():
        return False
    return not len(others) or bool(
        (offsets.searchsorted(others) == offsets.searchsorted(others, "right")).all()
    )


def _with(block: GroupBlock, others: list[OtherRecord]) -> GroupBlock:
    return GroupBlock(
        block.group, block.partition, block.source, block.split, block.commits, block.tables, others
    )
