"""The table of answers that the checker holds a coordinator to, row by row, and what it asks of settings and timers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from groups.history.replay.fold import replay
from groups.history.state.group import initial_state
from simulations.invariants import Checker
from simulations.invariants.accepted_requests import _named
from tests.history.logs import FOO, Log
from tests.simulations.broken_logs import (
    BOUNDS,
    Record,
    answered,
    commit,
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

ACCEPTED, UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, FENCED_MEMBER_EPOCH = 0, 25, 82, 110
UNRELEASED_INSTANCE_ID, STALE_MEMBER_EPOCH = 111, 113
OF_MEMBERSHIP = {
    UNKNOWN_MEMBER_ID,
    FENCED_INSTANCE_ID,
    FENCED_MEMBER_EPOCH,
    UNRELEASED_INSTANCE_ID,
    STALE_MEMBER_EPOCH,
}


def names(log: Log, semantics: str = "kafka") -> set[str]:
    return {violation.invariant for violation in shown(log, semantics)}


def accepted_codes(who: str, asks_epoch: int, *, instance: str | None = None, away: bool = False) -> set[int]:
    """The answers to a heartbeat that are not told; A is a member at epoch 2, of instance i where one is asked of."""
    found = set()
    for code in sorted({ACCEPTED, *OF_MEMBERSHIP}):
        log = group()
        if instance is not None:
            log.write(static("A", "i"), cause=log.heartbeat("A", 2))
        if away:
            log.write(current("A", -2, [0, 1], since=0), cause=log.heartbeat("A", -2, []))
        asked = {} if instance is None else {"instanceId": instance}
        answered(log, who, asks_epoch, asked=asked, errorCode=code)
        if "accepted_or_refused" not in names(log):
            found.add(code)
    return found


@pytest.mark.parametrize(
    ("who", "asks_epoch", "instance", "away", "codes"),
    [
        ("A", 0, None, False, {ACCEPTED}),
        ("X", 0, None, False, {ACCEPTED}),
        ("X", 2, None, False, {UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID}),
        ("X", -1, None, False, {UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID}),
        ("A", 2, None, False, {ACCEPTED}),
        ("A", -1, None, False, {ACCEPTED}),
        ("A", 3, None, False, {FENCED_MEMBER_EPOCH}),
        ("A", 1, None, False, {FENCED_MEMBER_EPOCH}),
        ("A", 0, "i", False, {ACCEPTED, *OF_MEMBERSHIP}),
        ("A", 0, "i", True, {ACCEPTED}),
        ("C", 0, "i", True, {ACCEPTED}),
        ("C", 0, "i", False, {UNRELEASED_INSTANCE_ID}),
        ("C", 2, "i", False, {UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID}),
        ("C", 0, "j", False, {ACCEPTED}),
    ],
)
def test_a_heartbeat_is_answered_as_the_table_has_it(
    who: str, asks_epoch: int, instance: str | None, away: bool, codes: set[int]
) -> None:
    assert accepted_codes(who, asks_epoch, instance=instance, away=away) == codes


def test_what_a_broker_or_a_bound_of_the_group_answers_is_none_of_the_table() -> None:
    for code in (14, 15, 16, 42, 81, 112):
        log = group()
        answered(log, "A", 2, errorCode=code)
        assert "accepted_or_refused" not in names(log)


def test_codes_that_are_wanted_are_named_by_their_numbers_and_none_as_accepted() -> None:
    assert _named(frozenset({25, 0, 110})) == "accepted or 25 or 110"


def refused_commit(at: int, code: int) -> set[str]:
    log = group()
    commit(log, "A", at, 0)
    entry = log.entries[-1]
    partitions = [{"partitionIndex": 0, "errorCode": code}]
    body = {"topics": [{"topicId": FOO, "partitions": partitions}]}
    log.entries[-1] = replace(entry, payload={**entry.payload, "body": body})
    return names(log)


def test_a_commit_with_the_members_own_epoch_is_not_refused_for_who_it_is_of() -> None:
    for code in OF_MEMBERSHIP:
        assert "accepted_or_refused" in refused_commit(2, code)
        assert "accepted_or_refused" not in refused_commit(1, code)
    for code in (0, 3, 12, 14, 16):
        assert "accepted_or_refused" not in refused_commit(2, code)


def test_what_an_answer_that_turns_somebody_away_says_of_settings_is_not_judged() -> None:
    for asked, told in ((-1, 0), (2, 110)):
        log = group()
        answered(log, "A", asked, errorCode=told, heartbeatIntervalMs=5_000)
        assert "settings_hold" not in names(log)
    log = group()
    answered(log, "A", 2, heartbeatIntervalMs=None)
    answered(log, "B", 2, heartbeatIntervalMs=1_000)
    assert "settings_hold" not in names(log)


def gives_up(log: Log) -> int:
    """A is told by the proposal's coordinator to give foo-1 up, and a rebalance timer runs; its entry."""
    request = log.heartbeat("A", 2)
    started = log.timer("rebalance", "A", "started", 4_000, cause=request)
    log.answer(request, "A", 2, [0])
    return started


