"""What is known of a timeline's offsets over time: its commits and its partitions' ends, by the clock of the timeline."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, compress
from operator import ne
from typing import Final

from django.db.models import Q

from groups.cluster_models import WatchedGroup
from groups.history.lag.course import Place
from groups.history.lag.loss import Loss, loss_of
from groups.history.lag.partition import Commits, Lag, PartitionEnds
from groups.models import OffsetBlock, Timeline
from groups.storage.committed import COMMITS_WITHIN
from groups.storage.logs import log_of
from groups.storage.offset_blocks import blocks_of
from groups.storage.timeline_reader import entries_between

LAGS_MOST: Final = 100_000
"""Lags that are computed for one answer, some tenths of a second; of more looks every second, third, … is taken."""

BEFORE_MS: Final = 3_600_000
"""End offsets are read from so long before the first time on: the first unread record is often older."""

NEAR_MS: Final = 2_000
"""A look that is so near to the last entry may be older than its commit: a skew below 1 s is not stored, and a commit takes some time."""

NO_ENDS: Final = {
    Timeline.Source.LIVE: "No end offsets are stored of this time: they are asked for while the cluster is watched, and kept as long as its timelines.",
    Timeline.Source.IMPORT: "A log of __consumer_offsets has no end offsets. Import it together with a file of them; or watch the cluster: then they are kept with each round.",
}
"""Why the lag of a timeline is not known, and what would make it known, by where it comes from."""

NO_ENDS_AT_ALL: Final = (
    "End offsets are known of watched groups alone: this run has none. Its topics' rates are its own."
)


@dataclass(frozen=True, slots=True)
class Known:
    """``looks`` are the times at which end offsets were asked for; ``partitions`` those with a commit, in order."""

    looks: list[int] = field(default_factory=list)
    partitions: Mapping[Place, PartitionEnds] = field(default_factory=dict)
    lags: Mapping[Place, list[Lag]] = field(default_factory=dict)
    """By partition one for each look."""

    losses: Mapping[Place, Loss] = field(default_factory=dict)
    problem: str | None = None
    is_without_ends: bool = False
    """Commits are known, and no end offset at any time."""


def known_between(timeline: Timeline, first: int, last: int) -> Known:
    """What is known of the time from entry ``first`` to ``last``, or to the last round where the timeline grows and this is its end."""
    without = Known(problem=NO_ENDS.get(Timeline.Source(timeline.source), NO_ENDS_AT_ALL))
    begun, ended = entries_between(timeline, first, first), entries_between(timeline, last, last)
    is_imported = timeline.source == Timeline.Source.IMPORT
    row = WatchedGroup.objects.filter(cluster=timeline.cluster_id, group=timeline.group).first()
    if (row is None and not is_imported) or not begun or not ended:
        return without
    skew_ms = _skew_ms(row) if row is not None else 0
    from_ms, to_ms = begun[0]["at_ms"] - skew_ms, ended[0]["at_ms"] - skew_ms
    is_polled = timeline.provenance == "inferred"
    is_growing = timeline.status == Timeline.Status.RUNNING and last == timeline.last
    most_ms = time.time_ns() // 1_000_000 if is_growing else to_ms
    commits, seen_ms = _logged(timeline, last, skew_ms), None
    if row is not None and (is_polled or is_growing):
        # No entry of a polled group contains a commit; those of a followed group wait up to a minute to be stored.
        seen_ms = _add_looks(commits, row, 0 if is_polled else to_ms, most_ms)
    topics = {topic for topic, _ in commits}
    of = Q(imported__timelines=timeline) if is_imported else Q(cluster=timeline.cluster_id)
    ends = blocks_of(of, OffsetBlock.Kind.END, topics, from_ms - BEFORE_MS, most_ms)
    looks = sorted(
        {at_ms for each in ends.values() for at_ms in each.times_ms if from_ms <= at_ms <= most_ms}
    )
    if is_growing:
        # A round asks for commits first; those of a later round may still wait to be stored.
        looks = looks[: bisect_right(looks, to_ms) if seen_ms is None else bisect_left(looks, seen_ms) + 1]
    if not looks:
        partitions = {place: PartitionEnds((), (), some) for place, some in sorted(commits.items())}
        return replace(without, partitions=partitions, is_without_ends=True) if is_imported else without
    looks = looks[:: 1 + len(looks) * len(commits) // LAGS_MOST]
    times = {topic: [at_ms + skew_ms for at_ms in each.times_ms] for topic, each in ends.items()}
    partitions = {}
    for (topic, partition), some in sorted(commits.items()):
        offsets = ends[topic].offsets.get(partition, ()) if topic in ends else ()
        shifted = Commits([at_ms + skew_ms for at_ms in some.times_ms], some.offsets) if skew_ms else some
        partitions[topic, partition] = PartitionEnds(times[topic] if offsets else (), offsets, shifted)
    losses = {}
    starts = blocks_of(of, OffsetBlock.Kind.START, topics, from_ms, most_ms)
    for place, some in sorted(commits.items()):
        columns = starts.get(place[0])
        if (
            columns is not None
            and (loss := loss_of(some, columns.times_ms, columns.offsets.get(place[1], ()))) is not None
        ):
            losses[place] = Loss(loss.at_ms + skew_ms, loss.records)
    shown = [at_ms + skew_ms for at_ms in looks]
    return Known(
        shown,
        partitions,
        {place: [one.lag(at_ms) for at_ms in shown] for place, one in partitions.items()},
        losses,
    )


def _skew_ms(row: WatchedGroup) -> int:
    """How far the clock of the group's log is ahead of the watcher's, as it was measured last."""
    skews = (row.cluster.seen.get("follow") or {}).get("skews_ms") or {}
    return int(skews.get(str(row.followed.get("partition"))) or 0)


def _logged(timeline: Timeline, last: int, skew_ms: int) -> dict[Place, Commits]:
    """By partition the commits that entries up to ``last`` contain, by the watcher's clock, in order of time."""
    found: dict[Place, Commits] = defaultdict(Commits)
    logged = log_of(timeline).committed_between(max(1, last - COMMITS_WITHIN), last, None)
    for place, one in sorted(logged, key=lambda each: each[1].at_ms):
        found[place].times_ms.append(one.at_ms - skew_ms)
        found[place].offsets.append(one.offset)
    return found


def _add_looks(commits: dict[Place, Commits], row: WatchedGroup, after_ms: int, to_ms: int) -> int | None:
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
        near = bisect_right(times_ms, after_ms + NEAR_MS)
        for partition, column in columns.offsets.items():
            offsets = column[first:]
            some = commits.setdefault((topic, partition), Commits())
            before = some.offsets[-1] if some else None
            if before is not None:
                # As long as a look is older than the last commit, it has found none.
                for at in range(near):
                    offsets[at] = before = max(before, offsets[at])
            changed = list(map(ne, offsets, chain([before], offsets)))
            some.times_ms += compress(times_ms, changed)
            some.offsets += compress(offsets, changed)
    return seen_ms
