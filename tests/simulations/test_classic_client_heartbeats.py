"""Rules of the classic client of 4.3.1, one case each: heartbeats, their errors, and an application that is late."""

from __future__ import annotations

import pytest

from simulations.protocol.client.classic.state import JoinState
from simulations.protocol.messages.classic_requests import ClassicHeartbeat, ClassicHeartbeatAnswer
from tests.simulations.classic_application import (
    BACK_OFF_MS,
    INTERVAL_MS,
    SESSION_MS,
    ClassicApplication,
    positions,
)

BACK_OFFS_MS = range(BACK_OFF_MS * 8 // 10, BACK_OFF_MS * 12 // 10)
"""The first back-off of a row, with its jitter."""


# Heartbeats.


def test_heartbeats_begin_an_interval_after_the_join_was_answered() -> None:
    app = ClassicApplication()
    app.joins()
    app.now_ms = 500
    app.joined(1)
    app.waits()
    assert (app.now_ms, app.sent) == (500 + INTERVAL_MS, ["beat 1"]), "also while the sync is parked"
    app.beaten()
    app.synced(0)
    app.called()
    app.waits()
    assert (app.now_ms, app.sent) == (500 + 2 * INTERVAL_MS, ["beat 1"])
    request = app.last(ClassicHeartbeat)
    assert (request.group_id, request.member_id, request.generation) == ("orders", "A", 1)


def test_a_member_that_still_waits_for_its_assignment_hears_of_no_rebalance() -> None:
    app = ClassicApplication()
    app.joins()
    app.joined(1)
    app.waits()
    app.beaten(27)
    assert (app.sent, app.calls) == ([], [])
    app.synced(0)
    assert app.calls == ["on_partitions_assigned [0]"]
    app.called()
    assert (app.sent, app.calls) == ([], []), "it was in a generation that began after that"


@pytest.mark.parametrize(("code", "member_id"), [(25, "-"), (22, "A")])
def test_a_heartbeat_that_tells_of_a_lost_membership_costs_everything(code: int, member_id: str) -> None:
    app = ClassicApplication()
    app.stable_with(0, 1)
    app.waits()
    app.beaten(code)
    assert (app.calls, app.consumer.state) == (["on_partitions_lost [0, 1]"], JoinState.UNJOINED)
    app.called()
    name = {25: "UNKNOWN_MEMBER_ID", 22: "ILLEGAL_GENERATION"}[code]
    assert app.sent == [f"join {member_id}: encountered {name} from HEARTBEAT response"]


@pytest.mark.parametrize("code", [22, 25, 82])
def test_what_a_heartbeat_of_an_earlier_generation_is_told_is_nothing(code: int) -> None:
    app = ClassicApplication(instance_id="i1", assignors=("cooperative-sticky",))
    app.stable_with(0)
    app.waits()
    late = app.last(ClassicHeartbeat)
    app.does(app.consumer.enforce_rebalance(None, app.now_ms))
    app.does(app.consumer.receive(late, ClassicHeartbeatAnswer(error_code=27), app.now_ms))
    app.joined(2)
    app.does(app.consumer.receive(late, ClassicHeartbeatAnswer(error_code=code), app.now_ms))
    assert (app.sent, app.calls, app.returned) == ([], [], [])
    app.synced(0)
    assert app.calls == ["on_partitions_assigned []"]


def test_a_heartbeat_that_finds_the_instance_taken_ends_the_member() -> None:
    app = ClassicApplication(instance_id="i1")
    app.stable_with(0, 1)
    app.waits()
    app.beaten(82)
    assert app.returned == ["poll FencedInstanceIdException"]
    assert app.calls == ["on_partitions_lost [0, 1]"]
    assert app.consumer.ended, "its application closes it, whatever its callback still does"
    app.called()
    assert (app.sent, app.alarm, app.consumer.ended, app.consumer.owned) == ([], None, True, {})


@pytest.mark.parametrize("code", [15, 16])
def test_a_heartbeat_that_the_coordinator_has_moved_from_is_sent_again_when_that_is_found(code: int) -> None:
    app = ClassicApplication()
    app.stable_with(0)
    app.waits()
    app.beaten(code)
    assert app.alarm == INTERVAL_MS + BACK_OFF_MS
    while not app.sent:
        app.waits()
    assert app.sent == ["beat 1"]
    assert app.now_ms - INTERVAL_MS in range(BACK_OFF_MS, 2 * BACK_OFF_MS)
    assert app.consumer.owned == {"foo": (0,)}


def test_a_heartbeat_without_an_answer_is_sent_again_later_and_later() -> None:
    app = ClassicApplication()
    app.stable_with(0)
    app.waits()
    waited = []
    for _ in range(5):
        app.fails(ClassicHeartbeat)
        before_ms = app.now_ms
        while not app.sent:
            app.waits()
        assert app.sent == ["beat 1"]
        waited.append(app.now_ms - before_ms)
    assert all(80 * 2**n <= each < 120 * 2**n for n, each in enumerate(waited[1:4], start=1)), waited
    assert 800 <= waited[4] <= 1_000
    app.beaten()
    app.waits()
    app.fails(ClassicHeartbeat)
    before_ms = app.now_ms
    while not app.sent:
        app.waits()
    assert app.now_ms - before_ms in BACK_OFFS_MS, "an answer begins the row anew"


def test_a_coordinator_that_has_not_answered_for_a_session_is_looked_up() -> None:
    app = ClassicApplication()
    app.stable_with(0)
    app.waits()
    assert app.sent == ["beat 1"]
    app.waits()
    assert (app.now_ms, app.sent, app.alarm) == (SESSION_MS, [], SESSION_MS + BACK_OFF_MS)
    assert app.consumer.owned == {"foo": (0,)}


def test_an_answer_begins_the_session_anew() -> None:
    app = ClassicApplication()
    app.stable_with(0)
    for _ in range(3):
        app.waits()
        app.now_ms += 500
        app.beaten()
    app.waits()
    answered_ms = app.now_ms - INTERVAL_MS + 500
    app.waits()
    assert (app.now_ms, app.sent) == (answered_ms + SESSION_MS, [])


# An application that is late.


def test_who_does_not_poll_for_too_long_says_so_and_joins_as_a_new_member_when_it_does() -> None:
    app = ClassicApplication(rebalance_timeout_ms=5_000)
    app.stable_with(0, 1)
    app.does(app.consumer.poll_late(8_000, app.now_ms))
    app.waits_until(4_999)
    app.sent = [words for words in app.sent if words != "beat 1"]
    assert app.sent == []
    app.waits()
    assert (app.now_ms, app.sent) == (5_000, ["leave A: consumer poll timeout has expired."])
    app.waits()
    assert (app.now_ms, app.calls) == (8_000, ["on_partitions_lost [0, 1]"])
    app.called()
    assert app.sent == ["join -: consumer pro-actively leaving the group"]


def test_who_left_because_it_was_late_commits_nothing_any_more_and_waits_for_its_application_alone() -> None:
    app = ClassicApplication(revoke_commits=True, positions=positions, rebalance_timeout_ms=5_000)
    app.stable_with(0)
    app.waits()
    app.beaten(27)
    assert (app.sent, app.calls) == (["commit 1"], ["on_partitions_revoked [0]"])
    while app.alarm is not None and app.alarm < INTERVAL_MS + 5_000:
        app.waits()
        app.beaten(27)
    app.now_ms = INTERVAL_MS + 4_999
    app.committed(14)
    app.waits()
    assert app.sent == ["leave A: consumer poll timeout has expired."]
    assert app.alarm is None, "the callback still runs"
    app.called()
    assert (app.sent, app.calls) == (["join -: consumer pro-actively leaving the group"], [])


def test_a_static_member_that_is_late_says_nothing() -> None:
    app = ClassicApplication(rebalance_timeout_ms=5_000, instance_id="i1")
    app.stable_with(0)
    app.does(app.consumer.poll_late(6_000, app.now_ms))
    app.waits_until(5_500)
    assert set(app.sent) == {"beat 1"}
    app.waits_until(6_000)
    assert app.calls == ["on_partitions_lost [0]"]
    app.called()
    assert app.sent == ["join -: consumer pro-actively leaving the group"]


def test_a_callback_that_throws_is_thrown_by_poll_and_the_rebalance_goes_on() -> None:
    app = ClassicApplication()
    app.stable_with(0)
    app.waits()
    app.beaten(27)
    app.called(raised=True)
    assert (app.returned, app.sent) == (["poll KafkaException"], [])
    before_ms = app.now_ms
    app.waits()
    assert (app.now_ms - before_ms, app.sent) == (1_000, ["join A: group is already rebalancing"])
