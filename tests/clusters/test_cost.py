"""What a kill cost a real group: records that waited, by the records' own times; records read twice, by what clients counted."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from confluent_kafka import Message, Producer

from groups import storage
from groups.cluster_models import Cluster
from groups.history.lag.cost import Cost, Rebalance, cost_of
from groups.storage.courses import courses_of
from groups.storage.lag_sources import known_between
from groups.watching import pulling
from tests.broker.members import CLASSIC, CONSUMER, Member
from tests.clusters.secure import Secure
from tests.clusters.watched import Watch, cluster, facts, members, row, until

__all__ = ["cluster", "members"]

pytestmark = [pytest.mark.broker, pytest.mark.once, pytest.mark.django_db(transaction=True)]

PARTITIONS = 4
PAUSE_S = 0.02
ROUND_S = 1.0
COMMIT_MS = 500


@pytest.fixture
def topic(secure: Secure) -> str:
    """Its records carry the time at which the broker appended them: a busy machine sends them late."""
    name = f"t{time.time_ns()}"
    with secure.node.connect() as connection:
        connection.create_topic(name, PARTITIONS, message_timestamp_type="LogAppendTime")
    return name


class Traffic:
    """A record for each partition, some fifty times a second; ``times_ms`` are those that the records carry."""

    def __init__(self, secure: Secure, topic: str) -> None:
        self.topic = topic
        self.times_ms: dict[int, list[int]] = {partition: [] for partition in range(PARTITIONS)}
        self._producer = Producer({"bootstrap.servers": secure.address("PLAINTEXT"), "linger.ms": 0})
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write)
        self._thread.start()

    @property
    def count(self) -> int:
        return sum(map(len, self.times_ms.values()))

    def _write(self) -> None:
        while not self._ended.wait(PAUSE_S):
            for partition in range(PARTITIONS):
                self._producer.produce(self.topic, b"x", partition=partition, on_delivery=self._delivered)
            self._producer.poll(0)
        self._producer.flush(60)

    def _delivered(self, error: object, message: Message) -> None:
        assert error is None
        self.times_ms[message.partition() or 0].append(message.timestamp()[1])

    def between(self, partition: int, from_ms: float, to_ms: float) -> int:
        return sum(from_ms <= at_ms < to_ms for at_ms in self.times_ms[partition])

    def close(self) -> None:
        self._ended.set()
        self._thread.join()


def costs_of(group: str) -> tuple[list[int], list[tuple[Rebalance, Cost]]]:
    """When end offsets were asked for, and each rebalance with its cost."""
    found = row(group)
    assert found is not None
    assert found.timeline is not None
    timeline = storage.get(found.timeline.pk)
    known = known_between(timeline, 1, timeline.last)
    courses = courses_of(timeline, 1, timeline.last, known)
    costs: list[tuple[Rebalance, Cost]] = []
    for one in courses.rebalances:
        costs.append((one, cost_of(one, courses.by_place, known.looks, costs[-1][1] if costs else None)))
    return known.looks, costs


@pytest.mark.parametrize("protocol", [CONSUMER, CLASSIC], ids=["consumer", "eager"])
def test_the_cost_of_a_kill_is_what_the_records_and_the_clients_say(
    secure: Secure,
    cluster: Cluster,
    members: Callable[..., Member],
    topic: str,
    protocol: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pulling, "LAG_EVERY_S", ROUND_S)
    group, settings = f"g-{topic}", {**protocol, "auto.commit.interval.ms": COMMIT_MS}
    traffic = Traffic(secure, topic)
    try:
        with Watch(cluster, groups=[group], follow=True):
            a = members("a", group, topic, settings)
            until(lambda: facts(group, members=1, rebalancing=False))
            until(lambda: len(costs_of(group)[0]) > 3)
            b = members("b", group, topic, settings)
            until(lambda: facts(group, members=2, rebalancing=False, behind=0))
            begun = traffic.count
            until(lambda: traffic.count > begun + 400 * PARTITIONS)
            read_b = b.count()
            killed_ms = time.time_ns() // 1_000_000
            b.kill()
            gone_ms = time.time_ns() // 1_000_000
            until(lambda: facts(group, members=1, rebalancing=False))
            until(lambda: (cost := costs_of(group)[1][-1][1]).caught_up_ms is not None and cost.moved)
            traffic.close()
            until(lambda: read_b + a.count() >= traffic.count)
            looks, costs = costs_of(group)
    finally:
        traffic.close()
    rebalance, cost = costs[-1]
    round_ms = max(later - sooner for sooner, later in pairwise(looks))
    taken = {place: one for place, one in cost.places.items() if one.moved}
    assert taken
    # Its commits end before it was killed, and its partitions were taken after it.
    assert cost.since_ms <= killed_ms < rebalance.at_ms <= cost.settled_ms
    for (_, partition), one in taken.items():
        assert one.waited is not None
        from_ms = cost.settled_ms - one.unread_ms
        least = traffic.between(partition, from_ms + round_ms, cost.settled_ms - round_ms)
        most = traffic.between(partition, from_ms - round_ms, cost.settled_ms + round_ms)
        assert least <= one.waited <= most, (partition, one)
    # What b read between the count and its end was read by nobody who says so.
    again = read_b + a.count() - traffic.count
    unsaid = sum(traffic.between(partition, killed_ms - round_ms, gone_ms) for partition in range(PARTITIONS))
    in_a_round = max(traffic.between(0, at_ms, at_ms + round_ms) for at_ms in looks) * PARTITIONS
    twice = [each.twice for _, each in costs]
    assert sum(one.least for one in twice) <= again + unsaid
    assert all(one.most is not None for one in twice[1:])
    assert again <= sum(one.most or 0 for one in twice) + in_a_round
