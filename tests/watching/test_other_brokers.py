"""Brokers that are not the newest Kafka: older releases, and those that leave names out or keep no log of groups."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from groups.cluster_models import Cluster, WatchedGroup
from groups.clusters.allowed import OFFSET_FETCH, ask
from groups.clusters.connection import OLDEST_RELEASE, Connection
from groups.clusters.offsets import committed_of, session_timeouts
from groups.history.polls.described_groups import consumer_groups
from groups.history.polls.description import GroupDescription, GroupKind, with_names
from groups.history.polls.recording import PolledGroup
from groups.watching import registry as clusters
from groups.watching.alerts import registry
from groups.watching.alerts.rules import missing_sources

FOO = "AAAAAAAAAAAAAAAAAAAAAQ"
GONE = "AAAAAAAAAAAAAAAAAAAAAg"


class OldBroker:
    """Answers OffsetFetch as Kafka 2.8 does: in version 7 at most, one group a request."""

    def __init__(self, newest: int) -> None:
        self.newest, self.asked = newest, []  # type: ignore[var-annotated]
        self.versions = {OFFSET_FETCH: (0, newest)}

    version = Connection.version

    async def connection(self, node: int) -> OldBroker:
        return self

    async def ask(self, key: int, body: dict[str, Any]) -> dict[str, Any]:
        # What cannot be made into bytes in this version fails here.
        ask(key, self.newest, body, correlation_id=1, client_id="test")
        self.asked.append(body["groupId"])
        partition = {"partitionIndex": 0, "committedOffset": 7, "metadata": "", "errorCode": 0}
        return {"topics": [{"name": "foo", "partitions": [partition]}], "errorCode": 0}


@pytest.mark.parametrize("newest", range(2, 8))
def test_offsets_of_an_older_broker_are_asked_group_by_group(newest: int) -> None:
    broker: Any = OldBroker(newest)
    found = asyncio.run(committed_of(broker, 1, ["a", "b"]))
    assert broker.asked == ["a", "b"]
    assert {name: [(each.topic, each.offset) for each in some] for name, some in found.items()} == {  # type: ignore[union-attr]
        "a": [("foo", 7)],
        "b": [("foo", 7)],
    }


def test_a_broker_that_is_too_old_is_refused_with_the_oldest_release_that_is_read() -> None:
    broker: Any = OldBroker(1)
    assert broker.version(OFFSET_FETCH) is None
    broker.channel = type("Channel", (), {"address": "localhost:9092"})
    assert f"older than {OLDEST_RELEASE}" in str(Connection.lacks(broker, OFFSET_FETCH))


def answer(name: str) -> Any:
    """ConsumerGroupDescribe's answer of a group with six partitions of one topic, and one of a topic that was deleted."""
    topics = [{"topicId": FOO, "topicName": name, "partitions": [0, 1, 2, 3, 4, 5]}]
    topics += [{"topicId": GONE, "topicName": "", "partitions": [0]}]
    member = {
        "memberId": "a", "clientId": "a", "clientHost": "/10.0.0.1", "memberEpoch": 1, "subscribedTopicNames": ["foo"],
        "assignment": {"topicPartitions": topics}, "targetAssignment": {"topicPartitions": topics},
    }  # fmt: skip
    group = {
        "groupId": "g", "errorCode": 0, "groupState": "Stable", "groupEpoch": 1, "assignmentEpoch": 1,
        "assignorName": "uniform", "members": [member],
    }  # fmt: skip
    return {"groups": [group]}


def test_a_description_with_ids_and_empty_names_is_that_with_names_and_a_deleted_topic_keeps_its_id() -> None:
    [unnamed], [named] = consumer_groups(answer("")), consumer_groups(answer("foo"))
    assert isinstance(unnamed, GroupDescription)
    assert with_names(unnamed, {FOO: "foo"}) == named
    assert set(named.members[0].assignment) == {"foo", GONE}  # type: ignore[union-attr]
    assert with_names(unnamed, {}) == unnamed
    entries = PolledGroup(group="g").take(with_names(unnamed, {FOO: "foo"}), 0, partitions={"foo": 6})
    topics = next(each.payload["topics"] for each in entries if each.payload.get("note") == "topics")
    assert topics["foo"] == {"id": FOO, "partitions": 6}


def test_what_a_finding_needs_and_a_live_group_does_not_have() -> None:
    assert missing_sources("fence_loop", is_followed=True) == "requests"
    assert missing_sources("sync_never_sent", is_followed=True) == "requests and timers"
    assert missing_sources("silent", is_followed=True) is None
    assert missing_sources("silent", is_followed=False) == "commits"
    assert missing_sources("slow_revocation", is_followed=False) is None
    assert missing_sources("crash_loop", is_followed=False) is None


@pytest.mark.django_db
def test_a_rule_that_cannot_fire_says_so() -> None:
    cluster = clusters.add("old", {"bootstrap.servers": "localhost:9092"})
    lag, silent = (
        registry.add(cluster, {"kind": "lag"}),
        registry.add(cluster, {"kind": "finding", "finding": "silent"}),
    )

    def blocked(row: Any, **seen: Any) -> str | None:
        Cluster.objects.filter(pk=cluster.pk).update(seen=seen)
        return registry.shown_rule(registry.get(clusters.get(cluster.pk), row.pk))["blocked"]

    assert blocked(lag) is None
    group = WatchedGroup.objects.create(cluster=cluster, group="g", facts={"lag": None})
    assert (blocked(lag, at_ms=1) or "").startswith("It cannot fire now: no lag is known")
    WatchedGroup.objects.filter(pk=group.pk).update(facts={"lag": 0})
    assert blocked(lag, at_ms=1) is None
    polled, followed = {"follow": {"mode": "polling"}}, {"follow": {"mode": "following"}}
    assert blocked(silent, **polled) == "It cannot fire: it needs commits, which polls do not contain."
    assert blocked(silent, **followed) is None


class Settings:
    """Answers DescribeConfigs: for a group what ``of_group`` has, for the broker 7 s."""

    def __init__(self, of_group: dict[str, str | None]) -> None:
        self.of_group, self.brokers = of_group, {3: None}

    async def ask_any(self, key: int, body: dict[str, Any]) -> dict[str, Any]:
        rows = []
        for asked in body["resources"]:
            [name] = asked["configurationKeys"]
            value = self.of_group.get(asked["resourceName"]) if asked["resourceType"] == 32 else "7000"
            configs = [{"name": name, "value": value}]
            error = 30 if asked["resourceName"] == "hidden" else 0
            rows.append({"errorCode": error, "resourceName": asked["resourceName"], "configs": configs})
        unasked = {"errorCode": 0, "resourceName": "unasked", "configs": [{"name": name, "value": "1"}]}
        return {"results": [*rows, unasked]}


def test_session_timeouts_are_the_groups_else_the_brokers_and_what_is_no_number_is_none() -> None:
    values = {"own": "6000", "words": "²", "long": "9" * 5_000, "none": None, "hidden": "1"}
    cluster: Any = Settings(values)
    kinds = dict.fromkeys(values, GroupKind.CONSUMER) | {"classic": GroupKind.CLASSIC}
    name = "consumer.session.timeout.ms"
    assert asyncio.run(session_timeouts(cluster, kinds)) == {"own": {name: 6000}} | {
        each: {name: 7000} for each in ("words", "long", "none", "hidden")
    }
