"""Assignors that a scenario's members bring: what a file may say of them, and that they hold in any weather."""

from __future__ import annotations

from typing import Any

import pytest

from groups.history.entries import Entry, Kind
from simulations.invariants import INVARIANT_FAULT
from simulations.protocol.assignors.streams_like import StreamsError
from simulations.world.engine import run
from simulations.world.scenario import ScenarioError, load

GROUP = """\
group: g
semantics: kip
assignor: client:streams
topics: {foo: {partitions: 4}}
config: {session_timeout_ms: 45000, heartbeat_interval_ms: 5000}
members: {A: {subscribe: [foo]}, B: {subscribe: [foo], streams: {topology: other, version: 1}}, S: {subscribe: [foo], assignors: [sticky]}}
"""


def told(script: str, text: str = GROUP, seed: int | None = None) -> list[Entry]:
    entries = list(run(load(f"{text}script: [{script}]\nuntil: 120s\n"), None, seed))
    broken = [e.payload for e in entries if e.kind is Kind.FAULT and e.payload["fault"] == INVARIANT_FAULT]
    assert broken == []
    return entries


def answers(entries: list[Entry], member: str) -> list[dict[str, Any]]:
    return [dict(e.payload["body"]) for e in entries if e.kind is Kind.RESPONSE and e.payload["to"] == member]


def errors(entries: list[Entry], member: str) -> list[int]:
    """What each assignment that the member was told says beside its partitions."""
    return [body["assignment"].get("error", 0) for body in answers(entries, member) if body.get("assignment")]


def test_two_topologies_are_an_error_for_everybody_until_one_of_them_is_gone() -> None:
    entries = told("{at: 0s, join: A}, {at: 20s, join: B}, {at: 50s, leave: B}")
    assert StreamsError.INCONSISTENT_TOPOLOGY in errors(entries, "B")
    assert StreamsError.INCONSISTENT_TOPOLOGY in errors(entries, "A")
    assert errors(entries, "A")[-1] == StreamsError.NONE


def test_a_reported_reason_travels_once_and_raises_the_group_epoch() -> None:
    entries = told("{at: 0s, join: A}, {at: 30s, report: A, reason: lag_grows, lags: {1: 70}}")
    offers = [
        e.payload["body"]["clientAssignors"][0]["reason"]
        for e in entries
        if e.kind is Kind.REQUEST and e.at_ms > 30_000 and e.payload["body"].get("clientAssignors")
    ]
    assert offers == [2]
    epochs = [
        e.payload["value"]["epoch"] for e in entries if e.kind is Kind.RECORD and e.payload["type"] == 3
    ]
    assert epochs == [1, 2]


def test_without_an_assignor_that_all_bring_the_coordinator_computes() -> None:
    entries = told("{at: 0s, join: A}, {at: 20s, join: S}")
    late = [e.payload["api"] for e in entries if e.kind is Kind.REQUEST and e.at_ms > 20_000]
    assert set(late) == {"ConsumerGroupHeartbeat"}


@pytest.mark.parametrize("assignor", ["streams", "cooperative-sticky", "range"])
@pytest.mark.parametrize("world", ["stormy", "hostile"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_in_any_weather_no_invariant_breaks(assignor: str, world: str, seed: int) -> None:
    text = GROUP.replace("client:streams", f"client:{assignor}").replace("topology: other, ", "")
    script = (
        "{at: 0s, join: [A, B]}, {at: 30s, add_partitions: foo, to: 7}, {at: 50s, create_topic: bar, partitions: 2},"
        "{at: 60s, subscribe: A, topics: [foo, bar]}, {at: 70s, delete_topic: bar}"
    )
    told(script, f"{text}world: {world}\n", seed)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{at: 1s, report: A, reason: tired}", "unknown reason tired"),
        ("{at: 1s, report: A}", "report needs reason"),
        ("{at: 1s, report: A, reason: lag_grows, lags: {x: 1}}", "expected a task, 0 to 9999, as the key"),
        ("{at: 1s, report: A, reason: lag_grows, lags: {1: -1}}", "must be 0 to 2147483647, is -1"),
        ("{at: 1s, join: S}, {at: 2s, report: S, reason: none}", "it does not bring the assignor streams"),
        ("{at: 1s, report: B, reason: none}", "it has not joined"),
    ],
)
def test_a_report_that_cannot_be_is_refused(line: str, says: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        load(f"{GROUP}script: [{{at: 0s, join: A}}, {line}]\n")
    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("told", "says"),
    [
        ("{version: 3}", "must be 1 to 2"),
        ("{standbys: 11}", "must be 0 to 10"),
        ("{tasks: 1}", "unknown key"),
    ],
)
def test_what_an_instance_of_streams_is_not_is_refused(told: str, says: str) -> None:
    text = GROUP.replace("{topology: other, version: 1}", told)
    with pytest.raises(ScenarioError) as refused:
        load(f"{text}script: [{{at: 0s, join: A}}]\n")
    assert says in str(refused.value)
