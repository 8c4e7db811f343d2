"""A short scenario on a real broker, played once for all tests of a session (about 35 s).

Two members of a consumer group and two of a classic one join; the first takes long to give partitions up; the topic
grows; one member is killed, others leave. The broker is stopped before its segments are read.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition

from .described import Watcher
from .members import CLASSIC, CONSUMER, Member
from .node import Node, running, wait_for_coordinator
from .share_and_streams import SETTINGS

SHARED = "shared"
OLD = "old"
RANGE = {"partition.assignment.strategy": "org.apache.kafka.clients.consumer.RangeAssignor"}

TRANSACTIONAL = "transactional"
COMMITTED_OFFSET = 7
ABORTED_OFFSET = 11
TRANSACTION_LIMIT_S = 90

CROWD = "crowd"
CROWD_MEMBERS = 24
CROWD_LIMIT_S = 90

SLOW_REVOKE_MS = 7000
"""Long enough to ask the command line tool twice while partitions are being given up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What is left of the scenario: the broker's folder, topic ids with their names, and what was said."""

    data: Path
    topics: dict[str, str]
    snapshots: list[dict[str, Any]]
    tables: list[dict[str, Any]]


def record(folder: Path, beside: Callable[[Node], None]) -> Recorded:
    """Plays the scenario in ``folder``; ``beside`` is done by the same node in the meantime, on a thread."""
    with running(folder, SETTINGS) as node, contextlib.ExitStack() as leftovers:
        with node.connect() as connection:
            topics = {connection.create_topic(name, count): name for name, count in (("foo", 4), ("bar", 3))}
        for group in (SHARED, OLD):
            wait_for_coordinator(node, group)
        aside = threading.Thread(target=beside, args=(node,))
        aside.start()
        leftovers.callback(aside.join)
        watcher = _play(node, leftovers)
        aside.join()
        node.stop()
    return Recorded(data=node.data, topics=topics, snapshots=watcher.snapshots, tables=watcher.tables)


def _play(node: Node, leftovers: contextlib.ExitStack) -> Watcher:
    def member(client_id: str, group: str, topic: str, settings: dict[str, object], revoke_ms: int) -> Member:
        started = Member(node, client_id, group, topic, settings, revoke_ms).start()
        leftovers.callback(started.kill)
        return started

    a = member("a", SHARED, "foo", CONSUMER, SLOW_REVOKE_MS)
    b = member("b", SHARED, "foo", CONSUMER, 0)
    x, y = (member(each, OLD, "bar", {**CLASSIC, **RANGE}, 0) for each in ("x", "y"))
    for each in (a, b, x, y):
        each.wait_for("ready")

    with Watcher(node, [(SHARED, "consumer"), (OLD, "classic")]) as watcher:
        a.join()
        x.join()
        a.wait_for("assigned")
        x.wait_for("assigned")
        a.commit()
        b.join()
        a.wait_for("revoked")
        watcher.tabulate(SHARED, "consumer")
        # The first line is the empty assignment that comes with the join.
        b.wait_for("assigned", times=2)
        y.join()
        y.wait_for("assigned")
        with node.connect() as connection:
            connection.grow_topic("foo", 6)
        b.wait_for("assigned", times=3)
        b.kill()
        watcher.tabulate(OLD, "classic")
        _transactions(node)
        _crowd(node)
        y.leave()
        x.wait_for("assigned", times=3)
        _until(watcher, lambda said: len(said["members"]) == 1 and said["state"] == "Stable")
        watcher.tabulate(SHARED, "consumer")
        a.commit()
        a.wait_for("committed", times=2)
        a.leave()
        _until(watcher, lambda said: said["state"] == "Empty")
    return watcher


def _transactions(node: Node) -> None:
    """Commits an offset in a transaction, then another one in a transaction that is aborted."""
    consumer = Consumer({"bootstrap.servers": node.bootstrap, "group.id": TRANSACTIONAL})
    producer = Producer({"bootstrap.servers": node.bootstrap, "transactional.id": TRANSACTIONAL})
    producer.init_transactions(TRANSACTION_LIMIT_S)
    for offset, finish in (
        (COMMITTED_OFFSET, producer.commit_transaction),
        (ABORTED_OFFSET, producer.abort_transaction),
    ):
        producer.begin_transaction()
        position = TopicPartition("bar", 0, offset)
        producer.send_offsets_to_transaction(
            [position], consumer.consumer_group_metadata(), TRANSACTION_LIMIT_S
        )
        finish(TRANSACTION_LIMIT_S)
    consumer.close()


def _crowd(node: Node) -> None:
    """Many members join at one moment, and leave at one moment, so that one batch holds several requests."""
    wait_for_coordinator(node, CROWD)
    together = threading.Barrier(CROWD_MEMBERS, timeout=CROWD_LIMIT_S)

    def join_and_leave(member: str) -> list[int]:
        with node.connect(member) as connection:
            together.wait()
            joined = connection.heartbeat(
                CROWD, member, 0, subscribed=["foo"], rebalance_timeout_ms=60_000, owned={}
            )
            together.wait()
            return [joined["errorCode"], connection.heartbeat(CROWD, member, -1)["errorCode"]]

    with ThreadPoolExecutor(CROWD_MEMBERS) as pool:
        errors = list(pool.map(join_and_leave, [f"m{number}" for number in range(CROWD_MEMBERS)]))
    assert errors == [[0, 0]] * CROWD_MEMBERS


def _until(watcher: Watcher, holds: Callable[[dict[str, Any]], bool], limit_s: float = 30) -> None:
    """Waits until the consumer group was described so, and a moment longer, so that the state stands."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        said = [each["said"] for each in list(watcher.snapshots) if each["said"]["group"] == SHARED]
        if said and holds(said[-1]):
            time.sleep(1.2)
            return
        time.sleep(0.1)
    raise AssertionError(f"the group did not come to rest within {limit_s} s: {said[-1] if said else None}")
