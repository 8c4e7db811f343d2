"""A scripted exchange with one group's coordinator, which runs by either rules: what a difference is shown with.

Members are not clients here: each reports the epoch that it was sent last, everything at epoch 0, and owns what the
script has, or what it was sent last. Time moves by ``after_ms`` before each operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Protocol, TypedDict, Unpack, cast

from groups.history.entries import Entry, Kind, Provenance
from groups.history.frames.frame import FrameMaker
from groups.history.frames.shapes import Frame
from groups.history.payloads.consumer import AssignmentBody, CommitAnswerTopic
from groups.history.replay.fold import replay
from groups.history.state.group import Semantics, State
from simulations.protocol.assignors.client_side import Offer
from simulations.protocol.coordinator.consumer.outcome import Outcome, Record
from simulations.protocol.coordinator.describing import DescribedGroup, DescribedMember
from simulations.protocol.coordinator.image import Image, ImageTopic
from simulations.protocol.coordinator.settings import Settings
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.coordinator.timers import ASSIGNMENT, TimerStart
from simulations.protocol.messages.client_mode import PrepareAnswer, PrepareAssignment
from simulations.protocol.messages.groups import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    CommitAnswer,
    CommittedOffset,
    Heartbeat,
    HeartbeatAnswer,
    OffsetCommit,
    Partitions,
)

GROUP: Final = "orders"
START_MS: Final = 1_000_000
HEARTBEAT_MS: Final = 5_000
"""Between two operations unless one differs: longer than the release's assignment interval."""

TOPIC_IDS: Final = {
    "foo": "AAAAAAAAAAAAAAAAAAAAAQ",
    "bar": "AAAAAAAAAAAAAAAAAAAAAg",
    "baz": "AAAAAAAAAAAAAAAAAAAAAw",
}

AS_ASSIGNED: Final = "as told"
"""What a member reports to own: what the last answer with an assignment contained."""


class Answer(TypedDict, total=False):
    """The body of any answer."""

    errorCode: int
    memberId: str | None
    memberEpoch: int
    assignment: AssignmentBody | None
    shouldComputeAssignment: bool
    topics: list[CommitAnswerTopic]
    assignorName: str
    members: list[DescribedMember]


class TimerSeen(TypedDict):
    """``length_ms`` is ``None`` where a timer is cancelled."""

    timer: str
    member: str | None
    length_ms: int | None


class MemberSeen(TypedDict):
    """How many partitions a member has."""

    epoch: int
    assigned: int
    pending_revocation: int


class GroupSeen(TypedDict):
    """``target``: how many partitions each member is to have."""

    group_epoch: int
    assignment_epoch: int
    members: dict[str, MemberSeen]
    target: dict[str, int]


class Step(TypedDict):
    """An operation, in words, and what came of it."""

    operation: str
    answer: Answer | None
    records: list[Record]
    timers: list[TimerSeen]
    group: GroupSeen


class HeartbeatFields(TypedDict, total=False):
    """What a heartbeat may report besides its epoch and what its member owns."""

    instance_id: str
    rebalance_timeout_ms: int
    subscribed_topic_names: tuple[str, ...] | None
    subscribed_topic_regex: str
    server_assignor: str
    client_assignors: tuple[Offer, ...]


class JoinFields(HeartbeatFields, total=False):
    owned: Partitions | None


class Answered(Protocol):
    """What a coordinator answers with."""

    def body(self) -> Mapping[str, object]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """``act`` does it; ``fields`` are those of its request, or its arguments, as the table shows them."""

    verb: str
    act: Callable[[Exchange], Outcome[Answered | None]]
    who: str = ""
    after_ms: int = HEARTBEAT_MS
    fields: Mapping[str, object] = field(default_factory=dict)

    @property
    def text(self) -> str:
        known = ", ".join(f"{name} {_shown(value)}" for name, value in self.fields.items())
        return " ".join(part for part in (self.who, self.verb, f"({known})" if known else "") if part)


def _shown(value: object) -> str:
    """A field's value in words: lists in brackets, an assignor with the versions that it reads, topics by their names."""
    if value is None:
        return "null"
    if isinstance(value, Offer):
        reason = f", reason {value.reason}" if value.reason else ""
        return f"{value.name} (versions {value.minimum_version} to {value.maximum_version}{reason})"
    if isinstance(value, Mapping):
        names = {topic_id: name for name, topic_id in TOPIC_IDS.items()}
        return "{" + ", ".join(f"{names.get(key, key)}: {_shown(each)}" for key, each in value.items()) + "}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_shown, value))}]"
    return str(value)


