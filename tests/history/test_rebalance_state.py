"""A classic member of a consumer group: whether it has to join again, waits for its SyncGroup, or is done (KIP-848)."""

from __future__ import annotations

from typing import Any

import pytest

from groups.history.entries import Kind
from groups.history.frames.frame import FrameMaker, frame
from groups.history.replay.fold import replay
from groups.history.state.group import State, initial_state
from tests.history.corpus import CorpusLog, corpus
from tests.history.logs import FOO, STABLE, UNREVOKED, Log, Records
from tests.tiers import spread

R = Records()

CLASSIC = {"sessionTimeoutMs": 45_000, "supportedProtocols": []}


def mixed() -> Log:
    """A is of the consumer protocol, C of the classic one; C has to give foo-2 up."""
    log = Log()
    log.topics(foo={"id": FOO, "partitions": 3})
    log.write(
        R.member("A"),
        R.member("C", classicMemberMetadata=CLASSIC),
        R.epoch(22),
        R.target("A", 0),
        R.target("C", 1, 2),
        R.target_epoch(22),
        R.current("A", 22, 21, STABLE, {0: 22}),
        R.current("C", 22, 21, STABLE, {1: 22, 2: 22}),
    )
    return log


def of_c(log: Log) -> Any:
    members = log.frame()["members"]
    assert "rebalance_state" not in members["A"]
    return members["C"]["rebalance_state"]


def asks(log: Log, api: str, error: int = 0) -> None:
    request = log._add(Kind.REQUEST, "C", {"api": api, "version": 5, "body": {}})
    log._add(
        Kind.RESPONSE, "coordinator", {"api": api, "to": "C", "body": {"errorCode": error}}, cause=request
    )


def test_records_show_that_it_has_to_join_again_and_not_whether_it_is_synced() -> None:
    log = mixed()
    assert of_c(log) is None
    log.write(R.epoch(23))
    assert of_c(log) is None, "there is no target yet"
    log.write(R.target("A", 0, 2), R.target("C", 1), R.target_epoch(23))
    assert of_c(log) == "PreparingRebalance"
    log.write(R.current("C", 22, 22, UNREVOKED, {1: 22}, {2: 22}))
    assert of_c(log) == "PreparingRebalance"
    log.write(R.current("C", 23, 22, STABLE, {1: 22}))
    assert of_c(log) is None


def test_requests_show_how_far_it_is() -> None:
    log = mixed()
    log.write(R.epoch(23), R.target("A", 0, 2), R.target("C", 1), R.target_epoch(23))
    request = log._add(Kind.REQUEST, "C", {"api": "JoinGroup", "version": 5, "body": {}})
    assert of_c(log) == "PreparingRebalance"
    log.write(R.current("C", 23, 22, STABLE, {1: 22}))
    assert of_c(log) == "CompletingRebalance", "from when its JoinGroup was received"
    refused = {"api": "JoinGroup", "to": "C", "body": {"errorCode": 79}}
    log._add(Kind.RESPONSE, "coordinator", refused, cause=request)
    assert of_c(log) is None
    asks(log, "JoinGroup")
    assert of_c(log) == "CompletingRebalance"
    asks(log, "SyncGroup")
    assert of_c(log) == "Stable"
    assert log.frame()["members"]["C"]["state"] == "STABLE"
    log.write(R.epoch(24), R.target_epoch(24))
    assert of_c(log) == "PreparingRebalance"


def test_who_waits_for_a_partition_joins_again_once_it_is_free() -> None:
    log = mixed()
    log.write(R.epoch(23), R.target("A"), R.target("C", 0, 1, 2), R.target_epoch(23))
    log.write(R.current("C", 23, 22, 2, {1: 22, 2: 22}))
    asks(log, "JoinGroup")
    asks(log, "SyncGroup")
    assert of_c(log) == "Stable", "A still has foo-0"
    log.write(R.current("A", 23, 22, STABLE))
    assert of_c(log) == "PreparingRebalance"


def states(log: CorpusLog) -> list[tuple[State, Any]]:
    state, found = initial_state(log.group, log.semantics), []
    for entry in log.entries:
        state = replay(state, entry)
        found.append((state, entry))
    return found


MIXED = (
    "study kip848-migration kafka",
    "study kip848-migration kip",
    *(
        f"found kafka-mixed-{name}"
        for name in (
            "lost-with-what-was-queued",
            "reads-a-topic-made-anew-by-its-name",
            "removed-and-back-with-what-it-reads",
            "stream-tasks-apart",
            "taken-as-given-up",
            "taken-before-it-begins",
            "taken-while-it-begins",
            "topic-deleted-while-two-read-it",
        )
    ),
)
"""Logs in which classic members of a consumer group send heartbeats."""


@pytest.mark.parametrize("name", spread(MIXED, every=6))
def test_a_heartbeat_is_answered_as_the_state_before_it_says(name: str) -> None:
    """REBALANCE_IN_PROGRESS for a member that has to join again, and for no other one."""
    log = next(log for log in corpus() if log.name == name)
    maker, told = FrameMaker(), 0
    for state, entry in states(log):
        shown = maker.frame(state)
        assert shown["members"] == frame(state)["members"]
        if entry.kind is not Kind.RESPONSE or entry.payload["api"] != "Heartbeat":
            continue
        member = shown["members"].get(str(entry.payload.get("to")))
        code = entry.payload["body"].get("errorCode", 0)
        if (
            shown["protocol"] != "consumer"
            or member is None
            or "rebalance_state" not in member
            or code not in (0, 27)
        ):
            continue
        told += 1
        rejoins = member["rebalance_state"] == "PreparingRebalance"
        assert rejoins is (code == 27), (name, entry.sequence, member, code)
    assert told
