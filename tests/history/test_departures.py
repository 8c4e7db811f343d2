"""A removal is explained by what happened: a LeaveGroup, a timer of that member, a rebalance timeout, or by nothing."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import orjson
import pytest

from groups.history.entries import Kind
from groups.history.story.problems import troubles
from tests.history.logs import Log, Records
from tests.history.test_classic_group import generation

R = Records()

EVERY_MS = 1_600


def drawn(client: str, number: int = 1) -> str:
    """A member id as a broker draws it."""
    return f"{client}-{number:08d}-93c0-4c0f-a1c5-2f7d5f6c0003"


def of_clients(number: int, held: Mapping[str, list[int]], **members: Any) -> dict[str, Any]:
    """A generation whose members have ids that a broker drew; ``members`` are fields of each."""
    record = generation(number, dict(held))
    for member in record["value"]["members"]:
        member |= {"clientId": member["memberId"].partition("-")[0], **members}
    return record


def leave(log: Log, member: str, body: Mapping[str, Any] | None = None, *, error: int = 0) -> None:
    told = {"memberId": member} if body is None else body
    request = log._add(Kind.REQUEST, member, {"api": "LeaveGroup", "version": 5, "body": told})
    answer = {"api": "LeaveGroup", "to": member, "body": {"errorCode": error}}
    log._add(Kind.RESPONSE, "coordinator", answer, cause=request)


def synced(log: Log, record: dict[str, Any], leader: str = "A") -> None:
    """A generation's record, which the leader's SyncGroup brings."""
    body = {"memberId": leader, "generationId": record["value"]["generation"]}
    request = log._add(Kind.REQUEST, leader, {"api": "SyncGroup", "version": 5, "body": body})
    log.write(record, cause=request)


def found(log: Log, kind: str) -> list[dict[str, Any]]:
    return [one for one in log.recorded().summary["findings"] if one["kind"] == kind]


def whys(log: Log) -> dict[str, str | None]:
    return {one["member"]: one["why"] for one in found(log, "removed")}


def three(log: Log) -> Log:
    log.at(0).write(generation(1, {"A": [0], "B": [1], "C": [2]}))
    return log


def test_a_recorded_leave_explains_the_removal_that_the_next_generation_shows() -> None:
    log = three(Log())
    leave(log.at(60_000), "B")
    synced(log.at(60_300), generation(2, {"A": [0, 1], "C": [2]}))
    assert whys(log) == {"B": "left"}
    [one] = found(log, "removed")
    assert (one["says"], one["needs"]) == ("B left", ["records", "requests"])
    assert "B leaves" in [each["says"] for each in orjson.loads(log.recorded().moments)]
    assert "B" not in log.frame(at=3)["members"]


def test_a_leave_by_instance_id_alone_names_its_member() -> None:
    log = Log()
    first = generation(1, {"A": [0], "B": [1]})
    first["value"]["members"][1]["groupInstanceId"] = "seat"
    log.at(0).write(first)
    leave(log.at(60_000), "admin", {"members": [{"memberId": "", "groupInstanceId": "seat"}]})
    synced(log.at(60_300), generation(2, {"A": [0, 1]}))
    assert whys(log) == {"B": "left"}


def test_a_refused_leave_explains_nothing() -> None:
    log = three(Log())
    leave(log.at(60_000), "B", error=16)
    synced(log.at(90_000), generation(2, {"A": [0, 1], "C": [2]}))
    assert whys(log) == {"B": None}
    assert "B" in log.frame(at=3)["members"]


def test_a_session_timer_explains_the_removal_of_its_own_member_alone() -> None:
    log = three(Log())
    log.at(60_000).timer("session", "C", "fired", 60_000)
    synced(log.at(60_300), generation(2, {"A": [0, 1, 2]}))
    assert whys(log) == {"B": None, "C": "session_expired"}


def test_a_timer_of_a_consumer_group_explains_one_member_of_two() -> None:
    log = Log()
    log.at(0).write(
        R.member("A"), R.member("B"), R.epoch(1), R.target("A", 0), R.target("B", 1), R.target_epoch(1, 1)
    )
    log.write(R.current("A", 1, 0, 0, {0: 1}), R.current("B", 1, 0, 0, {1: 1}))
    fired = log.at(60_000).timer("session", "A", "fired", 60_000)
    log.write(*R.leave("A", 2), *R.leave("B", 2), cause=fired)
    assert whys(log) == {"A": "session_expired", "B": None}
    said = str(orjson.loads(log.recorded().moments)[-1]["says"])
    assert said.startswith("A's session expired; B is removed; no record says why")


def alone(
    rebalance_ms: int | None, *, times: int = 12, everywhere: bool = True, log: Log | None = None
) -> Log:
    """Three processes, each alone in its generation in turn, under a new member id each time."""
    log = log or Log()
    for turn in range(times):
        name = "xyz"[turn % 3]
        record = of_clients(turn + 1, {drawn(name, turn): [0]})
        [member] = record["value"]["members"]
        if rebalance_ms is not None and (everywhere or turn % 3):
            member["rebalanceTimeout"] = rebalance_ms
        log.at(1_000 + turn * EVERY_MS).write(record)
    return log


@pytest.mark.parametrize(
    ("rebalance_ms", "says"),
    [
        (-1, "Rebalance timeout too short: -1 ms in all members' records, so each join phase ends at once"),
        (0, "Rebalance timeout too short: 0 ms in all members' records, so each join phase ends at once"),
        (
            500,
            "Looks like rebalance timeout too short: 500 ms in all members' records, so each join phase ends after 500 ms",
        ),
    ],
)
def test_a_rebalance_timeout_that_leaves_no_time_to_rejoin_opens_the_verdict(
    rebalance_ms: int, says: str
) -> None:
    log = alone(rebalance_ms)
    [one] = found(log, "short_rebalance_timeout")
    assert one["says"].startswith(says)
    assert (one["count"], one["names"], one["timeout_ms"]) == (11, ["x", "y", "z"], rebalance_ms)
    assert "had no time to rejoin 11 times" in one["says"]
    assert "(12 generations of 1 member each), and came back nine times" in one["says"]
    verdict = log.recorded().summary["verdict"]["text"]
    assert verdict.startswith(says)
    assert "died" not in verdict
    assert found(log, "crash_loop") == []
    assert {each["looks_like"] for each in found(log, "removed")} == {"rebalance_timeout"}


def test_a_storm_that_a_short_rebalance_timeout_explains_has_no_causes_and_is_no_problem_of_its_own() -> None:
    log = alone(-1)
    [storm] = found(log, "storm")
    assert (storm["explained_by"], storm["causes"], storm["look_at"]) == (
        "Rebalance timeout too short",
        [],
        [],
    )
    problems = troubles(log.recorded().summary["findings"])
    assert problems[0]["says"].startswith("Rebalance timeout too short: ")
    assert not [one for one in problems if "storm" in one["says"] or "was removed" in one["says"]]


def subscribed_to(topic: str) -> str:
    """A subscription of version 0, as a client of that age writes it."""
    name = topic.encode()
    return base64.b64encode(bytes(5) + b"\1" + bytes([0, len(name)]) + name + b"\xff" * 4).decode()


def test_members_that_are_alone_in_their_generations_read_their_own_topics_alone() -> None:
    log = alone(-1)
    for entry in log.entries:
        [member] = entry.payload["value"]["members"]
        member["subscription"] = subscribed_to(f"topic-{member['clientId']}")
    [one] = found(log, "short_rebalance_timeout")
    assert one["topics"] == ["topic-x", "topic-y", "topic-z"]
    assert one["says"].endswith("of its own members alone, of topic-x, topic-y and topic-z")
    [same] = found(alone(-1), "short_rebalance_timeout")
    assert (same["topics"], "alone, of" in same["says"]) == ([], False)


def test_one_member_with_enough_time_gives_all_of_them_time() -> None:
    log = alone(-1, everywhere=False)
    assert (
        found(log, "short_rebalance_timeout") == [] or found(log, "short_rebalance_timeout")[0]["count"] < 11
    )
    long = alone(300_000)
    assert found(long, "short_rebalance_timeout") == []


def test_a_leave_explains_a_removal_whatever_the_timeout() -> None:
    log = Log()
    first, second = generation(1, {"A": [0], "B": [1]}), generation(2, {"A": [0, 1]})
    for record in (first, second):
        for member in record["value"]["members"]:
            member["rebalanceTimeout"] = 0
    log.at(0).write(first)
    leave(log.at(60_000), "B")
    synced(log.at(60_300), second)
    assert whys(log) == {"B": "left"}
    assert found(log, "short_rebalance_timeout") == []


def test_a_record_of_version_0_has_no_rebalance_timeout_and_takes_the_session_timeout() -> None:
    log = alone(None)
    for entry in log.entries:
        for member in entry.payload["value"]["members"]:
            del member["rebalanceTimeout"]
    assert found(log, "short_rebalance_timeout") == []
    assert next(iter(log.frame()["members"].values()))["rebalance_timeout_ms"] == 45_000


def test_a_process_that_comes_and_goes_without_evidence_of_a_death_did_not_die() -> None:
    log = Log()
    log.at(0).write(of_clients(1, {drawn("a"): [0, 1]}))
    for turn in range(4):
        at_ms = 20_000 + turn * 10_000
        log.at(at_ms).write(of_clients(2 * turn + 2, {drawn("a"): [0], drawn("b", turn): [1]}))
        log.at(at_ms + 5_000).write(of_clients(2 * turn + 3, {drawn("a"): [0, 1]}))
    [one] = found(log, "crash_loop")
    assert one["says"].replace("\u202f", " ") == "b was removed and came back four times, about every 10 s"


def test_a_process_that_leaves_each_time_left_and_came_back() -> None:
    log = Log()
    log.at(0).write(of_clients(1, {drawn("a"): [0, 1]}))
    for turn in range(4):
        at_ms = 20_000 + turn * 10_000
        log.at(at_ms).write(of_clients(2 * turn + 2, {drawn("a"): [0], drawn("b", turn): [1]}))
        leave(log.at(at_ms + 4_900), drawn("b", turn))
        synced(log.at(at_ms + 5_000), of_clients(2 * turn + 3, {drawn("a"): [0, 1]}))
    [one] = found(log, "crash_loop")
    assert one["says"].replace("\u202f", " ") == "b left and came back four times, about every 10 s"
    assert "pattern" not in one, "who leaves each time did not crash"


def test_a_last_commit_that_fits_both_timeouts_of_a_classic_member_names_both() -> None:
    log = Log()
    commits = []
    for at_ms in range(2_000, 120_000, 2_000):
        commits.append((at_ms, 0))
        if at_ms < 30_000:
            commits.append((at_ms, 1))
    timeouts = {"sessionTimeout": 10_000, "rebalanceTimeout": 10_000}
    log.at(0).write(of_clients(1, {drawn("a"): [0], drawn("b"): [1]}, **timeouts))
    for at_ms, partition in commits:
        if at_ms == 40_000:
            log.at(39_500).write(of_clients(2, {drawn("a"): [0, 1]}, **timeouts))
        log.at(at_ms).write(R.commit(partition, at_ms // 100, at_ms=at_ms))
    [one] = found(log, "removed")
    said = one["says"].replace("\u202f", " ")
    assert said == (
        "b was removed. Looks like its session expired or max.poll.interval.ms was exceeded: its last commit was 11.5 s "
        "earlier, which fits both (session timeout 10.0 s, by its own record; poll interval 10.0 s, by its own record)"
    )
    assert found(log, "session_expiry") == []
