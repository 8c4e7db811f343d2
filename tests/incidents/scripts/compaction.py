"""A log from which Kafka's own cleaner has taken what newer records replace."""

from __future__ import annotations

import time

from tests.incidents.stage import Stage

from .deaths import workers

CLEANED_LIMIT_S = 90

CLEANING: dict[str, object] = {
    "log.roll.ms": 5_000,
    "log.cleaner.backoff.ms": 1_000,
    "log.cleaner.min.cleanable.ratio": 0.01,
    "log.cleaner.delete.retention.ms": 1_000,
    "log.segment.delete.delay.ms": 100,
}
"""Closed segments are compacted within seconds, tombstones go with the next round: an hour of a cluster's life in a minute."""


def compaction(stage: Stage) -> None:
    """Three clients read six partitions; one closes and comes back; the broker compacts its log. Then the cleaner rests, and one client is killed with SIGKILL."""
    topic = stage.topic("orders", 6)
    clients = workers(stage, topic, 3)
    clients[0].leave()
    stage.steady(5)
    stage.java("worker-1", topic).enter()
    stage.steady(15)
    deadline = time.monotonic() + CLEANED_LIMIT_S
    while stage.count_offsets().gone < 100:
        assert time.monotonic() < deadline, "the cleaner took nothing away"
        stage.steady(2)
    stage.stop_cleaner()
    stage.steady()
    clients[2].kill()
    stage.steady(25)
