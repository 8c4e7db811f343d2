"""What a rebalance probably cost where no end offset is known: an estimate from the pace of commits, never a measured value.

Records are taken to be written at the pace at which they were committed in the minute before. So many waited while a partition was
not read, and its reader had caught up with the commit that reached that pace again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from groups.history.lag.cost import CATCH_UP_MS_MOST, Cost
from groups.history.lag.course import BEFORE_MS, Course, Place
from groups.history.lag.partition import Commit


class Estimate(NamedTuple):
    """``caught_up_ms`` is null where no commit within an hour reached the pace again."""

    waited: int
    caught_up_ms: int | None


def estimate_of(cost: Cost, courses: Mapping[Place, Course]) -> Estimate | None:
    """The estimate of all partitions together; null where one of them that was not read has no pace."""
    waited, caught_up_ms, is_late = 0.0, cost.settled_ms, False
    for place, one in cost.places.items():
        if not one.unread_ms:
            continue
        commits = _positions(courses[place])
        before = bisect_right(commits, (cost.since_ms, 2**63))
        recent = [commit for commit in commits[:before] if commit[0] >= cost.since_ms - BEFORE_MS]
        if len(recent) < 2:
            return None
        (from_ms, from_offset), (last_ms, last_offset) = recent[0], recent[-1]
        pace = (last_offset - from_offset) / (last_ms - from_ms)
        if pace < 0:
            return None
        waited += pace * one.unread_ms
        # Between two commits a reader lags so far behind its writer, too.
        usual = pace * max(later[0] - sooner[0] for sooner, later in pairwise(recent))
        reached_ms = next(
            (
                at_ms
                for at_ms, offset in commits[before:]
                if cost.settled_ms <= at_ms <= cost.settled_ms + CATCH_UP_MS_MOST
                and offset + usual >= last_offset + pace * (at_ms - last_ms)
            ),
            None,
        )
        is_late = is_late or reached_ms is None
        caught_up_ms = max(caught_up_ms, reached_ms or 0)
    return Estimate(round(waited), None if is_late else caught_up_ms)


def _positions(course: Course) -> list[tuple[int, int]]:
    """Times and offsets of the commits, one of each millisecond."""
    commits: list[Commit] = list(course.ends.committed) if course.ends is not None else []
    return sorted(
        {one.at_ms: one.offset for one in commits if one.offset is not None and one.offset >= 0}.items()
    )
