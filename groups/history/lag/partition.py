"""The lag of one partition: in records its end offset less the committed offset, in seconds the age of the first unread record.

A record at offset ``n`` was written when the end offset became greater than ``n``. So the first unread record, which has the
committed offset, was written when the end offset last was the committed one: that time lies between two rounds and is interpolated.

Nothing is made up: what is not known has a reason. An end offset that falls is that of another topic of the same name, or of a log
that was truncated: what was committed before is no position in it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from operator import gt
from typing import Final, NamedTuple, overload

from groups.history.lag.samples import NEW_LOG, NO_RIGHT

PAUSE_KNOWN_MS: Final = 90_000
"""Between two answers that are further apart an end offset is not interpolated: rounds come every 5 s, of old days every minute."""

SECONDS_SHARE: Final = 0.1
"""A lag in seconds is known where the two answers that enclose the record's time are as far apart as this share of it, or less."""


class NotKnown(StrEnum):
    """Why a lag, or a cost, is not known."""

    NO_ROUND = "no-round"
    """Nobody asked the brokers for end offsets."""

    NO_ANSWER = "no-answer"
    NO_RIGHT = "no-right"
    """The right DESCRIBE on the topic is missing."""

    NO_COMMIT = "no-commit"
    MADE_AGAIN = "made-again"
    """The end offset fell, or the topic has another id, and nothing was committed since."""

    END_BELOW = "end-below"
    OLDER = "older"
    """The first unread record is older than the first known end offset: its age is not known."""

    NO_LAG_BEFORE = "no-lag-before"
    """Of a rebalance: no lag is known before it began, so that nobody knows which one is usual."""

    NOT_YET = "not-yet"
    """Of a rebalance: the lag was not the usual one again by the end of what is known."""


class Commit(NamedTuple):
    """``offset`` is null where the committed offset was deleted or has expired; a negative one counts as none."""

    at_ms: int
    offset: int | None


@dataclass(slots=True)
class Commits(Sequence[Commit]):
    """Commits in the order of their times, in columns: a week of one group has half a million."""

    times_ms: list[int] = field(default_factory=list)
    offsets: list[int | None] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.times_ms)

    @overload
    def __getitem__(self, at: int) -> Commit: ...
    @overload
    def __getitem__(self, at: slice) -> Commits: ...
    def __getitem__(self, at: int | slice) -> Commit | Commits:
        if isinstance(at, slice):
            return Commits(self.times_ms[at], self.offsets[at])
        return Commit(self.times_ms[at], self.offsets[at])

    def __iter__(self) -> Iterator[Commit]:
        return map(Commit, self.times_ms, self.offsets)


class Lag(NamedTuple):
    """``seconds`` is null, too, where ``records`` is known and the record's age is not; then ``why`` gives that reason."""

    records: int | None
    seconds: float | None
    why: NotKnown | None = None


