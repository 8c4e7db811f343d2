"""Rules of the classic client of 4.3.1, one case each: commits, their errors, and leaving."""

from __future__ import annotations

import pytest

from groups.wire.embedded.consumer_protocol import encode_assignment
from simulations.protocol.client.classic.releases import RELEASES
from simulations.protocol.client.classic.state import JoinState
from simulations.protocol.client.consumer import CloseOption
from simulations.protocol.client.consumer.effects import Call
from simulations.protocol.messages.classic_requests import LeaveGroup, SyncAnswer, SyncGroup
from simulations.protocol.messages.groups import CommittedOffset, OffsetCommit
from simulations.world.engine import run
from simulations.world.scenario import load
from tests.simulations.classic_application import (
    BACK_OFF_MS,
    ClassicApplication,
    positions,
)

ONE = (CommittedOffset(topic="foo", topic_id="", partition=0, offset=7),)

COMMITTING = {"auto_commit": True, "auto_commit_interval_ms": 600_000, "positions": positions}


# Commits.


def test_an_automatic_commit_is_waited_for_before_anything_is_given_up() -> None:
    app = ClassicApplication(**COMMITTING)
    app.stable_with(0, 1)
    app.waits()
    app.beaten(27)
    assert (app.sent, app.calls) == (["commit 1"], [])
    app.committed()
    assert app.calls == ["on_partitions_revoked [0, 1]"]
    app.called()
    assert app.sent == ["join A: group is already rebalancing"]


@pytest.mark.parametrize("code", [3, 7, 14, 15, 16])
def test_a_commit_before_a_join_is_sent_again_after_an_error_that_may_pass(code: int) -> None:
    app = ClassicApplication(**COMMITTING)
    app.stable_with(0)
    app.waits()
    app.beaten(27)
    app.committed(code)
    begun_ms = app.now_ms
    assert (app.sent, app.calls) == ([], [])
    app.waits()
    assert (app.now_ms - begun_ms, app.sent) == (BACK_OFF_MS, ["commit 1"])
    app.fails(OffsetCommit)
    app.waits()
    assert (app.now_ms - begun_ms, app.sent) == (2 * BACK_OFF_MS, ["commit 1"])
    app.committed()
    assert app.calls == ["on_partitions_revoked [0]"]


def test_a_commit_before_a_join_is_waited_for_no_longer_than_the_rebalance_timeout() -> None:
    app = ClassicApplication(**COMMITTING, rebalance_timeout_ms=20_000, session_timeout_ms=60_000)
    app.stable_with(0)
    app.waits()
    app.beaten(27)
    begun_ms = app.now_ms
    while not app.calls:
        sent = app.sent
        if "beat 1" in sent:
            app.beaten(27)
        if "commit 1" in sent:
            app.committed(14)
        app.waits()
    assert (app.now_ms - begun_ms, app.calls) == (20_000, ["on_partitions_revoked [0]"])
    assert app.sent == []


@pytest.mark.parametrize("code", [12, 22, 25, 27])
def test_a_commit_before_a_join_that_cannot_succeed_holds_nothing_up(code: int) -> None:
    app = ClassicApplication(**COMMITTING)
    app.stable_with(0)
    app.waits()
    app.beaten(27)
    app.committed(code)
    lost = code in (22, 25)
    assert app.calls == ["on_partitions_lost [0]" if lost else "on_partitions_revoked [0]"]


def test_automatic_commits_come_at_their_interval() -> None:
    app = ClassicApplication(auto_commit=True, auto_commit_interval_ms=400, positions=positions)
    app.stable_with(0)
    for at_ms in (400, 800):
        app.waits()
        assert (app.now_ms, app.sent) == (at_ms, ["commit 1"])
        app.committed()
    app.waits()
    app.committed(14)
    app.waits()
    assert (app.now_ms, app.sent) == (1_600, ["commit 1"]), "one that failed is not sent again by itself"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (0, []),
        (7, ["commit_async 7 RetriableCommitFailedException"]),
        (14, ["commit_async 14 RetriableCommitFailedException"]),
        (-1, ["commit_async -1 KafkaException"]),
        (12, ["commit_async 12 OffsetMetadataTooLarge"]),
        (30, ["commit_async 30 GroupAuthorizationException"]),
        (22, ["commit_async 22 CommitFailedException"]),
        (25, ["commit_async 25 CommitFailedException"]),
        (27, ["commit_async 27 RebalanceInProgressException"]),
        (82, ["commit_async 82 FencedInstanceIdException"]),
    ],
)
def test_a_commit_of_the_application_is_told_its_error_once(code: int, told: list[str]) -> None:
    app = ClassicApplication(assignors=("cooperative-sticky",))
    app.stable_with(0)
    app.does(app.consumer.commit(ONE, app.now_ms))
    assert app.sent == ["commit 1"]
    app.committed(code)
    assert app.returned == told
    joins = {
        22: [],
        25: [],
        27: ["join A: offset commit failed since group is already rebalancing"],
    }
    assert app.sent == joins.get(code, [])
    lost = code in (22, 25)
    assert (app.consumer.state is JoinState.UNJOINED) == lost
    assert app.calls == (["on_partitions_lost [0]"] if lost else [])
    if lost:
        app.called()
        name = {22: "ILLEGAL_GENERATION", 25: "UNKNOWN_MEMBER_ID"}[code]
        member_id = {22: "A", 25: "-"}[code]
        assert app.sent == [f"join {member_id}: encountered {name} from OFFSET_COMMIT response"]


