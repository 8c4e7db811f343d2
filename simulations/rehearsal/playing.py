"""A way, played by the simulator, and what each of its bounces was seen to cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from groups.history.entries import Entry, Kind
from groups.history.payloads.consumer import ErrorBody
from groups.history.replay.fold import replay
from groups.history.state.group import Protocol, State, initial_state
from groups.wire.rpc import error_name
from simulations.invariants import INVARIANT_FAULT
from simulations.rehearsal.scenarios import begins_ms, scenario_of
from simulations.rehearsal.values import Question
from simulations.rehearsal.ways import Way
from simulations.world.engine import run
from simulations.world.scenario import load

HARMLESS: Final = frozenset({0, 14, 15, 16, 22, 25, 27, 79})
"""Errors that every client lives with: ask the next coordinator, or this one later; join again, with the member id that it was given, under a new one."""

QUIET_MS: Final = 6_000
"""More than a heartbeat interval of the consumer protocol: nothing has begun for so long where a group is at rest."""

ONLINE: Final = "online"
EMPTY: Final = "empty"

Partition = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A process that the coordinator refused for good: its client stops with an exception."""

    member: str
    code: int
    error: str
    message: str | None
    sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """Two clients of one generation processed one partition; ``proof`` are the sequences that show it."""

    sentence: str
    sequence: int
    at_ms: int
    proof: tuple[int, ...]
    members: tuple[str, ...]
    partitions: tuple[Partition, ...]


