"""``client: librdkafka``: its requests byte for byte as version 2.16 sent them to a broker, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from groups.history.entries import Entry
from simulations.protocol.client.classic.releases import LIBRDKAFKA, NEWEST, Release
from simulations.world.scenario import ScenarioError, load
from tests.simulations.classic_application import ClassicApplication, positions
from tests.simulations.classic_runs import entries, generations, requests, violations

FIRST = "AAMAAAABAANmb28AAAAAAAAAAP////8AAA=="
"""The subscription of who has nothing: empty user data, generation -1, an empty rack; the same of an eager member that joins again."""

CLAIMS_ALL = (
    "AAMAAAABAANmb28AAAAhAAAAAQADZm9vAAAABAAAAAAAAAABAAAAAgAAAAMAAAABAAAAAQADZm9vAAAABAAAAAAAAAABAAAA"
    "AgAAAAMAAAABAAA="
)
"""Of ``cooperative-sticky``, by the owner of foo-0 to foo-3 in generation 1."""

ALL_OF_FOO = "AAAAAAABAANmb28AAAAEAAAAAAAAAAEAAAACAAAAAwAAAAA="
"""What a leader of ``cooperative-sticky`` gave itself, alone in the group: version 0, empty user data."""

NOTHING = "AAAAAAAAAAAAAA=="
"""What it gave a member that had nothing yet, while the owner had to revoke first."""


GROUP = """
protocol: classic
topics: {foo: {partitions: 4}}
config: {initial_rebalance_delay_ms: 0}
members:
  A: {subscribe: [foo], client: librdkafka%(more)s}
  B: {subscribe: [foo], client: librdkafka%(more)s}
script:
  - {at: 0s, join: A}
  - {at: 10s, join: B}
  - {at: 30s, leave: A}
until: 40s
"""


def group(more: str = "assignors: [cooperative-sticky]") -> str:
    return GROUP % {"more": f", {more}" if more else ""}


def metadata(log: list[Entry], who: str) -> list[str]:
    return [each.payload["body"]["protocols"][0]["metadata"] for each in requests(log, "JoinGroup", who)]


def test_requests_are_of_its_versions() -> None:
    log = entries(group())
    found = {
        api: {each.payload["version"] for each in requests(log, api, "A")}
        for api in ("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup")
    }
    assert found == {"JoinGroup": {5}, "SyncGroup": {3}, "Heartbeat": {3}, "LeaveGroup": {1}}


def test_its_bytes_are_those_that_librdkafka_sent() -> None:
    log = entries(group())
    asked, joined, with_claims, _ = metadata(log, "A")
    assert (asked, joined, with_claims) == (FIRST, FIRST, CLAIMS_ALL)
    alone, then, _ = (
        {each["memberId"]: each["assignment"] for each in sync.payload["body"]["assignments"]}
        for sync in requests(log, "SyncGroup", "A")
    )
    assert alone == {"A": ALL_OF_FOO}
    assert then["B"] == NOTHING
    assert set(metadata(entries(group("assignors: [range]")), "A")) == {FIRST}


def test_it_commits_again_only_what_moved() -> None:
    """Everything that is owned was consumed up to 7 here, and nothing after."""

    def commits(release: Release) -> int:
        app = ClassicApplication(
            auto_commit=True, auto_commit_interval_ms=1_000, positions=positions, release=release
        )
        app.stable_with(0, 1)
        found = []
        for _ in range(4):
            app.waits_until(app.now_ms + 1_500)
            found += [text for text in app.sent if text.startswith("commit")]
            if found and any(text.startswith("commit") for text in app.sent):
                app.committed()
        return len(found)

    assert commits(LIBRDKAFKA) == 1 < commits(NEWEST)


def test_a_group_of_java_clients_and_librdkafka_breaks_no_invariant() -> None:
    log = entries(group().replace("B: {subscribe: [foo], client: librdkafka", "B: {subscribe: [foo]"))
    assert violations(log) == []
    assert [names for _, _, names in generations(log)][1:3] == [
        {"A": [0, 1], "B": []},
        {"A": [0, 1], "B": [2, 3]},
    ]


@pytest.mark.parametrize(
    ("more", "assignors"),
    [("", ["range", "roundrobin"]), ("assignors: [roundrobin, range]", ["roundrobin", "range"])],
)
def test_without_a_list_it_has_its_own(more: str, assignors: list[str]) -> None:
    join, *_ = requests(entries(group(more)), "JoinGroup", "A")
    assert [each["name"] for each in join.payload["body"]["protocols"]] == assignors


@pytest.mark.parametrize(
    ("assignors", "reason"),
    [
        ("[range, cooperative-sticky]", "one of them rebalances cooperatively, another eagerly"),
        ("[cooperative-sticky, roundrobin]", "one of them rebalances cooperatively, another eagerly"),
        ("[sticky]", "librdkafka does not know sticky: it has range, roundrobin, cooperative-sticky"),
    ],
)
def test_what_ends_it_at_its_start_is_refused(assignors: str, reason: str) -> None:
    with pytest.raises(ScenarioError, match=reason):
        load(group(f"assignors: {assignors}"), "orders")


def test_a_service_cannot_be_bounced_with_both_kinds_of_assignors() -> None:
    bounce = "{at: 30s, bounce: A, with: {assignors: [cooperative-sticky, range]}}"
    with pytest.raises(ScenarioError, match="librdkafka ends at its start"):
        load(group("assignors: [range]").replace("{at: 30s, leave: A}", bounce), "orders")


CONSUMERS = """
topics: {foo: {partitions: 2}}
members:
  A: {subscribe: [foo], client: librdkafka, auto_commit: true}
  B: {subscribe: [foo], client: librdkafka}
  C: {subscribe: [foo], client: librdkafka}
