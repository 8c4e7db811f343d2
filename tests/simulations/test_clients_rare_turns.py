"""Rare turns of the released client, and of one that computes: leaving while it is out, fetches that fail, members that it is no more."""

from __future__ import annotations

import pytest

from simulations.protocol.assignors.client_side import (
    CLIENT_ASSIGNORS,
    ClientGroup,
    ClientMember,
    ClientTopic,
)
from simulations.protocol.client.consumer import ConsumerConfig, Failure
from simulations.protocol.client.consumer.assigning import AssigningStep
from simulations.protocol.client.consumer.computing import ComputingConsumer
from simulations.protocol.client.consumer.effects import Effect, Send
from simulations.protocol.client.consumer.requests import Request
from simulations.protocol.client.consumer.states import MemberState
from simulations.protocol.messages.client_mode import (
    InstallAnswer,
    InstallAssignment,
    PrepareAnswer,
    PrepareAssignment,
)
from simulations.protocol.messages.groups import Heartbeat, HeartbeatAnswer
from simulations.protocol.messages.offsets import FetchAnswer, OffsetFetch
from tests.simulations.application import INTERVAL_MS, Application
from tests.simulations.broker import FOO, GROUP

# Joining and leaving.


def test_a_member_that_waits_for_its_first_assignment_tells_its_expression_each_time() -> None:
    app = Application(calls_for_nothing=False)
    app.joins((), regex="fo+")
    app.quiet(0)
    app.waits()
    assert app.sent == ["0 names= regex=fo+ timeout own=[]"]


def test_who_has_consumed_nothing_commits_nothing_as_it_closes() -> None:
    app = Application(auto_commit=True, auto_commit_interval_ms=50_000)
    app.stable_with(0)
    app.does(app.consumer.close(app.now_ms))
    assert (app.sent, app.calls) == ([], ["on_partitions_revoked [0]"])


def test_who_owns_nothing_is_woken_for_no_automatic_commit() -> None:
    app = Application(auto_commit=True, auto_commit_interval_ms=700)
    app.joins()
    app.answered(2)
    app.called()
    app.quiet(2)
    assert app.alarm == app.now_ms + INTERVAL_MS, "the next heartbeat"
    app = Application(auto_commit=True, auto_commit_interval_ms=700)
    app.stable_with(0)
    assert app.alarm is not None
    assert app.alarm <= app.now_ms + 700


def test_a_leave_is_over_with_the_answer_to_the_request_that_told_of_it_and_no_other() -> None:
    app = Application()
    app.stable_with(0)
    joined = app.last(Heartbeat)
    assert not app.consumer.left_by(joined)
    app.does(app.consumer.close(app.now_ms))
    app.called()
    leave = app.last(Heartbeat)
    assert leave.member_epoch == -1
    app.answered(-1)
    told = [app.consumer.left_by(each) for each in (leave, joined, object())]
    assert (app.consumer.closed, told) == (True, [True, False, False])


def test_who_unsubscribed_after_it_was_put_out_joins_with_what_it_subscribes_to_next() -> None:
    app = Application(rebalance_timeout_ms=300)
    app.stable_with(0)
    app.does(app.consumer.poll_late(900, app.now_ms))
    app.waits()
    assert (app.sent, app.consumer.state) == (["-1 own=[]"], MemberState.STALE)
    app.does(app.consumer.join(("bar",), app.now_ms))
    assert app.sent == [], "it is subscribed, and comes back by itself"
    app.does(app.consumer.leave(app.now_ms))
    app.waits()
    assert app.calls == ["on_partitions_lost [0]"]
    app.called()
    assert (app.returned, app.sent, app.alarm) == (["unsubscribe"], [], None)
    app.joins(("bar",))
    assert app.sent == ["0 names=bar timeout own=[]"]


# Positions that are asked for.


@pytest.mark.parametrize("code", [25, 30, 42])
def test_an_error_of_a_fetch_that_cannot_pass_is_thrown_by_poll(code: int) -> None:
    app = fetching()
    app.does(app.consumer.receive(app.last(OffsetFetch), fetched(code), app.now_ms))
    assert app.returned == [f"poll {code} KafkaException"]
    assert app.consumer.state is MemberState.STABLE


def test_a_fetch_that_never_succeeds_is_given_up_when_the_applications_time_is_over() -> None:
    app = fetching(api_timeout_ms=1_500)
    while not app.returned:
        if "fetch 2" in app.sent:
            app.does(app.consumer.receive(app.last(OffsetFetch), fetched(14), app.now_ms))
        app.waits()
        if "2" in app.sent:
            app.quiet(2)
    assert (app.now_ms, app.returned) == (1_500, ["poll 7 TimeoutException"])
    assert app.consumer.state is MemberState.STABLE


@pytest.mark.parametrize("failure", list(Failure))
def test_a_fetch_without_an_answer_is_sent_again_a_back_off_later(failure: Failure) -> None:
    app = fetching()
    app.fails(OffsetFetch, failure)
    while "fetch 2" not in app.sent:
        app.waits()
    assert app.now_ms == 100


def fetching(**settings: object) -> Application:
    """A stable member that has asked for its position."""
    app = Application(fetches_offsets=True, **settings)
    app.joins()
    app.answered(2, 0)
    app.called()
    app.quiet(2)
    app.last(OffsetFetch)
    app.sent = ["fetch 2"]
    return app


