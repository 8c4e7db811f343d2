"""The checker: each invariant can be broken, and is then told with the entries that prove it; sound runs break none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from groups.history.entries import Entry
from groups.history.fold import replay
from groups.history.recorder import Recorder
from groups.history.state import State, initial_state
from simulations import studies
from simulations.checking import INVARIANTS, Bounds, Checker, Violation, as_table
from simulations.coordinator.kafka.coordinator import KafkaCoordinator
from simulations.engine import run
from simulations.engine.checked import bounds_of
from tests.history.logs import FOO, Log, topic_partitions
from tests.house import ROOT

Record = dict[str, Any]
KEY = {"groupId": "orders"}
BOUNDS = Bounds(session_timeout_ms=6_000, heartbeat_interval_ms=1_000, assignment_interval_ms=0)
Held = Sequence[int]


def record(number: int, key: Record, value: Record | None) -> Record:
    version = None if value is None else 0
    return {"type": number, "key": KEY | key, "version": version, "value": value}


def epoch(number: int) -> Record:
    return record(3, {}, {"epoch": number, "metadataHash": 0})


def target_epoch(number: int) -> Record:
    return record(6, {}, {"assignmentEpoch": number})


def subscribes(member: str, *names: str) -> Record:
    value = {
        "instanceId": None,
        "rackId": None,
        "clientId": "c",
        "clientHost": "/127.0.0.1",
        "subscribedTopicNames": list(names or ["foo"]),
        "subscribedTopicRegex": "",
        "rebalanceTimeoutMs": 4_000,
        "serverAssignor": None,
    }
    return record(5, {"memberId": member}, value)


def target(member: str, *numbers: int) -> Record:
    return record(7, {"memberId": member}, {"topicPartitions": topic_partitions({FOO: numbers})})


def current(
    member: str,
    at: int,
    held: Held = (),
    *,
    pending: Held = (),
    state: int = 0,
    previous: int = 1,
    since: int = 2,
) -> Record:
    def listed(numbers: Held, epochs: int) -> list[Record]:
        topics = topic_partitions({FOO: numbers}) if numbers else []
        return [{**topic, "assignmentEpochs": [epochs] * len(numbers)} for topic in topics]

    value = {
        "memberEpoch": at,
        "previousMemberEpoch": previous,
        "state": state,
        "assignedPartitions": listed(held, since),
        "partitionsPendingRevocation": listed(pending, 2),
    }
    return record(8, {"memberId": member}, value)


def group() -> Log:
    """A has foo-0 and foo-1 at epoch 2, B is there with nothing; entries 1 to 14."""
    log = Log()
    log.topics(foo={"id": FOO, "partitions": 2})
    first = log.heartbeat("A", 0, [])
    targets = (target("A", 0, 1), target("B"), target_epoch(2))
    members = (current("A", 2, [0, 1]), current("B", 2))
    log.write(subscribes("A"), subscribes("B"), epoch(2), *targets, *members, cause=first)
    for member in "AB":
        log.timer("session", member, "started", 6_000, cause=first)
    log.callback("A", "on_partitions_assigned", "start", [0, 1])
    log.callback("A", "on_partitions_assigned", "end", [0, 1])
    return log


def shown(
    log: Log,
    semantics: str = "kafka",
    spoil: Callable[[State], State] = lambda state: state,
    retry_ms: int = 0,
) -> list[Violation]:
    """What is told of a log; ``spoil`` changes the memory after the last entry."""
    bounds = replace(BOUNDS, retry_ms=retry_ms)
    checker, state, told = Checker(semantics, bounds), initial_state("orders", semantics), list[Violation]()
    for entry in log.entries:
        state = replay(state, entry)
        told += checker.see(entry, spoil(state) if entry.sequence == log.last else state)
    return told


def commit(log: Log, member: str, at: int, number: int) -> None:
    where = {"topicId": FOO, "partitions": [{"partitionIndex": number, "committedOffset": 7}]}
    body = {"memberId": member, "generationIdOrMemberEpoch": at, "topics": [where]}
    request = log.heartbeat(member, at)
    answer = log.answer(request, member, at)
    asked, told = log.entries[request - 1], log.entries[answer - 1]
    partitions = [{"partitionIndex": number, "errorCode": 0}]
    errors = {"topics": [{"topicId": FOO, "partitions": partitions}]}
    log.entries[request - 1] = replace(asked, payload={"api": "OffsetCommit", "version": 10, "body": body})
    log.entries[answer - 1] = replace(
        told, payload={"api": "OffsetCommit", "version": 10, "to": member, "body": errors}
    )


def refuse(log: Log, request: int, member: str) -> None:
    answer = log.answer(request, member, 0)
    entry = log.entries[answer - 1]
    body = {**entry.payload["body"], "errorCode": 110}
    log.entries[answer - 1] = replace(entry, payload={**entry.payload, "body": body})


def by_heartbeat(*records: Record, member: str = "A", owned: Held = (0, 1)) -> Callable[[Log], object]:
    """A heartbeat that writes these records: entries 15 and 16 on."""
    return lambda log: log.write(*records, cause=log.heartbeat(member, 2, owned))


def one_batch(log: Log) -> None:
    request = log.heartbeat("A", 2, [0, 1])
    log.write(subscribes("A"), cause=request)
    log.write(epoch(3), cause=request)


def session(log: Log) -> None:
    log.timer("session", "B", "cancelled", 6_000)
    log.answer(log.heartbeat("A", 2, [0, 1]), "A", 2)


def unrevoked(log: Log) -> None:
    request = log.heartbeat("A", 2)
    log.write(current("A", 2, [0], pending=[1], state=1), cause=request)
    log.answer(request, "A", 2)


def lost_answer(log: Log) -> None:
    log.write(epoch(3), target_epoch(3), current("A", 3, [0, 1], previous=2), cause=log.heartbeat("A", 2))
    refuse(log, log.heartbeat("A", 2, [0, 1]), "A")


def refused(log: Log) -> None:
    request = log.heartbeat("A", 9)
    log.write(subscribes("A"), cause=request)
    refuse(log, request, "A")


def both_process(log: Log) -> None:
    log.callback("B", "on_partitions_assigned", "start", [0])


def commits_after_giving_up(log: Log) -> None:
    log.callback("A", "on_partitions_revoked", "start", [1])
    log.callback("A", "on_partitions_revoked", "end", [1])
    commit(log.at(log.now_ms + 10), "A", 2, 1)


def never_converges(log: Log) -> None:
    """B needs a second target, and nobody ever moves."""
    log.write(epoch(3), target_epoch(3), cause=log.heartbeat("B", 2))
    for at_ms in range(1_000, 20_000, 1_000):
        for member in "AB":
            log.at(at_ms).heartbeat(member, 2, steady=True)


def never_owned(log: Log) -> None:
    log.callback("A", "on_partitions_revoked", "start", [1])
    log.callback("A", "on_partitions_revoked", "end", [1])
    for at_ms in range(1_000, 20_000, 1_000):
        for member in "AB":
            log.at(at_ms).heartbeat(member, 2, steady=True)


def waits_for_ever(log: Log) -> None:
    request = log.heartbeat("A", 2)
    log.timer("rebalance", "A", "started", 99_000, cause=request)
    log.write(current("A", 2, [0], pending=[1], state=1), cause=request)
    log.at(4_001).heartbeat("A", 2, steady=True)


def stays_silent(log: Log) -> None:
    log.at(6_001).heartbeat("A", 2, steady=True)


def member_without_its_last_tombstone(log: Log) -> None:
    """Its current assignment stays in the log, and makes it again when the other tombstones are gone."""
    request = log.heartbeat("A", -1)
    log.write(record(7, {"memberId": "A"}, None), record(5, {"memberId": "A"}, None), epoch(3), cause=request)
    log.fault("fail_over")


def static(member: str, instance: str) -> Record:
    told = subscribes(member)
    return {**told, "value": {**told["value"], "instanceId": instance}}


def gone(member: str, *numbers: int) -> list[Record]:
    return [record(number, {"memberId": member}, None) for number in numbers or (8, 7, 5)]


def takes_over(log: Log) -> None:
    """C comes with the instance of A, which has not left."""
    log.write(static("A", "i"), cause=log.heartbeat("A", 2))
    came = (static("C", "i"), target("C", 0, 1), current("C", 0, [0, 1], previous=0), current("C", 2, [0, 1]))
    log.write(*gone("A"), *came, cause=log.heartbeat("C", 0, []))


def needless_timer(log: Log) -> None:
    """The session of A goes on though A has left."""
    request = log.heartbeat("A", -1, [])
    log.write(*gone("A"), epoch(3), cause=request)
    log.answer(request, "A", -1)


def gap(log: Log) -> None:
    log.heartbeat("A", 2)
    log.entries[-1] = replace(log.entries[-1], sequence=log.last + 3)


def loses_for_no_reason(log: Log) -> None:
    """No leave of it comes, however long it may travel."""
    log.callback("A", "on_partitions_lost", "start", [0, 1])
    log.at(BOUNDS.travel_ms + 1).heartbeat("B", 2, steady=True)


BREAKS: dict[str, tuple[Callable[[Log], object], tuple[int, ...]]] = {
    "one_holder": (by_heartbeat(current("B", 2, [0]), member="B", owned=()), (9, 16)),
    "group_epochs": (by_heartbeat(epoch(5)), (5, 16)),
    "member_epoch": (by_heartbeat(current("A", 7, [0, 1])), (8, 9, 16)),
    "previous_epoch": (by_heartbeat(current("A", 2, [0, 1], previous=4)), (9, 16)),
    "whole_target": (by_heartbeat(epoch(3), target("B", 1), target_epoch(3)), (6, 17, 18)),
    "stable": (by_heartbeat(current("A", 2, [0]), owned=(0,)), (6, 16)),
    "unrevoked": (unrevoked, (16, 17)),
    "unreleased": (by_heartbeat(current("A", 1, [0, 1], state=2, previous=0)), (8, 16)),
    "pending_is_not_assigned": (by_heartbeat(current("A", 2, [0, 1], pending=[1], state=1)), (16,)),
    "revoked_by_acknowledgement": (by_heartbeat(current("A", 2, [0])), (9, 15, 16)),
    "gained_from_target": (by_heartbeat(current("B", 2, [0]), member="B", owned=()), (7, 16)),
    "assignment_epochs": (by_heartbeat(current("A", 2, [0, 1], since=1)), (6, 16)),
    "compacted_log": (member_without_its_last_tombstone, (19,)),
    "session": (session, (10, 17)),
    "needed_timers": (needless_timer, (18, 20)),
    "one_instance": (takes_over, (9, 24)),
    "dense_log": (gap, (14, 18)),
    "one_batch": (one_batch, (15, 16, 17)),
    "lost_answer": (lost_answer, (19, 20)),
    "refused_writes_nothing": (refused, (15, 16, 17)),
    "one_processor": (both_process, (9, 10, 15)),
    "owned_is_held": (both_process, (10, 15)),
    "callbacks": (loses_for_no_reason, (15,)),
    "given_up_is_left_alone": (commits_after_giving_up, (16, 17)),
    "commit_epoch": (lambda log: commit(log, "A", 1, 0), (9, 15, 16)),
    "group_converges": (never_converges, (10, 16, 54)),
    "members_converge": (never_converges, (10, 16, 54)),
    "partitions_processed": (never_owned, (10, 53)),
    "rebalance_timeout": (waits_for_ever, (17, 18)),
    "session_timeout": (stays_silent, (12, 15)),
}


@pytest.mark.parametrize("name", BREAKS)
def test_an_invariant_that_is_broken_is_told_with_the_entries_that_prove_it(name: str) -> None:
    log = group()
    assert shown(log) == []
    BREAKS[name][0](log)
    told = {violation.invariant: violation.sequences for violation in shown(log)}
    assert told.get(name) == BREAKS[name][1], (told, log.last)


def test_memory_that_differs_from_the_log_is_told() -> None:
    log = group()
    by_heartbeat(epoch(3), target("A", 0, 1), target_epoch(3), current("A", 3, [0, 1], previous=2))(log)
    assert shown(log) == []

    def other(state: State) -> State:
        member = replace(state.consumer.members["A"], assigned={FOO: {0: 2}}, epoch=2)
        spoilt = {**state.consumer.members, "A": member}
        epochs, counts = {FOO: {0: 2, 1: 2}}, {2: 2, 3: 0}
        consumer = replace(
            state.consumer,
            members=spoilt,
            partition_epochs=epochs,
            stable_at=counts,
            target={"A": {FOO: (0,)}},
        )
        return replace(state, consumer=replace(consumer, members={"A": member}, stable_at={3: 1}))

    told = {violation.invariant: violation.sequences[-1] for violation in shown(log, spoil=other)}
    memory = {"memory_is_replay", "partition_epochs", "target_replayed", "group_state"}
    assert told == dict.fromkeys(memory, 19)
    assert set(BREAKS) | memory == set(INVARIANTS), "each invariant is proved able to fail"


def test_a_removed_client_that_does_not_know_yet_is_measured_and_no_violation() -> None:
    log = group()
    log.timer("session", "A", "fired", 6_000)
    gone = [{**record(number, {"memberId": "A"}, None)} for number in (8, 7, 5)]
    log.write(*gone, epoch(3), cause=15)
    log.at(10).write(
        target("B", 0, 1), target_epoch(3), current("B", 3, [0, 1], previous=2, since=3), cause=10
    )
    log.at(20).callback("B", "on_partitions_assigned", "start", [0, 1])
    assert shown(log) == []


def test_a_client_may_lose_everything_while_its_leave_is_on_its_way() -> None:
    log = group()
    log.callback("A", "on_partitions_lost", "start", [0, 1])
    log.at(BOUNDS.travel_ms).heartbeat("A", -1)
    log.at(BOUNDS.travel_ms + 1).heartbeat("B", 2, steady=True)
    assert shown(log) == []


def test_what_a_heartbeat_could_not_say_counts_from_when_it_came_however_long_its_batch_waits() -> None:
    log = group()
    log.callback("A", "on_partitions_revoked", "start", [1])
    log.callback("A", "on_partitions_revoked", "end", [1])
    log.callback("A", "on_partitions_assigned", "start", [1])
    request = log.heartbeat("A", 2, [0])
    log.callback("A", "on_partitions_assigned", "end", [1])
    log.at(2 * BOUNDS.travel_ms).write(
        epoch(3),
        target("A", 0),
        target("B", 1),
        target_epoch(3),
        current("A", 3, [0], previous=2),
        cause=request,
    )
    told = {violation.invariant for violation in shown(log)}
    assert "owned_is_held" not in told


NEXT_FOO = "bLledStpRu6ixDUvA4jVgA"


def next_foo(*numbers: int) -> list[Record]:
    return [{"topicId": NEXT_FOO, "partitions": list(numbers), "assignmentEpochs": [4] * len(numbers)}]


def made_anew(*, names_it: bool) -> Log:
    """B was told of foo-0 and has not begun with it as foo is made anew, and A has foo-0 of the next one."""
    log = group()
    for phase in ("start", "end"):
        log.callback("A", "on_partitions_revoked", phase, [0, 1])
    log.write(
        epoch(3), target("B", 0), target("A", 1), target_epoch(3), current("A", 3, previous=2), cause=10
    )
    asked = log.heartbeat("B", 2, [])
    log.write(current("B", 3, [0], previous=2, since=3), cause=asked)
    log.answer(asked, "B", 3, [0])
    log.topics(foo=None)
    log.topics(foo={"id": NEXT_FOO, "partitions": 2})
    moved = current("A", 4, previous=3)
    moved["value"]["assignedPartitions"] = next_foo(0)
    log.write(moved, cause=log.heartbeat("A", 3, []))
    log.callback("A", "on_partitions_assigned", "start", [0])
    if names_it:
        request = log.heartbeat("B", 3)
        entry = log.entries[request - 1]
        body = {**entry.payload["body"], "topicPartitions": next_foo(0)}
        log.entries[request - 1] = replace(entry, payload={**entry.payload, "body": body})
    log.callback("B", "on_partitions_assigned", "start", [0])
    return log


@pytest.mark.parametrize("names_it", [False, True])
def test_who_was_told_of_a_topic_that_was_made_anew_may_begin_with_it_until_it_names_the_next_one(
    names_it: bool,
) -> None:
    log = made_anew(names_it=names_it)
    told = {violation.invariant for violation in shown(log) if violation.sequences[-1] == log.last}
    assert ("one_processor" in told) is names_it
    for phase in ("start", "end"):
        log.callback("B", "on_partitions_revoked", phase, [0])
    log.callback("B", "on_partitions_assigned", "start", [0])
    assert "one_processor" in {violation.invariant for violation in shown(log)}, "once, and not again"


@pytest.mark.parametrize(("semantics", "told"), [("kafka", False), ("kip", True)])
def test_the_proposal_computes_no_target_with_an_expression_that_nobody_has_resolved(
    semantics: str, told: bool
) -> None:
    log = group()
    by_regex = subscribes("A")
    by_regex["value"] |= {"subscribedTopicNames": [], "subscribedTopicRegex": "f.*"}
    by_heartbeat(by_regex, epoch(3), target("A", 0, 1), target_epoch(3))(log)
    assert ("whole_target" in {violation.invariant for violation in shown(log, semantics)}) is told


@pytest.mark.parametrize(("fault", "told"), [("lost_message", False), ("pause", True)])
def test_a_commit_may_wait_for_a_coordinator_where_its_client_may_have_lost_it(
    fault: str, told: bool
) -> None:
    log = group()
    log.at(5).fault(fault, "A")
    log.at(10)
    commits_after_giving_up(log)
    assert ("given_up_is_left_alone" in {v.invariant for v in shown(log, retry_ms=30)}) is told
    commit(log.at(60), "A", 2, 1)
    assert "given_up_is_left_alone" in {v.invariant for v in shown(log, retry_ms=30)}, "not for ever"


def broken_by_a_static(*records: Record, by: str = "A", epoch_said: int = -2, owned: Held = ()) -> set[str]:
    """What is told where A, with an instance, holds foo-0 and foo-1 at epoch 2 and a heartbeat writes these records."""
    log = group()
    log.write(static("A", "i"), cause=log.heartbeat("A", 2))
    assert shown(log) == []
    log.write(*records, cause=log.heartbeat(by, epoch_said, owned))
    return {violation.invariant for violation in shown(log)}


def test_a_leave_for_now_keeps_what_is_assigned_though_it_names_nothing_as_owned() -> None:
    assert broken_by_a_static(current("A", -2, [0, 1], since=0)) == set()
    assert broken_by_a_static(current("A", -2, [0], since=0)) == {"revoked_by_acknowledgement"}
    assert broken_by_a_static(current("A", -2, [0, 1], since=2)) == {"assignment_epochs"}


def test_a_static_member_goes_back_to_no_other_epoch_than_that_of_its_leave() -> None:
    assert broken_by_a_static(current("A", 0, [0, 1], previous=0), epoch_said=0) == {"member_epoch"}
    assert "member_epoch" in broken_by_a_static(current("A", -1, [0, 1], previous=0), epoch_said=-1)


def test_who_comes_back_begins_anew_and_not_at_the_epoch_of_its_leave() -> None:
    for previous, told in ((0, set()), (-2, {"previous_epoch"})):
        log = group()
        log.write(static("A", "i"), cause=log.heartbeat("A", 2))
        log.write(current("A", -2, [0, 1], since=0), cause=log.heartbeat("A", -2, []))
        back = (static("C", "i"), target("C", 0, 1), current("C", 2, [0, 1], previous=previous, since=0))
        log.write(*gone("A"), *back, cause=log.heartbeat("C", 0, []))
        assert {violation.invariant for violation in shown(log)} == told


def test_who_has_left_for_now_has_nothing_to_give_up() -> None:
    left = current("A", -2, [0], pending=[1], state=1, since=0)
    assert broken_by_a_static(left) == {"unrevoked"}


@pytest.mark.parametrize(
    ("twice", "told"), [(current("A", 2, [0, 1, 1]), "one_holder"), (target("A", 0, 1, 1), "whole_target")]
)
def test_no_record_names_a_partition_twice(twice: Record, told: str) -> None:
    log = group()
    by_heartbeat(twice)(log)
    assert told in {violation.invariant for violation in shown(log)}


def test_neither_commits_nor_leaves_keep_a_session() -> None:
    for still in (lambda log: commit(log, "A", 2, 0), lambda log: log.heartbeat("A", -2, [])):
        log = group()
        still(log.at(5_000))
        log.at(5_001).heartbeat("B", 2, steady=True)
        log.at(6_001).heartbeat("B", 2, steady=True)
        assert {violation.invariant for violation in shown(log)} == {"session_timeout"}


def test_nobody_acknowledges_for_another() -> None:
    assert broken_by_a_static(current("A", 2), by="B", epoch_said=2) >= {"revoked_by_acknowledgement"}


def throws_as_it_begins(log: Log, *, named: bool, again: bool = False) -> None:
    """B is given foo-0 and throws on it; then a heartbeat that tells everything loses it that again."""
    log.callback("A", "on_partitions_revoked", "start", [0])
    log.callback("A", "on_partitions_revoked", "end", [0])
    gives = (epoch(3), target("B", 0), target("A", 1), target_epoch(3), current("A", 3, [1], previous=2))
    log.write(*gives, cause=log.heartbeat("A", 2, [1]))
    log.write(current("B", 3, [0], previous=2, since=3), cause=log.heartbeat("B", 2, []))
    log.callback("B", "on_partitions_assigned", "start", [0])
    log.callback("B", "on_partitions_assigned", "end", [0])
    entry = log.entries[-1]
    log.entries[-1] = replace(entry, payload={**entry.payload, "raised": True})
    if again:
        for phase in ("start", "end"):
            log.callback("B", "on_partitions_assigned", phase, [])
    if named:
        log.at(3_000).heartbeat("B", 3, [0])
    takes = (epoch(4), target("B"), target("A", 0, 1), target_epoch(4), current("B", 4, previous=3))
    log.at(3_500).write(*takes, cause=log.heartbeat("B", 3, []))


@pytest.mark.parametrize(
    ("named", "again", "told"), [(False, False, False), (True, False, True), (False, True, True)]
)
def test_what_a_callback_threw_on_is_named_by_no_heartbeat_until_one_names_it_or_it_has_returned(
    named: bool, again: bool, told: bool
) -> None:
    log = group()
    throws_as_it_begins(log, named=named, again=again)
    assert ("owned_is_held" in {violation.invariant for violation in shown(log)}) is told


def test_a_client_that_was_taken_to_be_rid_of_what_it_had_not_begun_with_may_begin_with_it_once() -> None:
    log = group()
    log.write(epoch(3), target("B", 0), target("A", 1), target_epoch(3), cause=10)
    asked = log.heartbeat("B", 2, [])
    log.write(current("B", 3, [0], previous=2, since=3), cause=asked)
    log.answer(asked, "B", 3, [0])
    log.write(epoch(4), target("B"), target("A", 0, 1), target_epoch(4), cause=10)
    log.write(current("B", 4, previous=3), cause=log.heartbeat("B", 3, []))

    def begins_with_what_is_not_held() -> bool:
        told = [violation for violation in shown(log) if violation.sequences[-1] == log.last]
        return "owned_is_held" in {violation.invariant for violation in told}

    log.at(10).callback("B", "on_partitions_assigned", "start", [0])
    assert not begins_with_what_is_not_held()
    log.at(20).callback("B", "on_partitions_assigned", "end", [0])
    log.heartbeat("B", 4, [0])
    for phase in ("start", "end"):
        log.callback("B", "on_partitions_revoked", phase, [0])
    for phase in ("start", "end"):
        log.callback("B", "on_partitions_assigned", phase, [])
    log.callback("B", "on_partitions_assigned", "start", [0])
    assert begins_with_what_is_not_held()


@pytest.mark.parametrize("answers", [([0], []), ([], []), ([],)])
def test_what_an_earlier_answer_told_waits_for_the_application_to_poll_whatever_a_later_one_tells(
    answers: tuple[list[int], ...],
) -> None:
    log = group()
    log.write(epoch(3), target("B", 0), target("A", 1), target_epoch(3), cause=10)
    asked = log.heartbeat("B", 2, [])
    log.write(current("B", 3, [0], previous=2, since=3), cause=asked)
    for told in answers:
        log.answer(asked, "B", 3, told)
    log.write(epoch(4), target("B"), target("A", 0, 1), target_epoch(4), cause=10)
    log.write(current("B", 4, previous=3), cause=log.heartbeat("B", 3, []))
    log.at(10).callback("B", "on_partitions_assigned", "start", [0])
    flagged = "owned_is_held" in {violation.invariant for violation in shown(log)}
    assert flagged is ([0] not in answers)


@pytest.mark.parametrize("times", [1, 2])
def test_what_a_revoked_callback_threw_on_is_lost_once_more_by_who_polls_too_late(times: int) -> None:
    log = group()
    log.callback("A", "on_partitions_revoked", "start", [1])
    log.callback("A", "on_partitions_revoked", "end", [1])
    entry = log.entries[-1]
    log.entries[-1] = replace(entry, payload={**entry.payload, "raised": True})
    log.heartbeat("A", -1)
    for _ in range(times):
        for phase in ("start", "end"):
            log.callback("A", "on_partitions_lost", phase, [0, 1])
    assert [violation.invariant for violation in shown(log)] == ["callbacks"] * (times - 1)


@pytest.mark.parametrize(("later_ms", "told"), [(0, False), (1, True)])
def test_a_commit_of_what_a_revoked_callback_threw_on_may_be_overtaken_by_the_leave(
    later_ms: int, told: bool
) -> None:
    log = group()
    log.callback("A", "on_partitions_revoked", "start", [1])
    log.callback("A", "on_partitions_revoked", "end", [1])
    entry = log.entries[-1]
    log.entries[-1] = replace(entry, payload={**entry.payload, "raised": True})
    log.heartbeat("A", -1)
    commit(log.at(log.now_ms + later_ms), "A", 2, 1)
    assert ("given_up_is_left_alone" in {violation.invariant for violation in shown(log)}) is told


def gives_up_takes_and_loses(log: Log, *, leaves_last: bool) -> None:
    """A gives up foo-1, is handed an assignment that adds nothing, and loses both; it leaves before or after that."""
    log.callback("A", "on_partitions_revoked", "start", [1])
    log.callback("A", "on_partitions_revoked", "end", [1])
    if not leaves_last:
        log.heartbeat("A", -1)
    log.callback("A", "on_partitions_assigned", "start", [])
    log.callback("A", "on_partitions_assigned", "end", [])
    if leaves_last:
        log.heartbeat("A", -1)
    log.callback("A", "on_partitions_lost", "start", [0, 1])


def test_a_loss_names_what_was_there_as_it_was_decided_whatever_is_handed_over_until_it_is_told() -> None:
    log = group()
    gives_up_takes_and_loses(log, leaves_last=False)
    assert shown(log) == []
    log = group()
    gives_up_takes_and_loses(log, leaves_last=True)
    assert [violation.invariant for violation in shown(log)] == ["callbacks"]


@pytest.mark.parametrize("semantics", ["kip", "kafka"])
@pytest.mark.parametrize("name", studies.names())
def test_no_case_study_breaks_an_invariant_and_those_that_end_quiet_converge(
    name: str, semantics: str
) -> None:
    scenario = studies.load(name)
    checker, state = Checker(semantics, bounds_of(scenario)), initial_state(scenario.group, semantics)
    for entry in run(scenario, semantics):
        state = replay(state, entry)
        assert checker.see(entry, state) == []
    if scenario.start is None:
        assert checker.demand_convergence() == []


@pytest.fixture
def careless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A coordinator that forgets the session timers of those who join."""
    sound = KafkaCoordinator.heartbeat

    def heartbeat(self: KafkaCoordinator, context: Any, request: Any) -> Any:
        outcome = sound(self, context, request)
        return replace(outcome, timers=()) if request.member_epoch == 0 else outcome

    monkeypatch.setattr(KafkaCoordinator, "heartbeat", heartbeat)


@pytest.mark.usefixtures("careless")
def test_a_violation_is_an_entry_of_the_run_a_moment_of_the_board_and_an_exit_status(tmp_path: Path) -> None:
    entries: list[Entry] = list(run(studies.load("released-basic"), "kafka"))
    broken = [entry for entry in entries if entry.payload.get("fault") == "invariant"]
    assert [entry.sequence for entry in entries] == list(range(1, len(entries) + 1))
    assert {entry.payload["invariant"] for entry in broken} == {"session"}
    recorder = Recorder(group=studies.load("released-basic").group, semantics="kafka")
    for entry in entries:
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    assert b"An invariant is broken: No session timer runs for c1" in batch.moments
    with pytest.raises(CommandError, match="invariants are broken, first at entry") as caught:
        call_command("simulate", "released-basic", "--out", str(tmp_path / "run"), stdout=StringIO())
    assert caught.value.returncode == 1


def test_the_reference_of_invariants_is_the_table() -> None:
    assert as_table() in (ROOT / "docs/reference/invariants.md").read_text()
