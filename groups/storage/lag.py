"""The lag of a live timeline's group over time, of its commits and of the end offsets that rounds asked for."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import groupby
from typing import Final, TypedDict

from django.db.models import Q

from groups.cluster_models import WatchedGroup
from groups.history.evidence.committed import TopicPartition
from groups.history.lag.partition import Commit, Lag, NotKnown, PartitionEnds, total_of
from groups.models import OffsetBlock, Timeline
from groups.storage.committed import COMMITS_WITHIN, LINES_MOST
from groups.storage.logs import log_of
from groups.storage.offset_blocks import blocks_of
from groups.storage.reading import entries_between

LAGS_MOST: Final = 100_000
"""Lags that are computed for one answer, some tenths of a second; of more looks every second, third, … is taken."""

BEFORE_MS: Final = 3_600_000
"""End offsets are read from so long before the first time on: the first unread record is often older."""

NEAR_MS: Final = 2_000
"""A look that is so near to the last entry may be older than its commit: a skew below 1 s is not stored, and a commit takes some time."""

NO_ENDS: Final = "No end offsets are stored of this time: they are asked for while a cluster is watched."


class LagLine(TypedDict):
    """One value for each time; ``records`` and ``seconds`` are null where not known, and ``why`` is the reason's name."""

    records: list[int | None]
    seconds: list[float | None]
    why: list[str | None]


class PartitionLine(LagLine):
    topic: str
    partition: int


class LagAnswer(TypedDict):
    """``times_ms`` are by the clock of the timeline. ``more``: partitions that count in ``total`` and have no line."""

    times_ms: list[int]
    total: LagLine
    partitions: list[PartitionLine]
    more: int
    problem: str | None


