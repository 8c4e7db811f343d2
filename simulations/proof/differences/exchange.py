"""A scripted exchange with one group's coordinator, which runs by either rules: what a difference is shown with.

Members are not clients here: each tells the epoch that it was told last, everything at epoch 0, and owns what the
script says, or what it was told last. Time moves by ``after_ms`` before each operation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from groups.history.state.group import Semantics
from simulations.protocol.coordinator.consumer.outcome import ASSIGNMENT, Outcome, Record, TimerStart
from simulations.protocol.coordinator.image import Image, ImageTopic
from simulations.protocol.coordinator.settings import Settings
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.messages.client_mode import PrepareAssignment
from simulations.protocol.messages.groups import (
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    CommittedOffset,
    Heartbeat,
    HeartbeatAnswer,
    OffsetCommit,
    Partitions,
)

GROUP: Final = "orders"
START_MS: Final = 1_000_000
HEARTBEAT_MS: Final = 5_000
"""Between two operations unless one says otherwise: longer than the release's assignment interval."""

TOPIC_IDS: Final = {
    "foo": "AAAAAAAAAAAAAAAAAAAAAQ",
    "bar": "AAAAAAAAAAAAAAAAAAAAAg",
    "baz": "AAAAAAAAAAAAAAAAAAAAAw",
}

AS_TOLD: Final = "as told"
"""What a member says that it owns: what the last answer with an assignment told it."""

Step = dict[str, Any]
"""``operation``, ``answer`` (a response's body or ``None``), ``records``, ``timers``, ``group``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """``verb`` is one of ``VERBS``; ``fields`` are those of its request, or its arguments."""

    verb: str
    who: str = ""
    after_ms: int = HEARTBEAT_MS
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def says(self) -> str:
        told = ", ".join(f"{name} {value}" for name, value in self.fields.items())
        return " ".join(part for part in (self.who, self.verb, f"({told})" if told else "") if part)


def join(who: str, *, after_ms: int = HEARTBEAT_MS, **fields: Any) -> Operation:
    return Operation(verb="joins", who=who, after_ms=after_ms, fields=fields)


def beat(who: str, **fields: Any) -> Operation:
    return Operation(verb="heartbeats", who=who, fields=fields)


def leave(who: str) -> Operation:
    return Operation(verb="leaves", who=who)


def static_leave(who: str, instance_id: str) -> Operation:
    return Operation(verb="leaves for now", who=who, fields={"instance_id": instance_id})


def commit(who: str, partition: int, *, behind: int = 0) -> Operation:
    """``behind``: how many epochs older than its own the member says that it is."""
    return Operation(verb="commits", who=who, fields={"partition": partition, "behind": behind})


def prepare(who: str) -> Operation:
    return Operation(verb="prepares", who=who)


def target() -> Operation:
    """The time of a computation in the coordinator's own event loop is over; the release has none."""
    return Operation(verb="the target is due", after_ms=100)


def topic(name: str, partitions: int, **racks: Any) -> Operation:
    """``racks``: partition → the racks of its replicas, under ``racks``."""
    return Operation(verb="has partitions", who=name, fields={"partitions": partitions, **racks})


def fail_over(**grown: int) -> Operation:
    """Another coordinator loads the records; ``grown`` are topics with another number of partitions by then."""
    return Operation(verb="another coordinator loads the group", fields=grown)


