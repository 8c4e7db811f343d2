"""Deployments: processes that are replaced on purpose."""

from __future__ import annotations

from typing import Any

from tests.incidents.clients import Client
from tests.incidents.stage import Stage

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