def lag_between(timeline: Timeline, first: int, last: int, points: int) -> LagAnswer:
    """The lag from entry ``first`` to ``last`` (to the last stored round, where the timeline grows and this is its end), at ``points`` looks at most.

    Of more looks the one with the greatest lag of each of equal times.
    """
    begun, ended = entries_between(timeline, first, first), entries_between(timeline, last, last)
    row = WatchedGroup.objects.filter(cluster=timeline.cluster_id, group=timeline.group).first()
    if row is None or not begun or not ended:
        return _without_ends()
    skew_ms = _skew_ms(row)
    from_ms, to_ms = begun[0]["at_ms"] - skew_ms, ended[0]["at_ms"] - skew_ms
    is_polled = timeline.provenance == "inferred"
    is_growing = timeline.status == Timeline.Status.RUNNING and last == timeline.last
    most_ms = time.time_ns() // 1_000_000 if is_growing else to_ms
    commits, seen_ms = _logged(timeline, last, skew_ms), None
    if is_polled or is_growing:
        # No entry of a polled group contains a commit; those of a followed group wait up to a minute to be stored.
        seen_ms = _add_looks(commits, row, 0 if is_polled else to_ms, most_ms)
    topics = {topic for topic, _ in commits}
    ends = blocks_of(
        Q(cluster=timeline.cluster_id), OffsetBlock.Kind.END, topics, from_ms - BEFORE_MS, most_ms
    )
    looks = sorted(
        {at_ms for each in ends.values() for at_ms in each.times_ms if from_ms <= at_ms <= most_ms}
    )
    if is_growing:
        # A round asks for commits first; those of a later round may still wait to be stored.
        looks = looks[: bisect_right(looks, to_ms) if seen_ms is None else bisect_left(looks, seen_ms) + 1]
    if not looks:
        return _without_ends()
    looks = looks[:: 1 + len(looks) * len(commits) // LAGS_MOST]
    lags: dict[TopicPartition, list[Lag]] = {}
    for (topic, partition), some in sorted(commits.items()):
        columns = ends.get(topic)
        offsets = columns.offsets.get(partition, ()) if columns is not None else ()
        known = PartitionEnds(columns.times_ms if columns is not None and offsets else (), offsets, some)
        lags[topic, partition] = [known.lag(at_ms) for at_ms in looks]
    totals = [total_of(some) for some in zip(*lags.values(), strict=True)]
    kept = _greatest(looks, totals, points)
    return {
        "times_ms": [looks[at] + skew_ms for at in kept],
        "total": _line([totals[at] for at in kept]),
        "partitions": [
            {
                "topic": timeline.topic_names.get(topic, topic),
                "partition": partition,
                **_line([some[at] for at in kept]),
            }
            for (topic, partition), some in list(lags.items())[:LINES_MOST]
        ],
        "more": max(0, len(lags) - LINES_MOST),
        "problem": None,
    }


def _without_ends() -> LagAnswer:
    return {"times_ms": [], "total": _line(()), "partitions": [], "more": 0, "problem": NO_ENDS}


def _skew_ms(row: WatchedGroup) -> int:
    """How far the clock of the group's log is ahead of the watcher's, as it was measured last."""
    skews = (row.cluster.seen.get("follow") or {}).get("skews_ms") or {}
    return int(skews.get(str(row.followed.get("partition"))) or 0)


def _logged(timeline: Timeline, last: int, skew_ms: int) -> dict[TopicPartition, list[Commit]]:
    """By partition the commits that entries up to ``last`` contain, by the watcher's clock, in order of time."""
    found: dict[TopicPartition, list[Commit]] = {}
    for place, one in log_of(timeline).committed_between(max(1, last - COMMITS_WITHIN), last, None):
        found.setdefault(place, []).append(Commit(one.at_ms - skew_ms, one.offset))
    return {place: sorted(commits, key=lambda one: one.at_ms) for place, commits in found.items()}


def _add_looks(
    commits: dict[TopicPartition, list[Commit]], row: WatchedGroup, after_ms: int, to_ms: int
) -> int | None:
    """Add what rounds after ``after_ms`` saw to ``commits``; up to when they are stored, null where none is.

    A look that finds the same offset is no new commit.
    """
    kind = OffsetBlock.Kind.COMMITTED
    topics = OffsetBlock.objects.filter(watched=row, kind=kind).values_list("topic", flat=True).distinct()
    seen_ms = None
    for topic, columns in blocks_of(Q(watched=row), kind, set(topics), after_ms, to_ms).items():
        first = bisect_right(columns.times_ms, after_ms)
        times_ms = columns.times_ms[first:]
        if times_ms:
            seen_ms = max(seen_ms or 0, times_ms[-1])
        for partition, offsets in columns.offsets.items():
            some = commits.setdefault((topic, partition), [])
            for at_ms, offset in zip(times_ms, offsets[first:], strict=True):
                before = some[-1].offset if some else None
                is_near = at_ms <= after_ms + NEAR_MS and before is not None and offset < before
                if offset != before and not is_near:
                    some.append(Commit(at_ms, offset))
    return seen_ms


def _greatest(looks: Sequence[int], totals: Sequence[Lag], points: int) -> list[int]:
    """Of each of ``points`` equal times the place with the greatest lag; one that is not known where there is one."""
    if len(looks) <= points:
        return list(range(len(looks)))
    width = (looks[-1] - looks[0] + 1) / points
    columns = groupby(range(len(looks)), key=lambda at: int((looks[at] - looks[0]) / width))
    return [max(places, key=lambda at: _weight(totals[at])) for _, places in columns]


def _weight(total: Lag) -> float:
    if total.records is None:
        return -1.0 if total.why is NotKnown.NO_COMMIT else float("inf")
    return total.records


def _line(lags: Sequence[Lag]) -> LagLine:
    return {
        "records": [lag.records for lag in lags],
        "seconds": [None if lag.seconds is None else round(lag.seconds, 1) for lag in lags],
        "why": [None if lag.why is None else lag.why.value for lag in lags],
    }