SETTLE: Final = (target(), beat("A"))
"""The target is computed and A moves to it, if it has not yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """``look`` takes from the steps what is told apart; ``kip`` and ``kafka`` are what is found, as JSON values."""

    operations: tuple[Operation, ...]
    look: Callable[[list[Step]], Any]
    looks_at: str
    kip: Any
    kafka: Any
    settings: Mapping[str, Any] = field(default_factory=dict)


def play(case: Case, semantics: Semantics) -> list[Step]:
    """The case by one set of rules, a step for each operation."""
    exchange = _Exchange(semantics, Settings(**case.settings))
    return [exchange.step(operation) for operation in case.operations]


class _Exchange:
    def __init__(self, semantics: Semantics, settings: Settings) -> None:
        topics = {
            name: ImageTopic(name=name, topic_id=TOPIC_IDS[name], partitions=count)
            for name, count in (("foo", 3), ("bar", 2))
        }
        self.shard = Shard(GROUP, semantics, settings, Image(topics=topics, version=1))
        self.now_ms = START_MS
        self._epochs: dict[str, int] = {}
        self._told: dict[str, Partitions] = {}
        self._joined: dict[str, Mapping[str, Any]] = {}
        self._log: list[Record] = []

    def step(self, operation: Operation) -> Step:
        self.now_ms += operation.after_ms
        outcome = VERBS[operation.verb](self, operation)
        self._log += outcome.records
        group = self.shard.state.consumer
        return {
            "operation": operation.says,
            "answer": outcome.answer.body() if outcome.answer is not None else None,
            "records": [dict(record) for record in outcome.records],
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

    def _join(self, operation: Operation) -> Outcome[Any]:
        fields = {
            "subscribed_topic_names": ("foo",),
            "rebalance_timeout_ms": 300_000,
            "owned": {},
            **operation.fields,
        }
        self._joined[operation.who] = fields
        return self._heartbeat(operation.who, 0, fields)

    def _beat(self, operation: Operation) -> Outcome[Any]:
        told = dict(operation.fields)
        epoch = told.pop("epoch", self._epochs.get(operation.who, 0))
        if told.get("owned") == AS_TOLD:
            told["owned"] = self._told.get(operation.who, {})
        if epoch == 0:
            told = {**self._joined[operation.who], **told}
        return self._heartbeat(operation.who, epoch, told)

    def _leave(self, operation: Operation) -> Outcome[Any]:
        return self._heartbeat(operation.who, LEAVE_EPOCH, operation.fields)

    def _static_leave(self, operation: Operation) -> Outcome[Any]:
        return self._heartbeat(operation.who, STATIC_LEAVE_EPOCH, operation.fields)

    def _heartbeat(self, who: str, epoch: int, told: Mapping[str, Any]) -> Outcome[HeartbeatAnswer]:
        fields = {"group_id": GROUP, "member_id": who, "member_epoch": epoch, "client_id": who, **told}
        outcome = self.shard.heartbeat(Heartbeat(**fields), self.now_ms)
        answer = outcome.answer
        if not answer.error_code:
            self._epochs[who] = answer.member_epoch
        if answer.assigned is not None:
            self._told[who] = answer.assigned
        return outcome

    def _commit(self, operation: Operation) -> Outcome[Any]:
        epoch = self._epochs[operation.who] - operation.fields["behind"]
        partition = operation.fields["partition"]
        offset = CommittedOffset(topic="foo", topic_id=TOPIC_IDS["foo"], partition=partition, offset=5)
        request = OffsetCommit(group_id=GROUP, member_id=operation.who, member_epoch=epoch, offsets=(offset,))
        return self.shard.commit(request, self.now_ms)

    def _prepare(self, operation: Operation) -> Outcome[Any]:
        epoch = self._epochs.get(operation.who, 0)
        request = PrepareAssignment(group_id=GROUP, member_id=operation.who, member_epoch=epoch)
        return self.shard.prepare(request, self.now_ms)

    def _target(self, _operation: Operation) -> Outcome[Any]:
        return self.shard.expired(ASSIGNMENT, None, None, self.now_ms)

    def _topic(self, operation: Operation) -> Outcome[Any]:
        name, partitions = operation.who, operation.fields["partitions"]
        racks = operation.fields.get("racks", ())
        grown = ImageTopic(name=name, topic_id=TOPIC_IDS[name], partitions=partitions, racks=racks)
        return self.shard.image_changed(self.shard.image.with_topic(grown), (name,), self.now_ms)

    def _fail_over(self, operation: Operation) -> Outcome[Any]:
        image = self.shard.image
        for name, partitions in operation.fields.items():
            image = image.with_partitions(name, partitions)
        self.shard = Shard(GROUP, self.shard.semantics, self.shard.settings, image)
        self.shard.load(self._log)
        return self.shard.loaded(self.now_ms)


VERBS: Final[Mapping[str, Callable[[_Exchange, Operation], Outcome[Any]]]] = {
    "joins": _Exchange._join,
    "heartbeats": _Exchange._beat,
    "leaves": _Exchange._leave,
    "leaves for now": _Exchange._static_leave,
    "commits": _Exchange._commit,
    "prepares": _Exchange._prepare,
    "the target is due": _Exchange._target,
    "has partitions": _Exchange._topic,
    "another coordinator loads the group": _Exchange._fail_over,
}


def types(step: Step) -> list[int]:
    """The types of a step's records, in their order."""
    return [record["type"] for record in step["records"]]


def error(step: Step) -> int:
    code: int = step["answer"]["errorCode"]
    return code


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
