"""Rules of the released client, one case each: reconciling, being late, leaving, and what is committed and fetched."""

from __future__ import annotations

import pytest

from simulations.protocol.client.consumer import CloseOption, Failure
from simulations.protocol.client.consumer.config import ConsumerClient
from simulations.protocol.client.consumer.states import MemberState
from simulations.protocol.messages.groups import CommittedOffset, Partitions
from simulations.protocol.messages.offsets import FetchAnswer, OffsetFetch
from tests.simulations.application import INTERVAL_MS, Application
from tests.simulations.broker import BAR, FOO


def positions(owned: Partitions, now_ms: int) -> tuple[CommittedOffset, ...]:
    return tuple(
        CommittedOffset(topic="foo", topic_id=topic_id, partition=number, offset=7)
        for topic_id, numbers in owned.items()
        for number in numbers
    )


ONE = positions({FOO: (0,)}, 0)


# Reconciling.


def test_an_automatic_commit_comes_before_anything_is_given_up() -> None:
    app = Application(auto_commit=True, auto_commit_interval_ms=50_000, positions=positions)
    app.stable_with(0, 1)
    app.waits()
    app.answered(2, 0)
    assert (app.sent, app.calls) == (["commit 2"], [])
    app.committed(113)
    app.waits()
    assert app.sent == ["commit 2"]
    app.committed()
    assert app.calls == ["on_partitions_revoked [1]"]


@pytest.mark.parametrize("code", [3, 12, 25])
def test_a_commit_that_cannot_succeed_holds_nothing_up(code: int) -> None:
    app = Application(auto_commit=True, auto_commit_interval_ms=50_000, positions=positions)
    app.stable_with(0, 1)
    app.waits()
    app.answered(2, 0)
    app.committed(code)
    assert (app.calls, app.returned) == (["on_partitions_revoked [1]"], [])


def test_a_commit_that_is_not_answered_holds_up_no_longer_than_the_rebalance_timeout() -> None:
    app = Application(auto_commit=True, auto_commit_interval_ms=50_000, positions=positions)
    app.stable_with(0, 1)
    app.waits()
    begun_ms = app.now_ms
    app.answered(2, 0)
    while not app.calls:
        app.waits()
        if app.sent == ["2"]:
            app.quiet(2)
    assert (app.now_ms, app.calls) == (begun_ms + 4_000, ["on_partitions_revoked [1]"])


def test_who_is_fenced_while_it_commits_gives_nothing_up() -> None:
    app = Application(auto_commit=True, auto_commit_interval_ms=50_000, positions=positions)
    app.stable_with(0, 1)
    app.waits()
    app.answered(2, 0)
    app.waits()
    app.answered(0, tells=False, code=110)
    assert app.calls == ["on_partitions_lost [0, 1]"]
    app.committed()
    app.called()
    assert (app.sent, app.calls) == (["0 names=foo timeout own=[]"], [])


def test_a_revocation_that_throws_is_called_again() -> None:
    app = Application()
    app.stable_with(0, 1)
    app.waits()
    app.answered(2, 0)
    app.called(raised=True)
    assert (app.returned, app.calls) == (["poll KafkaException"], [])
    app.waits()
    assert app.calls == ["on_partitions_revoked [1]"]


def test_an_assignment_that_throws_counts_as_taken() -> None:
    app = Application()
    app.joins()
    app.answered(2, 0)
    app.called(raised=True)
    assert (app.returned, app.consumer.owned) == (["poll KafkaException"], {FOO: (0,)})
    app.waits()
    assert app.calls == ["on_partitions_assigned []"]
    app.called()
    assert app.sent == ["2 own=[0]"]


def test_topics_without_a_known_name_wait_and_cost_a_heartbeat_for_each_round_trip() -> None:
    app = Application()
    app.does(app.consumer.metadata({"bar": BAR}, 0))
    app.joins()
    app.answered(2, 0)
    assert app.calls == ["on_partitions_assigned []"]
    app.called()
    assert app.sent == ["2 own=[]"]
    for _ in range(3):
        app.now_ms += 1
        app.quiet(2)
        assert app.sent == ["2"]
    app.does(app.consumer.metadata({"foo": FOO}, app.now_ms))
    app.now_ms += 1
    app.quiet(2)
    assert app.sent == ["2"]
    assert app.consumer.state is MemberState.RECONCILING
    assert app.calls == ["on_partitions_assigned [0]"]


