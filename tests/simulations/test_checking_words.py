"""How long things may take, and how what is broken is told: once, with its proof, by name."""

from __future__ import annotations

import pytest

from simulations.invariants import Bounds
from simulations.invariants.liveness import HEARTBEAT_ROUNDS, REVOCATIONS
from simulations.invariants.violations import NAMED_MAX, VIOLATIONS_MAX, Violations, named


def test_a_group_has_to_converge_within_a_session_its_revocations_and_so_many_rounds_of_heartbeats() -> None:
    bounds = {
        "session_timeout_ms": 1_000_000_000,
        "heartbeat_interval_ms": 10_000,
        "assignment_interval_ms": 100,
        "settle_ms": 7,
        "metadata_ms": 3,
    }
    rebalance_ms = 100_000_000
    still = Bounds(**bounds).convergence_ms(rebalance_ms)
    assert still == 1_000_000_000 + REVOCATIONS * rebalance_ms + 100 + HEARTBEAT_ROUNDS * 10_007 + 3
    # A round is a heartbeat's way there and its answer's way back.
    assert Bounds(**bounds, travel_ms=50).convergence_ms(rebalance_ms) == still + HEARTBEAT_ROUNDS * 100


def test_a_violation_is_told_once_for_the_same_members_and_partitions() -> None:
    told = Violations()
    told.add("one_holder", "It is.", (9, 3, 3, 0, -1), ["B", "A"], [("foo", 1), ("foo", 0)])
    told.add("one_holder", "It is again.", (12,), ["B", "A"], [("foo", 0), ("foo", 1)])
    told.add("one_holder", "Of another.", (12,), ["B"], [("foo", 0)])
    told.add("epochs_rise", "Another.", (12,), ["B", "A"], [("foo", 0), ("foo", 1)])
    first, *others = told.take()
    assert (first.sequences, first.members, first.partitions) == (
        (3, 9),
        ("B", "A"),
        (("foo", 0), ("foo", 1)),
    )
    assert [violation.sentence for violation in others] == ["Of another.", "Another."]
    assert told.take() == []
    told.add("one_holder", "It is.", (99,), ["B"], [("foo", 0)])
    assert told.take() == []


def test_a_run_that_breaks_everything_is_told_so_often_and_no_more() -> None:
    told = Violations()
    for number in range(VIOLATIONS_MAX + 5):
        told.add("one_holder", "It is.", (1,), [f"m{number}"])
    assert len(told.take()) == VIOLATIONS_MAX


@pytest.mark.parametrize("more", [0, 1, 3])
def test_partitions_are_named_up_to_a_number_and_the_rest_is_counted(more: int) -> None:
    words = named([("foo", number) for number in reversed(range(NAMED_MAX + more))])
    assert words.startswith("foo-0, foo-1")
    assert words.count("foo-") == NAMED_MAX
    assert words.endswith(f" and {more} more") is bool(more)
