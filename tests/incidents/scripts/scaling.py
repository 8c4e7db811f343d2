"""Clients that are added, come and go."""

from __future__ import annotations

from tests.incidents.stage import Stage

from .classics import COOPERATIVE
from .deaths import workers

ROUNDS = 5
ADDED = 4


def scale_up(stage: Stage) -> None:
    """Two clients read four partitions. Four more join, so that two of the six have nothing to do."""
    topic = stage.topic("orders", 4)
    workers(stage, topic, 2)
    more = [stage.java(f"worker-{number}", topic) for number in range(3, 3 + ADDED)]
    at_ms = stage.now_ms()
    for client in more:
        client.join().wait_for("assigned")
    stage.note(
        "scaled",
        f"{ADDED} clients are added to two.",
        at_ms=at_ms,
        clients=[each.client_id for each in more],
        times=ADDED,
        tellable=True,
    )
    stage.steady(25)
    idle = [each.client_id for each in stage.clients if not stage.ledger.held(each.client_id, each.life)]
    for client_id in idle:
        stage.note(
            "idle_member",
            f"{client_id} is a member and has no partition.",
            clients=[client_id],
            tellable=True,
        )


def cooperative_scale_up(stage: Stage) -> None:
    """Two classic clients with the cooperative-sticky assignor read six partitions. A third joins."""
    topic = stage.topic("orders", 6)
    clients = [stage.classic(f"worker-{number}", topic, **COOPERATIVE) for number in (1, 2)]
    for client in clients:
        client.enter()
    added = stage.classic("worker-3", topic, **COOPERATIVE)
    stage.begin()
    added.enter()
    stage.note(
        "scaled",
        "worker-3 is added to two clients.",
        at_ms=stage.began_ms,
        clients=["worker-3"],
        times=1,
        tellable=True,
    )
    stage.steady(25)


def flapping_leaves(stage: Stage) -> None:
    """Four clients read eight partitions. Two of them close and come back in turns, five times, every few seconds."""
    topic = stage.topic("orders", 8)
    clients = workers(stage, topic, 4)
    turns = {client.client_id: client for client in clients[2:]}
    for number in range(ROUNDS):
        name = list(turns)[number % 2]
        turns[name].leave()
        turns[name] = stage.java(name, topic).enter()
        stage.steady(4)
    stage.note(
        "flapping",
        f"{' and '.join(turns)} leave and come back, {ROUNDS} times in all; partitions go back and forth.",
        at_ms=stage.began_ms,
        duration_ms=stage.now_ms() - stage.began_ms,
        clients=list(turns),
        partitions=stage.ledger.back_and_forth(stage.began_ms),
        times=ROUNDS,
        tellable=True,
    )
    stage.steady()


def group_reborn(stage: Stage) -> None:
    """Two clients close; the empty group is deleted by an administrator; two clients make it anew."""
    topic = stage.topic("orders", 4)
    for client in workers(stage, topic, 2):
        client.leave()
    stage.steady(5)
    stage.delete_group()
    stage.steady(5)
    for name in ("worker-1", "worker-2"):
        stage.java(name, topic).enter()
    stage.steady(25)


def scale_down(stage: Stage) -> None:
    """Four clients read eight partitions. Two of them close, one after the other, and stay away."""
    clients = workers(stage, stage.topic("orders", 8), 4)
    for client in clients[2:]:
        client.leave()
        stage.steady(10)
    stage.steady(25)