def join(who: str, *, after_ms: int = HEARTBEAT_MS, **fields: Unpack[JoinFields]) -> Operation:
    known: JoinFields = {
        "subscribed_topic_names": ("foo",),
        "rebalance_timeout_ms": 300_000,
        "owned": {},
        **fields,
    }
    request = Heartbeat(group_id=GROUP, member_id=who, member_epoch=JOIN_EPOCH, client_id=who, **known)

    def act(exchange: Exchange) -> Outcome[HeartbeatAnswer]:
        exchange.joined[who] = request
        return exchange.heartbeat(request)

    return Operation(verb="joins", act=act, who=who, after_ms=after_ms, fields=fields)


def beat(
    who: str,
    *,
    epoch: int | None = None,
    owned: Partitions | str | None = None,
    **fields: Unpack[HeartbeatFields],
) -> Operation:
    """``epoch``: in the place of its own; with 0 the member reports everything that it joined with."""

    def act(exchange: Exchange) -> Outcome[HeartbeatAnswer]:
        at = exchange.epochs.get(who, JOIN_EPOCH) if epoch is None else epoch
        if at == JOIN_EPOCH:
            request = exchange.joined[who]
        else:
            request = Heartbeat(group_id=GROUP, member_id=who, member_epoch=at, client_id=who)
        if owned is not None:
            has = exchange.assigned.get(who, {}) if isinstance(owned, str) else owned
            request = replace(request, owned=has)
        return exchange.heartbeat(replace(request, **fields))

    known: dict[str, object] = {"epoch": epoch, "owned": owned}
    shown = {name: value for name, value in known.items() if value is not None}
    return Operation(verb="heartbeats", act=act, who=who, fields={**shown, **fields})


def leave(who: str) -> Operation:
    request = Heartbeat(group_id=GROUP, member_id=who, member_epoch=LEAVE_EPOCH, client_id=who)
    return Operation(verb="leaves", act=lambda exchange: exchange.heartbeat(request), who=who)


def static_leave(who: str, instance_id: str) -> Operation:
    request = Heartbeat(
        group_id=GROUP,
        member_id=who,
        member_epoch=STATIC_LEAVE_EPOCH,
        client_id=who,
        instance_id=instance_id,
    )
    return Operation(
        verb="leaves for now",
        act=lambda exchange: exchange.heartbeat(request),
        who=who,
        fields={"instance_id": instance_id},
    )


def commit(who: str, partition: int, *, behind: int = 0) -> Operation:
    """``behind``: how many epochs older than its own the member claims to be."""
    offset = CommittedOffset(topic="foo", topic_id=TOPIC_IDS["foo"], partition=partition, offset=5)

    def act(exchange: Exchange) -> Outcome[CommitAnswer]:
        epoch = exchange.epochs[who] - behind
        request = OffsetCommit(group_id=GROUP, member_id=who, member_epoch=epoch, offsets=(offset,))
        return exchange.shard.commit(request, exchange.now_ms)

    return Operation(verb="commits", act=act, who=who, fields={"partition": partition, "behind": behind})


def prepare(who: str) -> Operation:
    def act(exchange: Exchange) -> Outcome[PrepareAnswer]:
        epoch = exchange.epochs.get(who, JOIN_EPOCH)
        request = PrepareAssignment(group_id=GROUP, member_id=who, member_epoch=epoch)
        return exchange.shard.prepare(request, exchange.now_ms)

    return Operation(verb="prepares", act=act, who=who)


@dataclass(frozen=True, slots=True)
class _Described:
    group: DescribedGroup

    def body(self) -> Mapping[str, object]:
        return self.group


def described() -> Operation:
    return Operation(
        verb="the group is described",
        act=lambda exchange: Outcome(answer=_Described(exchange.shard.describe())),
    )


def target() -> Operation:
    """The time of a computation in the coordinator's own event loop is over; the release has none."""
    return Operation(
        verb="the target is due",
        act=lambda exchange: exchange.shard.expired(ASSIGNMENT, None, None, exchange.now_ms),
        after_ms=100,
    )


def topic(name: str, partitions: int, *, racks: tuple[tuple[str, ...], ...] = ()) -> Operation:
    """``racks``: partition → the racks of its replicas."""

    def act(exchange: Exchange) -> Outcome[None]:
        grown = ImageTopic(name=name, topic_id=TOPIC_IDS[name], partitions=partitions, racks=racks)
        shard = exchange.shard
        return shard.image_changed(shard.image.with_topic(grown), (name,), exchange.now_ms)

    shown: dict[str, object] = {"racks": racks} if racks else {}
    return Operation(verb="has partitions", act=act, who=name, fields={"partitions": partitions, **shown})


def fail_over(**grown: int) -> Operation:
    """Another coordinator loads the records; ``grown`` are topics with another number of partitions by then."""

    def act(exchange: Exchange) -> Outcome[None]:
        old = exchange.shard
        image = old.image
        for name, partitions in grown.items():
            image = image.with_partitions(name, partitions)
        exchange.shard = Shard(GROUP, old.semantics, old.settings, image)
        exchange.shard.load(exchange.log)
        return exchange.shard.loaded(exchange.now_ms)

    return Operation(verb="another coordinator loads the group", act=act, fields=grown)


