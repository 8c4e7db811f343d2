"""Expressions that a client matches itself take time by the length of the name, whatever they are."""

from __future__ import annotations

from simulations.protocol.client.expressions import fault, matched
from simulations.world.engine import run
from simulations.world.scenario import load


def test_a_name_is_matched_in_full() -> None:
    assert matched("orders.*|audit", ["orders-b", "orders-a", "my-orders", "audit", "audits"]) == (
        "audit",
        "orders-a",
        "orders-b",
    )


def test_what_does_not_compile_matches_nothing_and_its_fault_is_told() -> None:
    assert matched("(a", ["a"]) == ()
    assert (fault("(a"), fault("a")) == ("missing ): (a", None)


def test_a_classic_members_expression_with_endless_ways_ends() -> None:
    name = "a" * 200
    scenario = load(
        f"""
protocol: classic
topics: {{{name}: {{partitions: 1}}}}
members:
  A: {{regex: '(a+)+b|(a|aa)+'}}
script:
  - {{at: 0s, join: A}}
until: 30s
"""
    )
    assert name in str([entry.payload for entry in run(scenario)])
