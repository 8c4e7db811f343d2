"""Released clients of the classic protocol, and groups that migrate, while the request log is on.

Each group has its topics and members to itself, as those of the consumer protocol (``real_clients``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping

from .members import CLASSIC, Member
from .node import Node
from .real_clients import GONE_S, HEARTBEAT_MS, SESSION_MS, SETTLE_S, Cast, named, played

SETTINGS: Mapping[str, object] = {
    "group.initial.rebalance.delay.ms": 500,
    "group.consumer.migration.policy": "bidirectional",
}
"""On top of the node's own: a first join phase that can be seen, and groups that change their protocol both ways."""

ASSIGNORS = "org.apache.kafka.clients.consumer"


class ClassicCast(Cast):
    """Members of both protocols."""

    def classic_java(self, client: str, topics: str, assignor: str, **settings: object) -> Member:
        told = self._settings(assignor, settings)
        return self._start(Member(self.node, client, self.group, topics, told))

    def classic_rdkafka(self, client: str, topics: str, assignor: str, **settings: object) -> Member:
        told = self._settings(assignor, settings)
        return self._start(Member(self.node, client, self.group, topics, told, program="rdkafka"))

    @staticmethod
    def _settings(assignor: str, settings: Mapping[str, object]) -> dict[str, object]:
        return {**TIMES, "partition.assignment.strategy": assignor, **named(settings)}


TIMES: Mapping[str, object] = {
    **CLASSIC,
    "session.timeout.ms": SESSION_MS,
    "heartbeat.interval.ms": HEARTBEAT_MS,
}


def eager(cast: ClassicCast) -> None:
    """Three members of librdkafka with range, one after the other; one commits, one is killed, the others leave."""
    topic = cast.topic("eager", 5)
    a, b, c = (cast.classic_rdkafka(name, topic, "range") for name in "abc")
    a.join()
    a.wait_for("assigned")
    b.join()
    b.wait_for("assigned")
    a.commit()
    a.wait_for("committed")
    c.join()
    c.wait_for("assigned")
    c.kill()
    time.sleep(GONE_S)
    b.commit()
    b.wait_for("committed")
    b.leave()
    a.leave()


def sticky(cast: ClassicCast) -> None:
    """Two Java members with sticky, and its user data; one leaves and the other goes on."""
    topic = cast.topic("sticky", 4)
    a, b = (cast.classic_java(name, topic, f"{ASSIGNORS}.StickyAssignor") for name in "ab")
    for member in (a, b):
        member.wait_for("ready")
    a.join()
    a.wait_for("assigned")
    b.join()
    b.wait_for("assigned")
    time.sleep(SETTLE_S)
    b.leave()
    a.wait_for("assigned", times=3)
    a.leave()


def cooperative(cast: ClassicCast) -> None:
    """A Java member and one of librdkafka with cooperative-sticky: two rounds for each who joins; a topic grows."""
    topic = cast.topic("coop", 4)
    a = cast.classic_java("a", topic, f"{ASSIGNORS}.CooperativeStickyAssignor", metadata_max_age_ms=1000)
    b = cast.classic_rdkafka("b", topic, "cooperative-sticky")
    for member in (a, b):
        member.wait_for("ready")
    a.join()
    a.wait_for("assigned")
    b.join()
    b.wait_for("assigned", times=2)
    with cast.node.connect() as connection:
        connection.grow_topic(topic, 6)
    time.sleep(2 * SETTLE_S)
    a.commit()
    a.wait_for("committed")
    b.leave()
    time.sleep(SETTLE_S)
    a.leave()


def static(cast: ClassicCast) -> None:
    """Two static members: one is restarted in time, the other is killed, and its session ends."""
    topic = cast.topic("seats", 4)
    first = cast.classic_rdkafka("s", topic, "range", group_instance_id="seat-1")
    other = cast.classic_rdkafka("o", topic, "range", group_instance_id="seat-2")
    first.join()
    first.wait_for("assigned")
    other.join()
    other.wait_for("assigned")
    first.leave()
    second = cast.classic_rdkafka("s", topic, "range", group_instance_id="seat-1")
    second.join()
    second.wait_for("assigned")
    second.commit()
    second.wait_for("committed")
    other.kill()
    time.sleep(GONE_S)
    second.wait_for("assigned", times=2)
    second.leave()


