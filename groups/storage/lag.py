"""The lag of a timeline's group over time, of its commits and of the end offsets that are stored, and what each rebalance cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, Literal, TypedDict

from groups.history.lag.cost import Cost, cost_of
from groups.history.lag.course import Place, Rebalance, Stretch
from groups.history.lag.estimate import Estimate, estimate_of
from groups.history.lag.partition import Lag, NotKnown, total_of
from groups.history.lag.range import cost_of_range
from groups.history.lag.skew import skews
from groups.models import Timeline
from groups.storage.committed import COMMITS_WITHIN, LINES_MOST
from groups.storage.courses import Courses, courses_of
from groups.storage.lag_sources import Known, known_between
from groups.storage.timeline_reader import entries_between

By = Literal["partition", "member", "topic"]
BY: Final[tuple[By, ...]] = ("partition", "member", "topic")

REBALANCES_MOST: Final = 100
"""Rebalances of one answer, the last ones: each is compared with an hour of lag at most."""


class LagLine(TypedDict):
    """One value for each time; ``records`` and ``seconds`` are null where not known, and ``why`` is the reason's name."""

    records: list[int | None]
    seconds: list[float | None]
    why: list[str | None]


class NamedLine(LagLine):
    """``partition`` is null of a member's and a topic's line, ``topic`` of a member's."""

    topic: str | None
    partition: int | None
    member: str | None


class CostEstimate(TypedDict):
    """From the pace of commits in the minute before; ``caught_up_ms`` is null where that pace was not reached again within an hour."""

    records_waited: int
    caught_up_ms: int | None


class RebalanceCost(TypedDict):
    """Times by the clock of the timeline; of partitions together where the name has ``partition``. ``…_why`` is a reason's name.

    ``estimate``: of an import without end offsets, where commits have a pace; else null.
    """

    sequence: int
    epoch: int | None
    at_ms: int
    since_ms: int
    settled_ms: int
    moved: int
    unassigned_partition_ms: int
    unread_partition_ms: int
    unread_partition_ms_most: int | None
    unread_why: str | None
    records_waited: int | None
    waited_why: str | None
    caught_up_ms: int | None
    caught_up_why: str | None
    read_twice_least: int
    read_twice_most: int | None
    read_twice_why: str | None
    estimate: CostEstimate | None


class SkewFound(TypedDict):
    """``kind``: ``hot-partition`` or ``slow-member``. ``before`` and ``after``: records of lag of all ``partitions`` at the first and the last look.

    ``member`` owned them all the time, null where that changed. ``written_times``: how many times as fast a hot partition was written as the
    median of its topic's others; null where nobody wrote those.
    """

    kind: str
    partitions: list[str]
    member: str | None
    before: int
    after: int
    written_times: float | None


class LostRecords(TypedDict):
    """Deleted before the group read them; ``at_ms`` is when that was first seen."""

    partition: str
    records: int
    at_ms: int


class LagAnswer(TypedDict):
    """``times_ms`` are by the clock of the timeline. ``more``: lines that count in ``total`` and are left out.

    ``earlier``: rebalances before those of ``rebalances``; null where the owners of partitions are not known yet: ask again.
    """

    times_ms: list[int]
    total: LagLine
    lines: list[NamedLine]
    more: int
    rebalances: list[RebalanceCost]
    skew: list[SkewFound]
    lost: list[LostRecords]
    earlier: int | None
    problem: str | None


class RangeAnswer(TypedDict):
    """What entries ``first`` to ``last`` cost, as the rebalances in them did. ``is_known`` is false where owners are not known yet: ask again."""

    first: int
    last: int
    from_ms: int
    to_ms: int
    is_known: bool
    rebalances: int
    moved: int
    interrupted: list[str]
    unassigned_partition_ms: int
    unread_partition_ms: int
    unread_partition_ms_most: int | None
    unread_why: str | None
    read_twice_least: int
    read_twice_most: int | None
    read_twice_why: str | None


def range_between(timeline: Timeline, first: int, last: int) -> RangeAnswer:
    """What the time from entry ``first`` to ``last`` cost. Who owned what before is read from as far back as the costs of rebalances are."""
    begun, ended = (entries_between(timeline, at, at)[0]["at_ms"] for at in (first, last))
    begin = max(1, min(first, last - COMMITS_WITHIN))
    known = known_between(timeline, begin, last)
    courses = courses_of(timeline, begin, last, known)
    between = Stretch(begun, max(begun, ended))
    cost = cost_of_range(courses.rebalances, courses.by_place, known.looks, between)
    return {
        "first": first,
        "last": last,
        "from_ms": between.from_ms,
        "to_ms": between.to_ms,
        "is_known": courses.earlier is not None,
        "rebalances": cost.rebalances,
        "moved": cost.moved,
        "interrupted": cost.interrupted,
        "unassigned_partition_ms": cost.unassigned_ms,
        "unread_partition_ms": cost.unread_ms,
        "unread_partition_ms_most": cost.unread_most.most,
        "unread_why": cost.unread_most.why,
        "read_twice_least": cost.twice.least,
        "read_twice_most": cost.twice.most,
        "read_twice_why": cost.twice.why,
    }


