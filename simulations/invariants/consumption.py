"""Topics with a rate: records are counted, none is read before it is written, and the readers of a partition are those that were assigned it.

A run reports what each client reads; positions, lag and what is read twice are computed from that. Here both are checked: what is
reported is held against callbacks and faults, what is computed against a count of another kind (``ConsumedLog``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from groups.history.entries import Entry, Kind, Payload
from groups.history.frames.consumption import consumption_part, totals
from groups.history.state.consumption import (
    READS,
    Consumption,
    PartitionConsumption,
    TopicConsumption,
    lag_of,
    longest_unread_ms,
    position_of,
)
from groups.history.state.group import State
from simulations.invariants.classic_clients import RunChecker
from simulations.invariants.consumed_log import ConsumedLog
from simulations.invariants.reading_clients import ReadingClients
from simulations.invariants.side_checker import SideChecker
from simulations.invariants.violations import Partition, Violation, Violations, named

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


AFTER_WRITTEN: Final = "read_after_written"


OFFSET_COMMIT: Final = 1
"""The record type of a committed offset."""

COUNTED_MOST: Final = 64
"""Partitions up to which all are counted at each note; of more those that it is about, and all in the end."""


class ConsumptionChecker(SideChecker):
    """``seeks``: whether the script commits offsets of its own choice; ``again_ms``: how long after it was sent a commit is sent again."""

    def __init__(self, inner: RunChecker, *, seeks: bool, again_ms: int) -> None:
        super().__init__(inner)
        self._seeks = seeks
        self._again_ms = again_ms
        self._ids: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._logs: dict[str, list[ConsumedLog]] = {}
        self._gone: list[ConsumedLog] = []
        """Of topics that were deleted: what they cost stays counted."""
        self._last_gone: dict[str, list[ConsumedLog]] = {}
        """By name, of the topic that was deleted last: a commit of it may be under way, or is sent again."""
        self._committed: dict[Partition, int] = {}
        self._lag_max = 0
        self._sums = Sums(self._violations)
        self._clients = ReadingClients(self._violations)
        self._begin_ms: int | None = None
        self._last: tuple[int, int, State] | None = None
        """Up to when it has looked, with the entry and the state there."""

    def see(self, entry: Entry, state: State) -> list[Violation]:
        payload = entry.payload
        if self._begin_ms is None:
            self._begin_ms = entry.at_ms
        self._last = entry.at_ms, entry.sequence, state
        match entry.kind:
            case Kind.NOTE if payload["note"] == "topics":
                self._topics(entry, payload["topics"])
            case Kind.NOTE if payload["note"] == READS:
                self._reads(entry, state)
            case Kind.NOTE if payload["note"] == "acl":
                self._clients.right(payload)
            case Kind.RECORD if payload["type"] == OFFSET_COMMIT:
                self._record(payload)
            case Kind.REQUEST if payload["api"] == "OffsetCommit" and not self._seeks:
                self._commits(entry)
            case Kind.CALLBACK:
                self._clients.callback(entry)
            case Kind.FAULT:
                self._clients.fault(entry)
        return super().see(entry, state)

    def end(self, at_ms: int) -> list[Violation]:
        if self._last is not None:
            _, sequence, state = self._last
            self._last = at_ms, sequence, state
            self._count_all(at_ms, state, sequence)
            self._clients.stopped(at_ms, sequence)
        return super().end(at_ms)

    def demand_convergence(self) -> list[Violation]:
        if self._last is not None:
            at_ms, sequence, state = self._last
            self._count_all(at_ms, state, sequence)
            self._clients.at_rest(self._logs, sequence)
        return super().demand_convergence()

    # What is written, and committed.

    def _topics(self, entry: Entry, topics: Mapping[str, Payload | None]) -> None:
        self._note_lag(entry.at_ms)
        for name, topic in topics.items():
            topic_id = topic["id"] if topic is not None else None
            known = self._logs.get(name)
            if known is not None and self._ids.get(name) != topic_id:
                self._forget(name, entry.at_ms)
                known = None
            self._names.pop(self._ids.pop(name, ""), None)
            if topic_id is not None:
                self._ids[name], self._names[topic_id] = topic_id, name
            if topic is None or "rate" not in topic:
                continue
            # What was there before anybody first reads a topic is no lag of the group; what comes to a partition that is added is.
            furthest, logs = (None if known is None else 0), known or []
            new = range(len(logs), topic["partitions"])
            logs += [
                ConsumedLog(
                    topic["rate"],
                    entry.at_ms,
                    furthest=furthest,
                    gap_since_ms=None if known is None else entry.at_ms,
                )
                for _ in new
            ]
            self._logs[name] = logs

    def _forget(self, name: str, at_ms: int) -> None:
        self._clients.forgotten(name)
        self._last_gone[name] = self._logs.pop(name)
        for log in self._last_gone[name]:
            log.closes(at_ms)
            self._gone.append(log)

    def _record(self, payload: Payload) -> None:
        key, value = payload["key"], payload["value"]
        partition = key["topic"], key["partition"]
        if value is None:
            self._committed.pop(partition, None)
        else:
            self._committed[partition] = value["offset"]

    def _commits(self, entry: Entry) -> None:
        """A client commits up to where it has come, in any of the times that it had the partition."""
        for topic in entry.payload["body"]["topics"]:
            name = topic.get("name") or self._names.get(topic["topicId"], "")
            for each in topic["partitions"]:
                partition, offset = (name, each["partitionIndex"]), each["committedOffset"]
                log = self._log(partition)
                if log is None:
                    continue
                log.advance(entry.at_ms)
                began, came = log.reached.get(entry.actor, (0, 0))
                if not (
                    began <= offset <= came <= log.end(entry.at_ms)
                    or self._was_read(entry, partition, offset)
                ):
                    text = f"{entry.actor} commits {offset} of {named([partition])}, and has read from {began} to {came}; its log ends at {log.end(entry.at_ms)}"
                    self._violations.add(AFTER_WRITTEN, text, (entry.sequence,), (entry.actor,), (partition,))

    def _was_read(self, entry: Entry, partition: Partition, offset: int) -> bool:
        """Whether its client came so far in the topic of this name that was deleted a moment ago."""
        name, number = partition
        logs = self._last_gone.get(name, ())
        if number >= len(logs) or entry.at_ms - (logs[number].over_ms or 0) > self._again_ms:
            return False
        began, came = logs[number].reached.get(entry.actor, (0, -1))
        return began <= offset <= came

    # What is read.

    def _reads(self, entry: Entry, state: State) -> None:
        payload, at_ms, who = entry.payload, entry.at_ms, entry.actor
        self._note_lag(at_ms)
        if (former := payload.get("former")) is not None:
            for _, log in self._every():
                log.renamed(former, who)
        has = {(topic, number) for topic, numbers in payload["partitions"].items() for number in numbers}
        had = {partition for partition, log in self._every() if who in log.readers}
        denied = payload.get("denied") or ()
        for partition in has | had:
            followed, fetches = self._log(partition), payload["fetches"] and partition[0] not in denied
            if followed is None:
                continue
            if partition not in has:
                followed.leaves(who, at_ms)
            elif partition in had:
                followed.goes_on(who, at_ms, fetches=fetches)
            else:
                followed.begins(who, at_ms, self._committed.get(partition), fetches=fetches)
        self._clients.reads(entry, has, begins=at_ms == self._begin_ms)
        if self._few:
            self._count_all(at_ms, state, entry.sequence)
        elif state.consumption is not None:
            for partition in sorted(has | had):
                if (followed := self._log(partition)) is not None:
                    followed.advance(at_ms)
                    self._sums.compare(state.consumption, partition, followed, at_ms, entry.sequence)

    def _log(self, partition: Partition) -> ConsumedLog | None:
        logs = self._logs.get(partition[0], ())
        return logs[partition[1]] if partition[1] < len(logs) else None

    def _every(self) -> Iterator[tuple[Partition, ConsumedLog]]:
        for topic, logs in self._logs.items():
            for number, log in enumerate(logs):
                yield (topic, number), log

    @property
    def _few(self) -> bool:
        return sum(map(len, self._logs.values())) <= COUNTED_MOST

    def _note_lag(self, at_ms: int) -> None:
        """The lag only grows until somebody reads something else: it is greatest right before."""
        if self._few:
            self._lag_max = max(self._lag_max, sum(log.lag(at_ms) for _, log in self._every()))

    def _count_all(self, at_ms: int, state: State, sequence: int) -> None:
        if state.consumption is None:
            return
        for partition, log in self._every():
            log.advance(at_ms)
            self._sums.compare(state.consumption, partition, log, at_ms, sequence)
        self._note_lag(at_ms)
        logs = [*(log for _, log in self._every()), *self._gone]
        lag_max = self._lag_max if self._few else None
        self._sums.compare_all(state.consumption, logs, lag_max, at_ms, sequence)
