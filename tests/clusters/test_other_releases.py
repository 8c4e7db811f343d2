"""Brokers of older releases, added by the API: tested, followed and polled next to each other, with clients of librdkafka.

Their jars come from Maven on first use. Members join, hang, are killed and leave; the rows of both ways are equal, and are what the
coordinator describes.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient
from django.test import Client

from groups.cluster_models import Cluster, WatchedGroup
from groups.watching import registry
from tests.broker.jars import BrokerUnavailableError
from tests.broker.members import CLASSIC, Member
from tests.broker.node import Node
from tests.clusters.test_both_ways import agreed, board
from tests.clusters.watched import Watch, until

pytestmark = [pytest.mark.broker, pytest.mark.once, pytest.mark.django_db(transaction=True)]

TOPIC = "orders"
COOPERATIVE = CLASSIC | {"partition.assignment.strategy": "cooperative-sticky"}


@dataclass(frozen=True, slots=True)
class Plain:
    """A broker without rights or secrets."""

    node: Node

    def properties(self, _: str = "") -> dict[str, str]:
        return {"bootstrap.servers": self.node.bootstrap}


@pytest.fixture(scope="module", params=["2.8.2", "3.9.1"])
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plain]:
    """A node of an older release. 2.8 has the first preview of KRaft, which groups do not notice."""
    node = Node(tmp_path_factory.mktemp("older"), release=request.param)
    try:
        node.start()
    except BrokerUnavailableError as problem:
        if os.environ.get("REQUIRE_ALL"):
            pytest.fail(f"REQUIRE_ALL is set, and {problem}")
        pytest.skip(str(problem))
    try:
        with node.connect() as connection:
            connection.create_topic(TOPIC, 6)
        yield Plain(node)
    finally:
        node.stop()


def posted(path: str, body: Any, expected: int) -> Any:
    answer = Client().post(path, body, content_type="application/json")
    assert answer.status_code == expected, answer.content
    return answer.json()


def both_ways(broker: Plain, leftovers: contextlib.ExitStack) -> tuple[Cluster, Cluster]:
    """The broker as two clusters that were added by the API, one followed and one polled, both watched."""
    checked = posted("/api/clusters/check", {"properties": broker.properties()}, 200)
    assert checked["ok"], checked
    found = []
    for name, follow in (("followed", "true"), ("polled", "false")):
        properties = broker.properties() | {"rebalance.follow": follow}
        added = posted("/api/clusters", {"name": name, "properties": properties}, 201)
        cluster = registry.get(added["id"])
        leftovers.enter_context(Watch(cluster))
        until(lambda cluster=cluster: registry.get(cluster.pk).seen)
        found.append(cluster)
    return found[0], found[1]


def test_an_older_broker_is_added_and_its_groups_are_the_same_followed_and_polled(broker: Plain) -> None:
    secure: Any = broker
    with contextlib.ExitStack() as leftovers:

        def joins(name: str, group: str, settings: Any = CLASSIC) -> Member:
            member = Member(broker.node, name, group, TOPIC, settings, program="rdkafka").start()
            leftovers.callback(member.kill)
            member.wait_for("ready")
            member.join()
            member.wait_for("assigned")
            return member

        # The log of groups is made when the first group meets.
        first = {name: joins("a", name, how) for name, how in (("eager", CLASSIC), ("slow", COOPERATIVE))}
        both = both_ways(broker, leftovers)
        until(lambda: registry.get(both[0].pk).seen.get("follow", {}).get("at_end"))
        seen = [registry.get(cluster.pk).seen["follow"] for cluster in both]
        assert [each["mode"] for each in seen] == ["following", "polling"]
        for group, how in (("eager", CLASSIC), ("slow", COOPERATIVE)):
            agreed(secure, both, group, members=1, state="Stable", type="classic")
            second = joins("b", group, how)
            agreed(secure, both, group, members=2, rebalancing=False, state="Stable")
            # It hangs until its session is over.
            second.suspend()
            agreed(secure, both, group, members=1, rebalancing=False, state="Stable")
            second.resume()
            agreed(secure, both, group, members=2, rebalancing=False, state="Stable")
            second.kill()
            agreed(secure, both, group, members=1, rebalancing=False, state="Stable")
            boards = [board(cluster, group) for cluster in both]
            assert all(list(each["topics"]) == [TOPIC] for each in boards)
            owned = [[member["assigned"] for member in each["members"].values()] for each in boards]
            assert owned == [[{TOPIC: [0, 1, 2, 3, 4, 5]}]] * 2
            first[group].leave()
            agreed(secure, both, group, members=0, rebalancing=False, state="Empty")
        admin = AdminClient(broker.properties())
        for deleted in admin.delete_consumer_groups(sorted(first)).values():
            deleted.result()
        rows = WatchedGroup.objects.filter(cluster__in=both)
        until(lambda: {row.condition for row in rows.all()} == {"deleted"})
