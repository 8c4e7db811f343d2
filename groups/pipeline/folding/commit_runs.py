"""Offset commits of one group, by columns: where requests end, what they come to, how each partition went on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import xxhash

from groups.history.evidence.commit_runs import CommitRun
from groups.history.replay.offsets import ZERO_TOPIC_ID
from groups.history.state.group import Offset
from groups.packs.index import PartitionCommits
from groups.pipeline.reading.group_blocks import CommitRows, Tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PLAIN: Final = ("offset", "batch", "at_ms", "committed", "commit_ms", "expire_ms", "leader_epoch", "version")
"""Fields of a commit that mean the same whatever tables it came with."""

_CANON: Final = np.dtype(
    [(name, "<i8") for name in _PLAIN] + [("key", "<u8"), ("metadata", "<u8"), ("topic_id", "<u8")]
)
"""A commit as it goes into a timeline's digest: the same whatever tables and stretches it came in."""


@dataclass(frozen=True, slots=True)
class RunColumns:
    """The commits of a run, in the forms that they are needed in; made once for the whole run."""

    rows: CommitRows
    tables: Tables
    partition: int | None
    starts: list[int]
    """Where requests begin."""
    ends: list[int]
    at_ms: list[int]
    offsets: list[int]
    keys: list[int]
    topic_ids: list[int]
    committed: list[int]
    batch_begins: list[bool]

    @classmethod
    def of(cls, rows: CommitRows, bounds: Sequence[int], tables: Tables, partition: int | None) -> RunColumns:
        """``bounds`` are places before which something else than a commit stands."""
        count = len(rows)
        batch_begins = np.ones(count, bool)
        np.not_equal(rows["batch"][1:], rows["batch"][:-1], out=batch_begins[1:])
        starts = unit_starts(rows, bounds).tolist()
        return cls(
            rows=rows,
            tables=tables,
            partition=partition,
            starts=starts,
            ends=[*starts[1:], count],
            at_ms=rows["at_ms"].tolist(),
            offsets=rows["offset"].tolist(),
            keys=rows["key"].tolist(),
            topic_ids=rows["topic_id"].tolist(),
            committed=rows["committed"].tolist(),
            batch_begins=batch_begins.tolist(),
        )


def unit_starts(rows: CommitRows, bounds: Sequence[int] = ()) -> NDArray[np.int64]:
    """Where requests begin: at another batch or time, behind something else, or where a partition is committed again.

    The rule is that of ``groups.history.passes.units``: a request commits a partition once.
    """
    count = len(rows)
    begins = np.ones(count, bool)
    if count > 1:
        begins[1:] = (rows["batch"][1:] != rows["batch"][:-1]) | (rows["at_ms"][1:] != rows["at_ms"][:-1])
    if len(bounds):
        begins[[bound for bound in bounds if bound < count]] = True
    starts = np.flatnonzero(begins)
    if len(starts) == count:
        return starts
    request = np.cumsum(begins) - 1
    # Which requests commit a partition twice: they are more than one.
    pairs = np.sort(request << 32 | rows["key"])
    doubled = np.unique(pairs[1:][pairs[1:] == pairs[:-1]] >> 32)
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


def commit_run(columns: RunColumns, unit: int, until: int, first: int) -> CommitRun:
    """What the requests ``unit`` to ``until - 1`` come to; ``first`` is the sequence of their first commit."""
    start, end = columns.starts[unit], columns.ends[until - 1]
    rows, keys, at_ms = columns.rows, columns.keys, columns.at_ms
    # A dictionary keeps the place of the first and the value of the last.
    last_of = dict(zip(keys[start:end], range(start, end), strict=True))
    tables = columns.tables
    latest = [(*tables.keys[key], _offset(rows[last], tables)) for key, last in last_of.items()]
    begins = columns.batch_begins[start:end]
    batch_times = list(compress(at_ms[start:end], begins))
    if not begins[0]:
        batch_times.insert(0, at_ms[start])
    last = first + end - start - 1
    return CommitRun(
        first=first,
        last=last,
        first_ms=at_ms[start],
        last_ms=at_ms[end - 1],
        requests=until - unit,
        last_request=last,
        latest=latest,
        topic_ids=_topic_ids(columns, start, end),
        value_times_ms=at_ms[start:end],
        places=[tables.keys[key] for key in keys[start:end]],
        committed=columns.committed[start:end],
        ids=[
            _told(tables.topic_ids[number]) if number >= 0 else None
            for number in columns.topic_ids[start:end]
        ],
        sequences=range(first, last + 1),
        batch_times_ms=batch_times,
        first_batch=int(rows["batch"][start]),
        last_batch=int(rows["batch"][end - 1]),
    )