def test_java_4_4_acknowledges_topics_without_a_known_name_once_and_then_beats_by_the_interval() -> None:
    app = Application(client=ConsumerClient.JAVA_4_4)
    app.does(app.consumer.metadata({"bar": BAR}, 0))
    app.joins()
    app.answered(2, 0)
    app.called()
    assert app.sent == ["2 own=[]"]
    app.now_ms += 1
    app.quiet(2)
    assert app.sent == []
    app.does(app.consumer.metadata({"foo": FOO}, app.now_ms))
    assert app.consumer.state is MemberState.RECONCILING
    assert app.calls == ["on_partitions_assigned [0]"]


# An application that is late.


def test_who_is_late_takes_more_by_itself_but_gives_nothing_up() -> None:
    app = Application()
    app.stable_with(0, 1)
    app.waits()
    app.does(app.consumer.poll_late(2_500, app.now_ms))
    app.answered(2, 0)
    for _ in range(2):
        assert app.calls == []
        app.waits()
        if app.sent:
            assert app.sent == ["2"], "it heartbeats with the old epoch"
            app.quiet(2)
    app.does(app.consumer.poll(app.now_ms))
    assert app.calls == ["on_partitions_revoked [1]"]


def test_an_addition_waits_for_the_poll_to_be_told() -> None:
    app = Application()
    app.stable_with(0)
    app.waits()
    app.does(app.consumer.poll_late(500, app.now_ms))
    app.answered(3, 0, 1)
    assert (app.calls, app.consumer.owned) == ([], {FOO: (0,)})
    app.waits()
    assert (app.calls, app.consumer.owned) == (["on_partitions_assigned [1]"], {FOO: (0, 1)})


def test_who_does_not_poll_for_too_long_leaves_loses_and_joins_again_under_its_id() -> None:
    app = Application(rebalance_timeout_ms=300)
    app.stable_with(0)
    app.waits()
    app.does(app.consumer.poll_late(900, app.now_ms))
    app.answered(3, 0, 1)
    app.waits()
    assert (app.sent, app.consumer.state) == (["-1 own=[]"], MemberState.STALE)
    app.waits()
    assert app.calls == ["on_partitions_assigned [1]"], "it was told before"
    app.called()
    assert app.calls == ["on_partitions_lost [0]"], "as decided before that"
    app.called()
    assert (app.sent, app.consumer.owned) == (["0 names=foo timeout own=[]"], {})


def test_a_static_member_that_is_late_leaves_for_now() -> None:
    app = Application(rebalance_timeout_ms=300, instance_id="i")
    app.stable_with(0)
    app.does(app.consumer.poll_late(None, app.now_ms))
    app.does(app.consumer.expire_poll(app.now_ms))
    assert app.sent == ["-2 own=[]"]
    app.does(app.consumer.expire_poll(app.now_ms))
    assert app.sent == []


# Leaving.


@pytest.mark.parametrize(
    ("option", "instance_id", "epoch"),
    [
        (CloseOption.DEFAULT, None, -1),
        (CloseOption.LEAVE_GROUP, None, -1),
        (CloseOption.REMAIN_IN_GROUP, None, -1),
        (CloseOption.DEFAULT, "i", -2),
        (CloseOption.LEAVE_GROUP, "i", -1),
        (CloseOption.REMAIN_IN_GROUP, "i", -2),
    ],
)
def test_closing_leaves_for_good_or_for_now(option: CloseOption, instance_id: str | None, epoch: int) -> None:
    app = Application(instance_id=instance_id)
    app.stable_with(0)
    app.does(app.consumer.close(app.now_ms, option))
    assert app.calls == ["on_partitions_revoked [0]"]
    assert app.consumer.state is MemberState.STABLE
    app.called()
    assert app.sent == [f"{epoch} names= own=[]"]
    app.answered(epoch, tells=False)
    assert (app.returned, app.consumer.ended, app.alarm) == (["close"], True, None)
    app.joins()
    assert app.sent == []


