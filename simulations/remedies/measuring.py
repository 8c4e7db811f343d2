"""What a run cost: its entries in, measures out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from groups.history.digests import Digester
from groups.history.entries import Entry, Kind
from groups.history.frames.changes import diff
from groups.history.frames.consumption import totals
from groups.history.frames.frame import FrameMaker
from groups.history.frames.shapes import Frame
from groups.history.replay.fold import replay
from groups.history.state.consumption import READS
from groups.history.state.group import Semantics, State, initial_state
from simulations.fork.values import Document
from simulations.remedies.values import Measures
from simulations.world.engine.simulation import Simulation
from simulations.world.scenario import Scenario, Verb

STOPPED_BY: Final = (Verb.KILL, Verb.LEAVE, Verb.RESTART, Verb.BOUNCE)
"""Lines of a script after which the member itself has stopped."""


class Meter:
    """Takes a timeline's entries in order and measures it from ``from_ms`` on.

    ``stops``: when the script stops whom; between that and its next start a member that reads nothing is not interrupted.
    """

    def __init__(
        self, group: str, semantics: Semantics, from_ms: int, stops: Iterable[tuple[int, str]] = ()
    ) -> None:
        self.state: State = initial_state(group, semantics)
        self._maker = FrameMaker()
        self.frame: Frame = self._maker.shared(self.state)
        self._digester = Digester(self.frame)
        self._from_ms = from_ms
        self._stops = sorted(stops, reverse=True)
        self._down: set[str] = set()
        self._reads: set[str] = set()
        self._interrupted: set[str] = set()
        self._unassigned_ms = self._free = 0
        self._begun: set[tuple[str, str]] = set()
        self._before_first_ms = 0
        self._at_ms = from_ms
        self._before: tuple[int, int] | None = None
        self._epoch: int | None = None
        self.epochs = 0

    def add(self, entry: Entry) -> None:
        if entry.at_ms >= self._from_ms:
            self._begin()
            self._unassigned_ms += self._free * max(entry.at_ms - self._at_ms, 0)
            self._at_ms = max(self._at_ms, entry.at_ms)
        self.state = replay(self.state, entry)
        before, self.frame = self.frame, self._maker.shared(self.state)
        if not self._maker.quiet:
            for change in diff(before, self.frame):
                self._digester.change(change)
        if entry.kind is Kind.NOTE and entry.payload.get("note") == READS:
            self._note(entry)
            self._first_reads(entry.at_ms)
        if entry.settled or entry.kind is not Kind.RECORD:
            # States within a unit never existed.
            self._free = self._digester.unassigned
            self._count_epoch()

    def end(self, at_ms: int) -> Measures:
        """The measures until ``at_ms``; what was not read or read twice is 0 where no topic has a rate."""
        self._begin()
        self._unassigned_ms += self._free * max(at_ms - self._at_ms, 0)
        not_read_ms, twice = self._consumed(at_ms)
        began, began_twice = self._before or (0, 0)
        self._first_reads(at_ms, whole=True)
        return Measures(
            not_read_ms=not_read_ms - began + self._before_first_ms,
            unassigned_ms=self._unassigned_ms,
            interrupted=len(self._interrupted),
            read_twice=twice - began_twice,
        )

    def _begin(self) -> None:
        if self._before is None:
            self._before = self._consumed(self._from_ms)

    def _consumed(self, at_ms: int) -> tuple[int, int]:
        consumption = self.frame.get("consumption")
        if not consumption:
            return 0, 0
        known = totals(consumption, at_ms)
        return known["unread_ms"], known["read_twice"]

    def _first_reads(self, at_ms: int, *, whole: bool = False) -> None:
        """A partition's lag is known from its first reader on; the time before it, after ``from_ms``, was not read either."""
        consumption = self.frame.get("consumption")
        for topic, partitions in (consumption["partitions"] if consumption else {}).items():
            for number, partition in partitions.items():
                if (topic, number) in self._begun or not (whole or partition["read"] is not None):
                    continue
                self._begun.add((topic, number))
                if partition["readers"] or whole:
                    self._before_first_ms += max(at_ms - max(self._from_ms, partition["begin_ms"]), 0)

    def _count_epoch(self) -> None:
        epoch = self.frame.get("group_epoch") or self.frame.get("generation")
        if epoch != self._epoch and epoch:
            self.epochs += self.frame["at_ms"] > self._from_ms
            self._epoch = epoch

    def _note(self, entry: Entry) -> None:
        name = entry.actor.partition("~")[0]
        while self._stops and self._stops[-1][0] <= entry.at_ms:
            self._down.add(self._stops.pop()[1])
        if any(entry.payload["partitions"].values()):
            self._reads.add(name)
            self._down.discard(name)
        elif name in self._reads:
            self._reads.discard(name)
            if name not in self._down and self._before is not None:
                self._interrupted.add(name)


def measured(
    scenario: Scenario, semantics: Semantics, seed: int, from_ms: int | None = None
) -> tuple[Measures, int]:
    """The measures of a run from ``from_ms`` on (from its beginning, if not given), and the epochs that began."""
    meter = _meter(scenario, semantics, from_ms)
    for entry in Simulation(scenario, semantics, seed).entries():
        meter.add(entry)
    return meter.end(scenario.start_ms + scenario.until_ms), meter.epochs


def measured_in_records(scenario: Scenario, semantics: Semantics, seed: int) -> tuple[Measures, int, int]:
    """The same, and what a log of the run's records has of partition-milliseconds without an owner: members of a classic group join
    without one."""
    meter = _meter(scenario, semantics)
    records = Meter(scenario.group, semantics, scenario.start_ms)
    for entry in Simulation(scenario, semantics, seed).entries():
        meter.add(entry)
        if entry.kind in (Kind.RECORD, Kind.NOTE):
            records.add(entry)
    end_ms = scenario.start_ms + scenario.until_ms
    return meter.end(end_ms), meter.epochs, records.end(end_ms).unassigned_ms


def _meter(scenario: Scenario, semantics: Semantics, from_ms: int | None = None) -> Meter:
    stops = [
        (scenario.start_ms + action.at_ms, action.who)
        for action in scenario.script
        if action.verb in STOPPED_BY
    ]
    return Meter(scenario.group, semantics, scenario.start_ms if from_ms is None else from_ms, stops)


def with_rates(topics: Mapping[str, Document], rate: int) -> dict[str, Document]:
    """The topics, each with a rate: without one nothing is known of how far it is read."""
    return {name: {"rate": rate} | dict(topic) for name, topic in topics.items()}
