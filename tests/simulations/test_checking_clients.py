"""What the checker holds clients to: what it excuses, since Kafka does it, and no more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.history.logs import Log
from tests.simulations.broken_logs import (
    BOUNDS,
    Record,
    commit,
    commits_after_giving_up,
    current,
    epoch,
    group,
    record,
    shown,
    target,
    target_epoch,
)


def test_a_removed_client_that_does_not_know_yet_is_measured_and_no_violation() -> None:
    log = group()
    log.at(6_000).timer("session", "A", "fired", 6_000)
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


def made_anew(*, names_it: bool, at_once: bool) -> Log:
    """B was told of foo-0 and has not begun with it as foo is made anew, and A has foo-0 of the next one.

    ``at_once``: the metadata never showed the time in between.
    """
    log = group()
    for phase in ("start", "end"):
        log.callback("A", "on_partitions_revoked", phase, [0, 1])
    log.write(
        epoch(3), target("B", 0), target("A", 1), target_epoch(3), current("A", 3, previous=2), cause=10
    )
    asked = log.heartbeat("B", 2, [])
    log.write(current("B", 3, [0], previous=2, since=3), cause=asked)
    log.answer(asked, "B", 3, [0])
    if not at_once:
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


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize("names_it", [False, True])
def test_who_was_told_of_a_topic_that_was_made_anew_may_begin_with_it_until_it_names_the_next_one(
    names_it: bool, at_once: bool
) -> None:
    log = made_anew(names_it=names_it, at_once=at_once)
    told = {violation.invariant for violation in shown(log) if violation.sequences[-1] == log.last}
    assert ("one_processor" in told) is names_it
    for phase in ("start", "end"):
        log.callback("B", "on_partitions_revoked", phase, [0])
    log.callback("B", "on_partitions_assigned", "start", [0])
    assert "one_processor" in {violation.invariant for violation in shown(log)}, "once, and not again"


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
