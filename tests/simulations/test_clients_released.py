"""Rules of the released client, one case each: what a heartbeat tells, when it is sent, and errors."""

from __future__ import annotations

import pytest

from simulations.protocol.client.consumer import Failure
from simulations.protocol.client.consumer.states import MemberState
from simulations.protocol.messages.groups import Heartbeat
from tests.simulations.application import Application, answer
from tests.simulations.broker import BAR, FOO

# What a heartbeat tells.


def test_a_regex_is_told_on_joining_and_its_end_by_an_empty_one() -> None:
    app = Application()
    app.joins((), regex="fo+")
    assert app.sent == ["0 names= regex=fo+ timeout own=[]"]
    app.answered(1)
    app.called()
    app.quiet(1)
    app.does(app.consumer.subscribe(("foo",)))
    app.waits()
    assert app.sent == ["1 names=foo regex="]
    app.quiet(2)
    app.does(app.consumer.subscribe(regex="b.*"))
    app.waits()
    assert app.sent == ["2 names= regex=b.*"]


def test_the_leave_of_a_regex_member_takes_its_regex_back() -> None:
    app = Application()
    app.joins((), regex="fo+")
    app.answered(1)
    app.called()
    app.does(app.consumer.leave(app.now_ms))
    assert app.sent == ["-1 regex= own=[]"]


def test_the_rack_is_told_on_joining_alone() -> None:
    app = Application(rack_id="r1")
    app.joins()
    assert app.sent == ["0 names=foo rack timeout own=[]"]
    app.answered(2, 0)
    app.called()
    app.quiet(2)
    app.waits()
    app.fails()
    app.now_ms += 100
    app.does(app.consumer.ring(app.now_ms))
    assert app.sent == ["2 names=foo timeout own=[0]"], "everything else is told again after an error"


def test_the_same_names_in_another_order_are_no_other_subscription() -> None:
    app = Application()
    app.joins(("foo", "bar"))
    app.answered(2, 0)
    app.called()
    app.quiet(2)
    app.does(app.consumer.subscribe(("bar", "foo")))
    app.waits()
    assert app.sent == ["2"]


def test_a_pattern_of_the_client_is_told_as_the_names_that_it_matches() -> None:
    app = Application()
    app.does(app.consumer.metadata({"foo": FOO, "other": "o"}, 0))
    app.joins((), pattern="fo.|bar")
    assert app.sent == ["0 names=foo timeout own=[]"]
    app.answered(2, 0)
    app.called()
    app.quiet(2)
    app.does(app.consumer.metadata({"foo": FOO, "bar": BAR}, 0))
    app.waits()
    assert app.sent == ["2 names=bar,foo"]


# When it is sent.


def test_an_error_is_followed_by_a_back_off_that_doubles_up_to_its_limit() -> None:
    app = Application()
    app.stable_with(0)
    app.waits()
    waited = []
    for _ in range(6):
        app.answered(0, tells=False, code=14)
        before_ms = app.now_ms
        app.waits()
        waited.append(app.now_ms - before_ms)
        assert app.sent == ["2 names=foo timeout own=[0]"]
    assert waited == [100, 200, 400, 800, 1_000, 1_000]
    app.quiet(2)
    app.waits()
    app.answered(0, tells=False, code=14)
    before_ms = app.now_ms
    app.waits()
    assert app.now_ms - before_ms == 100, "a success begins it anew"


def test_a_back_off_is_drawn_from_the_member_and_the_seed_within_a_fifth() -> None:
    configs = [Application(jitter=None, seed=seed).consumer.config for seed in (1, 1, 2)]
    one, same, other = ([config.back_off_ms(0, draw) for draw in range(50)] for config in configs)
    assert one == same != other
    assert len(set(one)) > 10
    assert all(80 <= waited < 120 for waited in [*one, *other])


def test_who_joins_asks_a_loading_coordinator_again_as_soon_as_it_has_answered() -> None:
    app = Application()
    app.joins()
    for _ in range(5):
        app.now_ms += 2
        app.answered(0, tells=False, code=14)
        assert app.sent == ["0 names=foo timeout own=[]"]


def test_where_answers_take_no_time_it_asks_again_a_millisecond_later() -> None:
    app = Application()
    app.joins()
    app.answered(0, tells=False, code=14)
    assert (app.sent, app.alarm) == ([], 1)
    app.waits()
    assert app.sent == ["0 names=foo timeout own=[]"]