def lowered() -> Operation:
    """``group.version`` is lowered to 0."""
    return Operation(
        verb="brokers stop to serve the consumer protocol",
        act=lambda exchange: exchange.shard.no_longer_served(exchange.now_ms),
    )


SETTLE: Final = (target(), beat("A"))
"""The target is computed and A moves to it, if it has not yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """``look`` takes from the steps what is compared; ``kip`` and ``kafka`` are what is found, as JSON values."""

    operations: tuple[Operation, ...]
    look: Callable[[list[Step]], object]
    looks_at: str
    kip: object
    kafka: object
    settings: Settings = field(default_factory=Settings)


def play(case: Case, semantics: Semantics) -> list[Step]:
    """The case by one set of rules, a step for each operation."""
    exchange = Exchange(semantics, case.settings)
    return [exchange.step(operation) for operation in case.operations]


def frames(case: Case, semantics: Semantics) -> list[Frame]:
    """The board after each operation."""
    exchange, maker = Exchange(semantics, case.settings), FrameMaker()
    found: list[Frame] = []
    for operation in case.operations:
        exchange.step(operation)
        found.append(maker.frame(exchange.state_with_names()))
    return found


class Exchange:
    """A coordinator, and what members were sent; ``joined`` has what each joined with."""

    def __init__(self, semantics: Semantics, settings: Settings) -> None:
        topics = {
            name: ImageTopic(name=name, topic_id=TOPIC_IDS[name], partitions=count)
            for name, count in (("foo", 3), ("bar", 2))
        }
        self.shard = Shard(GROUP, semantics, settings, Image(topics=topics, version=1))
        self.now_ms = START_MS
        self.epochs: dict[str, int] = {}
        self.assigned: dict[str, Partitions] = {}
        self.joined: dict[str, Heartbeat] = {}
        self.log: list[Record] = []

    def heartbeat(self, request: Heartbeat) -> Outcome[HeartbeatAnswer]:
        """Sends it, and remembers what is answered."""
        outcome = self.shard.heartbeat(request, self.now_ms)
        answer = outcome.answer
        if not answer.error_code:
            self.epochs[request.member_id] = answer.member_epoch
        if answer.assigned is not None:
            self.assigned[request.member_id] = answer.assigned
        return outcome

    def state_with_names(self) -> State:
        """The coordinator's state, with its topics as a run's notes name them: not all records do."""
        state = self.shard.state
        topics = {
            name: {"id": topic.topic_id, "partitions": topic.partitions}
            for name, topic in self.shard.image.topics.items()
        }
        note = Entry(
            sequence=state.sequence + 1,
            at_ms=self.now_ms,
            kind=Kind.NOTE,
            actor="coordinator",
            provenance=Provenance.SIMULATED,
            payload={"note": "topics", "topics": topics, "source": "scenario"},
        )
        return replay(state, note)

    def step(self, operation: Operation) -> Step:
        self.now_ms += operation.after_ms
        outcome = operation.act(self)
        self.log += outcome.records
        group = self.shard.state.consumer
        return {
            "operation": operation.text,
            # Of whichever API: what one has not is absent, as ``Answer`` has it.
            "answer": cast(Answer, outcome.answer.body()) if outcome.answer is not None else None,
            "records": list(outcome.records),
            "timers": [
                {
                    "timer": command.timer,
                    "member": command.member_id,
                    "length_ms": command.length_ms if isinstance(command, TimerStart) else None,
                }
                for command in outcome.timers
            ],
            "group": {
                "group_epoch": group.group_epoch,
                "assignment_epoch": group.assignment_epoch,
                "members": {
                    member_id: {
                        "epoch": member.epoch,
                        "assigned": sum(map(len, member.assigned.values())),
                        "pending_revocation": sum(map(len, member.pending_revocation.values())),
                    }
                    for member_id, member in group.members.items()
                },
                "target": {
                    member_id: sum(map(len, owned.values())) for member_id, owned in group.target.items()
                },
            },
        }


def answer(step: Step) -> Answer:
    """The answer to a step that has one."""
    assert step["answer"] is not None
    return step["answer"]


def types(step: Step) -> list[int]:
    """The types of a step's records, in their order."""
    return [record["type"] for record in step["records"]]


def error(step: Step) -> int:
    return answer(step)["errorCode"]


def started(step: Step) -> list[str]:
    """The timers that a step starts, each with its member."""
    return [
        f"{timer['timer']} {timer['member'] or ''}".strip()
        for timer in step["timers"]
        if timer["length_ms"] is not None
    ]


def cancelled(step: Step) -> list[str]:
    """The timers that a step cancels, each with its member."""
    return [f"{timer['timer']} {timer['member']}" for timer in step["timers"] if timer["length_ms"] is None]
