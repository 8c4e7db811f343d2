"""What groups of a real broker are taken through, so that every state they show can be compared with their imported log.

A script is played by requests with chosen ids (``acting``), where that is enough, else by released clients. Scripts run
side by side on one broker, which is stopped and started at the end for those that go on after it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition

from .acting import Group
from .members import CLASSIC, CONSUMER, Member
from .moments import Moment, Moments, moment_of
from .node import Node, running

SETTINGS: dict[str, object] = {
    "group.consumer.migration.policy": "bidirectional",
    "group.consumer.assignment.interval.ms": 0,
    "group.consumer.max.session.timeout.ms": 600_000,
}

LONG_SESSION_MS = 600_000
"""Longer than a script is kept waiting: nobody sends heartbeats while the other groups come to rest and the broker restarts."""

SHORT_SESSION_MS = 3_000
LOOK_S = 0.3
"""A state is left standing so long, so that it is described even if others are described first."""

CLIENT_LIMIT_S = 180
COMMITTED, ABORTED = (7, 13), 11
RANGE = {"partition.assignment.strategy": "org.apache.kafka.clients.consumer.RangeAssignor"}


class Stage:
    """One group's script: its requests, its clients, and what the comparison has to know."""

    def __init__(self, node: Node, name: str, leftovers: contextlib.ExitStack) -> None:
        self.group = Group(node, name)
        leftovers.callback(self.group.close)
        self.node = node
        self.name = name
        self.deleted: set[str] = set()
        self._leftovers = leftovers

    def client(self, name: str, topic: str, settings: dict[str, object]) -> Member:
        member = Member(self.node, name, self.name, topic, settings).start()
        self._leftovers.callback(member.kill)
        member.wait_for("ready")
        return member

    def look(self) -> None:
        time.sleep(LOOK_S)


def join_of_three(stage: Stage) -> None:
    group = stage.group
    group.topic("foo", 6)
    for member in "ABC":
        group.join(member, ["foo"])
        stage.look()
        group.settle(*"ABC"[: "ABC".index(member) + 1])
    group.commit("A", None, "foo", dict.fromkeys(next(iter(group.owned["A"].values())), 5))


def cooperative_revoke(stage: Stage) -> None:
    """A goes on without giving up what it is asked for, and B waits for it."""
    group = stage.group
    group.topic("foo", 5)
    group.join("A", ["foo"])
    group.settle("A")
    before = list(group.owned["A"].items())
    group.join("B", ["foo"])
    for _ in range(3):
        group.beat("A", topicPartitions=[{"topicId": topic, "partitions": some} for topic, some in before])
        group.beat("B")
        stage.look()
    group.ack("A")
    stage.look()
    group.beat("B")
    stage.look()
    group.settle("A", "B")


def member_killed(stage: Stage) -> None:
    group = stage.group
    group.topic("foo", 4)
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.settle("A", "B")
    group.configure(session_timeout_ms=SHORT_SESSION_MS)
    group.beat("B")
    group.alive(SHORT_SESSION_MS / 1000 + 2, "A")
    group.settle("A")


def static_restart(stage: Stage) -> None:
    """A comes back under another member id within its session; B comes back never."""
    group = stage.group
    group.topic("foo", 4)
    group.join("A1", ["foo"], instanceId="a")
    group.join("B1", ["foo"], instanceId="b")
    group.settle_static("A1", "a", "B1", "b")
    group.beat("A1", -2, instanceId="a")
    stage.look()
    group.join("A2", ["foo"], instanceId="a")
    stage.look()
    group.settle_static("A2", "a", "B1", "b")
    group.configure(session_timeout_ms=SHORT_SESSION_MS)
    group.beat("B1", instanceId="b")
    group.beat("B1", -2, instanceId="b")
    until = time.monotonic() + SHORT_SESSION_MS / 1000 + 2
    while time.monotonic() < until:
        group.beat("A2", instanceId="a")
        stage.look()
    group.settle_static("A2", "a")


