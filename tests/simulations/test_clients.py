"""A consumer's membership: which heartbeats it sends when, what they tell, and in which order it calls back.

The sequences are those that the Java client of 4.3.1 was seen to send.
"""

from __future__ import annotations

from simulations.clients import Alarm, Call, Consumer, ConsumerConfig, Effect, Send
from simulations.clients.states import MemberState
from simulations.coordinator.messages import CommittedOffset, Heartbeat, HeartbeatAnswer, OffsetCommit
from tests.simulations.broker import FOO

INTERVAL_MS = 1_000


class Application:
    """A consumer whose answers and callbacks are given by hand; ``sent`` are its requests, in words."""

    def __init__(self, *, rebalance_timeout_ms: int = 4_000, calls_for_nothing: bool = True) -> None:
        self.consumer = Consumer(
            ConsumerConfig(
                group_id="orders",
                member_id="A",
                client_id="a",
                client_host="/10.0.0.1",
                rebalance_timeout_ms=rebalance_timeout_ms,
                callback_ms=10,
                calls_for_nothing=calls_for_nothing,
            )
        )
        self.now_ms = 0
        self.requests: list[Heartbeat | OffsetCommit] = []
        self.sent: list[str] = []
        self.calls: list[str] = []
        self.alarm: int | None = None

    def does(self, effects: list[Effect]) -> None:
        self.sent, self.calls = [], []
        for effect in effects:
            match effect:
                case Send(request=request):
                    self.requests.append(request)
                    self.sent.append(told(request))
                case Call(callback=callback, partitions=partitions):
                    numbers = [number for numbers in partitions.values() for number in numbers]
                    self.calls.append(f"{callback} {numbers}")
                case Alarm(at_ms=at_ms):
                    self.alarm = at_ms

    def joins(self) -> None:
        self.does(self.consumer.join(("foo",), self.now_ms))

    def answered(self, epoch: int, *assigned: int, tells: bool = True, code: int = 0) -> None:
        request = next(r for r in reversed(self.requests) if isinstance(r, Heartbeat))
        told = answer(epoch, *assigned, tells=tells, code=code)
        self.does(self.consumer.receive(request, told, self.now_ms))

    def quiet(self, epoch: int) -> None:
        self.answered(epoch, tells=False)

    def called(self) -> None:
        self.does(self.consumer.called(self.now_ms))

    def waits(self) -> None:
        """Until the alarm goes off."""
        assert self.alarm is not None
        self.now_ms = max(self.now_ms, self.alarm)
        self.does(self.consumer.ring(self.now_ms))

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


def told(request: Heartbeat | OffsetCommit) -> str:
    """``0 names timeout own=[]``: the epoch, and which fields it tells."""
    if isinstance(request, OffsetCommit):
        return f"commit {request.member_epoch}"
    words = [str(request.member_epoch)]
    if request.subscribed_topic_names is not None:
        words.append(f"names={','.join(request.subscribed_topic_names)}")
    if request.rebalance_timeout_ms != -1:
        words.append("timeout")
    if request.owned is not None:
        words.append(f"own={[n for numbers in request.owned.values() for n in numbers]}")
    return " ".join(words)


def test_a_join_tells_everything_is_acknowledged_at_once_and_then_heartbeats_are_bare() -> None:
    app = Application()
    app.joins()
    assert app.sent == ["0 names=foo timeout own=[]"]
    app.answered(2, 0, 1, 2)
    assert app.calls == ["on_partitions_assigned [0, 1, 2]"]
    assert app.sent == []
    app.now_ms = 10
    app.called()
    assert app.sent == ["2 own=[0, 1, 2]"]
    app.quiet(2)
    app.waits()
    assert (app.now_ms, app.sent) == (10 + INTERVAL_MS, ["2"])


def test_a_first_assignment_of_nothing_is_acknowledged_too_but_only_once() -> None:
    app = Application()
    app.joins()
    app.answered(3)
    assert app.calls == ["on_partitions_assigned []"]
    app.called()
    assert app.sent == ["3 own=[]"]
    app.quiet(3)
    app.waits()
    assert app.sent == ["3"]


def test_a_revocation_calls_revoked_then_assigned_and_acknowledges_at_once() -> None:
    app = Application()
    app.stable_with(0, 1, 2)
    app.waits()
    app.answered(2, 0, 1)
    assert app.calls == ["on_partitions_revoked [2]"]
    assert app.consumer.owned == {FOO: (0, 1, 2)}, "until the callback has returned"
    app.called()
    assert app.calls == ["on_partitions_assigned []"]
    app.called()
    assert app.sent == ["2 own=[0, 1]"]
    app.quiet(3)
    assert (app.consumer.epoch, app.consumer.owned) == (3, {FOO: (0, 1)})


def test_while_a_callback_runs_heartbeats_go_on_and_tell_nothing() -> None:
    app = Application()
    app.stable_with(0, 1, 2)
    app.waits()
    app.answered(2, 0, 1)
    app.waits()
    assert app.sent == ["2"]
    app.quiet(2)
    app.called()
    app.called()
    assert app.sent == ["2 own=[0, 1]"]


def test_a_target_that_comes_meanwhile_is_reconciled_after_the_acknowledgement() -> None:
    app = Application()
    app.stable_with(0, 1, 2)
    app.waits()
    app.answered(2, 0, 1)
    app.waits()
    app.answered(2, 0)
    app.called()
    app.called()
    assert app.sent == ["2 own=[0, 1]"]
    assert app.calls == ["on_partitions_revoked [1]"]
    app.quiet(2)
    app.called()
    app.called()
    assert app.sent == ["2 own=[0]"]


