"""What one rebalance cost, from who owned the partitions, what was committed, and where the partitions ended.

A rebalance begins with its epoch and lasts until the next one. Its costs:

* partition-seconds unassigned (from the owners), and not read: nobody fetched, where the log reports who does; else inferred, as unassigned, while the owner was silent, or until it began;
* not read at most: to the first commit with which the new owner goes on, from when the first record that was not committed was not yet written; it is divided where the next rebalance begins;
* records that waited: those that were written to a partition while nobody read it;
* when the group had caught up: each partition that it touched lagged no more than in the minute before;
* records read twice: a new owner begins at the committed offset, and its predecessor may have read further.

Each time counts for one rebalance: what lasts into the next one is divided at its beginning. What is not known has a reason.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from groups.history.lag.bounds import late_starts, pauses_before, read_twice, unread_most
from groups.history.lag.course import (
    BEFORE_MS,
    Amount,
    Course,
    Place,
    Rebalance,
    Stretch,
    Tenure,
    changes_in,
    length,
    merged,
    owner_before,
    sum_of,
    unassigned,
)
from groups.history.lag.partition import NotKnown

CATCH_UP_MS_MOST: Final = 3_600_000
"""A group that has not caught up so long after is said not to have."""


MISSED_TIMES: Final = 2
"""A commit is missed after so many times the longest pause between commits in the minute before."""


class Usual(NamedTuple):
    """The greatest lag of a partition before a rebalance."""

    records: int
    seconds: float | None


@dataclass(frozen=True, slots=True)
class PlaceCost:
    """Of one partition. ``waited`` is null where it is not known, ``caught_up_ms`` where it did not, or is not known."""

    moved: bool
    unassigned_ms: int
    unread_ms: int
    unread_most: Amount
    waited: int | None
    waited_why: NotKnown | None
    usual: Usual | None
    caught_up_ms: int | None
    caught_up_why: NotKnown | None
    twice: Amount


@dataclass(frozen=True, slots=True)
class Cost:
    """Of a rebalance: times in milliseconds of partitions together, ``places`` those that it touched.

    ``since_ms`` is when the first of them was read no more; ``settled_ms`` when the last one changed its owner.
    """

    since_ms: int
    settled_ms: int
    moved: int
    unassigned_ms: int
    unread_ms: int
    unread_most: Amount
    waited: int | None
    waited_why: NotKnown | None
    caught_up_ms: int | None
    caught_up_why: NotKnown | None
    twice: Amount
    places: Mapping[Place, PlaceCost] = field(default_factory=dict)
    behind: Mapping[Place, PlaceCost] = field(default_factory=dict)
    """The last cost of each partition, also of those that this one did not touch."""


def cost_of(
    rebalance: Rebalance,
    courses: Mapping[Place, Course],
    looks: Sequence[int],
    before: Cost | None = None,
    *,
    from_ms: int = 0,
) -> Cost:
    """What it cost; ``looks`` are the times of the courses' lags, and ``before`` is the cost of the rebalance before this one.

    A silence that is inferred of its commits alone begins at ``from_ms`` at the earliest.
    """
    changes = {place: changes_in(course, rebalance) for place, course in courses.items()}
    settled_ms = max((one.from_ms for some in changes.values() for one in some), default=rebalance.at_ms)
    counted_ms = before.settled_ms if before is not None else None
    places: dict[Place, PlaceCost] = {}
    since_ms = rebalance.at_ms
    unread: dict[Place, list[Stretch]] = {}
    silences: dict[Place, list[Stretch]] = {}
    carried: list[Amount] = []
    for place, course in courses.items():
        if course.not_read is not None:
            silent = unread[place] = silences[place] = _silent(
                course.not_read, rebalance, settled_ms, counted_ms, is_reported=True
            )
        else:
            silent = silences[place] = _silent(course.silent, rebalance, settled_ms, counted_ms)
            if (changes[place] or rebalance.stops_all) and not silent:
                silent = _silent(_missed(course, from_ms, rebalance.at_ms), rebalance, settled_ms, counted_ms)
            if rebalance.stops_all:
                # Without that, who commits no more may still read: it bounds nothing that was read twice.
                silences[place] = silent
            unread[place] = merged([*unassigned(course, rebalance), *silent, *late_starts(course, rebalance)])
        since_ms = min([since_ms, *(one.from_ms for one in silent)])
    for place, course in courses.items():
        if not (changes[place] or unread[place] or rebalance.stops_all):
            carried.append(unread_most(course, rebalance, (), 0))
            continue
        stop = Stretch(since_ms, settled_ms)
        if rebalance.stops_all and not unread[place]:
            stop = _between_commits(course, rebalance.at_ms)
        usual = _usual(course, looks, stop.from_ms)
        last = before.behind.get(place) if before is not None else None
        if last is not None and last.usual is not None:
            # A lag that a rebalance before this one left is not the usual one.
            is_behind = last.caught_up_ms is None or last.caught_up_ms > stop.from_ms
            usual = last.usual if is_behind else usual
        caught_up, why = _caught_up(course, looks, stop.to_ms, usual)
        waited, waited_why = _waited(course, unread[place])
        if rebalance.stops_all and not unread[place]:
            waited, waited_why = _grown(course, looks, (stop.from_ms, caught_up), usual)
        places[place] = PlaceCost(
            moved=_has_moved(course, rebalance, changes[place]),
            unassigned_ms=length(unassigned(course, rebalance)),
            unread_ms=length(unread[place]),
            unread_most=unread_most(course, rebalance, changes[place], length(unread[place])),
            waited=waited,
            waited_why=waited_why,
            usual=usual,
            caught_up_ms=caught_up,
            caught_up_why=why,
            twice=read_twice(course, rebalance, changes[place], silences[place]),
        )
    behind = {**(before.behind if before is not None else {}), **places}
    return _total(places, behind, carried, since_ms, settled_ms)


def _total(
    places: Mapping[Place, PlaceCost],
    behind: Mapping[Place, PlaceCost],
    carried: Sequence[Amount],
    since_ms: int,
    settled_ms: int,
) -> Cost:
    """``carried``: what partitions that it did not touch were not read, since the owner before it had not begun."""
    some = places.values()
    waited_why = next((one.waited_why for one in some if one.waited is None), None)
    late_why = next((one.caught_up_why for one in some if one.caught_up_ms is None), None)
    return Cost(
        since_ms=since_ms,
        settled_ms=settled_ms,
        moved=sum(one.moved for one in some),
        unassigned_ms=sum(one.unassigned_ms for one in some),
        unread_ms=sum(one.unread_ms for one in some),
        unread_most=sum_of([*carried, *(one.unread_most for one in some)]),
        waited=sum(one.waited or 0 for one in some) if waited_why is None else None,
        waited_why=waited_why,
        caught_up_ms=max((one.caught_up_ms or 0 for one in some), default=settled_ms)
        if late_why is None
        else None,
        caught_up_why=late_why,
        twice=sum_of([one.twice for one in some]),
        places=places,
        behind=behind,
    )


def _has_moved(course: Course, rebalance: Rebalance, changes: Sequence[Tenure]) -> bool:
    giver = owner_before(course, rebalance.at_ms)
    takers = [one.owner for one in changes if one.owner is not None]
    return giver is not None and any(owner != giver.owner for owner in takers)


def _silent(
    silent: Iterable[Stretch],
    rebalance: Rebalance,
    settled_ms: int,
    counted_ms: int | None,
    *,
    is_reported: bool = False,
) -> list[Stretch]:
    """Silences that lasted as it began, from their own beginning, and those that began before it had settled.

    One that began before ``counted_ms`` counted for the rebalance before until this one began. A reported one that began later
    counts, too, unless it lasts as the next one begins, for which it counts: the rows together have all of them.
    """
    found = []
    for from_ms, to_ms in silent:
        ends_in_it = is_reported and (rebalance.is_last or to_ms < rebalance.until_ms)
        if to_ms < rebalance.at_ms or (from_ms > settled_ms and not ends_in_it):
            continue
        begin = rebalance.at_ms if counted_ms is not None and from_ms <= counted_ms else from_ms
        piece = Stretch(begin, min(to_ms, rebalance.until_ms))
        if piece.from_ms < piece.to_ms:
            found.append(piece)
    return found


def _missed(course: Course, from_ms: int, at_ms: int) -> list[Stretch]:
    """From the last commit before ``at_ms`` on, where others should have come and there was something to read.

    Of a partition that was taken from its owner: polls do not show that a member is dead before its session expires.
    """
    # A round that sees the next owner may see its first commit, too.
    last = course.ends.committed_by(at_ms - 1) - 1 if course.ends is not None else -1
    if course.ends is None or last < 0:
        return []
    commit = course.ends.committed[last]
    pauses = pauses_before(course.ends, commit.at_ms)
    written_ms = course.ends.reached_ms(commit, by_ms=at_ms)
    end = course.ends.end(at_ms)
    if not pauses or isinstance(written_ms, NotKnown) or isinstance(end, NotKnown):
        return []
    begin_ms = max(commit.at_ms, written_ms)
    is_waiting = commit.offset is not None and end > commit.offset
    is_missed = is_waiting and at_ms - begin_ms > MISSED_TIMES * max(pauses)
    return [Stretch(max(from_ms, begin_ms), at_ms)] if is_missed else []


def _waited(course: Course, unread: Sequence[Stretch]) -> tuple[int | None, NotKnown | None]:
    """The records that were written in these times."""
    written = 0.0
    for one in unread:
        if course.ends is None:
            return None, NotKnown.NO_ROUND
        begin, end = course.ends.end(one.from_ms), course.ends.end(one.to_ms)
        for each in (begin, end):
            if isinstance(each, NotKnown):
                return None, each
        written_now = float(end) - float(begin)
        if written_now < 0:
            return None, NotKnown.MADE_AGAIN
        written += written_now
    return round(written), None


def _between_commits(course: Course, at_ms: int) -> Stretch:
    """From the last commit before a time to the first one after it: a stop in between is in no log."""
    times = [one.at_ms for one in course.ends.committed] if course.ends is not None else []
    number = bisect_right(times, at_ms)
    return Stretch(times[number - 1] if number else at_ms, times[number] if number < len(times) else at_ms)


def _grown(
    course: Course, looks: Sequence[int], between: tuple[int, int | None], usual: Usual | None
) -> tuple[int | None, NotKnown | None]:
    """How much more than usual the lag was until it had caught up: of a stop whose times are in no log."""
    if usual is None or between[1] is None:
        return None, NotKnown.NO_ROUND
    begin, end = bisect_left(looks, between[0]), bisect_right(looks, between[1])
    known = [lag.records for lag in course.lags[begin:end] if lag.records is not None]
    return max(0, max(known, default=0) - usual.records), None


def _usual(course: Course, looks: Sequence[int], since_ms: int) -> Usual | None:
    begin, end = bisect_left(looks, since_ms - BEFORE_MS), bisect_right(looks, since_ms)
    known = [lag for lag in course.lags[begin:end] if lag.records is not None]
    if not known:
        return None
    seconds = [lag.seconds for lag in known if lag.seconds is not None]
    return Usual(max(lag.records or 0 for lag in known), max(seconds, default=None))


def _caught_up(
    course: Course, looks: Sequence[int], settled_ms: int, usual: Usual | None
) -> tuple[int | None, NotKnown | None]:
    """The first look after it had settled at which the lag was the usual one again, in records or in seconds."""
    if usual is None:
        return None, NotKnown.NO_LAG_BEFORE
    why: NotKnown | None = None
    for at in range(bisect_left(looks, settled_ms), min(len(looks), len(course.lags))):
        if looks[at] > settled_ms + CATCH_UP_MS_MOST:
            break
        lag = course.lags[at]
        if lag.records is None:
            why = lag.why
            continue
        why = None
        is_soon = usual.seconds is not None and lag.seconds is not None and lag.seconds <= usual.seconds
        if lag.records <= usual.records or is_soon:
            return looks[at], None
    return None, why or NotKnown.NOT_YET
