"""How the commits of one partition go on, where they stop, and when that is a silence of its owner.

What ``groups.history.evidence.rhythm`` keeps of each partition, and the evidence that it asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from groups.history.replay.commit_runs import Place
from groups.history.state.declared import row

SILENCE_LEAST_MS: Final = 5_000
"""A shorter pause is no silence: it is Kafka's default between two commits, and about what a rebalance takes."""

RHYTHM_LEAST: Final = 3
"""Intervals between commits of a partition before it is said to have a rhythm."""

TYPICAL_TIMES: Final = 3
"""A pause is longer than so many of the usual intervals, and than the usual one and four of the usual deviations (as TCP
does with round trips, RFC 6298)."""

DEVIATION_TIMES: Final = 4

SMOOTHING: Final = 8
"""Usual values follow a new one by an eighth; they are kept times eight, in integers, so that both passes agree."""

INTERVAL_MOST_MS: Final = 24 * 3_600_000
"""Clocks of broken logs leap; nobody commits once in two days."""

NUMBER_MOST: Final = 1 << 53
"""Up to which JSON's readers keep whole numbers exactly."""

UNMOVED_LEAST: Final = 3
"""Commits of the same offset by one owner from which on its client is said to commit also what did not move."""


OWNERS_MAX: Final = 20
"""Owners that are kept of a partition whose offset does not move."""

MISSED_LEAST: Final = 10
"""Records by which an offset would have moved at its former rate, before it is said to stand still."""


def bounded(number: int) -> int:
    return max(-NUMBER_MOST, min(number, NUMBER_MOST))


