"""Offset commits of one group, by columns: where requests end, what they come to, how each partition went on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import compress, repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import xxhash

from groups.history.replay.commit_runs import CommitRun, Place
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


class RunColumns(NamedTuple):
    """The commits of a run, in the forms that they are needed in; made once for the whole run."""

    rows: CommitRows
    partition: int | None
    tables: Tables
    begins: NDArray[np.bool_]
    """Of each row, whether a request begins with it; ``starts`` are the places of those."""
    starts: list[int]
    ends: list[int]
    at_ms: list[int]
    offsets: list[int]
    committed: list[int]
    places: list[Place]
    """Topic and partition; so many commits of one share the tuple."""
    ids: list[str | None]
    """Their topic ids."""
    values: list[Offset]
    batches: list[int]
    """Base offsets of their batches."""
    batch_begins: list[bool]
    topic_ids: Mapping[str, str] | None
    """Topic → the one id in its commits; ``None`` if a topic has two in this run, or some commits have none."""

    @classmethod
    def of(cls, rows: CommitRows, bounds: Sequence[int], tables: Tables, partition: int | None) -> RunColumns:
        """``bounds`` are places with something else than a commit before them."""
        count = len(rows)
        batch_begins = np.ones(count, bool)
        np.not_equal(rows["batch"][1:], rows["batch"][:-1], out=batch_begins[1:])
        starts = unit_starts(rows, bounds)
        begins = np.zeros(count, bool)
        begins[starts] = True
        at_ms, committed = rows["at_ms"].tolist(), rows["committed"].tolist()
        places = list(map(tables.keys.__getitem__, rows["key"].tolist()))
        ids = _ids(rows["topic_id"], tables.topic_ids)
        return cls(
            rows=rows,
            partition=partition,
            tables=tables,
            begins=begins,
            starts=starts.tolist(),
            ends=[*starts[1:].tolist(), count],
            at_ms=at_ms,
            offsets=rows["offset"].tolist(),
            committed=committed,
            places=places,
            ids=ids,
            values=_values(rows, committed, ids, tables),
            batches=rows["batch"].tolist(),
            batch_begins=batch_begins.tolist(),
            topic_ids=_one_id_each(places, ids),
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


def _ids(column: NDArray[Any], topic_ids: Sequence[str]) -> list[str | None]:
    """The topic ids in commits; the last of the table means −1, which is none."""
    if not len(column) or column.max() < 0:
        return [None] * len(column)
    known_ids = [*map(_known_id, topic_ids), None]
    return list(map(known_ids.__getitem__, column.tolist()))


def _values(rows: CommitRows, committed: list[int], ids: list[str | None], tables: Tables) -> list[Offset]:
    """What is kept of each commit."""
    version = rows["version"]
    epochs = np.where(version >= 3, rows["leader_epoch"], -1).tolist()
    texts = map(tables.texts.__getitem__, rows["metadata"].tolist())
    expires: Iterable[int | None] = repeat(None)
    if (version == 1).any():
        kept = (version == 1) & (rows["expire_ms"] >= 0)
        expires = (
            at_ms if is_kept else None
            for at_ms, is_kept in zip(rows["expire_ms"].tolist(), kept.tolist(), strict=True)
        )
    times_ms = rows["commit_ms"].tolist()
    return list(map(Offset._make, zip(committed, epochs, texts, times_ms, ids, expires, strict=False)))


def _one_id_each(places: Sequence[Place], ids: Sequence[str | None]) -> Mapping[str, str] | None:
    """Topic → its id if all its commits have the same one; ``{}`` if none has an id; ``None`` if they differ."""
    if not any(ids):
        return {}
    found: dict[str, str] = {}
    for (topic, _), topic_id in dict.fromkeys(zip(places, ids, strict=True)):
        if topic_id is None or found.setdefault(topic, topic_id) != topic_id:
            return None
    return found


def commit_run(columns: RunColumns, unit: int, until: int, first: int) -> CommitRun:
    """What the requests ``unit`` to ``until - 1`` come to; ``first`` is the sequence of their first commit."""
    start, end = columns.starts[unit], columns.ends[until - 1]
    places, times_ms = columns.places[start:end], columns.at_ms[start:end]
    batch_times_ms = list(compress(times_ms, columns.batch_begins[start:end]))
    if not columns.batch_begins[start]:
        batch_times_ms.insert(0, times_ms[0])
    # A dictionary keeps the place of the first and the value of the last.
    latest = dict(zip(places, columns.values[start:end], strict=True))
    last = first + end - start - 1
    return CommitRun(
        first=first,
        last=last,
        first_ms=times_ms[0],
        last_ms=times_ms[-1],
        requests=until - unit,
        records=end - start,
        last_request=last,
        latest=latest,
        topic_ids=_topic_ids(columns, latest, start, end),
        value_times_ms=times_ms,
        places=places,
        committed=columns.committed[start:end],
        ids=columns.ids[start:end],
        sequences=range(first, last + 1),
        batch_times_ms=batch_times_ms,
        first_batch=columns.batches[start],
        last_batch=columns.batches[end - 1],
    )


def _known_id(topic_id: str) -> str | None:
    return None if topic_id == ZERO_TOPIC_ID else topic_id


def _topic_ids(columns: RunColumns, places: Iterable[Place], start: int, end: int) -> list[tuple[str, str]]:
    """Topics with the ids in their commits: each when it differs from the one before."""
    ids = columns.topic_ids
    if ids is not None:
        return [(topic, ids[topic]) for topic in dict.fromkeys(topic for topic, _ in places)] if ids else []
    # A topic was made again within these commits, or not all of them have ids: every change counts, in order.
    changes: list[tuple[str, str]] = []
    now: dict[str, str] = {}
    for (topic, _), topic_id in zip(columns.places[start:end], columns.ids[start:end], strict=True):
        if topic_id is not None and now.get(topic) != topic_id:
            now[topic] = topic_id
            changes.append((topic, topic_id))
    return changes


class Digest:
    """A digest of a timeline's entries that does not depend on how its log was cut.

    Commits and all others have a stream each: others carry their sequence, so that no order is lost.
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

    def of_partitions(self, tables: Tables) -> list[PartitionCommits]:
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