def regular_expression(stage: Stage) -> None:
    group = stage.group
    group.topic("foo", 3)
    group.topic("food", 2)
    group.topic("bar", 2)
    expression = group.full("foo").replace(".", "[.]") + ".*"
    group.join("A", None, subscribedTopicRegex=expression)
    stage.look()
    group.settle("A")
    group.join("B", ["bar"], subscribedTopicRegex=expression)
    stage.look()
    group.settle("A", "B")
    group.ack("A", subscribedTopicRegex="", subscribedTopicNames=[group.full("bar")])
    stage.look()
    group.settle("A", "B")


def partitions_added(stage: Stage) -> None:
    group = stage.group
    group.topic("foo", 3)
    group.join("A", ["foo"])
    group.join("B", ["foo"])
    group.settle("A", "B")
    group.grow("foo", 7)
    group.beat("A")
    stage.look()
    group.settle("A", "B")


def topic_made_anew(stage: Stage) -> None:
    group = stage.group
    group.topic("foo", 4)
    group.topic("bar", 2)
    group.join("A", ["foo", "bar"])
    group.join("B", ["foo", "bar"])
    group.settle("A", "B")
    stage.deleted.add(group.ids["foo"])
    group.remove_topic("foo")
    group.beat("A")
    stage.look()
    group.settle("A", "B")
    group.topic("foo", 3)
    group.beat("A")
    stage.look()
    group.settle("A", "B")


def two_incarnations(stage: Stage) -> None:
    """Emptied, deleted, and created again under the same name."""
    group = stage.group
    group.topic("foo", 2)
    for member in "AB":
        group.join(member, ["foo"])
        group.settle(member)
        group.commit(member, None, "foo", {0: 3})
        group.leave(member)
        stage.look()
        if member == "A":
            group.delete()
            stage.look()


def classic(stage: Stage) -> None:
    topic = stage.group.topic("foo", 4)
    settings = {**CLASSIC, **RANGE}
    x, y = (stage.client(name, topic, settings) for name in "xy")
    x.join()
    x.wait_for("assigned")
    stage.look()
    y.join()
    y.wait_for("assigned")
    stage.look()
    x.commit()
    x.wait_for("committed")
    y.leave()
    x.wait_for("assigned", times=3)
    stage.look()


def online_migration(stage: Stage) -> None:
    """Two classic members are joined by one of the consumer protocol and leave; a classic one ends as the last."""
    topic = stage.group.topic("foo", 4)
    settings = {**CLASSIC, **RANGE}
    old, other, new, last = (
        stage.client("old", topic, settings),
        stage.client("other", topic, settings),
        stage.client("new", topic, CONSUMER),
        stage.client("last", topic, settings),
    )
    for member in (old, other):
        member.join()
        member.wait_for("assigned")
        stage.look()
    new.join()
    new.wait_for("assigned", times=2)
    stage.look()
    for member in (old, other):
        member.leave()
        stage.look()
    last.join()
    last.wait_for("assigned")
    stage.look()
    new.leave()
    time.sleep(10 * LOOK_S)


def transactional(stage: Stage) -> None:
    """A member's offsets in transactions: the first and the last are committed, the one between is aborted."""
    topic = stage.group.topic("foo", 2)
    settings = {"bootstrap.servers": stage.node.bootstrap, "group.id": stage.name}
    consumer = Consumer({**settings, "group.protocol": "consumer"})
    producer = Producer({"bootstrap.servers": stage.node.bootstrap, "transactional.id": stage.name})
    consumer.subscribe([topic])
    deadline = time.monotonic() + CLIENT_LIMIT_S
    while not consumer.assignment():
        consumer.poll(0.1)
        assert time.monotonic() < deadline, f"{stage.name} was assigned nothing in {CLIENT_LIMIT_S} s"
    producer.init_transactions(CLIENT_LIMIT_S)
    for offset in (COMMITTED[0], ABORTED, COMMITTED[1]):
        producer.begin_transaction()
        producer.send_offsets_to_transaction(
            [TopicPartition(topic, 0, offset)], consumer.consumer_group_metadata(), CLIENT_LIMIT_S
        )
        end = producer.abort_transaction if offset == ABORTED else producer.commit_transaction
        end(CLIENT_LIMIT_S)
        consumer.poll(0.1)
    stage.look()
    consumer.close()


