"""A way, played by the simulator, and what each of its bounces was seen to cost."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, TypedDict

from groups.history.entries import Entry, Kind
from groups.history.payloads.consumer import ErrorBody
from groups.history.replay.fold import replay
from groups.history.state.consumption import READS, longest_unread_ms
from groups.history.state.copying import replace
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


class Refusal(TypedDict):
    """A process that the coordinator refused for good, by Kafka's name and number of the error: its client stops with an exception."""

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
    in which nobody fetched a partition that had had a reader, summed over partitions, and ``longest_ms`` of one. ``read_twice``: partitions that two processes read at one time.
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
    """Sees the entries of a run in order; the fold knows from the clients' notes who reads a partition."""

    def __init__(self, question: Question, way: Way) -> None:
        self._question = question
        self._bounces = way.bounces
        self._state: State = initial_state(question.group)
        self._unread_ms = 0
        """What of the run was not read before this stage."""
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
            case Kind.NOTE:
                self._noted(entry)
            case Kind.RESPONSE:
                self._answered(entry)
            case Kind.FAULT if payload["fault"] == INVARIANT_FAULT:
                self._violated(entry)
            case Kind.FAULT if payload["fault"] == "fail_over":
                self._stage.moves += 1

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
        consumption = state.consumption
        assert consumption is not None
        unread_ms = consumption.sums.unread_until(at_ms)
        stage.without_reader_ms, self._unread_ms = unread_ms - self._unread_ms, unread_ms
        stage.longest_ms = longest_unread_ms(consumption, at_ms)
        partitions = [each for topic in consumption.topics.values() for each in topic.partitions.values()]
        stage.unread = sum(not each.is_fetched for each in partitions)
        self._state = replace(state, consumption=replace(consumption, unread_max_ms=0))

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

    def _noted(self, entry: Entry) -> None:
        before, self._state = self._state.consumption, replay(self._state, entry)
        now = self._state.consumption
        if entry.payload["note"] != READS or before is None or now is None:
            return
        for topic, numbers in now.members.get(entry.actor, {}).items():
            partitions = now.topics[topic].partitions
            self._stage.read_twice |= {
                (topic, number)
                for number in numbers
                if sum(reader.fetches for reader in partitions[number].readers.values()) > 1
            }
        name = _name(entry.actor)
        if entry.actor in before.members and entry.actor not in now.members and name not in self._bounced:
            self._stage.stopped[name] = self._stage.stopped.get(name, 0) + 1

    def _answered(self, entry: Entry) -> None:
        payload = entry.payload
        body: ErrorBody | None = payload.get("body")
        code = body.get("errorCode", 0) if body is not None else 0
        if body is None or code in HARMLESS or not payload.get("to"):
            return
        member = _name(payload["to"])
        if any((each["member"], each["code"]) == (member, code) for each in self._stage.refusals):
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
