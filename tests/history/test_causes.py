"""Sentences and findings claim a reason only where an entry of a request, a timer or a fault tells it."""

from __future__ import annotations

from typing import Any

import orjson

from groups.history.entries import Kind, Provenance
from groups.history.passes.recorder import RecordedBatch
from tests.history.logs import FOO, HASH, STABLE, UNREVOKED, Log, Records

R = Records()


def two_members() -> Log:
    log = Log(provenance=Provenance.SIMULATED)
    log.topics(foo={"id": FOO, "partitions": 3})
    log.write(
        R.member("A"),
        R.epoch(2, HASH),
        R.target("A", 0, 1),
        R.target_epoch(2),
        R.current("A", 2, 0, STABLE, {0: 2, 1: 2}),
    )
    log.at(1000).write(
        R.member("B"),
        R.epoch(3, HASH),
        R.target("B", 2),
        R.target_epoch(3),
        R.current("B", 3, 0, STABLE, {2: 3}),
    )
    return log  # fmt: skip


def moments(batch: RecordedBatch) -> list[dict[str, Any]]:
    return list(orjson.loads(batch.moments))


def removal(batch: RecordedBatch) -> dict[str, Any]:
    return next(finding for finding in batch.summary["findings"] if finding["kind"] == "removed")


def test_a_leave_request_says_that_the_member_left() -> None:
    log = two_members()
    request = log.at(5000).heartbeat("B", -1)
    log.write(*R.leave("B", 4, HASH), cause=request)
    log.answer(request, "B", -1)
    last = moments(log.recorded())[-1]
    assert (last["shape"], last["says"]) == ("leave", "B leaves; foo-2 is unassigned")
    assert (last["first"], last["sequence"]) == (request, log.last)
    found = removal(log.recorded())
    assert (found["says"], found["why"], found["needs"]) == ("B left", "left", ["records", "requests"])


def test_a_session_timer_that_fired_says_that_the_session_expired() -> None:
    log = two_members()
    fired = log.at(7000).timer("session", "B", "fired", 7000)
    log.write(*R.leave("B", 4, HASH), cause=fired)
    last = moments(log.recorded())[-1]
    assert (last["shape"], last["says"]) == ("remove", "B's session expired; foo-2 is unassigned")
    assert removal(log.recorded())["why"] == "session_expired"


def test_a_rebalance_timer_that_fired_says_that_giving_up_took_too_long() -> None:
    log = two_members()
    log.write(R.current("B", 3, 3, UNREVOKED, {}, {2: 3}))
    fired = log.at(7000).timer("rebalance", "B", "fired", 7000)
    log.write(*R.leave("B", 4, HASH), cause=fired)
    last = moments(log.recorded())[-1]
    assert (
        last["says"]
        == "B did not revoke its partitions within its rebalance timeout (5\u202fmin 0\u202fs) and is removed; foo-2 is unassigned"
    )
    assert removal(log.recorded())["needs"] == ["records", "timers"]


def test_a_killed_client_owns_nothing_while_the_coordinator_still_believes() -> None:
    log = two_members()
    log.callback("B", "on_partitions_assigned", "end", (2,))
    assert log.frame()["clients"]["B"]["owned"] == {"foo": [2]}
    log.fault("kill", "B")
    assert log.frame()["clients"]["B"]["owned"] == {}
    assert log.frame()["members"]["B"]["assigned"] == {"foo": [2]}
    last = moments(log.recorded())[-1]
    assert (last["actor"], last["shape"], last["says"]) == ("B", "fault", "B is killed")


def test_partitions_without_an_owner_are_counted_until_somebody_takes_them() -> None:
    log = two_members()
    fired = log.at(7000).timer("session", "B", "fired", 7000)
    log.write(*R.leave("B", 4, HASH), cause=fired)
    log.at(9000).write(R.target("A", 0, 1, 2), R.target_epoch(4))
    still = next(f for f in log.recorded().summary["findings"] if f["kind"] == "no_owner")
    assert (still["says"], still["open"]) == ("foo-2 has been unassigned for 2.0\u202fs", True)
    log.at(13_100).write(R.current("A", 4, 2, STABLE, {0: 2, 1: 2, 2: 4}))
    assert log.recorded().summary["verdict"]["text"] == (
        "Session expiry: B. A and B joined one after another (group epochs 2–3). "
        "At 7.0\u202fs B was removed when its session expired; foo-2 was unassigned for 6.1\u202fs. "
        "1 partition moved."
    )


def test_a_long_wait_is_part_of_the_verdict() -> None:
    log = two_members()
    log.at(20_000).write(R.epoch(4, 7), R.target("A", 0), R.target("B", 1, 2), R.target_epoch(4))
    log.at(21_000).write(R.current("A", 2, 2, UNREVOKED, {0: 2}, {1: 2}))
    log.at(95_000).write(R.current("A", 4, 2, STABLE, {0: 2}))
    assert "B waited 1\u202fmin 15\u202fs for A to release foo-1" in log.recorded().summary["verdict"]["text"]


def test_a_refusal_is_told_with_kafkas_name_of_the_error() -> None:
    log = two_members()
    request = log.heartbeat("B", 9)
    body = {"errorCode": 110, "memberId": "B"}
    log._add(
        Kind.RESPONSE,
        "coordinator",
        {"api": "ConsumerGroupHeartbeat", "to": "B", "body": body},
        cause=request,
    )
    assert moments(log.recorded())[-1]["says"] == (
        "B is fenced: its epoch is not the coordinator's (FENCED_MEMBER_EPOCH); it abandons its partitions and rejoins"
    )


