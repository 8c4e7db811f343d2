"""An application with a consumer of the classic protocol in it, whose answers and callbacks are given by hand."""

from __future__ import annotations

from typing import Any, Final

from groups.wire.embedded.consumer_protocol import decode_assignment, encode_assignment, encode_subscription
from simulations.protocol.assignors.interface import Topic
from simulations.protocol.client.classic import ClassicConfig, ClassicConsumer
from simulations.protocol.client.consumer.requests import Request
from simulations.protocol.messages.classic_requests import (
    ClassicHeartbeat,
    ClassicHeartbeatAnswer,
    JoinAnswer,
    JoinedMember,
    JoinGroup,
    LeaveAnswer,
    LeaveGroup,
    SyncAnswer,
    SyncGroup,
)
from simulations.protocol.messages.groups import CommitAnswer, CommittedOffset, OffsetCommit, Partitions
from tests.simulations.driven_client import DrivenClient

INTERVAL_MS: Final = 3_000
SESSION_MS: Final = 10_000
BACK_OFF_MS: Final = 100


class ClassicApplication(DrivenClient[ClassicConsumer]):
    """``topics`` is what brokers tell when metadata are fetched."""

    def __init__(self, **settings: Any) -> None:
        self.topics = {"foo": Topic(partitions=6), "bar": Topic(partitions=2)}
        defaults = {
            "assignors": ("range",),
            "session_timeout_ms": SESSION_MS,
            "heartbeat_interval_ms": INTERVAL_MS,
            "callback_ms": 10,
            "retry_back_off_ms": BACK_OFF_MS,
            **settings,
        }
        config = ClassicConfig(
            group_id="orders",
            member_id="A",
            client_id="a",
            client_host="/10.0.0.1",
            metadata=lambda: dict(self.topics),
            **defaults,
        )
        super().__init__(ClassicConsumer(config), told)

    def joins(self, *names: str) -> None:
        self.does(self.consumer.join(names or ("foo",), self.now_ms))

    def joined(self, generation: int, code: int = 0, **fields: Any) -> None:
        """The answer to its JoinGroup: of a follower, unless ``leader`` and ``members`` say otherwise."""
        answer = JoinAnswer(
            **{
                "error_code": code,
                "generation": generation,
                "protocol_type": "consumer",
                "protocol_name": self.consumer.config.assignors[0],
                "leader": "L",
                "member_id": "A",
                **fields,
            }
        )
        self.does(self.consumer.receive(self.last(JoinGroup), answer, self.now_ms))

    def leads(self, generation: int, *names: str) -> None:
        """The answer that makes it the leader of itself alone, subscribed to these topics."""
        subscription = {
            "version": 1,
            "topics": list(names or ("foo",)),
            "userData": None,
            "ownedPartitions": [],
        }
        itself = JoinedMember(member_id="A", instance_id=None, metadata=encode_subscription(subscription))
        self.joined(generation, leader="A", members=(itself,))

    def synced(self, *partitions: int, code: int = 0, topic: str = "foo") -> None:
        given = [{"topic": topic, "partitions": list(partitions)}] if partitions else []
        data = encode_assignment({"version": 1, "assignedPartitions": given, "userData": None})
        answer = SyncAnswer(error_code=code, assignment=b"" if code else data)
        self.does(self.consumer.receive(self.last(SyncGroup), answer, self.now_ms))

    def beaten(self, code: int = 0) -> None:
        answer = ClassicHeartbeatAnswer(error_code=code)
        self.does(self.consumer.receive(self.last(ClassicHeartbeat), answer, self.now_ms))

    def committed(self, code: int = 0) -> None:
        request = self.last(OffsetCommit)
        codes = tuple((offset.topic, offset.partition, code) for offset in request.offsets)
        self.does(self.consumer.receive(request, CommitAnswer(error_codes=codes), self.now_ms))

    def left(self) -> None:
        self.does(self.consumer.receive(self.last(LeaveGroup), LeaveAnswer(), self.now_ms))

    def waits_until(self, at_ms: int) -> None:
        """Every alarm up to this time; ``sent``, ``calls`` and ``returned`` are of all of them."""
        sent, calls, returned = [], [], []
        while self.alarm is not None and self.alarm <= at_ms:
            self.waits()
            sent += self.sent
            calls += self.calls
            returned += self.returned
        self.now_ms, self.sent, self.calls, self.returned = at_ms, sent, calls, returned

    def stable_with(self, *partitions: int, generation: int = 1) -> None:
        """A member that has joined, and was assigned these."""
        self.joins()
        while not self.sent:
            self.called()
        self.joined(generation)
        self.synced(*partitions)
        self.called()


def positions(owned: Partitions, now_ms: int) -> tuple[CommittedOffset, ...]:
    """Everything that is owned was consumed up to 7."""
    return tuple(
        CommittedOffset(topic=topic, topic_id="", partition=number, offset=7)
        for topic, numbers in owned.items()
        for number in numbers
    )


def told(request: Request) -> str:
    """``join A: reason``, ``sync 2 {A: [0, 1]}``, ``beat 2``, ``commit 2``, ``leave A: reason``."""
    match request:
        case JoinGroup(member_id=member_id, reason=reason):
            return f"join {member_id or '-'}: {reason}"
        case SyncGroup(generation=generation, assignments=assignments):
            words = [f"{member_id}: {_given(data)}" for member_id, data in assignments]
            return " ".join([f"sync {generation}", *([f"{{{', '.join(words)}}}"] if words else [])])
        case ClassicHeartbeat(generation=generation):
            return f"beat {generation}"
        case LeaveGroup(members=(member,)):
            return f"leave {member.member_id}: {member.reason}"
        case OffsetCommit(member_epoch=generation):
            return f"commit {generation}"
    raise AssertionError(request)


def _given(data: bytes) -> list[int]:
    return [
        number for topic in decode_assignment(data)["assignedPartitions"] for number in topic["partitions"]
    ]
