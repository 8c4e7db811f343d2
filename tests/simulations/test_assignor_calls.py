"""Calls of a client's own assignors as entries (``assignor_calls``)."""

from __future__ import annotations

from typing import Any

import pytest

from groups.history.entries import Kind
from groups.history.passes.recorder import Recorder
from groups.history.state.group import Semantics
from simulations.world.engine import run
from simulations.world.scenario import load

CLASSIC = """\
topics: {foo: {partitions: 4}}
protocol: classic
assignor: sticky
config: {initial_rebalance_delay_ms: 0}
members: {A: {subscribe: [foo], assignor_calls: true}, B: {subscribe: [foo], CLIENT}}
script: [{at: 0s, join: A}, {at: 10s, join: B}]
until: 20s
"""

ON_CLIENTS = """\
semantics: kip
topics: {foo: {partitions: 4}}
members: {A: {subscribe: [foo], assignors: [range], assignor_calls: true}, B: {subscribe: [foo], assignors: [range]}}
script: [{at: 0s, join: A}, {at: 10s, join: B}]
until: 30s
"""


def around(text: str) -> list[tuple[str, Any]]:
    """Calls of assignors and the requests of the process among them, heartbeats left out."""
    return [
        (entry.actor, entry.payload.get("says") or entry.payload["api"])
        for entry in run(load(text))
        if entry.payload.get("note") == "assignor_call"
        or (entry.kind is Kind.REQUEST and "Heartbeat" not in entry.payload["api"])
    ]


def test_a_leaders_calls_are_before_the_requests_that_carry_their_outcome() -> None:
    found = [each for who, each in around(CLASSIC.replace("CLIENT", "callback_ms: 20")) if who == "A"]
    first = "sticky.subscriptionUserData: 0 bytes"
    assert found == [
        *(first, "JoinGroup", first, "JoinGroup"),
        *("sticky.assign: 4 partitions for 1 member", "SyncGroup"),
        "sticky.onAssignment: 4 partitions, generation 1",
        *("sticky.subscriptionUserData: 33 bytes", "JoinGroup"),
        *("sticky.assign: 4 partitions for 2 members", "SyncGroup"),
        "sticky.onAssignment: 2 partitions, generation 2",
    ]


def test_a_client_before_2_4_has_the_older_method_and_only_a_leader_assigns() -> None:
    found = around(CLASSIC.replace("CLIENT", "client: '2.1', assignor_calls: true"))
    assert [each for who, each in found if who == "B" and "." in each] == [
        "sticky.subscription: 0 bytes",
        "sticky.onAssignment: 2 partitions, generation 2",
    ]


def test_librdkafka_has_none_of_these_methods() -> None:
    text = CLASSIC.replace("assignor: sticky", "assignor: range")
    found = around(text.replace("CLIENT", "client: librdkafka, assignor_calls: true"))
    assert [each for who, each in found if who == "B" and "." in each] == []
    assert ("B", "JoinGroup") in found


def test_in_kip_a_client_assigns_between_prepare_and_install_and_hears_of_it_with_its_epoch() -> None:
    """Client Side Mode: what was computed comes back with the heartbeat that has the next epoch."""
    found = [each for who, each in around(ON_CLIENTS) if who == "A" and "metadata" not in each]
    assert found == [
        "ConsumerGroupPrepareAssignment",
        "range.assign: 4 partitions for 1 member",
        "ConsumerGroupInstallAssignment",
        "range.onAssignment: 4 partitions, epoch 1",
        "ConsumerGroupPrepareAssignment",
        "range.assign: 4 partitions for 2 members",
        "ConsumerGroupInstallAssignment",
        "range.onAssignment: 2 partitions, epoch 2",
    ]


@pytest.mark.parametrize("text", [CLASSIC.replace("CLIENT", "callback_ms: 20"), ON_CLIENTS])
def test_the_group_is_the_same_where_nobody_writes_calls_down(text: str) -> None:
    with_calls, without = (
        [
            (entry.at_ms, entry.kind, entry.payload)
            for entry in run(load(each))
            if entry.kind is Kind.RECORD and entry.payload.get("note") != "assignor_call"
        ]
        for each in (text, text.replace(", assignor_calls: true", ""))
    )
    assert with_calls == without


def test_the_board_has_a_sentence_for_each_call() -> None:
    batches = Recorder(group="scenario", semantics=Semantics.KIP).batches(run(load(ON_CLIENTS)))
    assert "range.assign: 4 partitions for 2 members" in str([batch.moments for batch in batches])
