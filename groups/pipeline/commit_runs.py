"""Offset commits of one group, by columns: where requests end, what they come to, how each partition went on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import xxhash

from groups.history.indexing import CommitRun
from groups.history.state import Offset
from groups.logstore.index import PartitionCommits
from groups.pipeline.group_blocks import CommitRows, Tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CANON: Final = np.dtype(
    [
        (name, "<i8")
        for name in ("offset", "batch", "at_ms", "committed", "commit_ms", "expire_ms", "leader_epoch", "version")
    ]
    + [("key", "<u8"), ("metadata", "<u8"), ("topic_id", "<u8")]
)
"""A commit as it goes into a timeline's digest: the same whatever tables and stretches it came in."""


def unit_starts(rows: CommitRows) -> NDArray[np.int64]:
    """Where requests begin: at another batch or time, or where a partition is committed again.

    The rule is that of ``groups.history.units``: a request commits a partition once.
    """
    count = len(rows)
    begins = np.ones(count, bool)
    if count > 1:
        begins[1:] = (rows["batch"][1:] != rows["batch"][:-1]) | (rows["at_ms"][1:] != rows["at_ms"][:-1])
    starts = np.flatnonzero(begins)
    if len(starts) == count:
        return starts
    request = np.cumsum(begins) - 1
    # Which requests commit a partition twice: they are more than one.
    pairs = request.astype(np.int64) << 32 | rows["key"].astype(np.int64)
    alone, counts = np.unique(pairs, return_counts=True)
    doubled = np.unique(alone[counts > 1] >> 32)
    if not len(doubled):
        return starts
    ends = np.append(starts[1:], count)
    keys = rows["key"]
    more: list[int] = []
    for number in doubled.tolist():
        seen: set[int] = set()
        for at in range(int(starts[number]), int(ends[number])):
            key = int(keys[at])
            if key in seen:
                more.append(at)
                seen = set()
            seen.add(key)
    return np.union1d(starts, np.array(more, np.int64))


def commit_run(rows: CommitRows, starts: NDArray[np.int64], tables: Tables, first: int) -> CommitRun:
    """What ``rows``, whole requests that begin at ``starts``, come to; ``first`` is the sequence of the first one."""
    count = len(rows)
    keys = rows["key"]
    if count == 1:
        order, last_of = [0], [0]
    else:
        _, first_at = np.unique(keys, return_index=True)
        _, from_end = np.unique(keys[::-1], return_index=True)
        by_appearance = np.argsort(first_at)
        order = first_at[by_appearance].tolist()
        last_of = (count - 1 - from_end[by_appearance]).tolist()
    latest: list[tuple[str, int, Offset | None]] = []
    for at, last in zip(order, last_of, strict=True):
        topic, partition = tables.keys[int(keys[at])]
        latest.append((topic, partition, _offset(rows[last], tables)))
    last_start = int(starts[-1])
    return CommitRun(
        first=first,
        last=first + count - 1,
        first_ms=int(rows["at_ms"][0]),
        last_ms=int(rows["at_ms"][-1]),
        requests=len(starts),
        last_request=first + count - 1 if last_start < count else 0,
        latest=latest,
        topic_ids=_topic_ids(rows, tables),
    )


def _offset(row: Any, tables: Tables) -> Offset:
    (_, _, _, _, committed, commit_ms, expire_ms, leader_epoch, _, metadata, topic_id, version) = row.item()
    return Offset(
        offset=committed,
        leader_epoch=leader_epoch if version >= 3 else -1,
        metadata=tables.texts[metadata],
        commit_timestamp_ms=commit_ms,
        topic_id=tables.topic_ids[topic_id] if topic_id >= 0 else None,
        expire_timestamp_ms=expire_ms if version == 1 and expire_ms >= 0 else None,
    )


def _topic_ids(rows: CommitRows, tables: Tables) -> list[tuple[str, str]]:
    """Topics with the ids that commits tell of them: each when it differs from the one told before."""
    told = np.flatnonzero(rows["topic_id"] >= 0)
    if not len(told):
        return []
    pairs = rows["key"][told].astype(np.int64) << 32 | rows["topic_id"][told].astype(np.int64)
    alone, first_at = np.unique(pairs, return_index=True)
    by_topic: dict[str, set[int]] = {}
    for pair in alone.tolist():
        by_topic.setdefault(tables.keys[pair >> 32][0], set()).add(pair & 0xFFFFFFFF)
    if all(len(ids) == 1 for ids in by_topic.values()):
        order = np.argsort(first_at, kind="stable")
        seen: dict[tuple[str, str], None] = {}
        for pair in alone[order].tolist():
            seen.setdefault((tables.keys[pair >> 32][0], tables.topic_ids[pair & 0xFFFFFFFF]))
        return list(seen)
    # A topic was made anew within these commits: every change of its id counts, in order.
    changes: list[tuple[str, str]] = []
    now: dict[str, str] = {}
    for key, topic_id in zip(rows["key"][told].tolist(), rows["topic_id"][told].tolist(), strict=True):
        topic, known = tables.keys[key][0], tables.topic_ids[topic_id]
        if now.get(topic) != known:
            now[topic] = known
            changes.append((topic, known))
    return changes