@dataclass(slots=True, kw_only=True)
class Stage:
    """From one bounce until the next, or before the first: times in milliseconds, of the run.

    ``stopped``: of each member how often it stopped reading everything although it was not bounced. ``without_reader_ms``:
    summed over partitions, and ``longest_ms`` of one. ``read_twice``: partitions that two processes read at one time.
    ``epochs``: group epochs or generations that began here, with the protocol each. ``statuses``: at the end of the stage,
    of each member the protocol that it is a member by, or ``None``. ``conversion``: whether a classic group became one of
    the consumer protocol here, ``ONLINE`` or when it was ``EMPTY``. ``unread`` partitions have no reader at the end. ``moves``: how often the coordinator moved. ``epoch_ms``: when the last epoch began.
    """

    from_ms: int
    to_ms: int = 0
    first: int = 0
    last: int = 0
    protocol: str | None = None
    epoch: int = 0
    assignor: str | None = None
    epochs: list[tuple[str, int]] = field(default_factory=list)
    statuses: dict[str, str | None] = field(default_factory=dict)
    stopped: dict[str, int] = field(default_factory=dict)
    without_reader_ms: int = 0
    longest_ms: int = 0
    read_twice: set[Partition] = field(default_factory=set)
    refusals: list[Refusal] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    unread: int = 0
    conversion: str | None = None
    moves: int = 0
    epoch_ms: int = 0

    @property
    def restless(self) -> bool:
        """Whether the group epoch still rises as the stage ends, though every member has had several heartbeats."""
        return (
            self.protocol == Protocol.CONSUMER
            and self.to_ms - self.epoch_ms < QUIET_MS < self.epoch_ms - self.from_ms
        )

    @property
    def twice(self) -> list[str]:
        """Partitions that two processes had at one time."""
        every = self.read_twice.union(*(violation.partitions for violation in self.violations))
        return [f"{topic}-{number}" for topic, number in sorted(every)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """A way and its stages, of which the first is the group before any bounce. ``entries`` counts those of the run."""

    way: Way
    scenario: str
    stages: tuple[Stage, ...]
    entries: int

    @property
    def refusals(self) -> list[Refusal]:
        return [refusal for stage in self.stages for refusal in stage.refusals]

    @property
    def violations(self) -> list[Violation]:
        return [violation for stage in self.stages for violation in stage.violations]

    @property
    def unsafe(self) -> bool:
        """Whether two processes read one partition at one time."""
        return any(stage.twice for stage in self.stages)

    @property
    def unfinished(self) -> list[str]:
        """Members that are not in the group at the end as the way would have them."""
        wanted: dict[str, str] = {}
        for bounce in self.way.bounces:
            wanted |= {name: settings.protocol for name, settings in bounce.settings.items()}
        statuses = self.stages[-1].statuses
        return [name for name, protocol in wanted.items() if statuses.get(name) != protocol]

    @property
    def converted(self) -> int | None:
        """The stage, from 0, at whose end the group first is one of the consumer protocol, if it ever was."""
        for number, stage in enumerate(self.stages):
            if stage.protocol == Protocol.CONSUMER:
                return number
        return None


def play(question: Question, way: Way) -> Played:
    """Runs a way. The same question gives the same run, entry for entry."""
    text = scenario_of(question, way)
    scenario = load(text, "rehearsal")
    watcher = _Watcher(question, way)
    for entry in run(scenario):
        watcher.see(entry)
    watcher.end(scenario.until_ms)
    return Played(way=way, scenario=text, stages=tuple(watcher.stages), entries=watcher.last)


class _Watcher:
    """Sees the entries of a run in order. Its clients' callbacks show who reads a partition."""

    def __init__(self, question: Question, way: Way) -> None:
        self._question = question
        self._bounces = way.bounces
        self._state: State = initial_state(question.group)
        self._readers: dict[Partition, set[str]] = {}
        self._since: dict[Partition, int] = {}
        """Partitions that nobody reads, and since when."""
        self._bounced: frozenset[str] = frozenset()
        self._epoch: tuple[str, int] | None = None
        self._had_members = False
        self.stages = [Stage(from_ms=0, first=1)]
        self.last = 0

    @property
    def _stage(self) -> Stage:
        return self.stages[-1]

    def see(self, entry: Entry) -> None:
        while len(self.stages) <= len(self._bounces) and entry.at_ms >= self._next_ms():
            self._turn(self._next_ms())
        self.last = entry.sequence
        payload = entry.payload
        match entry.kind:
            case Kind.RECORD:
                self._record(entry)
            case Kind.CALLBACK:
                self._called(entry)
            case Kind.RESPONSE:
                self._answered(entry)
            case Kind.FAULT if payload["fault"] == INVARIANT_FAULT:
                self._violated(entry)
            case Kind.FAULT if payload["fault"] == "fail_over":
                self._stage.moves += 1
            case Kind.FAULT if payload["fault"] == "kill":
                self._gone(payload["member"], entry.at_ms)

    def end(self, at_ms: int) -> None:
        while len(self.stages) <= len(self._bounces):
            self._turn(self._next_ms())
        self._close(at_ms)

    def _next_ms(self) -> int:
        return begins_ms(self._question, len(self.stages) - 1)

    def _turn(self, at_ms: int) -> None:
        self._close(at_ms)
        self._bounced = frozenset(self._bounces[len(self.stages) - 1].members)
        self.stages.append(Stage(from_ms=at_ms, first=self.last + 1))

    def _close(self, at_ms: int) -> None:
        stage, state = self._stage, self._state
        stage.to_ms, stage.last = at_ms, self.last
        stage.protocol = str(state.protocol) if state.protocol is not None else None
        stage.epoch, stage.assignor = _epoch(state), state.classic.protocol_name
        present = dict(_members(state))
        stage.statuses = {member.name: present.get(member.name) for member in self._question.members}
        for since in self._since.values():
            self._without(at_ms - max(since, stage.from_ms))
            stage.longest_ms = max(stage.longest_ms, at_ms - since)
        every = sum(self._question.topics.values())
        stage.unread = every - sum(1 for readers in self._readers.values() if readers)

    def _without(self, length_ms: int) -> None:
        self._stage.without_reader_ms += length_ms

    def _record(self, entry: Entry) -> None:
        self._state = replay(self._state, entry)
        # States within a unit never existed: a conversion is many records.
        if not entry.settled or self._state.protocol is None:
            return
        now = str(self._state.protocol), _epoch(self._state)
        if self._epoch is not None and (self._epoch[0], now[0]) == (Protocol.CLASSIC, Protocol.CONSUMER):
            self._stage.conversion = ONLINE if self._had_members else EMPTY
        self._had_members = bool(self._state.classic.members)
        if now != self._epoch:
            self._epoch = now
            self._stage.epochs.append(now)
            self._stage.epoch_ms = entry.at_ms

    def _called(self, entry: Entry) -> None:
        callback, phase = entry.payload["callback"], entry.payload["phase"]
        partitions = [
            (topic, number) for topic, numbers in entry.payload["partitions"].items() for number in numbers
        ]
        if callback == "on_partitions_assigned":
            if phase == "end":
                self._begins(entry.actor, partitions, entry.at_ms)
        elif phase == "start":
            self._stops(entry.actor, partitions, entry.at_ms)

    def _begins(self, who: str, partitions: Iterable[Partition], at_ms: int) -> None:
        for partition in partitions:
            readers = self._readers.setdefault(partition, set())
            readers.add(who)
            if len(readers) > 1:
                self._stage.read_twice.add(partition)
            since = self._since.pop(partition, None)
            if since is not None:
                self._without(at_ms - max(since, self._stage.from_ms))
                self._stage.longest_ms = max(self._stage.longest_ms, at_ms - since)

    def _stops(self, who: str, partitions: Iterable[Partition], at_ms: int) -> None:
        read = False
        for partition in partitions:
            readers = self._readers.get(partition, set())
            if who in readers:
                read = True
                readers.remove(who)
                if not readers:
                    self._since[partition] = at_ms
        if read and _name(who) not in self._bounced and not self._reads(who):
            self._stage.stopped[_name(who)] = self._stage.stopped.get(_name(who), 0) + 1

    def _reads(self, who: str) -> bool:
        return any(who in readers for readers in self._readers.values())

    def _gone(self, who: str, at_ms: int) -> None:
        self._stops(who, [each for each, readers in self._readers.items() if who in readers], at_ms)

    def _answered(self, entry: Entry) -> None:
        payload = entry.payload
        body: ErrorBody | None = payload.get("body")
        code = body.get("errorCode", 0) if body is not None else 0
        if body is None or code in HARMLESS or not payload.get("to"):
            return
        member = _name(payload["to"])
        if any(each.member == member and each.code == code for each in self._stage.refusals):
            return
        self._stage.refusals.append(
            Refusal(
                member=member,
                code=code,
                error=error_name(code) or str(code),
                message=body.get("errorMessage"),
                sequence=entry.sequence,
            )
        )

    def _violated(self, entry: Entry) -> None:
        payload = entry.payload
        self._stage.violations.append(
            Violation(
                sentence=payload["says"],
                sequence=entry.sequence,
                at_ms=entry.at_ms,
                proof=tuple(payload.get("sequences") or ()),
                members=tuple(_name(each) for each in payload.get("members") or ()),
                partitions=tuple(
                    (topic, number)
                    for topic, numbers in (payload.get("partitions") or {}).items()
                    for number in numbers
                ),
            )
        )


def _epoch(state: State) -> int:
    if state.protocol is Protocol.CLASSIC:
        return state.classic.generation
    return state.modern.group_epoch


def _members(state: State) -> Iterable[tuple[str, str]]:
    if state.protocol is Protocol.CLASSIC:
        for member_id in state.classic.members:
            yield _name(member_id), "classic"
    elif state.protocol is Protocol.CONSUMER:
        for member_id, member in state.consumer.members.items():
            yield _name(member_id), "classic" if member.classic is not None else "consumer"


def _name(member_id: str) -> str:
    """The scenario's name of a member, whichever process or id of it this is."""
    return member_id.partition("~")[0]
