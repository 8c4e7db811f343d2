"""Consumers that bring their own assignors, with the proposal's coordinator, over lines that lose nothing or a lot."""

from __future__ import annotations

from random import Random

import pytest

from groups.history.entries import Kind
from groups.history.replay.fold import replay
from groups.history.state.group import initial_state
from simulations.protocol.assignors.client_side import (
    CLIENT_ASSIGNORS,
    ClientAnswer,
    ClientAssignor,
    ClientGroup,
    MemberAnswer,
)
from simulations.protocol.client.consumer import ConsumerConfig
from simulations.protocol.client.consumer.computing import ComputingConsumer
from simulations.protocol.client.consumer.effects import Alarm, Call, Effect, Send
from simulations.protocol.client.consumer.requests import Request
from simulations.protocol.coordinator.timers import ASSIGNMENT, COMPUTE, TimerStart
from simulations.protocol.messages.client_mode import InstallAssignment, PrepareAssignment
from simulations.protocol.messages.groups import Heartbeat, HeartbeatAnswer
from simulations.world import studies
from simulations.world.engine import actions as acting
from simulations.world.engine import run
from tests.simulations.broker import FOO, GROUP, Broker

STEP_MS = 500


class World:
    """Requests are answered at once, or lost with a likelihood; time goes in steps, and alarms ring at them."""

    def __init__(self, *, loss: float = 0.0, seed: int = 1) -> None:
        self.broker = Broker("kip")
        self.consumers: dict[str, ComputingConsumer] = {}
        self.alarms: dict[str, int | None] = {}
        self.due: dict[tuple[str, str | None], int] = {}
        self.sent: list[Request] = []
        self.loss = loss
        self.chance = Random(seed)

    def join(self, name: str, *assignors: str) -> None:
        config = ConsumerConfig(
            group_id=GROUP,
            member_id=name,
            client_id=name,
            client_host="/127.0.0.1",
            rebalance_timeout_ms=20_000,
            calls_for_nothing=False,
        )
        made = tuple(CLIENT_ASSIGNORS[assignor]() for assignor in assignors)
        consumer = self.consumers[name] = ComputingConsumer(config, made)
        self.do(name, consumer.join(("foo",), self.broker.now_ms))

    def do(self, name: str, effects: list[Effect]) -> None:
        """In order; what is sent arrives after all that was wanted with it."""
        consumer, now_ms = self.consumers[name], self.broker.now_ms
        for effect in sorted(effects, key=lambda effect: not isinstance(effect, Alarm)):
            if isinstance(effect, Alarm):
                self.alarms[name] = effect.at_ms
            elif isinstance(effect, Call):
                self.do(name, consumer.called(now_ms))
            elif isinstance(effect, Send) and self.chance.random() >= self.loss:
                self.answer(name, effect.request)

    def answer(self, name: str, request: Request) -> None:
        shard, now_ms = self.broker.shard, self.broker.now_ms
        self.sent.append(request)
        outcome = (
            shard.heartbeat(request, now_ms)
            if isinstance(request, Heartbeat)
            else shard.prepare(request, now_ms)
            if isinstance(request, PrepareAssignment)
            else shard.install(request, now_ms)
            if isinstance(request, InstallAssignment)
            else None
        )
        assert outcome is not None
        self.timers(outcome.timers)
        self.do(name, self.consumers[name].receive(request, outcome.answer, now_ms))

    def timers(self, commands: tuple[object, ...]) -> None:
        for command in commands:
            if isinstance(command, TimerStart) and command.timer in (ASSIGNMENT, COMPUTE):
                self.due[command.timer, command.member_id] = self.broker.now_ms + command.length_ms

    def run(self, seconds: int) -> None:
        until_ms = self.broker.now_ms + seconds * 1000
        while self.broker.now_ms < until_ms:
            self.broker.now_ms += STEP_MS
            now_ms = self.broker.now_ms
            for (timer, member), at_ms in sorted(self.due.items(), key=str):
                if at_ms <= now_ms:
                    del self.due[timer, member]
                    self.timers(self.broker.shard.expired(timer, member, None, now_ms).timers)
            for name, consumer in self.consumers.items():
                alarm_ms = self.alarms.get(name)
                if alarm_ms is not None and alarm_ms <= now_ms:
                    self.do(name, consumer.ring(now_ms))


