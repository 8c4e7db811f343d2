"""Deployments: processes that are replaced on purpose."""

from __future__ import annotations

from typing import Any

from tests.incidents.clients import Client
from tests.incidents.stage import Stage

from .classics import COOPERATIVE
from .deaths import workers

BETWEEN_S = 8
CLIENTS = 3


def _roll(stage: Stage, topic: str, clients: list[Client], seat: bool) -> None:
    at_ms = stage.began_ms
    for client in clients:
        client.leave()
        settings: dict[str, Any] = {"group_instance_id": client.client_id} if seat else {}
        stage.java(client.client_id, topic, **settings).join().wait_for_partitions()
        stage.steady(BETWEEN_S)
    stage.note(
        "rolling_deploy",
        f"{len(clients)} clients are replaced one after the other.",
        at_ms=at_ms,
        duration_ms=stage.facts[-1]["at_ms"] - at_ms,
        clients=[each.client_id for each in clients],
        times=len(clients),
        tellable=True,
    )
    stage.steady()


def rolling_dynamic(stage: Stage) -> None:
    """Three clients read six partitions. Each closes and is started again, one after the other; none has a group.instance.id."""
    topic = stage.topic("orders", 6)
    _roll(stage, topic, workers(stage, topic, CLIENTS), seat=False)


def rolling_static(stage: Stage) -> None:
    """Three clients with a group.instance.id read six partitions. Each closes and is started again, one after the other."""
    topic = stage.topic("orders", 6)
    clients = [stage.java(name, topic, group_instance_id=name) for name in ("seat-1", "seat-2", "seat-3")]
    for client in clients:
        client.enter()
    stage.begin()
    _roll(stage, topic, clients, seat=True)


def deploy_with_kill(stage: Stage) -> None:
    """Three clients read six partitions. In a rolling deploy the first closes and is started again, the second is killed with SIGKILL instead and started again 3 s later, the third closes and is started again."""
    topic = stage.topic("orders", 6)
    first, second, third = workers(stage, topic, CLIENTS)
    first.leave()
    stage.java("worker-1", topic).enter()
    stage.steady(BETWEEN_S)
    second.kill()
    stage.steady(3)
    # Until its own former session has ended it may be given nothing.
    stage.java("worker-2", topic).enter()
    stage.steady(2 * BETWEEN_S)
    third.leave()
    stage.java("worker-3", topic).enter()
    stage.steady()


def rolling_classic_static(stage: Stage) -> None:
    """Three classic clients with a group.instance.id and the cooperative-sticky assignor read six partitions. Each closes and is started again, one after the other."""
    topic = stage.topic("orders", 6)
    names = ("seat-1", "seat-2", "seat-3")
    clients = [stage.classic(name, topic, group_instance_id=name, **COOPERATIVE).enter() for name in names]
    stage.begin()
    for client in clients:
        client.leave()
        stage.classic(client.client_id, topic, group_instance_id=client.client_id, **COOPERATIVE).enter()
        stage.steady(BETWEEN_S)
    stage.steady()
