"""A small cluster: a node that is controller and broker, and two brokers that alone hold ``__consumer_offsets``.

So the offsets topic's leader can be killed, suspended and replaced while the controller, and the address that clients begin
with, stay.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from .node import Node, new_cluster_id
from .rpc import Connection, RpcError

OFFSETS: Final = "__consumer_offsets"
LIMIT_S: Final = 180.0

SETTINGS: Final[dict[str, object]] = {
    "unclean.leader.election.enable": "true",
    "offsets.topic.num.partitions": 1,
    "offsets.topic.replication.factor": 2,
    "min.insync.replicas": 1,
    # A broker that is gone is noticed in three seconds instead of nine, a follower that hangs in five instead of thirty.
    "broker.session.timeout.ms": 3_000,
    "broker.heartbeat.interval.ms": 500,
    "replica.lag.time.max.ms": 5_000,
    # A topic's own settings say whether there is anything to clean.
    "log.cleaner.backoff.ms": 200,
    "controller.quorum.voters": "1@127.0.0.1:{controller}",
}


@dataclass(slots=True)
class Several:
    """``first`` stays; ``pair`` are the two that hold the offsets topic, which has one partition."""

    first: Node
    pair: dict[int, Node]

    @property
    def nodes(self) -> list[Node]:
        return [self.first, *self.pair.values()]

    def leader(self) -> int:
        """The id of the node that leads the offsets topic; -1 while nobody does."""
        return int(self._offsets().get("leaderId", -1))

    def in_sync(self) -> set[int]:
        return set(self._offsets().get("isrNodes", ()))

    def _offsets(self) -> dict[str, Any]:
        """What the broker knows of the topic's one partition: nothing in the first moments after the topic is made."""
        with self.first.connect() as connection:
            asked = {
                "topics": [{"topicId": "A" * 22, "name": OFFSETS}],
                "allowAutoTopicCreation": False,
                "includeTopicAuthorizedOperations": False,
            }
            [topic] = connection.call("Metadata", asked)["topics"]
            return dict(*topic["partitions"])

    def until_led_by(self, number: int) -> None:
        until(lambda: self.leader() == number, f"{number} leads {OFFSETS}")

    def coordinator(self) -> Connection:
        """A connection to the node that coordinates all groups, once it answers for them."""
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError, RpcError, KeyError):
                connection = self.pair[self.leader()].connect()
                if connection.describe_consumer_group("nobody")["errorCode"] == 69:
                    return connection
                connection.close()
            time.sleep(0.2)
        raise RpcError(f"nobody coordinates groups within {LIMIT_S:g} s")


def until(holds: Any, what: str, limit_s: float = LIMIT_S) -> None:
    deadline = time.monotonic() + limit_s
    while not holds():
        if time.monotonic() > deadline:
            raise RpcError(f"not within {limit_s:g} s: {what}")
        time.sleep(0.2)


@contextlib.contextmanager
def several(folder: Path, topic_settings: Mapping[str, object] | None = None) -> Iterator[Several]:
    """The cluster, with its offsets topic made: one partition, on the pair alone, with these settings of its own."""
    cluster_id = new_cluster_id()
    first = Node(folder / "1", SETTINGS, cluster_id=cluster_id)
    made = Several(first, {})
    try:
        first.start()
        made.pair = {number: _broker(folder, number, first, cluster_id) for number in (2, 3)}
        for node in made.pair.values():
            node.start()
        with first.connect() as connection:
            until(lambda: connection.brokers() == 3, "three brokers")
            _make_offsets_topic(connection, topic_settings or {})
        until(lambda: made.leader() > 0 and made.in_sync() == {2, 3}, f"{OFFSETS} is in sync")
        yield made
    finally:
        for node in reversed(made.nodes):
            node.kill()


def _broker(folder: Path, number: int, first: Node, cluster_id: str) -> Node:
    controller = first.controller_port
    alone = {
        "process.roles": "broker",
        "node.id": number,
        "controller.quorum.voters": f"1@127.0.0.1:{controller}",
        "listeners": "PLAINTEXT://127.0.0.1:{port}",
        "advertised.listeners": "PLAINTEXT://127.0.0.1:{port}",
    }
    return Node(folder / str(number), SETTINGS | alone, cluster_id=cluster_id)


def _make_offsets_topic(connection: Connection, settings: Mapping[str, object]) -> None:
    configs = {"cleanup.policy": "compact", "segment.bytes": 104_857_600, **settings}
    topic = {
        "name": OFFSETS,
        "numPartitions": -1,
        "replicationFactor": -1,
        "assignments": [{"partitionIndex": 0, "brokerIds": [2, 3]}],
        "configs": [{"name": name, "value": str(value)} for name, value in configs.items()],
    }
    made = connection.call("CreateTopics", {"topics": [topic], "timeoutMs": 10_000, "validateOnly": False})
    (answer,) = made["topics"]
    if answer["errorCode"]:
        raise RpcError(f"{OFFSETS} was not made: error {answer['errorCode']}")
