"""Clients that are alive and too slow."""

from __future__ import annotations

from tests.incidents.stage import Stage

from .classics import EAGER

MAX_POLL_MS = 5_000
STALL_MS = 7_000
STALLS = 5
CLASSIC_STALLS = 3
REVOKE_MS = 8_000


def poll_overrun(stage: Stage) -> None:
    """Three clients read six partitions. worker-3 may take 5 s between two polls and takes 7 s, five times, with 4 s between; its heartbeats go on."""
    topic = stage.topic("orders", 6)
    clients = [
        stage.java("worker-1", topic),
        stage.java("worker-2", topic),
        stage.java("worker-3", topic, max_poll_interval_ms=MAX_POLL_MS),
    ]
    for client in clients:
        client.enter()
    stage.begin()
    slow = clients[2]
    for _ in range(STALLS):
        slow.stall(STALL_MS)
        slow.wait_for_partitions()
        stage.steady(4)
    stage.steady(15)


def slow_revocation(stage: Stage) -> None:
    """worker-1 reads six partitions and spends 8 s in onPartitionsRevoked. worker-2 joins and waits for three of them."""
    topic = stage.topic("orders", 6)
    stage.java("worker-1", topic, revoke_ms=REVOKE_MS).enter()
    second = stage.java("worker-2", topic)
    stage.begin()
    second.join().wait_for_partitions()
    stage.steady()


def classic_overrun(stage: Stage) -> None:
    """Three classic clients with the range assignor read six partitions. worker-3 may take 5 s between two polls and takes 7 s, three times, with 8 s between."""
    topic = stage.topic("orders", 6)
    clients = [
        stage.classic("worker-1", topic, **EAGER).join(),
        stage.classic("worker-2", topic, **EAGER).join(),
        stage.classic("worker-3", topic, max_poll_interval_ms=MAX_POLL_MS, **EAGER).join(),
    ]
    for client in clients:
        client.wait_for_partitions()
    stage.begin()
    for _ in range(CLASSIC_STALLS):
        clients[2].stall(STALL_MS)
        clients[2].wait_for_partitions()
        stage.steady(8)
    stage.steady(15)


def two_overruns(stage: Stage) -> None:
    """Four clients read eight partitions. Two of them may take 5 s between two polls; in turns, six seconds apart, each takes 7 s, twice."""
    topic = stage.topic("orders", 8)
    for number in (1, 2):
        stage.java(f"worker-{number}", topic).enter()
    late = [
        stage.java(f"worker-{number}", topic, max_poll_interval_ms=MAX_POLL_MS).enter() for number in (3, 4)
    ]
    stage.begin()
    for _ in range(2):
        for client in late:
            client.stall(STALL_MS)
            client.wait_for_partitions()
            stage.steady(6)
    stage.steady(15)