def test_while_a_rebalance_goes_on_and_without_a_generation_nothing_is_committed() -> None:
    app = ClassicApplication(assignors=("cooperative-sticky",))
    app.does(app.consumer.commit(ONE, app.now_ms))
    assert (app.sent, app.returned) == ([], ["commit_async CommitFailedException"])
    app.stable_with(0)
    app.does(app.consumer.enforce_rebalance(None, app.now_ms))
    app.does(app.consumer.commit(ONE, app.now_ms))
    assert (app.sent, app.returned) == ([], ["commit_async RebalanceInProgressException"])


def test_a_commit_within_the_revocation_goes_out_while_that_runs_and_holds_nothing_up() -> None:
    app = ClassicApplication(revoke_commits=True, positions=positions)
    app.stable_with(0)
    app.waits()
    app.beaten(27)
    assert (app.sent, app.calls) == (["commit 1"], ["on_partitions_revoked [0]"])
    app.committed(16)
    app.now_ms += 10
    app.called()
    assert app.sent == []
    plain = ClassicApplication(positions=positions)
    plain.stable_with(0)
    plain.waits()
    plain.beaten(27)
    assert (plain.sent, plain.calls) == ([], ["on_partitions_revoked [0]"])


# Leaving.


@pytest.mark.parametrize(
    ("option", "instance_id", "says"),
    [
        (CloseOption.DEFAULT, None, True),
        (CloseOption.LEAVE_GROUP, None, True),
        (CloseOption.REMAIN_IN_GROUP, None, False),
        (CloseOption.DEFAULT, "i1", False),
        (CloseOption.LEAVE_GROUP, "i1", True),
        (CloseOption.REMAIN_IN_GROUP, "i1", False),
    ],
)
def test_closing_says_so_or_not(option: CloseOption, instance_id: str | None, says: bool) -> None:
    app = ClassicApplication(instance_id=instance_id)
    app.stable_with(0)
    app.does(app.consumer.close(app.now_ms, option))
    assert (app.calls, app.sent) == (["on_partitions_revoked [0]"], [])
    assert app.consumer.leaving
    app.called()
    assert app.sent == (["leave A: the consumer is being closed"] if says else [])
    if says:
        (member,) = app.last(LeaveGroup).members
        assert (member.member_id, member.instance_id) == ("A", None), "never the instance"
        assert app.returned == []
        app.left()
    assert (app.returned, app.alarm, app.consumer.ended) == (["close"], None, True)
    app.joins()
    assert app.sent == []


def test_who_closes_commits_first_and_unsubscribing_commits_nothing() -> None:
    closing = ClassicApplication(**COMMITTING)
    closing.stable_with(0)
    closing.does(closing.consumer.close(closing.now_ms))
    assert (closing.sent, closing.calls) == (["commit 1"], ["on_partitions_revoked [0]"])
    leaving = ClassicApplication(**COMMITTING)
    leaving.stable_with(0)
    leaving.does(leaving.consumer.leave(leaving.now_ms))
    assert (leaving.sent, leaving.calls) == ([], ["on_partitions_revoked [0]"])


def test_who_unsubscribes_may_subscribe_again_and_is_a_new_member_then() -> None:
    app = ClassicApplication()
    app.stable_with(0)
    app.does(app.consumer.leave(app.now_ms))
    app.called()
    assert app.sent == ["leave A: the consumer unsubscribed from all topics"]
    app.joins()
    assert app.sent == [], "the call has not returned"
    app.left()
    assert (app.returned, app.consumer.closed, app.consumer.ended) == (["unsubscribe"], True, False)
    app.joins("bar")
    assert app.sent == ["join -: consumer pro-actively leaving the group"]
    assert not app.consumer.leaving


