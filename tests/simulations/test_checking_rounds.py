"""What the checkers of rounds and of conversions tell of logs that are typed by hand, sentence by sentence."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence

import pytest

from groups.history.entries import Kind
from groups.history.replay.fold import replay
from groups.history.state.group import initial_state
from groups.wire.embedded.consumer_protocol import encode_assignment, encode_subscription
from simulations.invariants import Bounds, MixedChecker
from simulations.invariants.classic_rounds import ROUNDS_END, ROUNDS_MOST, RoundChecks
from simulations.invariants.violations import Violations
from tests.history.logs import FOO, Log
from tests.simulations.broken_logs import Record, current, epoch, record, subscribes, target, target_epoch

SUBSCRIPTION = b64encode(encode_subscription({"version": 0, "topics": ["foo"], "userData": None})).decode()
ASSIGNMENT = b64encode(encode_assignment({"version": 0, "assignedPartitions": [], "userData": None})).decode()


def generation(number: int) -> Record:
    """A record of the classic group, of which A is the only member."""
    member = {"memberId": "A", "subscription": SUBSCRIPTION, "assignment": ASSIGNMENT}
    value = {"generation": number, "protocol": "range", "leader": "A", "members": [member]}
    return {"type": 2, "key": {"group": "orders"}, "version": 4, "value": value}


def joins(log: Log, reason: str | None) -> None:
    body = {"memberId": "A", "protocols": [], "reason": reason}
    log._add(Kind.REQUEST, "A", {"api": "JoinGroup", "version": 9, "body": body})


def rounds_without_an_end(count: int, joins_before: int = 0, reason: str | None = "") -> list[str]:
    """What is told of so many generations, where a JoinGroup with this reason comes before one of them."""
    log, violations = Log(), Violations()
    for number in range(1, count + 1):
        if number == joins_before:
            joins(log, reason)
        log.write(generation(number))
    checks = RoundChecks(violations, {}, Bounds())
    for entry in log.entries:
        checks.see(entry)
    return [violation.sentence for violation in violations.take() if violation.invariant == ROUNDS_END]


def test_more_generations_than_a_rebalance_takes_are_told() -> None:
    assert rounds_without_an_end(ROUNDS_MOST) == []
    assert rounds_without_an_end(ROUNDS_MOST + 1) == [
        "9 generations follow each other, and nothing has changed"
    ]


@pytest.mark.parametrize(
    ("reason", "before", "is_told"),
    [
        ("need to revoke partitions and re-join", ROUNDS_MOST + 1, True),
        ("rebalance enforced by user", ROUNDS_MOST + 1, False),
        ("rebalance enforced by user", 1, True),
        (None, 1, False),
    ],
)
def test_generations_are_counted_from_the_last_join_with_a_reason_where_every_client_tells_its_reason(
    reason: str | None, before: int, is_told: bool
) -> None:
    assert bool(rounds_without_an_end(ROUNDS_MOST + 1, before, reason)) is is_told


@pytest.mark.parametrize(
    ("given", "assigned", "converts", "told"),
    [
        ((0, 1), 2, True, set()),
        ((0,), 2, True, set()),
        ((0,), 2, False, {"whole_target"}),
        ((0, 1), 3, True, {"group_epochs"}),
    ],
)
def test_the_batch_of_a_conversion_may_leave_partitions_out_of_the_target_and_break_nothing_else(
    given: Sequence[int], assigned: int, converts: bool, told: set[str]
) -> None:
    """Its target is what the classic members had, of whom a leader may have left something to nobody."""
    log = Log()
    log.topics(foo={"id": FOO, "partitions": 2})
    ends = [{**record(2, {}, None), "key": {"group": "orders"}}] if converts else []
    makes = (subscribes("A"), epoch(2), target("A", *given), target_epoch(assigned))
    log.write(*ends, *makes, current("A", 2, given))
    checker, state, found = MixedChecker(Bounds()), initial_state("orders", "kafka"), set[str]()
    for entry in log.entries:
        state = replay(state, entry)
        found |= {violation.invariant for violation in checker.see(entry, state)}
    assert found == told
