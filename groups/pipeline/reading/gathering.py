"""What was read of a split so far, until blocks are made of it: commits in columns with tables of their own, others by group.

A block costs some tenths of a millisecond from here to its timeline, whatever it holds. So they are made of a whole split, of
which each group has hundreds of records, and not of each stretch that is at hand at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from groups.pipeline.reading.columns import CommitKey, Commits
from groups.pipeline.reading.group_blocks import COMMIT, CommitRows, OtherRecord, Tables, joined

if TYPE_CHECKING:
    from numpy.typing import NDArray

GATHERED_BYTES_MOST: Final = 10 * 1024 * 1024
"""What is gathered before blocks are made of it, and a stretch more: half a split or more. Making them takes as much again, twice.
One stretch of rebalances alone is 12 to 14 MB by this count: a second is not begun."""

OTHER_BYTES: Final = 300
"""What a record that is no commit takes in memory in addition to its payload."""


class GroupCommits(NamedTuple):
    """The commits of one group, in the order of the log; indexes of ``rows`` are those of ``tables``."""

    group: str
    rows: CommitRows
    tables: Tables


class Gathering:
    """``add`` what stretches hold, and make blocks of it once it ``is_full``, or at the end."""

    def __init__(self) -> None:
        self.others: dict[str, list[OtherRecord]] = {}
        self._parts: list[CommitRows] = []
        self._bytes = 0
        self._keys: dict[CommitKey, int] = {}
        self._texts: dict[str, int] = {"": 0}
        self._topic_ids: dict[str, int] = {}

    @property
    def is_full(self) -> bool:
        return self._bytes >= GATHERED_BYTES_MOST

    def add_other(self, group: str, record: OtherRecord) -> None:
        self.others.setdefault(group, []).append(record)
        self._bytes += len(record.payload) + OTHER_BYTES

    def add_commits(self, commits: Commits) -> None:
        rows = np.empty(len(commits), COMMIT)
        for name in COMMIT.names or ():
            rows[name] = getattr(commits, name)
        rows["key"] = _numbered(self._keys, commits.keys)[commits.key]
        if len(commits.texts) > 1:
            rows["metadata"] = _numbered(self._texts, commits.texts)[commits.metadata]
        if commits.topic_ids:
            # −1 (no topic id) finds the last number, which is −1 again.
            rows["topic_id"] = np.append(_numbered(self._topic_ids, commits.topic_ids), -1)[commits.topic_id]
        self._parts.append(rows)
        self._bytes += rows.nbytes

    def commits(self) -> Iterator[GroupCommits]:
        """The commits of each group, by its name."""
        if not self._parts:
            return
        rows = joined(self._parts)
        keys = sorted(self._keys, key=_group_of)
        texts, topic_ids = list(self._texts), list(self._topic_ids)
        place = np.empty(len(keys), np.int32)
        place[[self._keys[key] for key in keys]] = np.arange(len(keys), dtype=np.int32)
        groups = list(dict.fromkeys(key.group for key in keys))
        firsts = np.array(_firsts(keys), np.int32)
        places = place[rows["key"]]
        group_of = firsts.searchsorted(places, "right") - 1
        # Small integers are sorted by counting.
        order = np.argsort(group_of.astype(np.uint16 if len(groups) < 1 << 16 else np.int64), kind="stable")
        rows, group_of = rows[order], group_of[order]
        rows["key"] = places[order] - firsts[group_of]
        bounds = group_of.searchsorted(np.arange(len(groups) + 1)).tolist()
        edges = [*firsts.tolist(), len(keys)]
        for number, group in enumerate(groups):
            mine = rows[bounds[number] : bounds[number + 1]]
            if len(mine):
                table = [(key.topic, key.partition) for key in keys[edges[number] : edges[number + 1]]]
                yield GroupCommits(group, mine, _tables(mine, table, texts, topic_ids))


def _group_of(key: CommitKey) -> str:
    return key.group


def _firsts(keys: Sequence[CommitKey]) -> list[int]:
    """Where each group begins among keys that are sorted by it."""
    return [at for at, key in enumerate(keys) if at == 0 or keys[at - 1].group != key.group]


def _numbered(known: dict[Any, int], values: Sequence[Any]) -> NDArray[np.int32]:
    """The number of each value; a new one has the next."""
    return np.array([known.setdefault(value, len(known)) for value in values], np.int32)


def _tables(rows: CommitRows, keys: list[tuple[str, int]], texts: list[str], topic_ids: list[str]) -> Tables:
    """The tables that these rows need, and their indexes made to fit."""
    tables = Tables(keys=keys)
    for name, common, mine in (("metadata", texts, tables.texts), ("topic_id", topic_ids, tables.topic_ids)):
        if len(common) <= 1 and name == "metadata":
            mine.extend(common)
            continue
        if not common:
            continue
        used, numbers = np.unique(rows[name], return_inverse=True)
        absent = int(used[0] < 0)
        mine.extend(common[number] for number in used[absent:].tolist())
        rows[name] = numbers.reshape(-1) - absent
    return tables