def test_who_leaves_in_the_middle_of_a_rebalance_loses_what_it_owns() -> None:
    app = ClassicApplication(assignors=("cooperative-sticky",))
    app.stable_with(0)
    app.does(app.consumer.enforce_rebalance(None, app.now_ms))
    app.does(app.consumer.leave(app.now_ms))
    assert app.calls == ["on_partitions_lost [0]"]
    app.called()
    assert app.sent == ["leave A: the consumer unsubscribed from all topics"]
    app.joined(2)
    assert (app.sent, app.calls) == ([], []), "an answer that nobody waits for any more"


def test_who_is_no_member_has_nobody_to_say_it_to() -> None:
    app = ClassicApplication()
    app.joins()
    app.does(app.consumer.leave(app.now_ms))
    assert (app.sent, app.returned) == ([], ["unsubscribe"]), "without an id"
    app = ClassicApplication()
    app.stable_with(0)
    app.waits()
    app.beaten(16)
    app.does(app.consumer.close(app.now_ms))
    app.called()
    assert (app.sent, app.returned) == ([], ["close"]), "without a coordinator"


def test_a_leave_during_a_callback_waits_for_it() -> None:
    app = ClassicApplication()
    app.stable_with(0)
    app.waits()
    app.beaten(27)
    app.does(app.consumer.leave(app.now_ms))
    assert (app.calls, app.sent) == ([], [])
    app.called()
    assert app.sent == ["leave A: the consumer unsubscribed from all topics"]


def test_a_leave_that_is_not_answered_is_over_all_the_same() -> None:
    app = ClassicApplication()
    app.stable_with(0)
    app.does(app.consumer.leave(app.now_ms))
    app.called()
    app.fails(LeaveGroup)
    assert app.returned == ["unsubscribe"]


def test_who_gave_partitions_up_and_left_before_it_joined_again_asks_for_no_second_round_later() -> None:
    app = ClassicApplication(assignors=("cooperative-sticky",))
    app.stable_with(0, 1)
    app.does(app.consumer.leave(app.now_ms))
    app.called()
    app.left()
    app.joins()
    app.joined(3)
    app.synced(0)
    app.called()
    assert (app.sent, app.calls) == ([], []), "it has what it was given, and gave nothing up"


@pytest.mark.parametrize(("given", "length_ms"), [([], 0), ([0], 10)])
def test_a_callback_for_what_is_assigned_takes_no_time_where_nothing_is(
    given: list[int], length_ms: int
) -> None:
    app = ClassicApplication(callback_ms=10)
    app.joins()
    while not app.sent:
        app.called()
    app.joined(1)
    topics = [{"topic": "foo", "partitions": given}] if given else []
    data = encode_assignment({"version": 1, "assignedPartitions": topics, "userData": None})
    effects = app.consumer.receive(app.last(SyncGroup), SyncAnswer(assignment=data), app.now_ms)
    assert [each.length_ms for each in effects if isinstance(each, Call)] == [length_ms]


def test_each_release_writes_the_version_of_the_subscription_that_it_brought() -> None:
    """KIP-429 put the owned partitions into it, KIP-792 the generation, KIP-881 the rack."""
    told = {release.name: release.subscription_version for release in RELEASES.values()}
    generations = [release.sticky_version for release in RELEASES.values()]
    assert generations == [0, 0, *[1] * 8], "KIP-341, with 2.3, put the generation into what sticky writes"
    old = dict.fromkeys(("2.1", "2.2", "2.3"), 0)
    assert told == {**old, **dict.fromkeys(("2.4", "2.5", "3.0", "3.1"), 1), "3.2": 2, "3.5": 3, "4.3": 3}


@pytest.mark.parametrize("semantics", ["kip", "kafka"])
def test_in_a_run_a_commit_of_a_member_that_joins_leaves_a_note_and_older_versions_name_topics(
    semantics: str,
) -> None:
    text = """
topics: {foo: {partitions: 2}}
protocol: classic
assignor: cooperative-sticky
members: {A: {subscribe: [foo]}, B: {subscribe: [foo]}, C: {subscribe: [foo]}}
script:
  - {at: 0s, join: [A, B]}
  - {at: 10s, commit: A, offset: 4}
  - {at: 19s, pause: B}
  - {at: 20s, join: C}
  - {at: 26s, commit: A, offset: 5}
  - {at: 28s, resume: B}
  - {at: 50s, commit: A, offset: 6}
"""
    log = list(run(load(text), semantics))
    notes = [e.payload["exception"] for e in log if e.payload.get("note") == "commit_fails"]
    assert notes == ["RebalanceInProgressException"]
    commits = [e.payload for e in log if e.payload.get("api") == "OffsetCommit"]
    assert len(commits) == 4
    versions = {payload["version"] for payload in commits}
    assert versions == {9}
    assert [set(topic) for payload in commits for topic in payload["body"]["topics"]] == [
        {"name", "partitions"}
    ] * len(commits)
