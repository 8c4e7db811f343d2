"""What commits and end offsets bound: how long nobody can have read a partition, and how many records were read twice.

No log has when an owner stops and begins to fetch: its commits enclose it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Final

from groups.history.lag.course import (
    BEFORE_MS,
    Amount,
    Course,
    Rebalance,
    Stretch,
    Tenure,
    length,
    merged,
    owner_before,
    sum_of,
)
from groups.history.lag.partition import Commit, NotKnown, PartitionEnds

FOREVER_MS: Final = 2**63
PAUSES_LEAST: Final = 2
"""Between commits in the minute before, to know how a client commits."""


def pauses_before(ends: PartitionEnds, at_ms: int) -> list[int]:
    """The pauses between the commits of the minute before a time; none where they are too few to be a rhythm."""
    times = [
        one.at_ms for one in ends.committed[ends.committed_by(at_ms - BEFORE_MS) : ends.committed_by(at_ms)]
    ]
    pauses = [later - sooner for sooner, later in pairwise(times)]
    return pauses if len(pauses) >= PAUSES_LEAST else []


def late_starts(course: Course, rebalance: Rebalance) -> list[Stretch]:
    """When an owner had taken it and did not read yet, though there was something to read.

    It is taken to have begun the longest pause between commits before its first commit that goes on: no log has when it begins.
    """
    if course.ends is None or course.not_read is not None:
        return []
    ends, found = course.ends, []
    for one, following in pairwise([*course.tenures, Tenure(FOREVER_MS, None)]):
        if one.owner is None or one.from_ms > rebalance.until_ms or following.from_ms <= rebalance.at_ms:
            continue
        giver = owner_before(course, one.from_ms)
        to_ms = _proof_ms(ends, one.from_ms, 0, following.from_ms)
        pauses = pauses_before(ends, one.from_ms)
        if giver is None or giver.owner == one.owner or to_ms == following.from_ms or not pauses:
            continue
        written_ms = ends.reached_ms(ends.committed[ends.committed_by(one.from_ms) - 1], by_ms=to_ms)
        if isinstance(written_ms, NotKnown):
            continue
        from_ms = max(one.from_ms, written_ms, rebalance.at_ms)
        found.append(Stretch(from_ms, min(to_ms - max(pauses), rebalance.until_ms)))
    return [one for one in found if one.from_ms < one.to_ms]


def unread_most(course: Course, rebalance: Rebalance, changes: Sequence[Tenure], unread_ms: int) -> Amount:
    """How long nobody can have read it at most; ``unread_ms`` is about how long."""
    found = unread_within(course, rebalance, changes)
    if isinstance(found, NotKnown):
        return Amount(unread_ms, None, found)
    return Amount(unread_ms, max(unread_ms, length(merged(found))))


def unread_within(
    course: Course, rebalance: Rebalance, changes: Sequence[Tenure]
) -> list[Stretch] | NotKnown:
    """When nobody may have read it: one piece for each time that another owner took it (``changes``).

    A piece begins when the first record that was not committed was not written yet: at the last look whose end offset is not above
    the commit. It ends with the commit by which the next owner goes on, which had read then. Of a client that commits its position,
    and has one commit in flight at most, what a commit adds was read after the second commit before it; one that sends more of them
    (``commitAsync``), or commits older offsets, may be unread for longer.

    An owner that has not proved that it reads when the next rebalance begins may be unread in that one, too, from there on.
    """
    taken = _taken_before(course, rebalance)
    moves = [*taken, *(_moves(course, rebalance, changes) if changes or rebalance.stops_all else ())]
    if course.not_read is not None or not moves:
        return []
    if course.ends is None:
        return NotKnown.NO_ROUND
    found = []
    for move_ms, next_ms in pairwise([*moves, rebalance.until_ms]):
        since_ms = rebalance.at_ms if move_ms in taken else 0
        to_ms = _proof_ms(course.ends, move_ms, since_ms, next_ms)
        if to_ms <= since_ms:
            continue
        from_ms = _stopped_by(course, course.ends, move_ms, to_ms)
        if isinstance(from_ms, NotKnown):
            return from_ms
        found.append(Stretch(max(from_ms, since_ms), to_ms))
    return found


def _moves(course: Course, rebalance: Rebalance, changes: Sequence[Tenure]) -> list[int]:
    """When an owner took it after another one, or it was left to nobody at last; of one that all stopped to read, when they did."""
    times = [one.from_ms for at, one in enumerate(changes, 1) if one.owner is not None or at == len(changes)]
    return [at_ms for at_ms in times or [rebalance.at_ms] if owner_before(course, at_ms) is not None]


def _taken_before(course: Course, rebalance: Rebalance) -> list[int]:
    """When its owner, as the rebalance begins, took it over from another one."""
    until = bisect_left(course.tenures, rebalance.at_ms, key=attrgetter("from_ms"))
    last = course.tenures[until - 1] if until > 1 else None
    if last is None or last.owner is None or owner_before(course, last.from_ms) is None:
        return []
    return [last.from_ms]


def _proof_ms(ends: PartitionEnds, move_ms: int, since_ms: int, end_ms: int) -> int:
    """The first commit after a move that goes on from the one before it, or ``end_ms``; one before ``since_ms`` may be a later one.

    Where nothing was committed before, a client's first commit may be where it begins to read: the next one that is above it goes on.
    """
    commits, after = ends.committed, ends.committed_by(move_ms)
    begun = (commits[max(0, after - 1)].offset or 0) if len(commits) else 0
    # A partition that nobody writes has a commit every few seconds, of the same offset.
    for at in range(max(after, ends.committed_by(since_ms) - 1), len(commits)):
        one = commits[at]
        if one.at_ms >= end_ms:
            break
        if (one.offset or 0) > begun:
            return one.at_ms
    return end_ms


def _stopped_by(course: Course, ends: PartitionEnds, move_ms: int, to_ms: int) -> int | NotKnown:
    """Until when the owner before surely had read all that there was."""
    commits, after = ends.committed, ends.committed_by(move_ms)
    last = commits[after - 1] if after else None
    if last is None and len(commits):
        # Its first owner has read nothing for longer than it owned the partition, or than there was something to read.
        owned_ms = next(one.from_ms for one in course.tenures if one.owner is not None)
        written_ms = ends.reached_ms(Commit(move_ms, 0), by_ms=to_ms)
        return owned_ms if isinstance(written_ms, NotKnown) else max(owned_ms, written_ms)
    if last is None or last.offset is None or last.offset < 0:
        return NotKnown.NO_COMMIT
    from_ms = ends.reached_ms(last, by_ms=to_ms)
    if isinstance(from_ms, NotKnown):
        return from_ms
    below = after - 1
    while below and commits[below].offset == last.offset and commits[below].at_ms > from_ms:
        below -= 1
    return max(from_ms, commits[below - 1].at_ms) if below else from_ms


def read_twice(
    course: Course, rebalance: Rebalance, changes: Sequence[Tenure], silences: Sequence[Stretch]
) -> Amount:
    """Records that an owner may have read and the one after it read again.

    The owner before read at most to the end of the log as it gave the partition up. One that had fallen silent is taken to have
    stopped within its longest pause between commits. What the next owner committed below that is certain.
    """
    takes: list[tuple[int, int]] = []
    """When it was taken and given up."""
    released_ms: int | None = None
    for one in changes:
        released_ms = one.from_ms if released_ms is None else released_ms
        if one.owner is None:
            continue
        giver = owner_before(course, one.from_ms)
        if giver is not None and (giver.owner != one.owner or rebalance.stops_all):
            takes.append((one.from_ms, released_ms))
        released_ms = None
    is_taken = any(one.owner is not None for one in changes)
    if rebalance.stops_all and not is_taken and owner_before(course, rebalance.at_ms) is not None:
        takes = [(rebalance.at_ms, min((one.from_ms for one in changes), default=rebalance.at_ms))]
    if takes and course.ends is None:
        return Amount(0, None, NotKnown.NO_ROUND)
    return sum_of(
        _twice(course, course.ends, taken_ms, released_ms, end_ms, silences)
        for (taken_ms, released_ms), (end_ms, _) in pairwise([*takes, (FOREVER_MS, FOREVER_MS)])
        if course.ends is not None
    )


def _twice(
    course: Course,
    ends: PartitionEnds,
    taken_ms: int,
    released_ms: int,
    end_ms: int,
    silences: Sequence[Stretch],
) -> Amount:
    """Of one owner that took it; ``end_ms`` is when the next one did in the same rebalance."""
    commits, after = ends.committed, ends.committed_by(taken_ms)
    start = commits[after - 1].offset if after else None
    if start is None or start < 0:
        return Amount(0, None, NotKnown.NO_COMMIT)
    later = commits[after : ends.committed_by(end_ms)]
    following = next((one.offset for one in later if one.offset is not None and one.offset >= 0), None)
    least = max(0, start - following) if following is not None else 0
    stopped_ms = _stopped_ms(course, silences, commits_until=after, by_ms=released_ms)
    end = ends.end(min(released_ms, stopped_ms))
    if isinstance(end, NotKnown):
        return Amount(least, None, end)
    return Amount(least, max(least, round(end) - start))


def _stopped_ms(course: Course, silences: Sequence[Stretch], *, commits_until: int, by_ms: int) -> int:
    """Until when the owner may have read on: to ``by_ms``, or as long after its silence began as it paused at most before."""
    silent = next((one for one in silences if one.from_ms <= by_ms <= one.to_ms), None)
    if silent is None or course.ends is None:
        return by_ms
    commits = course.ends.committed[:commits_until]
    times = [one.at_ms for one in commits if silent.from_ms - BEFORE_MS <= one.at_ms <= silent.from_ms]
    pauses = [later - sooner for sooner, later in pairwise(times)]
    return silent.from_ms + max(pauses) if pauses else by_ms