def owned(world: World) -> list[int]:
    return sorted(p for consumer in world.consumers.values() for p in consumer.owned.get(FOO, ()))


def test_consumers_share_what_the_assignor_of_one_of_them_says() -> None:
    world = World()
    for name in ("a", "b", "c"):
        world.join(name, "sticky", "range")
        world.run(30)
        group = world.broker.group
        assert owned(world) == [0, 1, 2]
        assert group.assignment_epoch == group.group_epoch
    assert all(len(consumer.owned[FOO]) == 1 for consumer in world.consumers.values())
    assert any(isinstance(request, InstallAssignment) for request in world.sent)


def test_a_consumer_tells_its_assignors_when_it_joins_and_not_with_each_heartbeat() -> None:
    world = World()
    world.join("a", "sticky")
    world.run(60)
    beats = [request for request in world.sent if isinstance(request, Heartbeat)]
    assert beats[0].client_assignors is not None
    assert beats[-1].client_assignors is None


@pytest.mark.parametrize("seed", range(8))
def test_what_is_lost_is_asked_again_until_all_is_shared(seed: int) -> None:
    world = World(loss=0.3, seed=seed)
    for name in ("a", "b"):
        world.join(name, "sticky")
    world.run(120)
    world.loss = 0.0
    world.run(60)
    assert owned(world) == [0, 1, 2]
    assert world.broker.group.assignment_epoch == world.broker.group.group_epoch


def test_a_copy_goes_on_like_the_first_and_is_told_alike() -> None:
    world = World()
    world.join("a", "sticky")
    first = world.consumers["a"]
    twin = first.copy()
    assert twin.canonical(int) == first.canonical(int)
    world.run(30)
    assert twin.canonical(int) != first.canonical(int)


def test_a_whole_run_with_such_consumers_comes_to_rest_and_breaks_no_invariant(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        acting,
        "consumer_of",
        lambda config, *_: ComputingConsumer(config, (CLIENT_ASSIGNORS["sticky"](),)),
    )
    entries = list(run(studies.load("kip848-basic"), "kip", 1))
    asked = {entry.payload["api"] for entry in entries if entry.kind is Kind.REQUEST}
    assert {"ConsumerGroupPrepareAssignment", "ConsumerGroupInstallAssignment"} <= asked
    broken = [
        entry for entry in entries if entry.kind is Kind.FAULT and entry.payload["fault"] == "invariant"
    ]
    assert broken == []
    state = initial_state(studies.load("kip848-basic").group, "kip")
    for entry in entries:
        state = replay(state, entry)
    members = state.consumer.members.values()
    assert sorted(sum(map(len, member.assigned.values())) for member in members) == [1, 1, 1]


class Noting(ClientAssignor):
    """Assigns nothing, and notes what it is told."""

    name = "noting"

    def __init__(self) -> None:
        self.told: list[tuple[int, dict[str, tuple[int, ...]]]] = []

    def assign(self, group: ClientGroup) -> ClientAnswer:
        raise AssertionError("nobody asks")

    def on_assignment(self, answer: MemberAnswer, error: int, epoch: int) -> None:
        self.told.append((epoch, dict(answer.partitions)))


@pytest.mark.parametrize("pending", [None, {}, {FOO: (1,)}])
def test_an_assignor_is_told_all_that_its_member_gets_and_only_of_the_answer_that_is_awaited(
    pending: dict[str, tuple[int, ...]] | None,
) -> None:
    noting = Noting()
    config = ConsumerConfig(group_id=GROUP, member_id="A", client_id="A", client_host="/127.0.0.1")
    consumer = ComputingConsumer(config, (noting,))
    [asked] = [effect.request for effect in consumer.join(("foo",), 0) if isinstance(effect, Send)]

    def hears(epoch: int) -> None:
        answer = HeartbeatAnswer(
            member_id="A",
            member_epoch=epoch,
            heartbeat_interval_ms=1_000,
            assigned={FOO: (0,)},
            pending=pending,
        )
        consumer.receive(asked, answer, 0)

    hears(1)
    assert noting.told == [(1, {FOO: (0, *(pending or {}).get(FOO, ()))})]
    # The answer to a request that was given up, or that came twice on its way.
    hears(2)
    assert [epoch for epoch, _ in noting.told] == [1]
