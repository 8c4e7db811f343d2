"""What is known of a group's partitions over time: who owned each, when it was not read, what was committed, where it ended."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from groups.history.lag.partition import Lag, NotKnown, PartitionEnds

BEFORE_MS: Final = 60_000
"""What is usual of a lag, and of the pauses between commits, is that of so long before: between two commits a lag rises and falls."""

Place = tuple[str, int]
"""Topic and partition."""


class Rebalance(NamedTuple):
    """One rebalance: of a modern group from its epoch on, of a classic one from its joining phase on, where that is known.

    ``until_ms`` is when the next one began, or the end of what is known.

    ``is_last``: nothing follows, so that what happens at ``until_ms`` is of it. ``stops_all``: every member stopped and began again at its committed offsets, whatever moved (eager assignors).
    """

    sequence: int
    epoch: int | None
    at_ms: int
    until_ms: int
    stops_all: bool = False
    is_last: bool = False


class Tenure(NamedTuple):
    """Whose a partition was from ``from_ms`` until the next one: ``owner`` is null for nobody, ``exists`` false before it existed."""

    from_ms: int
    owner: str | None
    exists: bool = True


class Stretch(NamedTuple):
    from_ms: int
    to_ms: int


@dataclass(frozen=True, slots=True)
class Course:
    """What is known of one partition: ``tenures`` by time, ``silent`` the times in which its owner was silent.

    ``not_read``: when nobody fetched it; null where no log reports that, so that it is inferred.
    ``ends`` is null where no end offset is known; ``lags`` has one for each look of ``cost_of``.
    """

    tenures: Sequence[Tenure]
    silent: Sequence[Stretch] = ()
    ends: PartitionEnds | None = None
    lags: Sequence[Lag] = ()
    not_read: Sequence[Stretch] | None = None


class Amount(NamedTuple):
    """A number of records, or milliseconds: at most ``most``, which is null where there is no bound, and ``why`` the reason.

    ``least`` is certain of records read twice. Of what was not read it is about so much: a silence begins at the last commit, and
    a killed member may have read on.
    """

    least: int
    most: int | None
    why: NotKnown | None = None


def sum_of(given: Iterable[Amount]) -> Amount:
    """What is between the sums of their bounds; without an upper one where one of them has none."""
    some = list(given)
    why = next((one.why for one in some if one.most is None), None)
    most = sum(one.most or 0 for one in some) if why is None else None
    return Amount(sum(one.least for one in some), most, why)


def changes_in(course: Course, rebalance: Rebalance) -> list[Tenure]:
    """The tenures that began in it; one that ends as it begins has those of its moment."""
    end_ms = max(rebalance.until_ms + rebalance.is_last, rebalance.at_ms + 1)
    return [one for one in course.tenures if rebalance.at_ms <= one.from_ms < end_ms]


def owner_before(course: Course, at_ms: int) -> Tenure | None:
    """The last tenure with an owner that began before this time."""
    return next(
        (one for one in reversed(course.tenures) if one.from_ms < at_ms and one.owner is not None), None
    )


def unassigned(course: Course, rebalance: Rebalance) -> list[Stretch]:
    """Times of it in which the partition existed and had no owner."""
    found = []
    for number, one in enumerate(course.tenures):
        is_last = number + 1 == len(course.tenures)
        to_ms = rebalance.until_ms if is_last else course.tenures[number + 1].from_ms
        piece = Stretch(max(one.from_ms, rebalance.at_ms), min(to_ms, rebalance.until_ms))
        if one.owner is None and one.exists and piece.from_ms < piece.to_ms:
            found.append(piece)
    return found


def merged(some: Iterable[Stretch]) -> list[Stretch]:
    """The times that are in one of them, in order; an empty one is left out."""
    found: list[Stretch] = []
    for one in sorted(some):
        if found and one.from_ms <= found[-1].to_ms:
            found[-1] = Stretch(found[-1].from_ms, max(found[-1].to_ms, one.to_ms))
        elif one.from_ms < one.to_ms:
            found.append(one)
    return found


def length(some: Iterable[Stretch]) -> int:
    return sum(one.to_ms - one.from_ms for one in some)