def test_an_acknowledgement_waits_for_the_answer_that_is_under_way() -> None:
    app = Application()
    app.stable_with(0)
    app.waits()
    app.answered(3, 0, 1)
    assert app.calls == ["on_partitions_assigned [1]"]
    app.waits()
    assert app.sent == ["3"]
    app.called()
    assert app.sent == []
    app.quiet(3)
    assert app.sent == ["3 own=[0, 1]"]


def test_a_fenced_member_loses_everything_and_joins_again_under_its_id() -> None:
    app = Application()
    app.stable_with(0, 1)
    app.waits()
    app.answered(0, tells=False, code=110)
    assert (app.calls, app.sent) == (["on_partitions_lost [0, 1]"], [])
    app.called()
    assert app.sent == ["0 names=foo timeout own=[]"]
    assert app.consumer.owned == {}


def test_any_other_error_ends_the_member_for_good() -> None:
    app = Application()
    app.stable_with(0)
    app.waits()
    app.answered(0, tells=False, code=42)
    assert app.consumer.state is MemberState.FATAL
    assert app.calls == ["on_partitions_lost [0]"]
    app.called()
    assert app.sent == []
    assert app.alarm is None


def test_leaving_gives_up_first_and_then_says_so() -> None:
    app = Application()
    app.stable_with(0, 1)
    app.does(app.consumer.leave(app.now_ms))
    assert (app.calls, app.sent) == (["on_partitions_revoked [0, 1]"], [])
    app.called()
    assert app.sent == ["-1 names= own=[]"]
    app.quiet(-1)
    assert app.consumer.state is MemberState.UNSUBSCRIBED
    assert (app.sent, app.alarm) == ([], None)


def test_leaving_during_a_callback_waits_for_it() -> None:
    app = Application()
    app.stable_with(0, 1)
    app.waits()
    app.answered(2, 0)
    app.does(app.consumer.leave(app.now_ms))
    assert (app.calls, app.sent) == ([], [])
    app.called()
    assert app.calls == ["on_partitions_revoked [0]"]
    app.called()
    assert app.sent == ["-1 names= own=[]"]


def test_who_is_leaving_may_take_as_long_as_it_likes_to_give_up() -> None:
    app = Application(rebalance_timeout_ms=300)
    app.stable_with(0, 1)
    app.does(app.consumer.leave(app.now_ms))
    app.now_ms += 400
    app.does(app.consumer.ring(app.now_ms))
    assert app.sent == []
    app.called()
    assert app.sent == ["-1 names= own=[]"]
    app.quiet(-1)
    assert app.consumer.state is MemberState.UNSUBSCRIBED


def test_a_new_subscription_is_told_by_the_next_regular_heartbeat() -> None:
    app = Application()
    app.stable_with(0)
    app.does(app.consumer.subscribe(("bar", "foo")))
    assert app.sent == []
    app.waits()
    assert app.sent == ["2 names=bar,foo"]


def test_a_callback_beyond_the_poll_interval_makes_the_member_leave_and_come_back() -> None:
    app = Application(rebalance_timeout_ms=300)
    app.stable_with(0, 1)
    app.waits()
    app.answered(2, 0)
    app.now_ms += 300
    app.does(app.consumer.ring(app.now_ms))
    assert app.sent == ["-1 own=[]"]
    app.answered(0, tells=False, code=25)
    assert app.consumer.state is MemberState.STALE
    app.called()
    assert app.calls == ["on_partitions_lost [0, 1]"], "also what was revoked; only an assignment replaces it"
    app.called()
    assert app.sent == ["0 names=foo timeout own=[]"]


def test_a_commit_carries_the_present_epoch() -> None:
    app = Application()
    app.stable_with(0)
    offset = CommittedOffset(topic="foo", topic_id=FOO, partition=0, offset=7)
    app.does(app.consumer.commit((offset,)))
    assert app.sent == ["commit 2"]
    app.does(app.consumer.commit(()))
    assert app.sent == []


def test_a_member_of_the_proposal_waits_for_its_target_and_is_not_called_for_nothing() -> None:
    app = Application(calls_for_nothing=False)
    app.joins()
    app.quiet(0)
    assert app.sent == []
    app.waits()
    assert (app.now_ms, app.sent) == (INTERVAL_MS, ["0 names=foo timeout own=[]"])
    app.answered(2)
    assert (app.calls, app.sent) == ([], ["2 own=[]"])


def test_who_is_told_of_no_one_does_nothing() -> None:
    app = Application()
    app.does(app.consumer.leave(0))
    app.does([*app.consumer.beat(0), *app.consumer.called(0), *app.consumer.ring(0)])
    assert app.sent == app.calls == []
    app.joins()
    app.does(app.consumer.join(("foo",), 0))
    assert app.sent == []


def test_a_copy_goes_on_by_itself() -> None:
    app = Application()
    app.stable_with(0, 1)
    app.waits()
    twin = app.consumer.copy()
    assert twin.awaits(app.requests[-1])
    before = twin.canonical(int)
    app.answered(2, 0)
    assert (twin.state, twin.canonical(int)) == (MemberState.STABLE, before)
    assert app.consumer.canonical(int) != before
    app.does(twin.receive(app.requests[-1], answer(2, 0), app.now_ms))
    assert twin.canonical(int) == app.consumer.canonical(int)


def test_members_that_differ_in_their_epochs_and_times_alone_are_alike_once_these_are_renamed() -> None:
    one, other = Application(), Application()
    for app, epoch in ((one, 2), (other, 7)):
        app.now_ms = epoch * 1_000
        app.joins()
        app.answered(epoch, 0, 1)
        app.called()
        app.quiet(epoch)
    assert one.consumer.canonical(int) != other.consumer.canonical(int)
    assert one.consumer.canonical(lambda epoch: 0) == other.consumer.canonical(lambda epoch: 0)
