"""A consumer's membership: which heartbeats it sends when, what they tell, and in which order it calls back.

The sequences are those that the Java client of 4.3.1 was seen to send.
"""

from __future__ import annotations

from simulations.protocol.client.consumer.states import MemberState
from simulations.protocol.messages.groups import CommittedOffset
from tests.simulations.application import INTERVAL_MS, Application, answer
from tests.simulations.broker import FOO


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