@dataclass(slots=True)
class PartitionEnds:
    """The end offsets of one partition: ``offsets`` at ``times_ms``, which rise; negative where there is none (``samples``).

    ``committed`` rises in time, too.
    """

    times_ms: Sequence[int]
    offsets: Sequence[int]
    committed: Sequence[Commit]
    _known: list[int] = field(init=False)
    """The end offsets that are known, at ``_known_ms``."""

    _known_ms: list[int] = field(init=False)
    _lives: list[int] = field(init=False)
    """Where each life of the log begins in ``_known``: none of its ends is below one before."""

    _commit_ms: list[int] = field(init=False)

    def __post_init__(self) -> None:
        places = [at for at, offset in enumerate(self.offsets) if offset >= 0]
        self._known = [self.offsets[at] for at in places]
        self._known_ms = [self.times_ms[at] for at in places]
        falls = {number for number, fell in enumerate(map(gt, self._known, self._known[1:]), 1) if fell}
        if NEW_LOG in self.offsets:
            falls |= {bisect_left(places, at) for at, offset in enumerate(self.offsets) if offset == NEW_LOG}
        self._lives = sorted({0, *falls})
        some = self.committed
        self._commit_ms = some.times_ms if isinstance(some, Commits) else [one.at_ms for one in some]

    def _begin(self, number: int) -> int:
        """Where the life of a known end begins."""
        return self._lives[bisect_right(self._lives, number) - 1]

    def end(self, at_ms: int) -> float | NotKnown:
        """The end offset at a time, between two answers interpolated."""
        return self._end(bisect_right(self._known_ms, at_ms) - 1, at_ms)

    def _end(self, number: int, at_ms: int) -> float | NotKnown:
        """The end offset at a time at or after the known one of this number, and before the next."""
        if number >= 0 and self._known_ms[number] == at_ms:
            return float(self._known[number])
        if number < 0 or number + 1 == len(self._known):
            return self._why_no_end(at_ms)
        from_ms, to_ms = self._known_ms[number], self._known_ms[number + 1]
        if to_ms - from_ms > PAUSE_KNOWN_MS:
            return self._why_no_end(at_ms)
        if self._begin(number + 1) > number:
            return NotKnown.MADE_AGAIN
        begin, end = self._known[number], self._known[number + 1]
        return begin + (end - begin) * (at_ms - from_ms) / (to_ms - from_ms)

    def committed_by(self, at_ms: int) -> int:
        """How many commits there were by then."""
        return bisect_right(self._commit_ms, at_ms)

    def reached_ms(self, commit: Commit, *, by_ms: int) -> int | NotKnown:
        """The last look, in the life of the log at that time, whose end offset is not above the commit."""
        number = max(0, bisect_right(self._known_ms, by_ms) - 1)
        life = bisect_right(self._lives, number)
        begin = self._lives[life - 1]
        if begin and commit.at_ms < self._known_ms[begin]:
            return NotKnown.MADE_AGAIN
        until = self._lives[life] if life < len(self._lives) else len(self._known)
        at = bisect_right(self._known, commit.offset or 0, begin, until)
        if at > begin:
            return self._known_ms[at - 1]
        return NotKnown.OLDER if self._known else self._why_no_end(by_ms)

    def lag(self, at_ms: int) -> Lag:
        """The lag at a time."""
        place = self.committed_by(at_ms) - 1
        commit = self.committed[place] if place >= 0 else None
        if commit is None or commit.offset is None or commit.offset < 0:
            return Lag(None, None, NotKnown.NO_COMMIT)
        number = bisect_right(self._known_ms, at_ms) - 1
        end = self._end(number, at_ms)
        if isinstance(end, NotKnown):
            return Lag(None, None, end)
        begin = self._begin(number)
        if begin and commit.at_ms < self._known_ms[begin]:
            return Lag(None, None, NotKnown.MADE_AGAIN)
        if end < commit.offset:
            return self._below(number, at_ms, commit.offset)
        records = int(end - commit.offset)
        if not records:
            return Lag(0, 0.0)
        seconds = self._age(commit.offset, number, at_ms)
        return Lag(records, None, seconds) if isinstance(seconds, NotKnown) else Lag(records, seconds)

    def _below(self, number: int, at_ms: int, committed: int) -> Lag:
        """A commit of a moment after the answer is ahead of it; the next answer is not behind the commit then."""
        following = number + 1
        if (
            following < len(self._known)
            and self._begin(following) < following
            and self._known_ms[following] - at_ms <= PAUSE_KNOWN_MS
            and self._known[following] >= committed
        ):
            return Lag(0, 0.0)
        return Lag(None, None, NotKnown.END_BELOW)

    def _age(self, committed: int, number: int, at_ms: int) -> float | NotKnown:
        """Seconds since the end offset last was the committed one; it is greater at ``at_ms``, behind the known place ``number``."""
        begin = self._begin(number)
        following = bisect_right(self._known, committed, begin, number + 1)
        before = following - 1
        if before < begin:
            return NotKnown.OLDER
        from_ms, from_offset = self._known_ms[before], self._known[before]
        to_ms = self._known_ms[following] if following < len(self._known) else at_ms
        to_offset = self._known[following] if following < len(self._known) else committed + 1
        written_ms = from_ms + (to_ms - from_ms) * (committed - from_offset) / (to_offset - from_offset)
        age_ms = max(0.0, at_ms - written_ms)
        if to_ms - from_ms > max(PAUSE_KNOWN_MS, SECONDS_SHARE * age_ms):
            return NotKnown.NO_ROUND
        return age_ms / 1000

    def _why_no_end(self, at_ms: int) -> NotKnown:
        """An answer without an end offset nearby contains the reason; otherwise nobody asked."""
        at = bisect_right(self.times_ms, at_ms) - 1
        for near in (at, at + 1):
            if 0 <= near < len(self.times_ms) and abs(self.times_ms[near] - at_ms) <= PAUSE_KNOWN_MS:
                if self.offsets[near] == NO_RIGHT:
                    return NotKnown.NO_RIGHT
                if self.offsets[near] < 0:
                    return NotKnown.NO_ANSWER
        return NotKnown.NO_ROUND


def total_of(lags: Iterable[Lag]) -> Lag:
    """The lag of several partitions: the sum of records, the greatest number of seconds. Not known where one of them is not.

    A partition without a commit has none, and is left out: nobody began to read it.
    """
    records, seconds, why, some = 0, 0.0, None, False
    is_dated = True
    for lag in lags:
        if lag.why is NotKnown.NO_COMMIT:
            continue
        some = True
        if lag.records is None:
            return Lag(None, None, lag.why)
        records += lag.records
        if lag.seconds is None:
            is_dated, why = False, why or lag.why
        else:
            seconds = max(seconds, lag.seconds)
    if not some:
        return Lag(None, None, NotKnown.NO_COMMIT)
    return Lag(records, seconds if is_dated else None, why)


def lag_now(positions: Iterable[tuple[int, int]]) -> int | None:
    """The records that a group has not read, of what one round asked: a committed offset and the end offset of its partition each.

    A negative committed offset is none; a negative end offset is not known.

    What ``PartitionEnds.lag`` and ``total_of`` give of a single answer, for tens of thousands of partitions every few seconds.
    """
    records: int | None = None
    for committed, end in positions:
        if committed < 0:
            continue
        if end < committed:
            return None
        records = (records or 0) + end - committed
    return records
