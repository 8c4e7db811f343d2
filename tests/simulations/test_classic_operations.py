"""What a coordinator answers members of the classic protocol, held to the rules by a picture of its own.

A run as it is breaks nothing; one in which a single entry is another, or is missing, breaks the sentence that tells of it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from groups.history.entries import Entry, Kind
from groups.history.replay.fold import replay
from groups.history.state.group import Semantics, initial_state
from groups.wire.embedded.consumer_protocol import encode_assignment
from simulations.invariants.java_table import grown, in_table_order
from simulations.proof.fuzzing.verdict import verdict_on
from simulations.world.engine import run
from simulations.world.engine.checked_run import checker_of
from simulations.world.scenario import load

CLASSIC = """
protocol: classic
topics: {orders: {partitions: 4}}
config: {initial_rebalance_delay_ms: 0}
members:
  A: {subscribe: [orders], instance_id: one}
  B: {subscribe: [orders]}
  C: {subscribe: [orders]}
script:
  - {at: 0s, join: A}
  - {at: 2s, join: B}
  - {at: 15s, restart: A}
  - {at: 20s, join: C}
  - {at: 40s, leave: C}
  - {at: 50s, leave: B}
until: 60s
"""

MIGRATION = """
protocol: classic
topics: {orders: {partitions: 4}}
config: {initial_rebalance_delay_ms: 0}
members:
  A: {subscribe: [orders]}
  B: {subscribe: [orders], callback_ms: 5000}
  C: {subscribe: [orders], protocol: consumer}
script:
  - {at: 0s, join: A}
  - {at: 1s, join: B}
  - {at: 20s, enforce_rebalance: A}
  - {at: 21s, join: C}
  - {at: 60s, leave: C}
until: 90s
"""

Tamper = Callable[[Entry], Entry | None]


def broken(text: str, tamper: Tamper) -> set[str]:
    """The invariants that the run breaks where each entry is what ``tamper`` makes of it, ``None``: it is not there."""
    scenario = load(text)
    checker = checker_of(scenario, Semantics.KAFKA)
    state = initial_state(scenario.group, Semantics.KAFKA)
    found = []
    for entry in run(scenario, Semantics.KAFKA):
        told = tamper(entry)
        if told is None:
            continue
        if told.kind in (Kind.RECORD, Kind.NOTE):
            state = replay(state, told)
        found += checker.steady(told) if told.payload.get("steady") else checker.see(told, state)
    found += checker.end(scenario.start_ms + scenario.until_ms)
    return {violation.invariant for violation in found}


def nth(which: int, of: Callable[[Entry], bool], changed: Tamper) -> Tamper:
    """Changes the entry that is the ``which``-th for which ``of`` is true, from 0 on."""
    seen = -1

    def tamper(entry: Entry) -> Entry | None:
        nonlocal seen
        if not of(entry):
            return entry
        seen += 1
        return changed(entry) if seen == which else entry

    return tamper


def gone(_entry: Entry) -> None:
    """There is no such entry."""


def with_body(**fields: Any) -> Tamper:
    return lambda entry: replace(
        entry, payload={**entry.payload, "body": {**entry.payload["body"], **fields}}
    )


def later(by_ms: int) -> Tamper:
    return lambda entry: replace(
        entry, payload={**entry.payload, "deadline_ms": entry.payload["deadline_ms"] + by_ms}
    )


def answer(api: str, code: int | None = None) -> Callable[[Entry], bool]:
    return lambda entry: (
        entry.kind is Kind.RESPONSE
        and entry.payload["api"] == api
        and (code is None or entry.payload["body"].get("errorCode") == code)
    )


def starts(timer: str) -> Callable[[Entry], bool]:
    return lambda entry: (
        entry.kind is Kind.TIMER and (entry.payload["timer"], entry.payload["event"]) == (timer, "started")
    )


def writes(kind: int) -> Callable[[Entry], bool]:
    return lambda entry: entry.kind is Kind.RECORD and entry.payload["type"] == kind


@pytest.mark.parametrize("text", [CLASSIC, MIGRATION], ids=["classic", "migration"])
def test_a_run_as_it_is_breaks_nothing(text: str) -> None:
    assert broken(text, lambda entry: entry) == set()


@pytest.mark.parametrize(
    ("tamper", "invariant"),
    [
        (nth(0, answer("JoinGroup", 0), gone), "waits_end"),
        (nth(1, answer("JoinGroup", 0), with_body(protocolName="sticky")), "answered_by_the_rules"),
        (
            nth(
                0,
                lambda entry: answer("JoinGroup")(entry) and entry.payload["body"]["skipAssignment"],
                with_body(skipAssignment=False),
            ),
            "answered_by_the_rules",
        ),
        (nth(0, answer("Heartbeat", 27), with_body(errorCode=25)), "answered_by_the_rules"),
        (nth(0, answer("SyncGroup", 0), with_body(errorCode=27)), "answered_by_the_rules"),
        (nth(0, starts("sync"), gone), "classic_timers"),
        (nth(0, starts("join"), later(1)), "classic_timers"),
        (nth(3, starts("session"), later(-1)), "classic_timers"),
        (nth(0, writes(2), gone), "written_when_due"),
    ],
    ids=[
        "unanswered",
        "protocol",
        "assigns anew",
        "refused",
        "sent back",
        "no sync timer",
        "join timer",
        "session",
        "unwritten",
    ],
)
def test_an_operation_that_brings_about_something_else_is_found(tamper: Tamper, invariant: str) -> None:
    assert invariant in broken(CLASSIC, tamper)


def user_data(entry: Entry) -> Entry:
    """The leader's assignor has told every member something of its own."""
    value = entry.payload["value"]
    if not value or not value["members"]:
        return entry
    assignment = b64encode(
        encode_assignment({"version": 1, "assignedPartitions": [], "userData": "AAAA"})
    ).decode()
    members = [{**member, "assignment": assignment} for member in value["members"]]
    return replace(entry, payload={**entry.payload, "value": {**value, "members": members}})


