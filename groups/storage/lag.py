"""The lag of a live timeline's group over time, of its commits and of the end offsets that rounds asked for."""

from __future__ import annotations

import time
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
    """The lag from entry ``first`` to ``last`` (to now, where the timeline grows and this is its end), at ``points`` looks at most.

    Of more looks the one with the greatest lag of each of equal times.
    """
    begun, ended = entries_between(timeline, first, first), entries_between(timeline, last, last)
    row = WatchedGroup.objects.filter(cluster=timeline.cluster_id, group=timeline.group).first()
    if row is None or not begun or not ended:
        return _without_ends()
    skew_ms = _skew_ms(row)
    from_ms, to_ms = begun[0]["at_ms"] - skew_ms, ended[0]["at_ms"] - skew_ms
    if timeline.status == Timeline.Status.RUNNING and last == timeline.last:
        to_ms = time.time_ns() // 1_000_000
    commits = _commits(timeline, row, last, skew_ms, to_ms)
    topics = {topic for topic, _ in commits}
    ends = blocks_of(Q(cluster=timeline.cluster_id), OffsetBlock.Kind.END, topics, from_ms - BEFORE_MS, to_ms)
    looks = sorted({at_ms for each in ends.values() for at_ms in each.times_ms if from_ms <= at_ms <= to_ms})
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


def _commits(
    timeline: Timeline, row: WatchedGroup, last: int, skew_ms: int, to_ms: int
) -> dict[TopicPartition, list[Commit]]:
    """By partition its commits up to entry ``last``, by the watcher's clock, in order of time."""
    found: dict[TopicPartition, list[Commit]] = {}
    for place, one in log_of(timeline).committed_between(max(1, last - COMMITS_WITHIN), last, None):
        found.setdefault(place, []).append(Commit(one.at_ms - skew_ms, one.offset))
    if timeline.provenance == "inferred":
        # The group is polled: no entry contains a commit, and a look that finds the same one is no new commit.
        kind = OffsetBlock.Kind.COMMITTED
        topics = OffsetBlock.objects.filter(watched=row, kind=kind).values_list("topic", flat=True).distinct()
        for topic, columns in blocks_of(Q(watched=row), kind, set(topics), 0, to_ms).items():
            for partition, offsets in columns.offsets.items():
                runs = groupby(zip(columns.times_ms, offsets, strict=True), key=lambda look: look[1])
                found[topic, partition] = [Commit(next(looks)[0], offset) for offset, looks in runs]
    return {place: sorted(commits, key=lambda one: one.at_ms) for place, commits in found.items()}


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
