"""The incidents: that each study shows what it is about, where its narration says so."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from groups.history.entries import Entry, Kind
from simulations.protocol.messages.errors import ErrorCode
from simulations.world import studies
from simulations.world.engine import run
from tests.simulations.rows import step_frames

INCIDENTS = [name for name in studies.names() if name.startswith("incident-")]


@cache
def entries(name: str) -> tuple[Entry, ...]:
    return tuple(run(studies.load(name)))


@cache
def frames(name: str) -> tuple[dict[str, Any], ...]:
    return tuple(step_frames(name))


def at_step(name: str, event: str, who: str | None = None, nth: int = 0) -> dict[str, Any]:
    """The frame of the n-th row that stands after the event."""
    steps = studies.load(name).steps
    found = [number for number, step in enumerate(steps) if (step.event, step.who) == (event, who)]
    return frames(name)[found[nth]]


def answered(name: str, who: str) -> list[tuple[int, int]]:
    """Time and error code of each answer to a member's heartbeats that has one."""
    return [
        (entry.at_ms, entry.payload["body"]["errorCode"])
        for entry in entries(name)
        if entry.kind is Kind.RESPONSE
        and entry.payload["to"] == who
        and entry.payload["body"].get("errorCode")
    ]


def group_epochs(name: str) -> list[int]:
    """When a group epoch was written."""
    return [
        entry.at_ms for entry in entries(name) if entry.kind is Kind.RECORD and entry.payload["type"] == 3
    ]


@pytest.mark.parametrize("name", INCIDENTS)
def test_an_incident_says_what_is_seen_what_to_look_for_and_why(name: str) -> None:
    said = " ".join(step.narration for step in studies.load(name).steps)
    assert "look for" in said or "mark of this incident" in said or "you see" in said


def test_in_a_storm_epochs_rise_several_times_a_minute_and_the_group_is_not_stable() -> None:
    name = "incident-rebalance-storm"
    bumps = group_epochs(name)
    assert sum(20_000 <= at_ms < 80_000 for at_ms in bumps) >= 6
    states = [frame["state"] for frame in frames(name) if 20_000 < frame["at_ms"] < 100_000]
    assert "Stable" not in states
    assert frames(name)[-1]["state"] == "Stable"


@pytest.mark.parametrize("name", ["incident-slow-revocation", "incident-stuck-unrevoked"])
def test_a_member_is_unrevoked_for_its_rebalance_timeout_and_then_removed(name: str) -> None:
    asked, gone = at_step(name, "revokes", "A"), at_step(name, "removed", "A")
    assert gone["at_ms"] - asked["at_ms"] == studies.load(name).members["A"].rebalance_timeout_ms
    between = [f for f in frames(name) if asked["at_ms"] <= f["at_ms"] < gone["at_ms"]]
    assert {frame["members"]["A"]["state"] for frame in between} == {"UNREVOKED_PARTITIONS"}
    assert {frame["members"]["A"]["epoch"] for frame in between} == {asked["members"]["A"]["epoch"]}
    assert at_step(name, "gains", "C")["members"]["C"]["pending_assignment"] == {"payments": [2]}


def test_a_join_waits_for_an_absent_static_member_as_long_as_the_rebalance_timeout() -> None:
    name = "incident-absent-static-member"
    waits = at_step(name, "join_group", "B")
    assert waits["state"] == "PreparingRebalance"
    assert set(waits["members"]) - set(waits["barrier"]["joined"]) == {"C"}, "who lives has joined"
    synced = at_step(name, "generation", nth=1)
    asked = at_step(name, "join_group", "D")
    assert synced["at_ms"] - asked["at_ms"] >= studies.load(name).members["C"].rebalance_timeout_ms
    assert "C" in frames(name)[-1]["members"], "it stays a member, with partitions that nobody reads"


def test_a_leader_that_does_not_sync_is_dropped_at_the_rebalance_timeout_and_not_before() -> None:
    name = "incident-sync-never-sent"
    waits = at_step(name, "sync_group", "C")
    assert (waits["state"], waits["barrier"]["synced"]) == ("CompletingRebalance", ["B", "C"])
    told = at_step(name, "rebalancing", "B", nth=1)
    assert told["at_ms"] - waits["at_ms"] == pytest.approx(30_000, abs=1_000)
    assert "A" not in told["members"]
    assert frames(name)[-1]["leader"] == "B"