def lag_between(
    timeline: Timeline, first: int, last: int, points: int, by: By = "partition", *, costs: bool = True
) -> LagAnswer:
    """The lag from entry ``first`` to ``last`` (to the last stored round, where the timeline grows and this is its end), at ``points`` looks at most.

    Of more looks the one with the greatest lag of each of equal times.
    """
    known = known_between(timeline, first, last)
    lags = known.lags
    totals = [total_of(some) for some in zip(*lags.values(), strict=True)] if known.looks else []
    kept = _greatest(known.looks, totals, points)
    courses = courses_of(timeline, first, last, known) if costs or by == "member" else None
    lines = list(_lines(known, lags, by, courses))
    found = list(_costs(courses, known)) if courses is not None and costs else []
    return {
        "times_ms": [known.looks[at] for at in kept],
        "total": _line([totals[at] for at in kept]),
        "lines": [
            {"topic": topic, "partition": partition, "member": member, **_line([some[at] for at in kept])}
            for (topic, partition, member), some in lines[:LINES_MOST]
        ],
        "more": max(0, len(lines) - LINES_MOST),
        "rebalances": found,
        "skew": list(_skew(courses, known)) if courses is not None else [],
        "lost": [
            {"partition": f"{topic}-{partition}", "records": loss.records, "at_ms": loss.at_ms}
            for (topic, partition), loss in known.losses.items()
        ],
        "earlier": courses.earlier if courses is not None else 0,
        "problem": known.problem,
    }


Name = tuple[str | None, int | None, str | None]
"""Topic, partition, member."""


def _lines(
    known: Known, lags: Mapping[Place, list[Lag]], by: By, courses: Courses | None
) -> Iterator[tuple[Name, list[Lag]]]:
    """Each line with a lag for each look; a member's is that of the partitions that it owned at that time."""
    if by == "partition":
        for (topic, partition), some in lags.items():
            yield (topic, partition, None), some
        return
    if by == "topic":
        for topic, places in groupby(lags, key=lambda place: place[0]):
            rows = [lags[place] for place in places]
            yield (topic, None, None), [total_of(some) for some in zip(*rows, strict=True)]
        return
    of_member: dict[str, list[list[Lag]]] = defaultdict(lambda: [[] for _ in known.looks])
    for place, some in lags.items():
        owners = courses.owners(place, known.looks) if courses is not None else ()
        for at, (owner, lag) in enumerate(zip(owners, some, strict=False)):
            if owner is not None:
                of_member[owner][at].append(lag)
    for member, at_looks in sorted(of_member.items()):
        yield (None, None, member), [total_of(some) for some in at_looks]


def _costs(courses: Courses, known: Known) -> Iterator[RebalanceCost]:
    before: Cost | None = None
    for rebalance in courses.rebalances[-REBALANCES_MOST:]:
        before = cost_of(rebalance, courses.by_place, known.looks, before)
        estimate = estimate_of(before, courses.by_place) if known.is_without_ends else None
        yield plain_cost(rebalance, before, estimate)


def _skew(courses: Courses, known: Known) -> Iterator[SkewFound]:
    """Who falls behind alone in the time of all looks; empty where owners are not known yet, since a member's share is not known then."""
    if not known.looks or courses.earlier is None:
        return
    from_ms, to_ms = known.looks[0], known.looks[-1]
    written: dict[Place, int] = {}
    owners: dict[Place, str | None] = {}
    for place, ends in known.partitions.items():
        begin, end = ends.end(from_ms), ends.end(to_ms)
        if not isinstance(begin, NotKnown) and not isinstance(end, NotKnown):
            written[place] = int(end - begin)
        owned = set(courses.owners(place, known.looks))
        owners[place] = owned.pop() if len(owned) == 1 else None
    for one in skews(known.lags, written, owners):
        yield {
            "kind": one.kind.value,
            "partitions": [f"{topic}-{partition}" for topic, partition in one.partitions],
            "member": one.member,
            "before": one.before,
            "after": one.after,
            "written_times": one.written_times,
        }


def plain_cost(rebalance: Rebalance, cost: Cost, estimate: Estimate | None) -> RebalanceCost:
    return {
        "sequence": rebalance.sequence,
        "epoch": rebalance.epoch,
        "at_ms": rebalance.at_ms,
        "since_ms": cost.since_ms,
        "settled_ms": cost.settled_ms,
        "moved": cost.moved,
        "unassigned_partition_ms": cost.unassigned_ms,
        "unread_partition_ms": cost.unread_ms,
        "unread_partition_ms_most": cost.unread_most.most,
        "unread_why": cost.unread_most.why,
        "records_waited": cost.waited,
        "waited_why": cost.waited_why,
        "caught_up_ms": cost.caught_up_ms,
        "caught_up_why": cost.caught_up_why,
        "read_twice_least": cost.twice.least,
        "read_twice_most": cost.twice.most,
        "read_twice_why": cost.twice.why,
        "estimate": None
        if estimate is None
        else {"records_waited": estimate.waited, "caught_up_ms": estimate.caught_up_ms},
    }


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


def _line(lags: Iterable[Lag]) -> LagLine:
    some = list(lags)
    return {
        "records": [lag.records for lag in some],
        "seconds": [None if lag.seconds is None else round(lag.seconds, 1) for lag in some],
        "why": [None if lag.why is None else lag.why.value for lag in some],
    }
