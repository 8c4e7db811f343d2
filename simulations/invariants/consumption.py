"""Topics with a rate: records are counted, none is read before it is written, and the readers of a partition are those that were assigned it.

A run reports what each client reads; positions, lag and what is read twice are computed from that. Here both are checked: what is
reported is held against callbacks and faults, what is computed against a count of another kind (``ConsumedLog``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from groups.history.entries import Entry, Kind, Payload
from groups.history.state.consumption import READS
from groups.history.state.group import State
from simulations.invariants.classic_clients import RunChecker
from simulations.invariants.consumed_log import ConsumedLog
from simulations.invariants.consumption_sums import LAG, TWICE, UNREAD, Sums
from simulations.invariants.invariants import Invariant, table
from simulations.invariants.reading_clients import HANDED_OVER, ReadingClients
from simulations.invariants.side_checker import SideChecker
from simulations.invariants.violations import Partition, Violation, named

AFTER_WRITTEN: Final = "read_after_written"

CONSUMPTION_INVARIANTS: Final = table(
    Invariant(
        name=LAG,
        number="RATE",
        statement="The lag of a partition is what was written to it and nobody has read, and the group's is that of all partitions.",
        source="[the rules](scenarios.md#topics-with-a-rate)",
        apart="From its first reader on; of a partition that is added from its first record on.",
    ),
    Invariant(
        name=TWICE,
        number="RATE",
        statement="Who begins to read does so at the committed offset, or without one at the end of the log; each record below the furthest that was read counts as read twice, once for each time; what is left out is skipped.",
        source="`auto.offset.reset=latest`; [the rules](scenarios.md#topics-with-a-rate)",
    ),
    Invariant(
        name=UNREAD,
        number="RATE",
        statement="The time not read is the sum of the intervals in which nobody fetched, from the first reader on.",
        source="[the rules](scenarios.md#topics-with-a-rate)",
        apart="Of a partition that is added from its first record on.",
    ),
    Invariant(
        name=AFTER_WRITTEN,
        number="RATE",
        statement="Nobody reads what is not written yet, nor commits what it has not read, nor less than where it began.",
        source="`SubscriptionState.allConsumed`",
        apart="Not asked of commits where the script names an offset.",
    ),
    Invariant(
        name=HANDED_OVER,
        number="RATE",
        statement="A client reads what `on_partitions_assigned` has handed over and is not revoked or lost, and no other partition; at rest all of it. It reads nothing while it is paused, cut off or in a callback, nothing any more once it is killed, and nothing of a topic that ACLs deny it.",
        source="`ConsumerRebalanceListener`, `SubscriptionState.isFetchable`",
        apart="What a callback threw on, or is to take at the next poll, may be left out at rest.",
    ),
)

OFFSET_COMMIT: Final = 1
"""The record type of a committed offset."""

COUNTED_MOST: Final = 64
"""Partitions up to which all are counted at each note; of more those that it is about, and all in the end."""


class ConsumptionChecker(SideChecker):
    """``seeks``: whether the script commits offsets of its own choice."""

    def __init__(self, inner: RunChecker, *, seeks: bool) -> None:
        super().__init__(inner)
        self._seeks = seeks
        self._ids: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._logs: dict[str, list[ConsumedLog]] = {}
        self._gone: list[ConsumedLog] = []
        """Of topics that were deleted: what they cost stays counted."""
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
        for log in self._logs.pop(name):
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
                if not began <= offset <= came <= log.end(entry.at_ms):
                    text = f"{entry.actor} commits {offset} of {named([partition])}, and has read from {began} to {came}; its log ends at {log.end(entry.at_ms)}"
                    self._violations.add(AFTER_WRITTEN, text, (entry.sequence,), (entry.actor,), (partition,))

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