def test_a_stuck_member_sees_no_newer_target() -> None:
    late = at_step("incident-stuck-unrevoked", "heartbeat", "A", nth=1)
    assert late["group_epoch"] == 19
    assert (late["members"]["A"]["epoch"], late["members"]["A"]["pending_revocation"]) == (
        17,
        {"payments": [2]},
    )


def test_who_polls_late_leaves_by_itself_at_the_poll_interval_and_comes_back_under_its_id() -> None:
    name = "incident-max-poll-interval"
    leaves = [
        entry.at_ms
        for entry in entries(name)
        if entry.kind is Kind.REQUEST and entry.payload["body"].get("memberEpoch") == -1
    ]
    assert [round(at_ms / 1000) for at_ms in leaves] == [70, 160]
    assert set(frames(name)[-1]["members"]) == {"A", "B"}
    assert not [e for e in entries(name) if e.kind is Kind.TIMER and e.payload["event"] == "fired"]


def test_a_session_expires_exactly_its_length_after_the_last_heartbeat() -> None:
    name = "incident-session-expiry"
    last = max(e.at_ms for e in entries(name) if e.kind is Kind.REQUEST and e.actor == "B")
    assert at_step(name, "removed", "B")["at_ms"] - last == 45_000


def test_a_zombie_owns_on_its_side_what_is_anothers_and_is_refused() -> None:
    name = "incident-zombie-member"
    resumed = at_step(name, "resume", "A")
    assert resumed["members"]["B"]["assigned"] == {"payments": [0, 1, 2, 3]}
    assert resumed["clients"]["A"]["owned"] == {"payments": [0, 1]}
    assert at_step(name, "loses", "A")["at_ms"] > at_step(name, "removed", "A")["at_ms"] + 15_000
    assert [code for _, code in answered(name, "A")] == [ErrorCode.UNKNOWN_MEMBER_ID]


def test_a_static_restart_costs_an_epoch_only_beyond_the_session() -> None:
    name = "incident-static-churn"
    epochs = [at_step(name, "join", who)["group_epoch"] for who in ("A~2", "B~2")]
    assert epochs == [3, 5]
    assert answered(name, "X") == [(at_step(name, "refused", "X")["at_ms"], ErrorCode.UNRELEASED_INSTANCE_ID)]


def test_partitions_of_a_member_at_epoch_minus_two_wait_for_its_session() -> None:
    name = "incident-epoch-minus-two"
    waiting = at_step(name, "join", "D")
    assert (waiting["members"]["C"]["epoch"], waiting["members"]["C"]["assigned"]) == (
        -2,
        {"payments": [4, 5]},
    )
    assert waiting["members"]["D"]["pending_assignment"] == {"payments": [5]}
    assert at_step(name, "gains", "D")["at_ms"] > at_step(name, "removed", "C")["at_ms"]


def test_where_the_assignor_throws_every_heartbeat_fails_and_nothing_is_written() -> None:
    name = "incident-assignor-failure"
    for who in ("A", "B", "D"):
        assert [code for _, code in answered(name, who)] == [ErrorCode.UNKNOWN_SERVER_ERROR]
    refused = at_step(name, "refused", "B")
    assert (refused["group_epoch"], refused["assignment_epoch"], refused["state"]) == (6, 5, "Assigning")


def test_a_topic_that_comes_and_goes_bumps_epochs_without_a_change_of_members() -> None:
    name = "incident-metadata-flapping"
    assert [frame["group_epoch"] for frame in frames(name)][-1] == 44
    assert {tuple(sorted(frame["members"])) for frame in frames(name)} == {("A", "B")}
    ids = [at_step(name, "target", nth=nth)["topics"].get("retries", {}).get("id") for nth in (1, 3)]
    assert None not in ids
    assert ids[0] != ids[1]
    tombstones = [e.payload["key"] for e in entries(name) if e.kind is Kind.RECORD and e.payload["type"] == 1]
    assert [key["topic"] for key in tombstones] == ["retries"] * 4
