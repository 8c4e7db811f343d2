"""A steady heartbeat goes a short way, whose outcome is that of the long one, whatever happened before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from simulations.protocol.coordinator.consumer.released.coordinator import steady
from simulations.protocol.coordinator.consumer.released.heartbeat import answer_heartbeat
from simulations.protocol.coordinator.consumer.validation import check_request
from simulations.protocol.messages.groups import Heartbeat
from tests.simulations.broker import FOO, GROUP, Broker
from tests.tiers import examples

MEMBERS = st.sampled_from(["A", "B", "C"])

JOIN = st.tuples(st.just("join"), MEMBERS, st.sampled_from([("foo",), ("bar", "foo"), ()]))
REGEX = st.tuples(st.just("regex"), MEMBERS, st.sampled_from(["fo+", "ba.", "", ".*"]))
STATIC = st.tuples(st.just("static"), MEMBERS, st.just(None))
BEAT = st.tuples(st.just("beat"), MEMBERS, st.sampled_from([True, False]))
LEAVE = st.tuples(st.just("leave"), MEMBERS, st.sampled_from([-1, -2]))
IMAGE = st.tuples(st.just("grow"), st.sampled_from(["foo", "bar"]), st.integers(4, 9))
TIME = st.tuples(st.just("time"), st.just(""), st.sampled_from([0, 999, 1_000, 10_001, 600_001]))
SCRIPTS = st.lists(st.one_of(JOIN, REGEX, STATIC, BEAT, BEAT, LEAVE, IMAGE, TIME), max_size=14)


def act(broker: Broker, what: str, who: str, how: Any) -> None:
    member = broker.group.members.get(who)
    match what:
        case "join":
            broker.join(who, *how, subscribed_topic_names=how)
        case "regex":
            broker.join(who, subscribed_topic_names=None, subscribed_topic_regex=how)
            if broker.last.tasks and broker.now_ms % 2 == 0:
                broker.resolve()
        case "static":
            broker.join(who, instance_id=f"i-{who}")
        case "beat" if member is not None:
            owned = {t: tuple(p) for t, p in member.assigned.items()} if how else None
            broker.heartbeat(who, member.epoch, owned, instance_id=member.instance_id)
        case "leave" if member is not None and (how == -1 or member.instance_id):
            broker.heartbeat(who, how, instance_id=member.instance_id)
        case "grow":
            broker.grow(who, how)
        case "time":
            broker.now_ms += how


@examples(150)
@given(script=SCRIPTS, after_ms=st.sampled_from([0, 1, 10_001, 600_001]), bump=st.integers(-1, 1))
def test_the_short_way_has_the_outcome_of_the_long_one(
    script: list[tuple[str, str, Any]], after_ms: int, bump: int
) -> None:
    broker = Broker(assignment_interval_ms=0 if len(script) % 2 else 1_000)
    for step in script:
        act(broker, *step)
    context = broker.shard.context(broker.now_ms + after_ms)
    for member in broker.group.members.values():
        plain = Heartbeat(
            group_id=GROUP,
            member_id=member.member_id,
            member_epoch=member.epoch + bump,
            client_id=member.client_id,
        )
        for request in (
            plain,
            replace(plain, instance_id=member.instance_id),
            replace(plain, instance_id="i-A"),
            replace(plain, client_id="another"),
            replace(plain, rebalance_timeout_ms=5),
            replace(plain, owned={FOO: (0,)}),
        ):
            quick = steady(context, request)
            if quick is not None:
                check_request(request, context.settings)
                assert quick == answer_heartbeat(context, request)


def test_a_steady_member_does_go_the_short_way_and_looks_at_nobody_else() -> None:
    broker = Broker(assignment_interval_ms=0, foo=6)
    for number in range(6):
        broker.join(f"m{number}")
    for _ in range(4):
        for number in range(6):
            member = broker.member(f"m{number}")
            broker.heartbeat(
                member.member_id, member.epoch, {t: tuple(p) for t, p in member.assigned.items()}
            )
    context = broker.shard.context(broker.now_ms)
    request = Heartbeat(group_id=GROUP, member_id="m3", member_epoch=7, client_id="m3")
    assert steady(context, request) is not None
    alone = replace(broker.group, members=Watched(broker.group.members))
    watched = replace(context, state=replace(context.state, consumer=alone))
    watched.cache.follow(broker.group.members, alone.members, None)
    assert steady(watched, request) is not None


class Watched(dict[str, Any]):
    """Members that must not be walked."""

    def __iter__(self) -> Any:
        raise AssertionError("all members were walked")

    values = items = keys = __iter__
