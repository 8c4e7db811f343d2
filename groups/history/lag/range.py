"""What a stretch of time cost, whichever rebalances it cuts: the sum of ``cost_of`` over the parts of rebalances in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from groups.history.lag.bounds import unread_within
from groups.history.lag.cost import cost_of
from groups.history.lag.course import (
    Amount,
    Course,
    Place,
    Rebalance,
    Stretch,
    changes_in,
    length,
    merged,
    sum_of,
    unassigned,
)
from groups.history.lag.partition import NotKnown


@dataclass(frozen=True, slots=True)
class RangeCost:
    """``rebalances`` began in it; ``moved`` counts a partition once for each rebalance.

    ``interrupted``: members that lost a partition, or owned one as all had to stop (eager assignors), sorted.
    """

    rebalances: int
    moved: int
    interrupted: list[str]
    unassigned_ms: int
    unread_ms: int
    unread_most: Amount
    twice: Amount


def cost_of_range(
    rebalances: Sequence[Rebalance],
    courses: Mapping[Place, Course],
    looks: Sequence[int],
    between: Stretch,
) -> RangeCost:
    """Of the time ``between``; ``rebalances`` in order, ``looks`` as for ``cost_of``."""
    inside = {
        place: replace(
            course,
            silent=_clipped(course.silent, between),
            not_read=None if course.not_read is None else _clipped(course.not_read, between),
        )
        for place, course in courses.items()
    }
    cost, costs = None, []
    for piece in _pieces(rebalances, between):
        cost = cost_of(piece, inside, looks, cost, from_ms=between.from_ms)
        costs.append(cost)
    return RangeCost(
        rebalances=sum(between.from_ms <= one.at_ms <= between.to_ms for one in rebalances),
        moved=sum(one.moved for one in costs),
        interrupted=sorted(_interrupted(rebalances, courses, between)),
        unassigned_ms=sum(one.unassigned_ms for one in costs),
        unread_ms=sum(one.unread_ms for one in costs),
        unread_most=sum_of(
            _unread_most(
                course,
                rebalances,
                between,
                sum(one.places[place].unread_ms for one in costs if place in one.places),
            )
            for place, course in courses.items()
        ),
        twice=sum_of([one.twice for one in costs]),
    )


def _unread_most(course: Course, rebalances: Sequence[Rebalance], between: Stretch, unread_ms: int) -> Amount:
    """Of one partition; the rebalance after the range that touched it first counts, too: its owner may have stopped in the range."""
    some = unassigned(course, Rebalance(0, None, *between))
    for one in rebalances:
        if one.until_ms < between.from_ms:
            continue
        changes = changes_in(course, one)
        is_touched = bool(changes or one.stops_all)
        if one.at_ms <= between.to_ms or is_touched:
            found = unread_within(course, one, changes)
            if isinstance(found, NotKnown):
                return Amount(unread_ms, None, found)
            some += found
        if one.at_ms > between.to_ms and is_touched:
            break
    return Amount(unread_ms, max(unread_ms, length(merged(_clipped(some, between)))))


def _clipped(silent: Sequence[Stretch], between: Stretch) -> list[Stretch]:
    pieces = (Stretch(max(one.from_ms, between.from_ms), min(one.to_ms, between.to_ms)) for one in silent)
    return [one for one in pieces if one.from_ms < one.to_ms]


def _pieces(rebalances: Sequence[Rebalance], between: Stretch) -> list[Rebalance]:
    """The parts of the rebalances that lie in it; before the first one there is a part that belongs to none."""
    from_ms, to_ms = between
    first_ms = rebalances[0].at_ms if rebalances else to_ms + 1
    lead = [Rebalance(0, None, from_ms, first_ms)] if from_ms < first_ms else []
    found = [one for one in (*lead, *rebalances) if one.at_ms <= to_ms and one.until_ms >= from_ms]
    return [
        one._replace(
            at_ms=max(one.at_ms, from_ms),
            until_ms=min(one.until_ms, to_ms),
            # All stopped as it began: a part of it has nobody stop again.
            stops_all=one.stops_all and one.at_ms >= from_ms,
            is_last=number + 1 == len(found),
        )
        for number, one in enumerate(found)
    ]


def _interrupted(
    rebalances: Sequence[Rebalance], courses: Mapping[Place, Course], between: Stretch
) -> set[str]:
    stops = [
        one.at_ms for one in rebalances if one.stops_all and between.from_ms <= one.at_ms <= between.to_ms
    ]
    found = set()
    for course in courses.values():
        for before, after in pairwise(course.tenures):
            if before.owner is None:
                continue
            has_lost = between.from_ms <= after.from_ms <= between.to_ms and after.owner != before.owner
            if has_lost or any(before.from_ms < at_ms <= after.from_ms for at_ms in stops):
                found.add(before.owner)
        last = course.tenures[-1] if course.tenures else None
        if last is not None and last.owner is not None and any(last.from_ms < at_ms for at_ms in stops):
            found.add(last.owner)
    return found