def test_partitions_that_a_client_loses_are_told() -> None:
    log = two_members()
    log.callback("B", "on_partitions_assigned", "end", (2,))
    log.at(9000).callback("B", "on_partitions_lost", "start", (2,))
    assert log.frame()["clients"]["B"]["calling"] == "on_partitions_lost"
    log.callback("B", "on_partitions_lost", "end", (2,))
    assert log.frame()["clients"]["B"]["owned"] == {}
    assert "B loses foo-2" in [moment["says"] for moment in moments(log.recorded())]


def test_a_steady_heartbeat_restarts_the_session_and_is_no_moment() -> None:
    log = two_members()
    told = len(moments(log.recorded()))
    log.at(2000).timer("session", "B", "started", 47_000)
    log.at(5000).heartbeat("B", 3, steady=True)
    assert log.frame()["timers"] == {"B": {"session": 50_000, "rebalance": None}}
    assert log.frame()["clients"]["B"]["heartbeat_ms"] == 5000
    assert len(moments(log.recorded())) == told


def test_a_steady_heartbeat_on_which_a_row_ends_is_a_moment() -> None:
    log = two_members()
    log.heartbeat("B", 3, steady=True)
    log.note(note="step", step=5, says="B hb: no change")
    last = moments(log.recorded())[-1]
    assert (last["says"], last["step"], last["narration"]) == (
        "B heartbeats; no change",
        5,
        "B hb: no change",
    )


def test_timers_go_with_their_ends_and_with_a_fail_over() -> None:
    log = two_members()
    assert log.frame()["timers"] is None
    log.timer("session", "A", "started", 45_000)
    log.timer("rebalance", "A", "started", 300_000)
    assert log.frame()["timers"] == {"A": {"session": 45_000, "rebalance": 300_000}}
    log.timer("rebalance", "A", "cancelled", 300_000)
    assert log.frame()["timers"] == {"A": {"session": 45_000, "rebalance": None}}
    log.timer("session", "A", "fired", 45_000)
    assert log.frame()["timers"] == {}
    log.timer("session", "A", "started", 45_000)
    log.fault("fail_over")
    assert log.frame()["timers"] == {}


def test_more_partitions_of_a_topic_are_told() -> None:
    log = two_members()
    log.topics(foo={"id": FOO, "partitions": 4})
    log.write(
        R.epoch(4, 99), R.target("B", 2, 3), R.target_epoch(4), R.current("B", 4, 3, STABLE, {2: 3, 3: 4})
    )
    says = [moment["says"] for moment in moments(log.recorded())]
    assert says[-2:] == [
        "foo has 4 partitions now",
        "The topics changed; target computed: foo-3 goes to B; B gets foo-3",
    ]


def test_a_static_member_that_comes_back_is_a_replacement_and_no_move() -> None:
    log = Log(provenance=Provenance.SIMULATED)
    log.topics(foo={"id": FOO, "partitions": 1})
    log.write(
        R.member("A", instanceId="i"),
        R.epoch(2),
        R.target("A", 0),
        R.target_epoch(2),
        R.current("A", 2, 0, STABLE, {0: 2}),
    )
    log.write(R.current("A", -2, 2, STABLE, {0: 0}))
    gone = (R.gone(8, "A"), R.gone(7, "A"), R.gone(5, "A"))
    log.write(
        *gone,
        R.member("A~2", instanceId="i"),
        R.target("A~2", 0),
        R.current("A~2", 0, 0, STABLE, {0: 0}),
        R.current("A~2", 2, 0, STABLE, {0: 0}),
    )
    batch = log.recorded()
    assert [moment["says"] for moment in moments(batch)] == [
        "A joins and gets foo-0",
        "A leaves for now; foo-0 stays assigned to it",
        "A~2 replaces A (same group.instance.id)",
    ]
    assert [(one["id"], one["lane"]) for one in batch.summary["cast"]] == [("A", "A"), ("A~2", "A")]
    assert {finding["kind"] for finding in batch.summary["findings"]} == {
        "formed",
        "joined",
        "epochs",
        "replaced",
        "away",
    }


def test_a_client_that_begins_while_another_still_has_its_partitions_is_told() -> None:
    """B stands still in a callback beyond its rebalance timeout: it is removed, and does not know."""
    log = two_members()
    log.callback("B", "on_partitions_assigned", "start", (2,))
    fired = log.at(7000).timer("rebalance", "B", "fired", 7000)
    log.write(*R.leave("B", 4, HASH), cause=fired)
    log.at(9000).write(
        R.target("A", 0, 1, 2), R.target_epoch(4), R.current("A", 4, 2, STABLE, {0: 2, 1: 2, 2: 4})
    )
    log.callback("A", "on_partitions_assigned", "start", (2,))
    says = "A begins with foo-2 while B still has it"
    assert moments(log.recorded())[-1]["says"] == says
    assert (
        log.recorded()
        .summary["verdict"]["text"]
        .endswith("At 9.0\u202fs A began with foo-2 while B still had it. 1 partition moved.")
    )


def test_a_client_that_has_given_up_has_nothing_any_more() -> None:
    log = two_members()
    log.callback("B", "on_partitions_assigned", "start", (2,))
    log.callback("B", "on_partitions_revoked", "end", (2,))
    log.callback("A", "on_partitions_assigned", "start", (2,))
    assert "two_clients" not in {finding["kind"] for finding in log.recorded().summary["findings"]}


def test_who_leaves_in_the_middle_of_a_callback_still_has_its_partitions() -> None:
    log = two_members()
    log.callback("B", "on_partitions_assigned", "end", (2,))
    log.heartbeat("B", -1)
    assert log.frame()["clients"]["B"]["owned"] == {"foo": [2]}
    log.callback("B", "on_partitions_lost", "end", (2,))
    log.heartbeat("B", -1)
    assert "B" not in log.frame()["clients"]
