"""Compares what the replay of a run's notes gives for its records with a count of another kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from groups.history.frames.consumption import consumption_part, totals
from groups.history.state.consumption import (
    Consumption,
    PartitionConsumption,
    TopicConsumption,
    lag_of,
    longest_unread_ms,
    position_of,
)
from simulations.invariants.consumed_log import ConsumedLog
from simulations.invariants.violations import Partition, Violations, named

LAG: Final = "lag_adds_up"
TWICE: Final = "read_twice_adds_up"
UNREAD: Final = "unread_adds_up"


class Figure(NamedTuple):
    """One that is reported, and what was counted, which it may exceed by ``off``."""

    invariant: str
    what: str
    reported: object
    counted: object
    off: int = 0

    @property
    def differs(self) -> bool:
        if isinstance(self.reported, int) and isinstance(self.counted, int):
            return not self.counted <= self.reported <= self.counted + self.off
        return self.reported != self.counted


class Sums:
    """Adds a violation where the two differ."""

    def __init__(self, violations: Violations) -> None:
        self._violations = violations

    def compare(
        self, stored: Consumption, partition: Partition, log: ConsumedLog, at_ms: int, sequence: int
    ) -> None:
        """Of one partition; ``log`` is as of ``at_ms``."""
        name, number = partition
        topic = stored.topics.get(name)
        theirs = topic.partitions.get(number) if topic is not None else None
        if topic is None or theirs is None:
            self._violations.add(LAG, f"Nobody counts {named([partition])}", (sequence,), (), (partition,))
            return
        for figure in _figures(topic, theirs, number, log, at_ms):
            if figure.differs:
                text = f"Of {named([partition])} {figure.what} is reported as {figure.reported}, and counted it is {figure.counted}"
                self._violations.add(figure.invariant, text, (sequence,), (), (partition,))

    def compare_all(
        self, stored: Consumption, logs: Sequence[ConsumedLog], lag_max: int | None, at_ms: int, sequence: int
    ) -> None:
        """Of all partitions together, those of deleted topics among them."""
        for figure in _of_all(stored, logs, lag_max, at_ms):
            if figure.differs:
                text = f"Of all partitions {figure.what} is reported as {figure.reported}, and counted it is {figure.counted}"
                self._violations.add(figure.invariant, text, (sequence,), (figure.what,))


def _figures(
    topic: TopicConsumption, theirs: PartitionConsumption, number: int, log: ConsumedLog, at_ms: int
) -> tuple[Figure, ...]:
    positions = {who: position_of(topic, number, who, at_ms) or 0 for who in theirs.readers}
    # What was read since the last note is counted at the next: all of it, but for what is new.
    since = sum(positions[who] - reader.position for who, reader in theirs.readers.items())
    read = theirs.read or 0
    new = max([read, *positions.values()]) - read
    open_ms = 0 if theirs.unread_since_ms is None else at_ms - theirs.unread_since_ms
    mine = {who: stint.position for who, stint in log.readers.items()}
    return (
        Figure(LAG, "the lag", lag_of(theirs, topic.rate, at_ms), log.lag(at_ms)),
        Figure(TWICE, "who stands where", positions, mine),
        Figure(TWICE, "what is read twice", theirs.read_twice + since - new, log.read_twice),
        Figure(TWICE, "what is skipped", theirs.skipped, log.skipped),
        Figure(UNREAD, "the milliseconds not read", theirs.unread_ms + open_ms, log.gap_ms(at_ms)),
    )


def _of_all(
    stored: Consumption, logs: Sequence[ConsumedLog], lag_max: int | None, at_ms: int
) -> tuple[Figure, ...]:
    sums, off = stored.sums, len(logs)
    # A sum is of parts of records, too, which each partition by itself leaves out.
    lag = Figure(LAG, "the lag", sums.lag(at_ms), sum(log.lag(at_ms) for log in logs), off)
    most = max(stored.lag_max, sums.lag(at_ms))
    gaps_ms = sum(log.gap_ms(at_ms) for log in logs)
    longest_ms = max((log.longest_ms(at_ms) for log in logs), default=0)
    skipped = sum(log.skipped for log in logs)
    twice = totals(consumption_part(stored, None, None), at_ms)["read_twice"]
    return (
        lag,
        Figure(TWICE, "what is read twice", twice, sum(log.read_twice for log in logs)),
        *((Figure(LAG, "the greatest lag", most, lag_max, off),) if lag_max is not None else ()),
        Figure(TWICE, "what is skipped", sums.skipped, skipped),
        Figure(UNREAD, "the milliseconds not read", sums.unread_until(at_ms), gaps_ms),
        Figure(UNREAD, "the longest gap", longest_unread_ms(stored, at_ms), longest_ms),
    )