def test_closing_commits_first_and_waits_for_other_commits_last() -> None:
    app = Application(auto_commit=True, auto_commit_interval_ms=50_000, positions=positions)
    app.stable_with(0)
    app.does(app.consumer.commit(ONE, app.now_ms))
    pending = app.requests[-1]
    app.does(app.consumer.close(app.now_ms))
    assert (app.sent, app.calls) == (["commit 2"], [])
    app.committed()
    assert app.calls == ["on_partitions_revoked [0]"]
    app.called()
    app.quiet(-1)
    assert app.returned == []
    app.does(app.consumer.failed(pending, Failure.DISCONNECTED, app.now_ms))
    assert app.returned == ["commit_async 7 RetriableCommitFailedException", "close"]


def test_who_cannot_reach_a_coordinator_leaves_without_a_word() -> None:
    app = Application(finds_coordinator=True)
    app.joins()
    app.does(app.consumer.leave(app.now_ms))
    assert (app.sent, app.returned) == ([], ["unsubscribe"])
    assert app.consumer.state is MemberState.UNSUBSCRIBED


# Commits and fetches.


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (0, "commit_sync"),
        (25, "commit_sync 25 CommitFailedException"),
        (113, "commit_sync 113 CommitFailedException"),
    ],
)
def test_a_commit_that_is_waited_for_returns_or_throws(code: int, told: str) -> None:
    app = Application()
    app.stable_with(0)
    app.does(app.consumer.commit_sync(ONE, app.now_ms))
    app.committed(14)
    assert app.returned == []
    app.waits()
    assert app.sent == ["commit 2"]
    app.committed(code)
    assert app.returned == [told]
    assert app.consumer.state is MemberState.STABLE


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (0, "commit_async"),
        (14, "commit_async 14 RetriableCommitFailedException"),
        (16, "commit_async 16 RetriableCommitFailedException"),
        (25, "commit_async 25 CommitFailedException"),
        (113, "commit_async 113 StaleMemberEpochException"),
    ],
)
def test_a_commit_that_nobody_waits_for_is_not_sent_again(code: int, told: str) -> None:
    app = Application()
    app.stable_with(0)
    app.does(app.consumer.commit(ONE, app.now_ms))
    app.committed(code)
    assert (app.returned, app.sent) == ([told], [])


def test_automatic_commits_come_at_their_interval_one_at_a_time() -> None:
    app = Application(auto_commit=True, auto_commit_interval_ms=300, positions=positions)
    app.stable_with(0)
    app.waits()
    assert (app.now_ms, app.sent) == (300, ["commit 2"])
    app.committed(14)
    app.waits()
    assert (app.now_ms, app.sent) == (400, ["commit 2"]), "sooner after an error that may pass"
    app.committed()
    app.waits()
    assert (app.now_ms, app.sent) == (700, ["commit 2"])
    app.waits()
    assert (app.now_ms, app.sent) == (INTERVAL_MS, ["2"])


def test_a_commit_of_topics_without_a_known_id_names_them() -> None:
    app = Application()
    app.does(app.consumer.metadata({"bar": BAR}, 0))
    app.does(app.consumer.commit(ONE))
    assert app.requests[-1].version == 9


def test_positions_are_asked_for_once_partitions_are_assigned() -> None:
    app = Application(fetches_offsets=True)
    app.joins()
    app.answered(2, 0)
    app.called()
    assert sorted(app.sent) == ["2 own=[0]", "fetch 2"]
    for code in (14, 113, 0):
        told = FetchAnswer(group_id="orders", error_code=code)
        app.does(app.consumer.receive(app.last(OffsetFetch), told, app.now_ms))
        if code:
            app.waits()
            assert app.sent == ["fetch 2"]
    assert (app.returned, app.consumer.state) == ([], MemberState.STABLE)
