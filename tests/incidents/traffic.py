"""Records for the clients to read: one producer that feeds every topic at a rate of its own."""

from __future__ import annotations

import threading
import time
from types import TracebackType

from confluent_kafka import KafkaException, Producer

from tests.broker.node import Node

TICK_S = 0.25


class Traffic:
    """Writes to each partition of each fed topic, as long as the ``with`` block lasts."""

    def __init__(self, node: Node) -> None:
        self._producer = Producer(
            {
                "bootstrap.servers": node.bootstrap,
                # A topic that grew is fed within seconds.
                "topic.metadata.refresh.interval.ms": 2000,
                "linger.ms": 50,
                "message.timeout.ms": 30_000,
                # The broker is stopped on purpose where an incident says so.
                "log_level": 0,
            }
        )
        self._topics: dict[str, tuple[int, float]] = {}
        self._dry: set[tuple[str, int]] = set()
        self._owed: dict[str, float] = {}
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def feed(self, topic: str, partitions: int, per_second: float) -> None:
        """From now on each of the partitions gets so many records a second; 0 leaves the topic idle."""
        with self._lock:
            self._topics[topic] = partitions, per_second

    def dry(self, topic: str, partition: int) -> None:
        """From now on that one partition gets nothing."""
        with self._lock:
            self._dry.add((topic, partition))

    def stop(self, topic: str) -> None:
        with self._lock:
            self._topics.pop(topic, None)

    def __enter__(self) -> Traffic:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
        self._producer.flush(5)

    def _run(self) -> None:
        last = time.monotonic()
        while not self._over.wait(TICK_S):
            now = time.monotonic()
            with self._lock:
                topics, dry = dict(self._topics), set(self._dry)
            for topic, (partitions, per_second) in topics.items():
                owed = self._owed.get(topic, 0.0) + (now - last) * per_second
                records = int(owed)
                self._owed[topic] = owed - records
                for partition in range(partitions):
                    if (topic, partition) in dry:
                        continue
                    for _ in range(records):
                        self._write(topic, partition)
            self._producer.poll(0)
            last = now

    def _write(self, topic: str, partition: int) -> None:
        try:
            self._producer.produce(topic, b"x", partition=partition)
        except (BufferError, KafkaException):
            # The topic is just being made, deleted or grown: the next tick writes again.
            self._producer.poll(0)