def rebalance_timeouts(log: Log) -> list[tuple[int, ...]]:
    return [v.sequences for v in shown(log, "kip") if v.invariant == "rebalance_timeout"]


def beats(log: Log, until_ms: int) -> None:
    for at_ms in range(1_000, until_ms, 1_000):
        for member in "AB":
            log.at(at_ms).heartbeat(member, 2, steady=True)


def test_in_the_proposal_a_rebalance_timer_that_runs_on_beyond_its_length_is_told_once_it_is_over() -> None:
    log = group()
    started = gives_up(log)
    beats(log, 5_000)
    assert rebalance_timeouts(log) == []
    log.at(4_001).heartbeat("A", 2, steady=True)
    assert rebalance_timeouts(log) == [(started, log.last)]


@pytest.mark.parametrize("event", ["cancelled", "fired"])
def test_in_the_proposal_nobody_is_waited_for_whose_rebalance_timer_has_ended(event: str) -> None:
    log = group()
    gives_up(log)
    log.at(3_000).timer("rebalance", "A", event, 4_000)
    log.at(4_001).heartbeat("A", 2, steady=True)
    assert rebalance_timeouts(log) == []


def by_expression(*topics: str) -> Log:
    """A subscribes by an expression that is said to match these topics, and has all of foo."""
    log = group()
    who = subscribes("A")
    who["value"] |= {"subscribedTopicNames": [], "subscribedTopicRegex": "f.*"}
    resolved = record(
        16, {"regularExpression": "f.*"}, {"topics": list(topics), "version": 1, "timestamp": 0}
    )
    records: list[Record] = [who, epoch(3)]
    log.write(resolved, cause=log.heartbeat("A", 2))
    members = (current("A", 3, [0, 1], previous=2), current("B", 3, previous=2))
    log.write(*records, target("A", 0, 1), target("B"), target_epoch(3), *members, cause=log.last - 1)
    return log


def at_rest(log: Log) -> list[str]:
    checker, state = Checker("kafka", BOUNDS), initial_state("orders", "kafka")
    for entry in log.entries:
        state = replay(state, entry)
        checker.see(entry, state)
    return [v.sentence for v in checker.demand_convergence() if v.invariant == "current_target"]


def test_an_expression_is_to_match_at_rest_what_there_is_and_the_sentence_says_both() -> None:
    assert at_rest(by_expression("foo")) == []
    assert at_rest(by_expression()) == [
        "The expression f.* matches foo, and is taken to match nothing",
    ]
    log = by_expression("foo")
    log.topics(fox={"id": "BAAAAAAAAAAAAAAAAAAAAA", "partitions": 1})
    assert at_rest(log) == ["The expression f.* matches foo, fox, and is taken to match foo"]
    log = by_expression("foo")
    log.topics(foo=None)
    assert not any(says.startswith("The expression") for says in at_rest(log)), (
        "what it matched is gone, and it matches nothing"
    )


def test_what_was_looked_at_of_a_target_is_not_kept_to_be_looked_at_again() -> None:
    log = group()
    checker, state = Checker("kafka", BOUNDS), initial_state("orders", "kafka")
    for entry in log.entries:
        state = replay(state, entry)
        checker.see(entry, state)
    remembered: Any = checker._group.targets.remembered()
    assert remembered[:4] == (True, False, False, frozenset())


def test_a_member_that_comes_at_an_epoch_below_the_first_target_waits_for_it() -> None:
    """The target is computed later: until then a member has nothing, at the first epoch of all (1 in 4.3.1)."""
    log = Log()
    log.topics(foo={"id": FOO, "partitions": 2})
    first = log.heartbeat("A", 0, [])
    log.write(subscribes("A"), epoch(2), current("A", 1, previous=0), cause=first)
    log.timer("session", "A", "started", 6_000, cause=first)
    log.answer(first, "A", 1)
    assert names(log) == set()
    log.write(target("A", 0, 1), target_epoch(2), current("A", 2, [0, 1]), cause=log.heartbeat("A", 1))
    assert names(log) == set()
    log.write(*gone("A"), record(6, {}, None), record(3, {}, None))
    assert names(log) == set()


def test_in_the_proposal_a_record_alone_makes_no_rebalance_timer_needless() -> None:
    """Only an answer tells who has nothing to give up any more; until then the timer runs for a reason."""
    log = group()
    gives_up(log)
    log.write(current("A", 2, [0, 1]), cause=log.heartbeat("A", 2))
    log.answer(log.heartbeat("B", 2), "B", 2)
    assert "needed_timers" not in names(log, "kip")


def test_offsets_of_a_topic_that_is_made_anew_at_once_go_with_the_one_before() -> None:
    log = group()
    log.write(committed(0, 7))
    log.at(1).topics(foo={"id": "BAAAAAAAAAAAAAAAAAAAAA", "partitions": 2})
    log.write(committed(0, None))
    assert "offsets_go_along" not in names(log)