def _offset(row: Any, tables: Tables) -> Offset:
    (_, _, _, _, committed, commit_ms, expire_ms, leader_epoch, _, metadata, topic_id, version) = row.item()
    return Offset(
        offset=committed,
        leader_epoch=leader_epoch if version >= 3 else -1,
        metadata=tables.texts[metadata],
        commit_timestamp_ms=commit_ms,
        topic_id=_told(tables.topic_ids[topic_id]) if topic_id >= 0 else None,
        expire_timestamp_ms=expire_ms if version == 1 and expire_ms >= 0 else None,
    )


def _told(topic_id: str) -> str | None:
    return None if topic_id == ZERO_TOPIC_ID else topic_id


def _topic_ids(columns: RunColumns, start: int, end: int) -> list[tuple[str, str]]:
    """Topics with the ids that commits tell of them: each when it differs from the one told before."""
    tables = columns.tables
    order: Iterable[tuple[int, int]]
    changes: list[tuple[str, str]] = []
    now: dict[str, str] = {}
    pairs = dict.fromkeys(zip(columns.keys[start:end], columns.topic_ids[start:end], strict=True))
    if len(pairs) > len({key for key, _ in pairs}):
        # A topic was made anew within these commits: every change of its id counts, in order.
        order = zip(columns.keys[start:end], columns.topic_ids[start:end], strict=True)
    else:
        order = pairs
    for key, topic_id in order:
        if topic_id < 0 or (known := tables.topic_ids[topic_id]) == ZERO_TOPIC_ID:
            continue
        topic = tables.keys[key][0]
        if now.get(topic) != known:
            now[topic] = known
            changes.append((topic, known))
    return changes


class Digest:
    """A digest of a timeline's entries that does not depend on how its log was cut.

    Commits and all others have a stream each: others tell their sequence, so that no order is lost.
    """

    def __init__(self) -> None:
        self._hash = xxhash.xxh3_128()
        self._commits = xxhash.xxh3_128()
        self._hashes: tuple[list[int], list[int], list[int]] = ([], [], [])

    def add(self, text: bytes) -> None:
        """An entry that is no commit, in its JSON form."""
        self._hash.update(text)

    def add_commits(self, rows: CommitRows, tables: Tables) -> None:
        canon = np.empty(len(rows), _CANON)
        for name in _PLAIN:
            canon[name] = rows[name]
        keys, texts, topic_ids = self._hashes
        _extend(keys, [f"{topic}\0{partition}" for topic, partition in tables.keys[len(keys) :]])
        _extend(texts, tables.texts[len(texts) :])
        _extend(topic_ids, tables.topic_ids[len(topic_ids) :])
        canon["key"] = np.array(keys, np.uint64)[rows["key"]]
        canon["metadata"] = np.array(texts, np.uint64)[rows["metadata"]]
        canon["topic_id"] = np.array([*topic_ids, 0], np.uint64)[rows["topic_id"]]
        self._commits.update(canon.tobytes())

    def text(self) -> str:
        return self._hash.hexdigest() + self._commits.hexdigest()


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
            one, now_ms, to = int(rows["key"][0]), int(rows["at_ms"][0]), int(rows["committed"][0])
            if count[one] == 0:
                first_ms[one], first[one] = now_ms, to
            elif now_ms - last_ms[one] > silence[one]:
                silence[one], since[one] = now_ms - last_ms[one], last_ms[one]
            count[one] += 1
            last_ms[one], last[one] = now_ms, to
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
