"""An application with a consumer in it, whose answers and callbacks are given by hand."""

from __future__ import annotations

from typing import Any

from simulations.protocol.client.consumer import (
    Consumer,
    ConsumerConfig,
    Failure,
    FindCoordinator,
    FindCoordinatorAnswer,
    Request,
)
from simulations.protocol.client.consumer.states import MemberState
from simulations.protocol.messages.groups import CommitAnswer, Heartbeat, HeartbeatAnswer, OffsetCommit
from simulations.protocol.messages.offsets import OffsetFetch
from tests.simulations.broker import FOO
from tests.simulations.driven_client import DrivenClient

INTERVAL_MS = 1_000


class Application(DrivenClient[Consumer]):
    """A consumer whose answers and callbacks are given by hand; ``sent`` are its requests, in words."""

    def __init__(self, **settings: Any) -> None:
        defaults = {"rebalance_timeout_ms": 4_000, "callback_ms": 10, "jitter": lambda draw: 0.5, **settings}
        config = ConsumerConfig(
            group_id="orders", member_id="A", client_id="a", client_host="/10.0.0.1", **defaults
        )
        super().__init__(Consumer(config), told)

    def joins(self, names: tuple[str, ...] = ("foo",), **subscription: Any) -> None:
        self.does(self.consumer.join(names, self.now_ms, **subscription))

    def fails(self, kind: type[Request] = Heartbeat, failure: Failure = Failure.DISCONNECTED) -> None:
        super().fails(kind, failure)

    def found(self, code: int = 0) -> None:
        told = FindCoordinatorAnswer(error_code=code, node_id=2)
        self.does(self.consumer.receive(self.last(FindCoordinator), told, self.now_ms))

    def committed(self, code: int = 0) -> None:
        request = self.last(OffsetCommit)
        codes = tuple((offset.topic_id, offset.partition, code) for offset in request.offsets)
        self.does(self.consumer.receive(request, CommitAnswer(error_codes=codes), self.now_ms))

    def answered(self, epoch: int, *assigned: int, tells: bool = True, code: int = 0) -> None:
        request = self.last(Heartbeat)
        told = answer(epoch, *assigned, tells=tells, code=code)
        self.does(self.consumer.receive(request, told, self.now_ms))

    def quiet(self, epoch: int) -> None:
        self.answered(epoch, tells=False)

    def stable_with(self, *assigned: int) -> None:
        self.joins()
        self.answered(2, *assigned)
        self.called()
        self.quiet(2)
        assert self.consumer.state is MemberState.STABLE


def answer(epoch: int, *assigned: int, tells: bool = True, code: int = 0) -> HeartbeatAnswer:
    partitions = {FOO: assigned} if assigned else {}
    return HeartbeatAnswer(
        error_code=code,
        member_epoch=epoch,
        heartbeat_interval_ms=INTERVAL_MS,
        assigned=partitions if tells else None,
    )


def told(request: Request) -> str:
    """``0 names timeout own=[]``: the epoch, and which fields it tells."""
    if isinstance(request, OffsetCommit):
        return f"commit {request.member_epoch}"
    if isinstance(request, OffsetFetch):
        return f"fetch {request.member_epoch}"
    if isinstance(request, FindCoordinator):
        return "find"
    words = [str(request.member_epoch)]
    if request.subscribed_topic_names is not None:
        words.append(f"names={','.join(request.subscribed_topic_names)}")
    if request.subscribed_topic_regex is not None:
        words.append(f"regex={request.subscribed_topic_regex}")
    if request.rack_id is not None:
        words.append("rack")
    if request.rebalance_timeout_ms != -1:
        words.append("timeout")
    if request.owned is not None:
        words.append(f"own={[n for numbers in request.owned.values() for n in numbers]}")
    return " ".join(words)
