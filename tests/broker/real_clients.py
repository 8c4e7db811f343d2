"""Released clients of the consumer protocol going through what clients go through, while the request log is on.

Each group has its settings, topics and members to itself, so that the stories run side by side.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from .members import CONSUMER, Member
from .node import Node, wait_for_coordinator

SETTLE_S = 1.5
"""A heartbeat or two of everybody."""

SESSION_MS = 3000
HEARTBEAT_MS = 500

GONE_S = SESSION_MS / 1000 + 1


C = TypeVar("C", bound="Cast")


def named(settings: Mapping[str, object]) -> dict[str, object]:
    """Python's keywords as Kafka names its settings."""
    return {name.replace("_", "."): value for name, value in settings.items()}


class Cast:
    """The members of one group, started when they are needed and gone with the story."""

    def __init__(self, node: Node, group: str, leftovers: contextlib.ExitStack) -> None:
        self.node, self.group = node, group
        self._leftovers = leftovers
        wait_for_coordinator(node, group)
        with node.connect() as connection:
            settings: dict[str, object] = {
                "consumer.session.timeout.ms": SESSION_MS,
                "consumer.heartbeat.interval.ms": HEARTBEAT_MS,
            }
            assert connection.configure_group(group, settings) == 0

    def topic(self, name: str, partitions: int) -> str:
        with self.node.connect() as connection:
            connection.create_topic(name, partitions)
        return name

    def java(self, client: str, topics: str, revoke_ms: int = 0, **settings: Any) -> Member:
        return self._start(
            Member(self.node, client, self.group, topics, {**CONSUMER, **named(settings)}, revoke_ms)
        )

    def rdkafka(self, client: str, topics: str, **settings: Any) -> Member:
        return self._start(
            Member(self.node, client, self.group, topics, {**CONSUMER, **named(settings)}, program="rdkafka")
        )

    def _start(self, member: Member) -> Member:
        member.start()
        self._leftovers.callback(member.kill)
        return member


def join_leave_kill(cast: Cast) -> None:
    """Two Java members; partitions are added; one is killed; the other leaves."""
    topic = cast.topic("jlk", 4)
    a, b = cast.java("a", topic, 300), cast.java("b", topic)
    for member in (a, b):
        member.wait_for("ready")
    a.join()
    a.wait_for("assigned")
    a.commit()
    a.wait_for("committed")
    b.join()
    b.wait_for("assigned", times=2)
    with cast.node.connect() as connection:
        connection.grow_topic(topic, 6)
    time.sleep(SETTLE_S)
    b.kill()
    time.sleep(GONE_S)
    a.commit()
    a.wait_for("committed", times=2)
    a.leave()


def static(cast: Cast) -> None:
    """A static Java member is restarted; it is killed, its session ends, and a member of librdkafka takes its instance."""
    topic = cast.topic("stat", 3)
    first = cast.java("s", topic, group_instance_id="seat")
    first.join()
    first.wait_for("assigned")
    first.leave()
    second = cast.java("s", topic, group_instance_id="seat")
    second.join()
    second.wait_for("assigned")
    second.kill()
    time.sleep(GONE_S)
    third = cast.rdkafka("s", topic, **{"group.instance.id": "seat"})
    third.join()
    third.wait_for("assigned")
    third.leave()


def regex(cast: Cast) -> None:
    """An expression of a Java member, one of librdkafka's, and a topic that both find later."""
    cast.topic("rx-a", 2)
    java, other = cast.java("j", "regex:rx-.*"), cast.rdkafka("r", "^rx-.*")
    for member in (java, other):
        member.wait_for("ready")
    java.join()
    java.wait_for("assigned")
    other.join()
    time.sleep(SETTLE_S)
    cast.topic("rx-b", 2)
    time.sleep(12)
    java.leave()
    time.sleep(SETTLE_S)
    other.leave()


def slow_poll(cast: Cast) -> None:
    """A Java member that passes max.poll.interval leaves by itself and joins again under its id."""
    topic = cast.topic("slow", 3)
    slow = cast.java("slow", topic, max_poll_interval_ms=2000)
    slow.join()
    slow.wait_for("assigned")
    slow.stall(3500)
    slow.wait_for("stalled")
    time.sleep(SETTLE_S)
    slow.leave()


def topic_deleted(cast: Cast) -> None:
    """Two members of librdkafka; a topic that they read is deleted; one changes what it subscribes to."""
    kept, gone = cast.topic("kept", 2), cast.topic("gone", 2)
    a, b = (cast.rdkafka(name, f"{kept},{gone}") for name in "ab")
    a.join()
    a.wait_for("assigned")
    b.join()
    time.sleep(2 * SETTLE_S)
    a.commit()
    a.wait_for("committed")
    b.commit()
    with cast.node.connect() as connection:
        connection.delete_topic(gone)
    time.sleep(2 * SETTLE_S)
    b.subscribe(kept)
    time.sleep(SETTLE_S)
    b.kill()
    time.sleep(GONE_S)
    a.leave()


STORIES: dict[str, Callable[[Cast], None]] = {
    "clients-join-leave-kill": join_leave_kill,
    "clients-static": static,
    "clients-regex": regex,
    "clients-slow-poll": slow_poll,
    "clients-topic-deleted": topic_deleted,
}
"""Group → what its members go through."""


def play(node: Node, groups: Collection[str] = STORIES) -> dict[str, Exception]:
    """The stories of these groups side by side; what went wrong with one, by its group."""
    return played(node, {name: story for name, story in STORIES.items() if name in groups}, Cast)


def played(
    node: Node,
    stories: Mapping[str, Callable[[C], None]],
    cast: Callable[[Node, str, contextlib.ExitStack], C],
) -> dict[str, Exception]:
    """All of these stories side by side, each with a cast of its own."""
    problems: dict[str, Exception] = {}

    def one(group: str) -> None:
        try:
            with contextlib.ExitStack() as leftovers:
                stories[group](cast(node, group, leftovers))
        except Exception as problem:
            problems[group] = problem

    with ThreadPoolExecutor(len(stories) or 1) as pool:
        list(pool.map(one, stories))
    return problems
