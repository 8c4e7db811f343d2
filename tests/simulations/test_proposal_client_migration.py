"""A classic group moves to a client-side assignor and back, as KIP-848's "Client Side Assignor" of the migration plan has it."""

from __future__ import annotations

from base64 import b64decode
from typing import Any

import pytest

from groups.history.entries import Entry, Kind
from groups.wire.embedded.consumer_protocol import decode_subscription
from simulations.invariants import INVARIANT_FAULT
from simulations.world.engine import run
from simulations.world.scenario import ScenarioError, load

GROUP = """\
semantics: kip
protocol: classic
assignor: {classic}
group: orders
topics: {{orders: {{partitions: 6}}}}
members: {{A: {{subscribe: [orders]}}, B: {{subscribe: [orders]}}, C: {{subscribe: [orders]}}}}
script:
  - {{at: 0s, join: [A, B, C]}}
  - {{at: 10s, enforce_rebalance: A}}
  - {{at: 20s, bounce: A, with: {{protocol: consumer, assignors: [{brought}]}}, for: 1s}}
{more}
until: {until}
"""

THERE_AND_BACK = """\
  - {at: 60s, bounce: B, with: {protocol: consumer, assignors: [sticky]}, for: 1s}
  - {at: 90s, bounce: B, with: {protocol: classic, assignors: [sticky]}, for: 1s}
  - {at: 120s, fail_over: coordinator}
  - {at: 150s, bounce: A, with: {protocol: classic, assignors: [sticky]}, for: 1s}
"""


def log_of(classic: str, brought: str, more: str = "", until: str = "50s") -> list[Entry]:
    text = GROUP.format(classic=classic, brought=brought, more=more, until=until)
    return list(run(load(text)))


def violations(log: list[Entry]) -> list[str]:
    faults = [each.payload for each in log if each.kind is Kind.FAULT]
    return [fault["says"] for fault in faults if fault["fault"] == INVARIANT_FAULT]


def answers(log: list[Entry], api: str, who: str) -> list[dict[str, Any]]:
    return [
        each.payload["body"]
        for each in log
        if each.kind is Kind.RESPONSE and each.payload["api"] == api and each.payload["to"] == who
    ]


def values(log: list[Entry], record_type: int, who: str) -> list[dict[str, Any]]:
    return [
        each.payload["value"]
        for each in log
        if each.kind is Kind.RECORD
        and each.payload["type"] == record_type
        and each.payload["key"]["memberId"] == who
        and each.payload["value"] is not None
    ]


def test_protocols_become_assignors_of_version_minus_one_with_the_user_data() -> None:
    log = log_of("sticky", "sticky")
    value = values(log, 5, "B")[-1]
    (row,) = value["assignors"]
    (listed,) = value["classicMemberMetadata"]["supportedProtocols"]
    assert (row["name"], row["minimumVersion"], row["maximumVersion"], row["version"]) == (
        "sticky",
        -1,
        -1,
        -1,
    )
    assert row["metadata"] == decode_subscription(b64decode(listed["metadata"]))["userData"] != ""


def test_the_new_assignor_is_asked_and_reads_what_classic_members_told() -> None:
    log = log_of("sticky", "sticky")
    handed = answers(log, "ConsumerGroupPrepareAssignment", "A~2")[0]
    told = {each["memberId"]: each["assignor"]["metadataVersion"] for each in handed["members"]}
    assert (handed["assignorName"], told) == ("sticky", {"A~2": 0, "B": -1, "C": -1})
    assert [each["errorCode"] for each in answers(log, "ConsumerGroupInstallAssignment", "A~2")] == [0]
    assert violations(log) == []


def test_the_group_goes_there_and_back_with_a_fail_over_and_rests() -> None:
    log = log_of("sticky", "sticky", THERE_AND_BACK, until="200s")
    assert violations(log) == []
    written = [each.payload for each in log if each.kind is Kind.RECORD and each.payload["type"] == 2]
    assert sorted(each["memberId"] for each in written[-1]["value"]["members"]) == ["A~3", "B~3", "C"]
    epochs = [
        each.payload["value"]["epoch"]
        for each in log
        if each.kind is Kind.RECORD and each.payload["type"] == 3 and each.payload["value"] is not None
    ]
    assert len(epochs) < 12, "the user data of each JoinGroup asks for no other target"


def test_a_joiner_whose_versions_lack_minus_one_is_refused_where_there_are_metadata() -> None:
    log = log_of("sticky", "streams")
    refused = answers(log, "ConsumerGroupHeartbeat", "A~2")[0]
    assert refused["errorCode"] == 42
    assert "stream does not support version -1" in refused["errorMessage"]
    assert values(log, 5, "B") == []


def test_without_metadata_it_is_not() -> None:
    assert answers(log_of("range", "streams"), "ConsumerGroupHeartbeat", "A~2")[0]["errorCode"] == 0


def test_assignments_with_metadata_are_carried_over_where_the_joiner_reads_them() -> None:
    """They were refused whatever the joiner brought."""
    log = log_of("custom-user-data", "range")
    assert answers(log, "ConsumerGroupHeartbeat", "A~2")[0]["errorCode"] == 0
    target, current = values(log, 7, "B")[0], values(log, 8, "B")[0]
    assert target["metadataVersion"] == current["metadataVersion"] == -1
    assert target["metadataBytes"] == current["metadataBytes"] != ""
    assert violations(log) == []


def test_a_static_member_that_comes_back_without_assignors_is_not_asked_to_compute() -> None:
    text = """\
semantics: kip
topics: {foo: {partitions: 2}}
members: {A: {subscribe: [foo], protocol: classic, assignors: [range], instance_id: i}}
script: [{at: 0s, join: A}, {at: 20s, bounce: A, with: {protocol: consumer}, for: 1s}]
until: 60s
"""
    log = list(run(load(text)))
    assert not any(
        body.get("shouldComputeAssignment") for body in answers(log, "ConsumerGroupHeartbeat", "A~2")
    )
    assert answers(log, "ConsumerGroupHeartbeat", "A~2")[-1]["memberEpoch"] > 0
    assert violations(log) == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ("{protocol: consumer, assignors: [nope]}", "unknown client-side assignor nope"),
        ("{protocol: consumer, client: '2.8'}", "client is for members of the classic protocol"),
    ],
)
def test_what_a_bounce_cannot_bring_is_one_line(changes: str, says: str) -> None:
    text = GROUP.format(classic="range", brought="range", more="", until="50s")
    with pytest.raises(ScenarioError, match=says):
        load(text.replace("{protocol: consumer, assignors: [range]}", changes))