def leader_throws(cast: ClassicCast) -> None:
    """The leader's assignor throws, and its process ends: the other waits until its session does, and leads."""
    topic = cast.topic("thrown", 2)
    leader = cast.classic_java("a", topic, "ThrowingAssignor")
    other = cast.classic_rdkafka("b", topic, "range")
    leader.wait_for("ready")
    leader.join()
    leader.wait_until_ended()
    other.join()
    other.wait_for("assigned")
    other.leave()


def up_eager(cast: ClassicCast) -> None:
    """Two eager members, then one of the consumer protocol: the group is converted; the eager ones leave."""
    topic = cast.topic("up-eager", 4)
    a, b = (cast.classic_rdkafka(name, topic, "range") for name in "ab")
    new = cast.rdkafka("n", topic)
    for member in (a, b):
        member.join()
        member.wait_for("assigned")
    a.commit()
    a.wait_for("committed")
    new.join()
    new.wait_for("assigned")
    time.sleep(2 * SETTLE_S)
    a.leave()
    b.leave()
    time.sleep(SETTLE_S)
    new.commit()
    new.wait_for("committed")
    new.leave()


def up_cooperative(cast: ClassicCast) -> None:
    """Two cooperative Java members, then one of the consumer protocol: the group is converted; one leaves, one is killed."""
    topic = cast.topic("up-coop", 4)
    a, b = (cast.classic_java(name, topic, f"{ASSIGNORS}.CooperativeStickyAssignor") for name in "ab")
    new = cast.rdkafka("n", topic)
    for member in (a, b):
        member.wait_for("ready")
        member.join()
        member.wait_for("assigned")
    time.sleep(SETTLE_S)
    new.join()
    new.wait_for("assigned")
    time.sleep(2 * SETTLE_S)
    a.leave()
    b.kill()
    time.sleep(GONE_S)
    new.leave()


def up_refused(cast: ClassicCast) -> None:
    """Two members of librdkafka, whose cooperative-sticky assigns with user data: the group is not converted."""
    topic = cast.topic("up-refused", 4)
    a, b = (cast.classic_rdkafka(name, topic, "cooperative-sticky") for name in "ab")
    new = cast.rdkafka("n", topic)
    a.join()
    a.wait_for("assigned")
    b.join()
    # Two rounds: the second generation's assignment carries what the first one gave.
    b.wait_for("assigned", times=2)
    new.join()
    time.sleep(SETTLE_S)
    new.kill()
    b.leave()
    a.leave()


def down_eager(cast: ClassicCast) -> None:
    """A member of the consumer protocol among eager ones leaves: the group is classic again, and rebalances."""
    topic = cast.topic("down-eager", 4)
    new = cast.rdkafka("n", topic)
    new.join()
    new.wait_for("assigned")
    a, b = (cast.classic_rdkafka(name, topic, "range") for name in "ab")
    for member in (a, b):
        member.join()
        member.wait_for("assigned")
    time.sleep(SETTLE_S)
    new.leave()
    time.sleep(2 * SETTLE_S)
    a.commit()
    a.wait_for("committed")
    b.leave()
    a.leave()


def down_cooperative(cast: ClassicCast) -> None:
    """The last member of the consumer protocol is killed among cooperative ones: the group is classic again."""
    topic = cast.topic("down-coop", 4)
    a = cast.classic_rdkafka("a", topic, "cooperative-sticky")
    a.join()
    a.wait_for("assigned")
    new = cast.rdkafka("n", topic)
    new.join()
    new.wait_for("assigned")
    b = cast.classic_rdkafka("b", topic, "cooperative-sticky")
    b.join()
    time.sleep(2 * SETTLE_S)
    new.kill()
    time.sleep(GONE_S + SETTLE_S)
    b.leave()
    a.leave()


STORIES: dict[str, Callable[[ClassicCast], None]] = {
    "classic-eager": eager,
    "classic-sticky": sticky,
    "classic-cooperative": cooperative,
    "classic-static": static,
    "classic-leader-throws": leader_throws,
    "up-eager": up_eager,
    "up-cooperative": up_cooperative,
    "up-refused": up_refused,
    "down-eager": down_eager,
    "down-cooperative": down_cooperative,
}
"""Group → what its members go through."""


def play(node: Node, groups: Collection[str] = STORIES) -> dict[str, Exception]:
    """The stories of these groups side by side; what went wrong with one, by its group."""
    return played(node, {name: story for name, story in STORIES.items() if name in groups}, ClassicCast)