class Digest:
    """A digest of a timeline's entries that does not depend on how its log was cut."""

    def __init__(self) -> None:
        self._hash = xxhash.xxh3_128()
        self._hashes: tuple[list[int], list[int], list[int]] = ([], [], [])

    def add(self, text: bytes) -> None:
        """An entry that is no commit, in its JSON form."""
        self._hash.update(text)

    def add_commits(self, rows: CommitRows, tables: Tables) -> None:
        canon = np.empty(len(rows), _CANON)
        for name in ("offset", "batch", "at_ms", "committed", "commit_ms", "expire_ms", "leader_epoch", "version"):
            canon[name] = rows[name]
        keys, texts, topic_ids = self._hashes
        _extend(keys, [f"{topic}\0{partition}" for topic, partition in tables.keys[len(keys) :]])
        _extend(texts, tables.texts[len(texts) :])
        _extend(topic_ids, tables.topic_ids[len(topic_ids) :])
        canon["key"] = np.array(keys, np.uint64)[rows["key"]]
        canon["metadata"] = np.array(texts, np.uint64)[rows["metadata"]]
        canon["topic_id"] = np.array([*topic_ids, 0], np.uint64)[rows["topic_id"]]
        self._hash.update(canon.tobytes())

    def text(self) -> str:
        return self._hash.hexdigest()


def _extend(hashes: list[int], texts: list[str]) -> None:
    hashes.extend(xxhash.xxh3_64_intdigest(text.encode()) for text in texts)


class Progress:
    """How each partition's commits went on: how many, from where to where, and the longest silence between two."""

    def __init__(self) -> None:
        self._rows = np.zeros((7, 0), np.int64)
        self._known = 0

    def add(self, rows: CommitRows, keys: int) -> None:
        """Takes in commits in order; ``keys`` is how many partitions the tables have by now."""
        if keys > self._rows.shape[1]:
            room = np.zeros((7, max(keys, 2 * self._rows.shape[1], 16)), np.int64)
            room[:, : self._rows.shape[1]] = self._rows
            self._rows = room
        self._known = max(self._known, keys)
        count, first_ms, last_ms, first, last, silence, since = self._rows
        if len(rows) == 1:
            key, at_ms, committed = int(rows["key"][0]), int(rows["at_ms"][0]), int(rows["committed"][0])
            if count[key] == 0:
                first_ms[key], first[key] = at_ms, committed
            elif at_ms - last_ms[key] > silence[key]:
                silence[key], since[key] = at_ms - last_ms[key], last_ms[key]
            count[key] += 1
            last_ms[key], last[key] = at_ms, committed
            return
        order = np.argsort(rows["key"], kind="stable")
        key, at_ms, committed = rows["key"][order], rows["at_ms"][order], rows["committed"][order]
        begins = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))
        ends = np.append(begins[1:], len(key)) - 1
        mine = key[begins]
        fresh = count[mine] == 0
        before = np.empty(len(key), np.int64)
        before[1:] = at_ms[:-1]
        before[begins] = np.where(fresh, at_ms[begins], last_ms[mine])
        gaps = at_ms - before
        longest = np.maximum.reduceat(gaps, begins)
        longer = longest > silence[mine]
        if longer.any():
            # The first of the longest gaps of each partition.
            spread = np.repeat(longest, ends - begins + 1)
            hits = np.where(gaps == spread, np.arange(len(key)), len(key))
            at = np.minimum.reduceat(hits, begins)
            since[mine[longer]] = before[at[longer]]
            silence[mine[longer]] = longest[longer]
        first_ms[mine[fresh]], first[mine[fresh]] = at_ms[begins][fresh], committed[begins][fresh]
        count[mine] += ends - begins + 1
        last_ms[mine], last[mine] = at_ms[ends], committed[ends]

    def told(self, tables: Tables) -> list[PartitionCommits]:
        """By topic and partition."""
        found = []
        for key in range(self._known):
            count, first_ms, last_ms, first, last, silence, since = self._rows[:, key].tolist()
            if count:
                topic, partition = tables.keys[key]
                found.append(
                    PartitionCommits(
                        topic=topic,
                        partition=partition,
                        commits=count,
                        first_ms=first_ms,
                        last_ms=last_ms,
                        first_offset=first,
                        last_offset=last,
                        silence_ms=silence,
                        silence_from_ms=since,
                    )
                )
        return sorted(found, key=lambda one: (one["topic"], one["partition"]))
