"""What a kill cost a real group: records that waited, by the records' own times; records read twice, by what clients counted."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import pytest
from confluent_kafka import Message, Producer

from groups import storage
from groups.cluster_models import Cluster
from groups.history.lag.cost import Cost, cost_of
from groups.history.lag.course import Place, Rebalance
from groups.history.lag.partition import PartitionEnds
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

SILENCE_MS, SILENCE_PAUSES = 5_000, 5
"""A pause that is longer, and so many times longer than each one before, is no usual one (docs/explanation/silence.md)."""


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


def costs_of(
    group: str,
) -> tuple[Mapping[Place, PartitionEnds], list[int], list[tuple[Rebalance, Cost]]]:
    """What is known of the offsets, when end offsets were asked for, and each rebalance with its cost."""
    found = row(group)
    assert found is not None
    assert found.timeline is not None
    timeline = storage.get(found.timeline.pk)
    known = known_between(timeline, 1, timeline.last)
    courses = courses_of(timeline, 1, timeline.last, known)
    costs: list[tuple[Rebalance, Cost]] = []
    for one in courses.rebalances:
        costs.append((one, cost_of(one, courses.by_place, known.looks, costs[-1][1] if costs else None)))
    return known.partitions, known.looks, costs


class Read(NamedTuple):
    at_ms: int
    offset: int


def reads_of(member: Member) -> dict[int, list[Read]]:
    """By partition what it read, in its order."""
    found: dict[int, list[Read]] = defaultdict(list)
    for line in [each for each in list(member.lines) if each.startswith("at ")]:
        _, place, offset, at_ms = line.split()
        found[int(place.rpartition("-")[2])].append(Read(int(at_ms), int(offset)))
    return found


def read_offsets(member: Member) -> list[tuple[int, int]]:
    return [(partition, each.offset) for partition, some in reads_of(member).items() for each in some]


def paused_ms(before_ms: list[int], at_ms: int) -> int:
    """The longest pause between commits before a time."""
    times = [each for each in before_ms if each <= at_ms]
    return max((later - sooner for sooner, later in pairwise(times)), default=SILENCE_MS)


@pytest.mark.parametrize("protocol", [CONSUMER, CLASSIC], ids=["consumer", "eager"])
def test_the_cost_of_a_kill_is_what_the_records_and_the_clients_say(
    secure: Secure,
    cluster: Cluster,
    members: Callable[..., Member],
    topic: str,
    protocol: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody read for no longer than the bound, and a member that had caught up was no further behind than before."""
    monkeypatch.setattr(pulling, "LAG_EVERY_S", ROUND_S)
    group = f"g-{topic}"
    settings = {**protocol, "auto.commit.interval.ms": COMMIT_MS, "member.reads": "true"}
    traffic = Traffic(secure, topic)
    try:
        with Watch(cluster, groups=[group], follow=True):
            a = members("a", group, topic, settings)
            until(lambda: facts(group, members=1, rebalancing=False))
            until(lambda: len(costs_of(group)[1]) > 3)
            b = members("b", group, topic, settings)
            until(lambda: facts(group, members=2, rebalancing=False, behind=0))
            begun = traffic.count
            until(lambda: traffic.count > begun + 400 * PARTITIONS)
            killed_ms = time.time_ns() // 1_000_000
            b.kill()
            until(lambda: facts(group, members=1, rebalancing=False))
            until(lambda: (cost := costs_of(group)[2][-1][1]).caught_up_ms is not None and cost.moved)
            traffic.close()
            until(lambda: len({*read_offsets(a), *read_offsets(b)}) == traffic.count)
            known, looks, costs = costs_of(group)
    finally:
        traffic.close()
    rebalance, cost = costs[-1]
    round_ms = max(later - sooner for sooner, later in pairwise(looks))
    taken = {place: one for place, one in cost.places.items() if one.moved}
    assert taken
    # Its partitions were taken after it was killed.
    assert killed_ms < rebalance.at_ms <= cost.settled_ms
    commits = [[each.at_ms for each in known[place].committed] for place in taken]
    if all(
        max(SILENCE_MS, SILENCE_PAUSES * paused_ms(each, killed_ms)) < rebalance.at_ms - killed_ms
        for each in commits
    ):
        # Its commits, at a pace until then, end before. On a busy machine nobody can tell a pause from a silence.
        assert cost.since_ms <= killed_ms
    theirs, ours = reads_of(b), reads_of(a)
    for (_, partition), one in taken.items():
        assert one.waited is not None
        from_ms = cost.settled_ms - one.unread_ms
        least = traffic.between(partition, from_ms + round_ms, cost.settled_ms - round_ms)
        most = traffic.between(partition, from_ms - round_ms, cost.settled_ms + round_ms)
        assert least <= one.waited <= most, (partition, one)
        times = traffic.times_ms[partition]
        last = theirs[partition][-1]
        first = next(each for each in ours[partition] if each.at_ms > killed_ms)
        # Where nothing was written, nobody could read.
        true_ms = first.at_ms - max(last.at_ms, times[last.offset + 1])
        assert one.unread_most.most is not None
        assert true_ms <= one.unread_most.most, (partition, true_ms, one)
        # What was committed had been read.
        assert one.usual is not None
        assert one.caught_up_ms is not None
        read = max(each.offset for each in ours[partition] if each.at_ms <= one.caught_up_ms) + 1
        waiting = [each for each in times if each < one.caught_up_ms][read:]
        usual_ms = 1000 * (one.usual.seconds or 0) + round_ms
        assert len(waiting) <= one.usual.records or one.caught_up_ms - waiting[0] <= usual_ms
    again = len(read_offsets(a)) + len(read_offsets(b)) - traffic.count
    in_a_round = max(traffic.between(0, at_ms, at_ms + round_ms) for at_ms in looks) * PARTITIONS
    twice = [each.twice for _, each in costs]
    assert sum(one.least for one in twice) <= again
    assert all(one.most is not None for one in twice[1:])
    assert again <= sum(one.most or 0 for one in twice) + in_a_round