def fetched(code: int) -> FetchAnswer:
    return FetchAnswer(group_id=GROUP, error_code=code)


# A member that computes.


class Computing:
    """A member with ``sticky`` on its side, that is asked to compute as it is answered."""

    def __init__(self) -> None:
        config = ConsumerConfig(
            group_id=GROUP,
            member_id="A",
            client_id="A",
            client_host="/127.0.0.1",
            request_timeout_ms=30_000,
            calls_for_nothing=False,
        )
        self.consumer = ComputingConsumer(config, (CLIENT_ASSIGNORS["sticky"](),))
        self.now_ms = 0
        self.requests: list[Request] = []
        self.does(self.consumer.join(("foo",), 0))

    def does(self, effects: list[Effect]) -> list[Request]:
        sent = [effect.request for effect in effects if isinstance(effect, Send)]
        self.requests += sent
        return sent

    def beats(self, epoch: int, *, compute: bool = False, code: int = 0, at_ms: int = 0) -> list[Request]:
        """The answer to its newest heartbeat; what it sends then."""
        self.now_ms = at_ms
        request = next(each for each in reversed(self.requests) if isinstance(each, Heartbeat))
        if not self.consumer.awaits(request):
            (request,) = (
                each for each in self.does(self.consumer.beat(at_ms)) if isinstance(each, Heartbeat)
            )
        answer = HeartbeatAnswer(
            error_code=code, member_epoch=epoch, heartbeat_interval_ms=INTERVAL_MS, compute=compute
        )
        return self.does(self.consumer.receive(request, answer, at_ms))

    def is_handed(self, request: Request) -> list[Request]:
        """The answer to its PrepareAssignment: the group as it is at epoch 3."""
        group = ClientGroup(
            members={"A": ClientMember(topics=(FOO,))},
            topics={FOO: ClientTopic(name="foo", partitions=2)},
            epoch=3,
        )
        answer = PrepareAnswer(assignor="sticky", group=group)
        return self.does(self.consumer.receive(request, answer, self.now_ms))


def test_whoever_computes_awaits_the_answer_to_its_own_question_and_to_its_heartbeat() -> None:
    member = Computing()
    (joined,) = member.requests
    assert member.consumer.awaits(joined)
    (prepare,) = member.beats(0, compute=True)
    assert isinstance(prepare, PrepareAssignment)
    assert member.consumer.awaits(prepare)
    assert not member.consumer.awaits(joined)
    (install,) = member.is_handed(prepare)
    assert isinstance(install, InstallAssignment)
    assert (member.consumer.awaits(prepare), member.consumer.awaits(install)) == (False, True)
    assert install.group_epoch == 3
    member.consumer.receive(install, InstallAnswer(), 0)
    assert not member.consumer.awaits(install)
    assert member.consumer.assigning.step is AssigningStep.IDLE


def test_who_is_fenced_forgets_what_it_was_to_compute() -> None:
    member = Computing()
    (prepare,) = member.beats(2, compute=True)
    member.beats(0, code=110, at_ms=INTERVAL_MS)
    assert member.consumer.assigning.step is AssigningStep.IDLE
    assert not member.consumer.awaits(prepare)
    assert member.is_handed(prepare) == [], "it was a question of the member that it is no more"


@pytest.mark.parametrize("code", [14, 15, 16])
def test_an_error_that_passes_leaves_the_computation_as_it_is(code: int) -> None:
    member = Computing()
    member.beats(2)
    (prepare,) = member.beats(2, compute=True, at_ms=INTERVAL_MS)
    member.beats(0, code=code, at_ms=2 * INTERVAL_MS)
    assert member.consumer.awaits(prepare)
    (install,) = member.is_handed(prepare)
    assert isinstance(install, InstallAssignment)


@pytest.mark.parametrize(("code", "again"), [(113, True), (16, True), (14, True), (25, False), (42, False)])
def test_what_was_computed_is_installed_once_more_after_a_heartbeat_or_given_up(
    code: int, again: bool
) -> None:
    member = Computing()
    member.beats(2)
    (prepare,) = member.beats(2, compute=True, at_ms=INTERVAL_MS)
    (install,) = member.is_handed(prepare)
    assert member.does(member.consumer.receive(install, InstallAnswer(error_code=code), member.now_ms)) == []
    sent = member.beats(3, at_ms=2 * INTERVAL_MS)
    assert [type(request) for request in sent] == ([InstallAssignment] if again else [])
    if again:
        (other,) = sent
        assert isinstance(other, InstallAssignment)
        assert (other.member_epoch, other.group_epoch) == (3, 3)


def test_a_question_without_an_answer_is_asked_again_when_its_time_is_over() -> None:
    member = Computing()
    member.beats(2)
    (prepare,) = member.beats(2, compute=True, at_ms=1_000)
    assert member.beats(2, at_ms=30_999) == []
    (again,) = member.beats(2, at_ms=31_000)
    assert isinstance(again, PrepareAssignment)
    assert (member.consumer.awaits(prepare), member.consumer.awaits(again)) == (False, True)
    assert member.does(member.consumer.failed(again, Failure.DISCONNECTED, 32_000)) == []
    (third,) = member.beats(2, at_ms=33_000)
    assert isinstance(third, PrepareAssignment)
