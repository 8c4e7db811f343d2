"""Groups of the classic protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.incidents.stage import Stage

ASSIGNORS = "org.apache.kafka.clients.consumer."
EAGER: Mapping[str, Any] = {"partition_assignment_strategy": f"{ASSIGNORS}RangeAssignor"}
COOPERATIVE: Mapping[str, Any] = {"partition_assignment_strategy": f"{ASSIGNORS}CooperativeStickyAssignor"}


def eager_restart(stage: Stage) -> None:
    """Three classic clients with the range assignor read six partitions. One closes, and 15 s later a new process with its name joins: everybody stops, twice."""
    topic = stage.topic("orders", 6)
    names = [f"worker-{number}" for number in (1, 2, 3)]
    clients = [stage.classic(name, topic, **EAGER).join() for name in names]
    for client in clients:
        client.wait_for_partitions()
    stage.begin()
    clients[1].leave()
    stage.note(
        "eager_rebalance",
        "worker-2 left: the range assignor is eager, so both others revoke all partitions and join again.",
        clients=["worker-1", "worker-3"],
        tellable=True,
    )
    stage.steady(15)
    again = stage.classic("worker-2", topic, **EAGER).join()
    stage.note(
        "eager_rebalance",
        "worker-2 is back: both others revoke all partitions and join again.",
        clients=["worker-1", "worker-3"],
        tellable=True,
    )
    again.wait_for_partitions()
    stage.steady()


def classic_kill(stage: Stage) -> None:
    """Three classic clients with the range assignor read six partitions. One is killed with SIGKILL and does not come back."""
    topic = stage.topic("orders", 6)
    clients = [stage.classic(f"worker-{number}", topic, **EAGER).join() for number in (1, 2, 3)]
    for client in clients:
        client.wait_for_partitions()
    stage.begin()
    clients[1].kill()
    stage.steady(30)
    stage.note(
        "eager_rebalance",
        "The coordinator missed worker-2: both others revoke all partitions and join again.",
        at_ms=stage.ledger.first_end(clients[0].client_id, stage.began_ms),
        clients=["worker-1", "worker-3"],
        tellable=True,
        source="client",
    )