@dataclass(slots=True)
class Pace:
    """How one partition's commits go on. Times in ms; ``usual``, ``deviation`` and ``moved`` are times ``SMOOTHING``."""

    topic: str
    partition: int
    count: int
    first_ms: int
    first_offset: int
    last_ms: int
    last_offset: int
    last_sequence: int
    usual: int = 0
    deviation: int = 0
    moved: int = 0
    """Usual advance of the offset from one commit to the next."""
    intervals: int = 0
    unmoved: int = 0
    holder: str | None = None
    taken_ms: int = 0
    taken_sequence: int = 0
    """Since when the holder has it."""
    silence: int | None = None
    """The number of the last silence in which it stopped, until it is committed again."""
    stop: Stop | None = None
    """A stop that is over, until the commit after the next: what a client had read before a pause it commits first."""
    sparse: bool = False
    """Whether it once stopped because nothing had come, and its client commits only what moved."""
    giver: str | None = None
    """Who held it at the last commit, if another one holds it since."""
    gone_sequence: int = 0
    """Where its offset was deleted last; 0: never."""
    moved_ms: int = 0
    moved_sequence: int = 0
    """When its offset last changed."""
    passed: list[tuple[str, int]] | None = None
    """Who held it and gave it up since its offset last moved: member, and from when on it did not move under it."""

    @property
    def limit_ms(self) -> int:
        """A longer time without a commit breaks the rhythm."""
        typical = self.usual // SMOOTHING
        spread = typical + DEVIATION_TIMES * (self.deviation // SMOOTHING)
        return max(SILENCE_LEAST_MS, TYPICAL_TIMES * typical, spread)

    @property
    def has_rhythm(self) -> bool:
        return self.intervals >= RHYTHM_LEAST

    def is_broken_by(self, gap_ms: int) -> bool:
        """Whether so long a time without a commit breaks its rhythm."""
        return self.intervals >= RHYTHM_LEAST and gap_ms > self.limit_ms

    @property
    def last_seen(self) -> tuple[int, int]:
        """When its holder last was seen, or began to hold it, and at which entry."""
        return max((self.last_ms, self.last_sequence), (self.taken_ms, self.taken_sequence))

    @property
    def last_seen_ms(self) -> int:
        return max(self.last_ms, self.taken_ms)

    def lives_on(self, at_ms: int) -> None:
        """Its holder committed it in a transaction that was aborted: a sign of life, and no commit."""
        self.last_ms = max(self.last_ms, at_ms)

    def gives_up(self) -> None:
        """Its holder holds it no longer."""
        if self.holder is None:
            return
        if self.passed is None or self.moved_sequence >= self.taken_sequence:
            self.passed = [(self.holder, self.moved_ms)]
        elif len(self.passed) < OWNERS_MAX:
            self.passed.append((self.holder, self.taken_ms))

    def passed_over(self, at_ms: int) -> list[str]:
        """The members that each had it for longer than its rhythm allows, one after the other, while its offset did not move."""
        if self.holder is None or self.passed is None or self.moved_sequence >= self.taken_sequence:
            return []
        before_ms, since_ms = self.moved_ms - self.first_ms, at_ms - self.moved_ms
        if before_ms <= 0 or (self.last_offset - self.first_offset) * since_ms // before_ms < MISSED_LEAST:
            return []
        spans = [*self.passed, (self.holder, self.taken_ms)]
        ends = [*(from_ms for _, from_ms in spans[1:]), at_ms]
        return [
            member
            for (member, from_ms), to_ms in zip(spans, ends, strict=True)
            if self.is_broken_by(to_ms - from_ms)
        ]

    def expected(self, length_ms: int) -> int:
        """How far it usually moves in so long a time."""
        return bounded(self.moved * length_ms // max(self.usual, 1))


@dataclass(slots=True)
class Stop:
    """A partition that was not committed from ``from_ms`` on: ``to_ms`` and ``moved`` are ``None`` until it is again."""

    topic: str
    partition: int
    from_ms: int
    from_sequence: int
    expected: int
    """How far it usually moves in that time; known with ``moved``."""
    to_ms: int | None = None
    to_sequence: int | None = None
    moved: int | None = None

    @property
    def length_ms(self) -> int:
        return self.to_ms - self.from_ms if self.to_ms is not None else 0

    @property
    def order(self) -> tuple[int, int, str, int]:
        """The longest first."""
        return (-self.length_ms, self.from_sequence, self.topic, self.partition)


@dataclass(slots=True)
class Silence:
    """A member that held partitions and committed none of them. ``ended``: ``resumed``, ``removed``, ``replaced`` or ``open``."""

    member: str
    from_ms: int
    to_ms: int
    from_sequence: int
    to_sequence: int
    ended: str
    others: bool
    """Whether commits of the same topics went on meanwhile."""
    repeats: bool
    """Whether its client commits also what did not move, so that a stop is no lack of records."""
    stops: list[Stop] = field(default_factory=list)

    @property
    def length_ms(self) -> int:
        return self.to_ms - self.from_ms

    def is_believed(self, timeouts_ms: Iterable[int], is_idle: Callable[[Place, int], bool]) -> bool:
        """Whether the evidence suffices. ``timeouts_ms``: lengths that a silence before a removal has where a timeout ended it;
        ``is_idle``: whether a partition was taken by another member after a time, and has nothing to commit."""
        known = [stop for stop in self.stops if stop.moved is not None]
        if any(stop.expected and (stop.moved or 0) * 2 >= stop.expected for stop in known):
            return True
        if self.repeats:
            return True
        if self.ended == "resumed":
            # Nothing, or little, had come.
            return False
        if known and all((stop.moved or 0) * 10 < max(stop.expected, 1) for stop in known):
            # Nothing had come.
            return False
        never = not known and self.ended != "open"
        if never and any(is_idle((stop.topic, stop.partition), self.to_ms) for stop in self.stops):
            # Others took over, go on, and have nothing of these to commit.
            return False
        expired = self.ended == "removed" and any(
            timeout <= self.length_ms <= timeout + SILENCE_LEAST_MS for timeout in timeouts_ms
        )
        return self.others or expired


@row
@dataclass(slots=True)
class Flow:
    """A topic's commits by all members: the last one, and since when they go on without a stop."""

    since_ms: int
    last_ms: int