@pytest.mark.parametrize(
    ("tamper", "invariant"),
    [
        (nth(0, answer("JoinGroup", 27), gone), "conversion_sends_back"),
        (
            nth(
                0,
                writes(3),
                lambda entry: replace(
                    entry, payload={**entry.payload, "value": {**entry.payload["value"], "epoch": 9}}
                ),
            ),
            "conversion_carries_over",
        ),
        (lambda entry: user_data(entry) if writes(2)(entry) else entry, "conversion_carries_over"),
        (
            nth(0, lambda entry: starts("sync")(entry) and entry.payload["member"] is not None, gone),
            "classic_member_timed",
        ),
        (
            nth(0, lambda entry: starts("join")(entry) and entry.payload["member"] is not None, later(7)),
            "classic_member_timed",
        ),
        (nth(1, answer("Heartbeat", 27), with_body(errorCode=22)), "classic_member_answered"),
    ],
    ids=["waits on", "another epoch", "custom data", "no sync timer", "join timer", "refused"],
)
def test_a_conversion_or_an_answer_in_it_that_is_another_is_found(tamper: Tamper, invariant: str) -> None:
    assert invariant in broken(MIGRATION, tamper)


def test_nothing_is_asked_where_records_wait_for_replicas_but_what_every_run_is_held_to() -> None:
    tamper = nth(0, starts("sync"), gone)
    assert broken(CLASSIC + "replication_ms: 5\n", tamper) == set()


NEXT_TO = """
protocol: classic
topics: {foo: {partitions: 1}}
members: {C: {subscribe: [foo], rebalance_timeout_ms: 20, client: '3.0'}}
script:
  - {at: 0ms, join: C}
  - {at: 3800ms, poll_late: C, for: 5000ms}
  - {at: 6000ms, leave: C}
  - {at: 8000ms, join: C}
until: 30s
"""


def test_a_process_beside_its_predecessor_owns_nothing_of_it() -> None:
    """The first one has left for its late poll, and loses its partitions when its application comes back."""
    assert verdict_on(load(NEXT_TO), "kafka").broken is None


INHERITED = """
topics: {bar: {partitions: 1}}
members:
  A: {subscribe: [bar], instance_id: i0}
  C: {subscribe: [], instance_id: i0, protocol: classic}
script:
  - {at: 0ms, join: A}
  - {at: 2403ms, join: C}
  - {at: 2700ms, bounce: C, for: 0ms, with: {protocol: consumer}}
until: 60s
"""


def test_who_takes_an_instance_through_both_conversions_inherits_a_target_that_it_does_not_subscribe_to() -> (
    None
):
    """4.3.1 writes A's target as what C has, and the conversion back makes it C's target, at the same epoch."""
    assert verdict_on(load(INHERITED), "kafka").broken is None


FOR_EVER = """
protocol: classic
topics: {foo: {partitions: 2}, bar: {partitions: 2}}
config: {initial_rebalance_delay_ms: 0}
members:
  A: {subscribe: [foo, bar], client: '2.5', assignors: [range]}
  B: {subscribe: [foo, bar], client: '2.5', assignors: [range], instance_id: i0}
  C: {subscribe: [foo], client: '2.5', assignors: [range], instance_id: i0}
script:
  - {at: 0s, join: A}
  - {at: 1s, join: B}
  - {at: 20s, kill: B}
  - {at: 21s, join: C}
until: 60s
"""


def test_an_old_static_member_that_came_back_with_less_asks_for_ever_and_is_said_to() -> None:
    verdict = verdict_on(load(FOR_EVER), "kafka")
    assert verdict.broken is None
    assert "came back and subscribes to less than it had" in (verdict.unknown or "")


def test_names_stand_in_the_order_of_javas_table() -> None:
    """As ``new HashMap`` of these in jshell: buckets by their folded hash, in a bucket as they were put."""
    assert in_table_order(["range", "sticky", "roundrobin", "cooperative-sticky"], 16) == [
        *("sticky", "range", "roundrobin", "cooperative-sticky"),
    ]
    assert in_table_order(["BB", "Aa"], 16) == ["BB", "Aa"], "both have the hash 2112"
    assert [grown(16, size) for size in (12, 13, 24, 25)] == [16, 32, 32, 64]