def restarted(stage: Stage) -> None:
    group = stage.group
    group.topic("foo", 5)
    group.configure(session_timeout_ms=LONG_SESSION_MS)
    group.join("A", ["foo"])
    group.settle("A")
    group.join("B", ["foo"])
    group.beat("A")
    stage.look()


def after_restart(stage: Stage) -> None:
    """The broker was killed while A had not confirmed yet."""
    group = stage.group
    stage.look()
    group.ack("A")
    stage.look()
    group.settle("A", "B")
    group.join("C", ["foo"])
    group.settle("A", "B", "C")
    group.leave("B")
    group.settle("A", "C")


Script = Callable[[Stage], None]

SCRIPTS: dict[str, Script] = {
    "join-of-three": join_of_three,
    "cooperative-revoke": cooperative_revoke,
    "member-killed": member_killed,
    "static-restart": static_restart,
    "regular-expression": regular_expression,
    "partitions-added": partitions_added,
    "topic-made-anew": topic_made_anew,
    "two-incarnations": two_incarnations,
    "classic": classic,
    "online-migration": online_migration,
    "transactional": transactional,
    "restarted": restarted,
}
"""By the name of the group."""

AFTER_RESTART: dict[str, Script] = {"restarted": after_restart}


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What is left: the broker's folder, the moments, and for each group the ids of topics that were deleted."""

    data: Path
    moments: list[Moment]
    last: dict[str, Moment]
    deleted: dict[str, frozenset[str]] = field(default_factory=dict)
    problems: dict[str, Exception] = field(default_factory=dict)


def play(folder: Path) -> Played:
    """Plays all scripts (about a minute)."""
    moments: list[Moment] = []
    problems: dict[str, Exception] = {}
    with running(folder, SETTINGS) as node, contextlib.ExitStack() as leftovers:
        stages = {name: Stage(node, name, leftovers) for name in SCRIPTS}

        def act(scripts: dict[str, Script]) -> None:
            def one(name: str) -> None:
                try:
                    scripts[name](stages[name])
                except Exception as problem:
                    problems[name] = problem

            with Moments(node, list(scripts)) as watch, ThreadPoolExecutor(len(scripts)) as pool:
                list(pool.map(one, scripts))
            moments.extend(watch.taken)

        act({name: script for name, script in SCRIPTS.items() if name not in AFTER_RESTART})
        act({name: SCRIPTS[name] for name in AFTER_RESTART})
        last = ends(node, [name for name in SCRIPTS if name not in AFTER_RESTART])
        # No clean stop: what the broker had not flushed is in the page cache, where the next one finds it.
        node.kill()
        node.start()
        for name in AFTER_RESTART:
            stages[name].group.reconnect(node)
        act(AFTER_RESTART)
        last |= ends(node, list(AFTER_RESTART))
        leftovers.close()
        node.stop()
    return Played(
        data=node.data,
        moments=moments,
        last=last,
        deleted={name: frozenset(stage.deleted) for name, stage in stages.items()},
        problems=problems,
    )


def ends(node: Node, groups: list[str]) -> dict[str, Moment]:
    """Each group as it is at rest."""
    out = {}
    deadline = time.monotonic() + CLIENT_LIMIT_S
    with node.connect() as connection:
        for group in groups:
            while (moment := moment_of(connection, group)) is None:
                assert time.monotonic() < deadline, f"{group} does not come to rest"
                time.sleep(LOOK_S)
            out[group] = moment
    return out