def test_the_coordinator_is_looked_up_first_and_again_no_sooner_than_a_back_off_later() -> None:
    app = Application(finds_coordinator=True)
    app.joins()
    assert app.sent == ["find"]
    app.found()
    assert (app.sent, app.consumer.node_id) == (["0 names=foo timeout own=[]"], 2)
    app.now_ms = 10
    app.answered(0, tells=False, code=16)
    assert (app.sent, app.alarm, app.consumer.node_id) == ([], 100, None)
    app.waits()
    assert app.sent == ["find"]
    app.found(15)
    assert (app.sent, app.alarm) == ([], 200)
    app.waits()
    app.found()
    assert app.sent == ["0 names=foo timeout own=[]"]


def test_without_look_ups_a_coordinator_that_moved_costs_one_back_off() -> None:
    app = Application()
    app.stable_with(0)
    app.waits()
    app.answered(0, tells=False, code=15)
    before_ms = app.now_ms
    app.waits()
    assert (app.now_ms - before_ms, app.sent) == (100, ["2 names=foo timeout own=[0]"])


@pytest.mark.parametrize("failure", list(Failure))
def test_a_broken_connection_has_the_coordinator_looked_up(failure: Failure) -> None:
    app = Application(finds_coordinator=True)
    app.joins()
    app.found()
    app.now_ms = 500
    app.fails(failure=failure)
    assert app.sent == ["find"]
    app.found()
    assert app.sent == ["0 names=foo timeout own=[]"]


def test_an_answer_that_does_not_come_is_given_up_after_the_request_timeout() -> None:
    app = Application(request_timeout_ms=30_000)
    app.stable_with(0)
    app.waits()
    lost = app.last(Heartbeat)
    sent_ms = app.now_ms
    while not app.sent or app.last(Heartbeat) is lost:
        app.waits()
    assert app.now_ms == sent_ms + 30_000 + 100
    app.does(app.consumer.receive(lost, answer(9), app.now_ms))
    assert app.consumer.epoch == 2, "who answers late is not heard"


# Errors.


@pytest.mark.parametrize("code", [-1, 30, 35, 42, 69, 77, 81, 82, 111, 112, 128])
def test_an_error_that_cannot_pass_is_thrown_once_and_ends_the_member(code: int) -> None:
    app = Application()
    app.stable_with(0)
    app.waits()
    app.answered(0, tells=False, code=code)
    assert app.consumer.state is MemberState.FATAL
    assert (len(app.returned), app.calls) == (0, ["on_partitions_lost [0]"])
    app.called()
    assert len(app.returned) == 1, "the poll that ran the callback throws behind it"
    app.does([*app.consumer.subscribe(("bar",)), *app.consumer.beat(app.now_ms)])
    app.joins()
    assert (app.sent, app.alarm, app.consumer.owned) == ([], None, {})


@pytest.mark.parametrize("raised", [False, True])
def test_what_the_heartbeat_was_answered_is_thrown_whatever_the_callback_throws(raised: bool) -> None:
    app = Application()
    app.stable_with(0)
    app.waits()
    app.answered(0, tells=False, code=30)
    app.called(raised=raised)
    assert app.returned == ["poll 30 GroupAuthorizationException"]


def test_who_has_nothing_to_lose_throws_at_once() -> None:
    app = Application()
    app.stable_with()
    app.waits()
    app.answered(0, tells=False, code=30)
    assert (app.returned, app.calls) == (["poll 30 GroupAuthorizationException"], [])


@pytest.mark.parametrize("code", [25, 110])
def test_who_is_fenced_while_it_leaves_has_left(code: int) -> None:
    app = Application()
    app.stable_with(0)
    app.does(app.consumer.leave(app.now_ms))
    app.waits()
    assert app.sent == ["2"], "heartbeats go on while it gives up"
    app.answered(0, tells=False, code=code)
    assert (app.consumer.state, app.returned) == (MemberState.UNSUBSCRIBED, [])
    app.called()
    assert (app.sent, app.returned, app.consumer.owned) == ([], ["unsubscribe"], {})


def test_a_topic_that_may_not_be_read_is_thrown_and_asked_for_again() -> None:
    app = Application()
    app.stable_with(0)
    app.waits()
    app.answered(0, tells=False, code=29)
    assert app.returned == ["poll 29 TopicAuthorizationException"]
    assert app.consumer.state is MemberState.STABLE
    app.waits()
    assert app.sent == ["2 names=foo timeout own=[0]"]


@pytest.mark.parametrize("code", [0, 16, 25, 42, 69])
def test_any_answer_to_a_leave_completes_it(code: int) -> None:
    app = Application()
    app.stable_with(0)
    app.does(app.consumer.leave(app.now_ms))
    app.called()
    assert (app.sent, app.returned) == (["-1 names= own=[]"], [])
    app.joins()
    assert app.sent == [], "the call has not returned"
    app.answered(-1, tells=False, code=code)
    assert (app.returned, app.sent) == (["unsubscribe"], ["0 names=foo timeout own=[]"])
