"""Skew: one partition or one member falls behind, and the others do not.

It is read from the lag over time and from the end offsets, never from a threshold in records: the lag of a partition grows where
each value of the last third of the looks is greater than each of the first third.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from groups.history.lag.course import Place
from groups.history.lag.partition import Lag

LOOKS_LEAST: Final = 6
"""With fewer the thirds have a single look."""

HOT_TIMES: Final = 3
"""A partition is hot that is written so many times as fast as the median of the other partitions of its topic."""

PARTITIONS_LEAST: Final = 3
"""Of a topic, to have a median of others."""


class SkewKind(StrEnum):
    HOT_PARTITION = "hot-partition"
    """Its lag grows, and it is written much faster than the others of its topic."""

    SLOW_MEMBER = "slow-member"
    """The lag of each of its partitions grows, and that of nobody else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skew:
    """``before`` and ``after`` are records of lag at the first and the last look, of all ``partitions`` together."""

    kind: SkewKind
    partitions: Sequence[Place]
    member: str | None
    """Who owned them all the time; null where the owner changed or is not known."""

    before: int
    after: int
    written_times: float | None = None
    """Of a hot partition: how many times as fast it was written as the median of the others; null where nobody wrote those."""


def skews(
    lags: Mapping[Place, Sequence[Lag]],
    written: Mapping[Place, int],
    owners: Mapping[Place, str | None],
) -> list[Skew]:
    """What falls behind alone. ``written``: records that were written meanwhile; ``owners``: who owned a partition all the time, else null.

    A partition that nobody wrote cannot fall behind and counts for nothing.
    """
    growths = {place: growth for place, some in lags.items() if (growth := grown(some)) is not None}
    live = {place for place in lags if written.get(place, 0) > 0}
    found = []
    hot = set()
    by_topic: dict[str, list[int]] = defaultdict(list)
    for place in lags:
        by_topic[place[0]].append(written.get(place, 0))
    for some in by_topic.values():
        some.sort()
    for place in sorted(growths):
        some, own = by_topic[place[0]], written.get(place, 0)
        if len(some) < PARTITIONS_LEAST:
            continue
        usual = _median_without(some, bisect_left(some, own))
        if own > HOT_TIMES * usual:
            hot.add(place)
            times = round(own / usual, 1) if usual else None
            found.append(_skew(SkewKind.HOT_PARTITION, [place], owners.get(place), growths, times))
    of_member: dict[str, list[Place]] = defaultdict(list)
    for place in sorted(live - hot):
        if (owner := owners.get(place)) is not None:
            of_member[owner].append(place)
    behind = [member for member, places in of_member.items() if all(place in growths for place in places)]
    others_grow = [place for place in growths if place not in hot and owners.get(place) not in behind]
    if len(behind) == 1 and len(of_member) > 1 and not others_grow:
        found.append(_skew(SkewKind.SLOW_MEMBER, of_member[behind[0]], behind[0], growths))
    return found


def grown(some: Sequence[Lag]) -> tuple[int, int] | None:
    """The first and the last known lag in records of a partition whose lag grows; null of any other."""
    known = [lag.records for lag in some if lag.records is not None]
    third = len(known) // 3
    if len(known) < LOOKS_LEAST or min(known[-third:]) <= max(known[:third]):
        return None
    return known[0], known[-1]


def _median_without(some: Sequence[int], left_out: int) -> float:
    """The median of sorted numbers, of which the one at ``left_out`` does not count."""
    low, high = ((len(some) - 2) // 2, (len(some) - 1) // 2)
    return sum(some[at + (at >= left_out)] for at in (low, high)) / 2


def _skew(
    kind: SkewKind,
    places: Sequence[Place],
    member: str | None,
    growths: Mapping[Place, tuple[int, int]],
    written_times: float | None = None,
) -> Skew:
    return Skew(
        kind=kind,
        partitions=places,
        member=member,
        before=sum(growths[place][0] for place in places),
        after=sum(growths[place][1] for place in places),
        written_times=written_times,
    )
