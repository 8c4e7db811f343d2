"""Consumers in a world that answers, fails and calls back at random: no illegal step, callbacks in order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulations.protocol.client.consumer import (
    Alarm,
    AskMetadata,
    Call,
    Callback,
    CloseOption,
    Consumer,
    ConsumerConfig,
    Effect,
    Failure,
    FindCoordinator,
    FindCoordinatorAnswer,
    Request,
    Send,
)
from simulations.protocol.client.consumer.effects import minus
from simulations.protocol.client.consumer.states import (
    ALLOWED_FROM,
    IllegalTransition,
    MemberState,
    check_transition,
)
from simulations.protocol.messages.groups import (
    CommitAnswer,
    CommittedOffset,
    Heartbeat,
    HeartbeatAnswer,
    OffsetCommit,
    Partitions,
)
from simulations.protocol.messages.offsets import FetchAnswer, OffsetFetch
from tests.simulations.broker import BAR, FOO
from tests.tiers import examples

PASSING = [0, 0, 0, 0, 0, 14, 15, 16]
CODES = [*PASSING, 25, 29, 110, 113, 42, 3]


def positions(owned: Partitions, now_ms: int) -> tuple[CommittedOffset, ...]:
    return tuple(
        CommittedOffset(topic="t", topic_id=topic_id, partition=number, offset=now_ms)
        for topic_id, numbers in owned.items()
        for number in numbers
    )


class World:
    """Does what a consumer asks for, and judges it. ``revoked`` is what was given up since the last assignment."""

    def __init__(self, config: ConsumerConfig) -> None:
        self.consumer = Consumer(config)
        self.now_ms = 0
        self.alarm_ms: int | None = None
        self.requests: list[Request] = []
        self.calling: Call | None = None
        self.owned: Partitions = {}
        self.revoked: Partitions = {}
        self.out = True
        """Whether the member was put out, or leaves: it may lose what it owns."""

    def does(self, effects: list[Effect]) -> None:
        alarms = [effect for effect in effects if isinstance(effect, Alarm)]
        assert len(alarms) <= 1
        assert not alarms or effects[-1] is alarms[0]
        for effect in effects:
            match effect:
                case Send(request=request):
                    self._sent(request)
                case Call():
                    self._called(effect)
                case Alarm(at_ms=at_ms):
                    self.alarm_ms = at_ms
                case AskMetadata(topic_ids=topic_ids):
                    assert topic_ids

    def _sent(self, request: Request) -> None:
        self.requests.append(request)
        if isinstance(request, Heartbeat):
            assert request.rack_id is None or request.member_epoch == 0
            self.out = request.member_epoch < 0 or (self.out and request.member_epoch == 0)
            assert request.member_epoch != 0 or request.owned == {}

    def _called(self, call: Call) -> None:
        assert self.calling is None, "one at a time"
        self.calling = call
        match call.callback:
            case Callback.REVOKED:
                assert call.partitions
                assert not minus(call.partitions, self.owned), "revoked is what was owned"
            case Callback.LOST:
                assert self.out
                assert call.partitions
                strange = minus(minus(call.partitions, self.owned), self.revoked)
                assert not strange, "lost is what was owned until the last assignment"
            case Callback.ASSIGNED:
                assert not minus(call.partitions, minus(call.partitions, self.owned)), "it is new"
                self.revoked = {}
                self.owned = self.consumer.owned

    def returns(self, raised: bool) -> None:
        call, self.calling = self.calling, None
        assert call is not None
        if call.callback is Callback.REVOKED and not raised:
            self.owned, self.revoked = minus(self.owned, call.partitions), call.partitions
        elif call.callback is Callback.LOST:
            self.owned = {}
        self.does(self.consumer.called(self.now_ms, raised))
        if self.consumer.state in (MemberState.UNSUBSCRIBED, MemberState.LEAVING):
            self.owned = {}
        assert self.consumer.owned == self.owned

    def put_out(self, code: int) -> None:
        if code and code not in PASSING and code != 29:
            self.out = True


@st.composite
def worlds(draw: st.DrawFn) -> World:
    return World(
        ConsumerConfig(
            group_id="g",
            member_id="A",
            client_id="a",
            client_host="/10.0.0.1",
            instance_id=draw(st.sampled_from([None, "i"])),
            rack_id="r",
            rebalance_timeout_ms=draw(st.sampled_from([300, 5_000])),
            callback_ms=draw(st.sampled_from([0, 100])),
            calls_for_nothing=draw(st.booleans()),
            auto_commit=draw(st.booleans()),
            auto_commit_interval_ms=700,
            positions=positions,
            finds_coordinator=draw(st.booleans()),
            fetches_offsets=draw(st.booleans()),
        )
    )


ASSIGNMENTS = st.dictionaries(
    st.sampled_from([FOO, BAR]), st.lists(st.integers(0, 3), unique=True).map(tuple), max_size=2
)
STEPS = (
    ["answer"] * 12
    + ["return"] * 6
    + ["ring"] * 6
    + [
        "fail",
        "beat",
        "join",
        "subscribe",
        "leave",
        "close",
        "late",
        "poll",
        "expire",
        "commit",
        "commit_sync",
        "metadata",
        "throw",
    ]
)


def step(world: World, draw: st.DataObject) -> None:
    consumer, now_ms = world.consumer, world.now_ms
    match draw.draw(st.sampled_from(STEPS)):
        case "answer" if world.requests:
            answer(world, draw)
        case "return" if world.calling is not None:
            world.returns(raised=False)
        case "throw" if world.calling is not None:
            world.returns(raised=True)
        case "ring" if world.alarm_ms is not None:
            world.now_ms = max(world.now_ms, world.alarm_ms)
            world.does(consumer.ring(world.now_ms))
        case "fail" if world.requests:
            failure = draw.draw(st.sampled_from(list(Failure)))
            world.does(consumer.failed(draw.draw(st.sampled_from(world.requests)), failure, now_ms))
        case "beat":
            world.does(consumer.beat(now_ms))
        case "join":
            world.does(consumer.join(("foo",), now_ms))
        case "subscribe":
            regex = draw.draw(st.sampled_from([None, "b.*"]))
            world.does(consumer.subscribe(() if regex else ("foo", "bar"), regex=regex))
        case "leave":
            world.does(consumer.leave(now_ms))
        case "close" if draw.draw(st.integers(0, 3)) == 0:
            world.does(consumer.close(now_ms, draw.draw(st.sampled_from(list(CloseOption)))))
        case "late":
            world.does(consumer.poll_late(draw.draw(st.sampled_from([50, 1_000, None])), now_ms))
        case "poll":
            world.does(consumer.poll(now_ms))
        case "expire":
            world.does(consumer.expire_poll(now_ms))
        case "commit":
            world.does(consumer.commit(positions({FOO: (0,)}, now_ms), now_ms))
        case "commit_sync":
            world.does(consumer.commit_sync(positions({FOO: (0,)}, now_ms), now_ms))
        case "metadata":
            known = draw.draw(st.sampled_from([None, {"foo": FOO}, {"foo": FOO, "bar": BAR}]))
            world.does(consumer.metadata(known, now_ms))


def answer(world: World, draw: st.DataObject) -> None:
    consumer, now_ms = world.consumer, world.now_ms
    awaited = [request for request in world.requests if consumer.awaits(request)]
    request = draw.draw(st.sampled_from(awaited or world.requests))
    world.requests.remove(request)
    world.now_ms += draw.draw(st.sampled_from([0, 1, 40]))
    code = draw.draw(st.sampled_from(CODES))
    match request:
        case Heartbeat():
            if consumer.awaits(request):
                world.put_out(code)
            epoch = request.member_epoch
            assigned = draw.draw(st.none() | ASSIGNMENTS)
            if epoch == 0 and assigned is None and consumer.config.calls_for_nothing:
                assigned = {}
            told = HeartbeatAnswer(
                error_code=code,
                member_epoch=epoch + draw.draw(st.integers(0, 2)) if epoch > 0 else epoch and -1,
                heartbeat_interval_ms=500,
                assigned=assigned,
            )
            if epoch == 0 and assigned is not None and not code:
                told = HeartbeatAnswer(member_epoch=1, heartbeat_interval_ms=500, assigned=assigned)
            world.does(consumer.receive(request, told, now_ms))
        case OffsetCommit():
            codes = tuple((offset.topic_id, offset.partition, code) for offset in request.offsets)
            world.does(consumer.receive(request, CommitAnswer(error_codes=codes), now_ms))
        case OffsetFetch():
            world.does(consumer.receive(request, FetchAnswer(group_id="g", error_code=code), now_ms))
        case FindCoordinator():
            found = FindCoordinatorAnswer(error_code=0 if code in PASSING[:5] else 15, node_id=1)
            world.does(consumer.receive(request, found, now_ms))


@examples(80)
@given(worlds(), st.data())
def test_whatever_happens_no_step_is_illegal_and_callbacks_name_what_they_may(
    world: World, draw: st.DataObject
) -> None:
    world.does(world.consumer.join(("foo",), 0))
    for _ in range(draw.draw(st.integers(5, 60))):
        step(world, draw)


@examples(30)
@given(worlds(), st.data())
def test_a_copy_does_the_same_and_the_one_that_was_copied_does_not_feel_it(
    world: World, draw: st.DataObject
) -> None:
    world.does(world.consumer.join(("foo",), 0))
    for _ in range(draw.draw(st.integers(5, 40))):
        step(world, draw)
    one, other = world.consumer.copy(), world.consumer.copy()
    before = world.consumer.canonical(int)
    later_ms = world.now_ms + 2_000
    assert one.ring(later_ms) == other.ring(later_ms)
    assert one.beat(later_ms) == other.beat(later_ms)
    assert hash(one.canonical(int)) == hash(other.canonical(int))
    assert one.canonical(int) == other.canonical(int)
    assert world.consumer.canonical(int) == before


@examples(30)
@given(worlds(), st.data())
def test_whatever_happened_a_member_ends_up_stable_once_the_world_is_kind(
    world: World, draw: st.DataObject
) -> None:
    world.does(world.consumer.join(("foo",), 0))
    for _ in range(draw.draw(st.integers(5, 40))):
        step(world, draw)
    consumer = world.consumer
    world.does(consumer.metadata(None, world.now_ms))
    world.does(consumer.poll(world.now_ms))
    for _ in range(200):
        if consumer.ended:
            return
        if world.calling is not None:
            world.returns(raised=False)
        elif awaited := [request for request in world.requests if consumer.awaits(request)]:
            kindly(world, awaited[0])
        elif consumer.state is MemberState.UNSUBSCRIBED or world.alarm_ms is None:
            # Who unsubscribed while it was put out for its lateness joins from there.
            world.does(consumer.join(("foo",), world.now_ms))
        elif consumer.state is MemberState.STABLE:
            if consumer.owned == {FOO: (0, 1)}:
                return
            world.does(consumer.beat(world.now_ms))
        else:
            assert world.alarm_ms is not None, f"nothing wakes it in {consumer.state}"
            world.now_ms = max(world.now_ms, world.alarm_ms)
            world.does(consumer.ring(world.now_ms))
    raise AssertionError(f"it stays {consumer.state}")


def kindly(world: World, request: Request) -> None:
    consumer, now_ms = world.consumer, world.now_ms
    world.requests.remove(request)
    match request:
        case Heartbeat(member_epoch=epoch):
            if epoch < 0:
                told = HeartbeatAnswer(member_epoch=epoch)
            else:
                assigned = {FOO: (0, 1)}
                told = HeartbeatAnswer(member_epoch=5, heartbeat_interval_ms=500, assigned=assigned)
            world.does(consumer.receive(request, told, now_ms))
        case OffsetCommit():
            world.does(consumer.receive(request, CommitAnswer(error_codes=()), now_ms))
        case OffsetFetch():
            world.does(consumer.receive(request, FetchAnswer(group_id="g"), now_ms))
        case FindCoordinator():
            world.does(consumer.receive(request, FindCoordinatorAnswer(node_id=1), now_ms))


def test_every_state_but_the_table_s_is_refused() -> None:
    for new, olds in ALLOWED_FROM.items():
        for old in MemberState:
            if old in olds:
                check_transition(old, new)
            else:
                with pytest.raises(IllegalTransition):
                    check_transition(old, new)