script:
  - {at: 0s, join: A}
  - {at: 10s, join: B}
  - {at: 20s, join: C}
  - {at: 40s, leave: A}
until: 60s
"""


def heartbeats(log: list[Entry], who: str) -> list[dict[str, Any]]:
    """Each without what all have."""
    bodies = [each.payload["body"] for each in requests(log, "ConsumerGroupHeartbeat", who)]
    return [
        {name: value for name, value in body.items() if name not in ("groupId", "memberId")}
        for body in bodies
    ]


def test_in_the_consumer_protocol_it_joins_without_an_expression_and_leaves_with_the_epoch_alone() -> None:
    first, *_, last = heartbeats(entries(CONSUMERS), "A")
    assert (first["memberEpoch"], first["subscribedTopicRegex"], first["topicPartitions"]) == (0, "", [])
    assert last == {"memberEpoch": -1}


def test_an_empty_assignment_is_not_acknowledged_and_each_heartbeat_is_full_until_it_is_given_something() -> (
    None
):
    log = entries(CONSUMERS)
    *waiting, given, _, _ = heartbeats(log, "C")
    assert len(waiting) == 6
    assert all(each["subscribedTopicNames"] == ["foo"] and each["topicPartitions"] == [] for each in waiting)
    assert [each["partitions"] for each in given["topicPartitions"]] == [[0]]
    assert "subscribedTopicNames" not in given
    assert violations(log) == []


def test_before_it_gives_partitions_up_it_commits_these_alone_and_by_name() -> None:
    commits = requests(entries(CONSUMERS), "OffsetCommit", "A")
    assert {each.payload["version"] for each in commits} == {9}
    committed = [
        [(topic["name"], [part["partitionIndex"] for part in topic["partitions"]])]
        for topic in (each.payload["body"]["topics"][0] for each in commits)
    ]
    assert [("foo", [1])] in committed


def test_a_member_that_is_moved_to_the_consumer_protocol_stays_a_client_of_librdkafka() -> None:
    moved = group().replace("{at: 30s, leave: A}", "{at: 30s, bounce: A, with: {protocol: consumer}}")
    first, *_ = heartbeats(entries(moved), "A~2")
    assert first["subscribedTopicRegex"] == ""


def test_an_expression_is_sent_in_parentheses_also_the_one_that_it_changes_to() -> None:
    changed = CONSUMERS.replace("A: {subscribe: [foo]", "A: {regex: '^f'").replace(
        "{at: 40s, leave: A}", "{at: 40s, subscribe: A, regex: '^fo'}"
    )
    log = entries(changed)
    sent = [each["subscribedTopicRegex"] for each in heartbeats(log, "A") if each.get("subscribedTopicRegex")]
    assert list(dict.fromkeys(sent)) == ["(^f)", "(^fo)"]
    assert violations(log) == []


def test_a_client_of_the_consumer_protocol_that_there_is_not_is_one_line() -> None:
    with pytest.raises(ScenarioError, match="unknown client of the consumer protocol"):
        load(CONSUMERS.replace("client: librdkafka, auto", "client: '2.4', auto"))
