"""The checker beyond who holds what: answers, settings, timers, offsets, and what applications ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from groups.history.replay.fold import replay
from groups.history.state.group import initial_state
from simulations.invariants import Checker
from tests.history.logs import FOO, Log
from tests.simulations.broken_logs import (
    BOUNDS,
    Held,
    answered,
    committed,
    current,
    epoch,
    gone,
    group,
    record,
    shown,
    static,
    subscribes,
    target,
    target_epoch,
)


def asks(names: list[str], regex: str | None, log: Log, until_ms: int) -> set[str]:
    """What is told of a group whose member A has an application that subscribes to this at 1 s."""
    checker, state = Checker("kafka", BOUNDS), initial_state("orders", "kafka")
    told: list[str] = []
    for at_ms in range(1_000, until_ms, 1_000):
        for member in "AB":
            log.at(at_ms).heartbeat(member, 2, steady=True)
    for entry in log.entries:
        if entry.sequence == 15:
            checker.asks_for("A", names, regex, 1_000)
        state = replay(state, entry)
        told += [violation.invariant for violation in checker.see(entry, state)]
    return set(told)


def test_what_an_application_subscribes_to_has_to_be_written_down_within_the_bound() -> None:
    assert asks(["foo"], None, group(), 60_000) == set()
    assert asks(["bar"], None, group(), 60_000) == {"application_is_heeded"}
    assert asks([], "f.*", group(), 60_000) == {"application_is_heeded"}
    assert asks(["bar"], None, group(), 10_000) == set(), "there is time yet"


@pytest.mark.parametrize(
    ("travels_ms", "late_at_ms"), [((), 19_000), ((1_000,), 27_000), ((1_000, 0), 27_000)]
)
def test_a_group_has_longer_to_converge_once_messages_take_longer_and_never_less(
    travels_ms: tuple[int, ...], late_at_ms: int
) -> None:
    """A session, two rebalance timeouts and four rounds: 6 s + 2 x 4 s + 4 x (1 s + 2 ways)."""
    log = group()
    log.write(epoch(3), target_epoch(3), cause=log.heartbeat("B", 2))
    for at_ms in range(1_000, 30_000, 1_000):
        for member in "AB":
            log.at(at_ms).heartbeat(member, 2, steady=True)
    checker, state, told = Checker("kafka", BOUNDS), initial_state("orders", "kafka"), dict[str, int]()
    for travel_ms in travels_ms:
        checker.travels(travel_ms)
    for entry in log.entries:
        state = replay(state, entry)
        told |= {violation.invariant: entry.at_ms for violation in checker.see(entry, state)}
    assert told == {"group_converges": late_at_ms, "members_converge": late_at_ms}


@pytest.mark.parametrize(("instance", "told"), [("i", set()), (None, {"application_is_heeded"})])
def test_who_takes_an_instance_over_may_keep_the_expression_of_its_predecessor_and_nobody_else(
    instance: str | None, told: set[str]
) -> None:
    log = group()
    who = subscribes("A")
    who["value"] |= {"subscribedTopicRegex": "f.*", "instanceId": instance}
    resolved = record(16, {"regularExpression": "f.*"}, {"topics": ["foo"], "version": 1, "timestamp": 0})
    members = (current("A", 3, [0, 1], previous=2), current("B", 3, previous=2))
    log.write(who, resolved, epoch(3), target_epoch(3), *members, cause=log.heartbeat("A", 2))
    assert asks(["foo"], None, log, 60_000) == told


@pytest.mark.parametrize(("full", "told"), [(True, set()), (False, {"application_is_heeded"})])
def test_a_client_that_says_everything_anew_cannot_say_that_it_dropped_an_expression(
    full: bool, told: set[str]
) -> None:
    """Its first word of that was lost; 4.3.1 then names no expression, and the member keeps the one that it had."""
    log = group()
    who = subscribes("A")
    who["value"] |= {"subscribedTopicRegex": "f.*"}
    resolved = record(16, {"regularExpression": "f.*"}, {"topics": ["foo"], "version": 1, "timestamp": 0})
    members = (current("A", 3, [0, 1], previous=2), current("B", 3, previous=2))
    log.write(who, resolved, epoch(3), target_epoch(3), *members, cause=log.heartbeat("A", 2))
    if full:
        log.heartbeat("A", 3, [0, 1], subscribedTopicNames=["foo"], rebalanceTimeoutMs=300_000)
    assert asks(["foo"], None, log, 60_000) == told


def test_a_timer_may_be_started_anew_for_less_once_less_is_set() -> None:
    log = group()
    log.at(1_000).note(note="config", config={"session_timeout_ms": 2_000})
    request = log.heartbeat("B", 2, [])
    log.timer("session", "B", "started", 3_000, cause=request)
    answer = log.answer(request, "B", 2)
    assert answer
    log.at(3_000).timer("session", "B", "fired", 3_000)
    assert "timer_length" not in {violation.invariant for violation in shown(log)}
    other = group()
    request = other.at(1_000).heartbeat("B", 2, [])
    other.timer("session", "B", "started", 3_000, cause=request)
    assert "timer_length" in {violation.invariant for violation in shown(other)}


def test_settings_and_whole_sessions_survive_a_fail_over() -> None:
    for length_ms, interval_ms, told in (
        (2_000, 500, set()),
        (6_000, 1_000, {"timer_length", "settings_hold"}),
    ):
        log = group()
        log.at(1_000).note(note="config", config={"session_timeout_ms": 2_000, "heartbeat_interval_ms": 500})
        cause = log.fault("fail_over")
        for member in "AB":
            log.timer("session", member, "started", 1_000 + length_ms, cause=cause)
        answered(log, "A", 2, heartbeatIntervalMs=interval_ms)
        assert {violation.invariant for violation in shown(log)} == told


@pytest.mark.parametrize(
    ("write", "told"),
    [
        (lambda log: log.topics(foo=None), set()),
        (lambda log: log.note(note="delete_group", error=0), set()),
        (lambda log: log.note(note="delete_group", error=68), {"offsets_go_along"}),
        (lambda log: log.topics(foo={"id": FOO, "partitions": 3}), {"offsets_go_along"}),
    ],
)
def test_offsets_are_removed_with_their_topic_or_their_group_alone(
    write: Callable[[Log], object], told: set[str]
) -> None:
    log = group()
    log.write(committed(0, 7))
    write(log)
    log.write(committed(0, None))
    assert {violation.invariant for violation in shown(log)} == told


@pytest.mark.parametrize(
    ("cause", "told"), [(None, {"offsets_go_along"}), (1, {"offsets_go_along"}), (16, set())]
)
def test_offsets_expire_by_the_note_that_says_so_and_by_no_other_entry(
    cause: int | None, told: set[str]
) -> None:
    log = group()
    log.write(committed(0, 7))
    if cause == 16:
        assert log.note(note="expire_offsets") == cause
    log.write(committed(0, None), cause=cause)
    assert {violation.invariant for violation in shown(log)} == told


def test_a_target_of_a_topic_that_was_made_anew_holds_what_is_gone_though_the_counts_agree() -> None:
    log = group()
    log.topics(foo={"id": "BAAAAAAAAAAAAAAAAAAAAA", "partitions": 2})
    checker, state = Checker("kafka", BOUNDS), initial_state("orders", "kafka")
    for entry in log.entries:
        state = replay(state, entry)
        checker.see(entry, state)
    targets = checker._group.targets
    says = [line for line, _ in targets._behind(checker._group.members)]
    assert [line for line in says if "gone" in line] == [
        "The target holds foo-0, of a topic that is gone",
        "The target holds foo-1, of a topic that is gone",
    ]


def test_what_no_request_brought_about_is_no_second_writing_of_the_first_request() -> None:
    log = Log()
    first = log.heartbeat("A", 0, [])
    assert first == 1
    log.topics(foo={"id": FOO, "partitions": 2})
    members = (current("A", 2, [0, 1]), current("B", 2))
    targets = (target("A", 0, 1), target("B"), target_epoch(2))
    log.write(subscribes("A"), subscribes("B"), epoch(2), *targets, *members, cause=first)
    log.write(*gone("B"), epoch(3))
    assert "one_batch" not in {violation.invariant for violation in shown(log)}
    log.write(epoch(4), cause=first)
    assert "one_batch" in {violation.invariant for violation in shown(log)}


@pytest.mark.parametrize(
    ("epoch_asked", "owned", "code", "told"),
    [
        (2, None, 0, False),
        (2, None, 110, True),
        (3, None, 110, False),
        (3, None, 0, True),
        (1, (0, 1), 0, False),
        (1, (0, 1), 110, True),
        (1, None, 0, True),
        (1, None, 110, False),
        (-1, (), 25, True),
    ],
)
def test_a_member_is_accepted_with_its_epoch_and_with_the_last_one_if_it_owns_no_more(
    epoch_asked: int, owned: Held | None, code: int, told: bool
) -> None:
    log = group()
    request = log.heartbeat("A", epoch_asked, owned)
    answer = log.answer(request, "A", 2)
    entry = log.entries[answer - 1]
    log.entries[answer - 1] = replace(
        entry, payload={**entry.payload, "body": {**entry.payload["body"], "errorCode": code}}
    )
    assert ("accepted_or_refused" in {violation.invariant for violation in shown(log)}) is told


@pytest.mark.parametrize(("code", "told"), [(25, False), (0, True), (110, True)])
def test_who_is_no_member_is_told_so(code: int, told: bool) -> None:
    log = group()
    answered(log, "X", 2, errorCode=code)
    assert ("accepted_or_refused" in {violation.invariant for violation in shown(log)}) is told


@pytest.mark.parametrize(("away", "code", "told"), [(True, 0, False), (True, 111, True), (False, 0, True)])
def test_an_instance_is_given_to_another_process_once_the_first_has_left_for_now(
    away: bool, code: int, told: bool
) -> None:
    log = group()
    log.write(static("A", "i"), cause=log.heartbeat("A", 2))
    if away:
        log.write(current("A", -2, [0, 1], since=0), cause=log.heartbeat("A", -2, []))
    answered(log, "C", 0, asked={"instanceId": "i"}, errorCode=code)
    assert ("accepted_or_refused" in {violation.invariant for violation in shown(log)}) is told


def test_the_offsets_of_a_topic_that_is_deleted_go_with_it_however_early_that_is() -> None:
    log = group()
    log.write(committed(0, 7))
    log.at(1).topics(foo=None)
    checker, state = Checker("kafka", BOUNDS), initial_state("orders", "kafka")
    for entry in log.entries:
        state = replay(state, entry)
        checker.see(entry, state)
    assert "offsets_go_along" in {violation.invariant for violation in checker.demand_convergence()}
