"""Processes that die, or seem to."""

from __future__ import annotations

from typing import Any

from tests.incidents.clients import Client
from tests.incidents.stage import Stage

AFTER_S = 30
"""A session of 10 s, and twenty seconds in which the group stands still again."""

FLAPS = 4
CRASHES = 6


def workers(stage: Stage, topic: str, count: int, **settings: Any) -> list[Client]:
    """``count`` Java clients of the consumer protocol that have formed a group and stand still."""
    made = [stage.java(f"worker-{number}", topic, **settings) for number in range(1, count + 1)]
    for client in made:
        client.enter()
    stage.begin()
    return made


def kill_one(stage: Stage) -> None:
    """Three clients read six partitions. One is killed with SIGKILL and does not come back."""
    _, second, _ = workers(stage, stage.topic("orders", 6), 3)
    second.kill()
    stage.steady(AFTER_S)


def kill_two(stage: Stage) -> None:
    """Four clients read eight partitions. Two of them are killed with SIGKILL at the same moment."""
    _, second, third, _ = workers(stage, stage.topic("orders", 8), 4)
    second.kill()
    third.kill()
    stage.steady(AFTER_S)


def flapping_kills(stage: Stage) -> None:
    """Three clients read six partitions. Four times the client that reads orders-2 is killed with SIGKILL; 20 s later a new process with its name joins."""
    topic = stage.topic("orders", 6)
    alive = {client.client_id: client for client in workers(stage, topic, 3)}
    victims = []
    for _ in range(FLAPS):
        owner = next(
            each for each in alive.values() if f"{topic}-2" in stage.ledger.held(each.client_id, each.life)
        )
        owner.kill()
        victims.append(owner.client_id)
        stage.steady(15)
        alive[owner.client_id] = stage.java(owner.client_id, topic).enter()
        stage.steady(8)
    stage.note(
        "flapping",
        f"{topic}-2 loses its owner {FLAPS} times.",
        at_ms=stage.began_ms,
        clients=list(dict.fromkeys(victims)),
        partitions=[f"{topic}-2"],
        times=FLAPS,
        tellable=True,
    )
    stage.steady()


def freeze(stage: Stage) -> None:
    """Three clients read six partitions. One is stopped with SIGSTOP for 25 s, its session is 10 s; then it goes on."""
    _, second, _ = workers(stage, stage.topic("orders", 6), 3)
    second.freeze(25, "frozen")
    stage.steady(AFTER_S)


def pause(stage: Stage) -> None:
    """Three clients read six partitions. One is stopped with SIGSTOP for 5 s, half its session; then it goes on."""
    _, second, _ = workers(stage, stage.topic("orders", 6), 3)
    second.freeze(5, "paused")
    stage.steady(AFTER_S)


def crash_loop(stage: Stage) -> None:
    """Two clients read six partitions. A third joins and is killed with SIGKILL three seconds after it was given partitions, six times, each time as a new process with the same name."""
    topic = stage.topic("orders", 6)
    workers(stage, topic, 2)
    at_ms = 0
    for _ in range(CRASHES):
        crashy = stage.java("crashy-3", topic).join()
        crashy.wait_for_partitions()
        stage.steady(3)
        crashy.kill()
        at_ms = at_ms or stage.facts[-1]["at_ms"]
    stage.note(
        "crash_loop",
        f"crashy-3 is started and killed {CRASHES} times.",
        at_ms=at_ms,
        duration_ms=stage.facts[-1]["at_ms"] - at_ms,
        clients=["crashy-3"],
        times=CRASHES,
        tellable=True,
    )
    stage.steady(AFTER_S)


def static_kill(stage: Stage) -> None:
    """Three clients with a group.instance.id read six partitions. One is killed with SIGKILL; 25 s later, its session has long ended, a new process takes its instance."""
    topic = stage.topic("orders", 6)
    for name in ("seat-1", "seat-2", "seat-3"):
        stage.java(name, topic, group_instance_id=name).enter()
    stage.begin()
    stage.clients[1].kill()
    stage.steady(25)
    stage.java("seat-2", topic, group_instance_id="seat-2").enter()
    stage.steady()


def librdkafka_kill(stage: Stage) -> None:
    """Three clients of librdkafka, which commit only what moved, read a busy topic and an idle one. One is killed with SIGKILL and does not come back."""
    busy, idle = stage.topic("orders", 6), stage.topic("audit", 3, per_second=0)
    clients = [stage.rdkafka(f"worker-{number}", f"{busy},{idle}").enter() for number in (1, 2, 3)]
    stage.begin()
    clients[1].kill()
    stage.steady(AFTER_S)


def pauses(stage: Stage) -> None:
    """Three clients read six partitions. One is stopped with SIGSTOP for 3 s, three times, with 10 s between; its session is 10 s."""
    _, second, _ = workers(stage, stage.topic("orders", 6), 3)
    for _ in range(3):
        second.freeze(3, "paused")
        stage.steady(10)
    stage.steady()
