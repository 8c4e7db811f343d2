"""What a client or the coordinator suffers stands in the frame as long as it lasts, and in no frame otherwise."""

from __future__ import annotations

from typing import Any

from groups.history.entries import Kind
from tests.history.logs import Log
from tests.history.test_causes import R, two_members
from tests.history.test_troubles import fault, found, refused, says, verdict

NEW_FOO = "ICAgICAgICAgICAgICAgIA"


def client(log: Log, member: str = "B") -> Any:
    return log.frame()["clients"][member]


def answered(log: Log, member: str, **body: Any) -> None:
    request = log.heartbeat(member, 3)
    payload = {"api": "ConsumerGroupHeartbeat", "to": member, "body": {"errorCode": 0, **body}}
    log._add(Kind.RESPONSE, "coordinator", payload, cause=request)


def test_a_member_stands_still_until_it_goes_on() -> None:
    log = two_members()
    log.heartbeat("B", 3)
    assert "paused" not in client(log)
    log.fault("pause", "B")
    assert client(log)["paused"] is True
    log.fault("resume", "B")
    assert "paused" not in client(log)


def test_a_killed_member_is_told_as_long_as_it_is_counted() -> None:
    log = two_members()
    log.heartbeat("B", 3)
    log.fault("kill", "B")
    assert client(log) == {"owned": {}, "calling": None, "revoking": {}, "heartbeat_ms": 1000, "killed": True}
    log.write(*R.leave("B", 4))
    assert "B" not in log.frame()["clients"]


def test_a_member_that_is_cut_off_is_so_until_it_is_heard_of() -> None:
    log = two_members()
    fault(log, fault="cut", member="B")
    assert client(log)["cut"] == ["anybody"]
    log.heartbeat("B", 3)
    assert "cut" not in client(log)
    fault(log, fault="cut", member="B", peer="broker-2")
    log.heartbeat("B", 3)
    assert client(log)["cut"] == ["broker-2"]
    fault(log, fault="heal")
    assert "cut" not in client(log)
    assert says(log.recorded())[-3:] == [
        "B is cut off",
        "B is cut off from broker-2",
        "The network is whole again",
    ]


def test_a_member_is_fenced_until_it_joins_again() -> None:
    log = two_members()
    refused(log, "B", 110)
    assert client(log)["fenced"] == "FENCED_MEMBER_EPOCH"
    log.heartbeat("B", 0)
    assert "fenced" not in client(log)


def test_a_clock_keeps_what_it_has_jumped() -> None:
    log = two_members()
    fault(log, fault="clock_jump", member="B", by_ms=5_000)
    fault(log, fault="clock_jump", member="B", by_ms=-7_000)
    assert client(log)["clock_ms"] == -2_000
    assert says(log.recorded())[-2:] == [
        "B's clock jumps 5.0\u202fs ahead",
        "B's clock jumps 7.0\u202fs back",
    ]


def test_the_coordinator_has_a_name_once_it_fails_over_and_loads_until_a_time() -> None:
    log = two_members()
    assert "coordinator" not in log.frame()
    fault(log, fault="fail_over", coordinator="broker-2", epoch=1, loading_ms=2_000)
    at_ms = log.frame()["at_ms"]
    told = {"name": "broker-2", "epoch": 1, "loading_until_ms": at_ms + 2_000, "cut": []}
    assert log.frame()["coordinator"] == told
    fault(log, fault="cut")
    assert log.frame()["coordinator"]["cut"] == ["anybody"]
    fault(log, fault="heal")
    assert log.frame()["coordinator"] == told


def test_one_member_at_a_time_is_asked_to_compute() -> None:
    log = two_members()
    answered(log, "A", shouldComputeAssignment=True)
    answered(log, "B", shouldComputeAssignment=True)
    assert "computing" not in client(log, "A")
    assert client(log)["computing"] is True
    log._add(Kind.REQUEST, "B", {"api": "ConsumerGroupInstallAssignment", "version": 0, "body": {}})
    assert "computing" not in client(log)
    told = says(log.recorded())
    assert told[-2:] == [
        "B is asked to compute the assignment",
        "B installs the assignment that it computed",
    ]


def test_messages_are_lost_one_way_or_the_other() -> None:
    log = two_members()
    fault(log, fault="lost_message", member="B", api="ConsumerGroupHeartbeat", way="request")
    fault(log, fault="lost_message", member="B", api="OffsetCommit", way="response")
    fault(log, fault="duplicated_message", member="B", api="ConsumerGroupHeartbeat", way="request")
    assert says(log.recorded())[-3:] == [
        "B's heartbeat is lost on the way",
        "The answer to B's commit is lost on the way",
        "B's heartbeat arrives twice",
    ]


def test_what_is_held_of_a_deleted_topic_is_told_by_its_old_name() -> None:
    log = two_members()
    log.topics(foo=None)
    log.topics(foo={"id": NEW_FOO, "partitions": 3})
    held = log.frame()["members"]["B"]["assigned"]
    [old] = held
    assert log.frame()["topics"][old]["was"] == "foo"
    batch = log.recorded()
    assert says(batch)[-2:] == ["foo is deleted", "foo is made anew"]
    assert "foo was deleted; foo was made anew." in verdict(batch)


def test_a_broken_invariant_names_its_partitions() -> None:
    log = two_members()
    fault(
        log,
        fault="invariant",
        invariant="one_holder",
        says="foo-2 is held by A and by B.",
        sequences=[4],
        members=["A", "B"],
        partitions={"foo": [2]},
    )
    [one] = found(log.recorded(), "violation")
    assert (one["members"], one["partitions"]) == (["A", "B"], {"foo": [2]})
