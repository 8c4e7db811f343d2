"""Classic groups that change their assignor, and groups that change their protocol for good."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.incidents import notes
from tests.incidents.clients import Client
from tests.incidents.stage import Stage

from .classics import ASSIGNORS, COOPERATIVE, EAGER

BOTH: Mapping[str, Any] = {
    "partition_assignment_strategy": f"{ASSIGNORS}CooperativeStickyAssignor,{ASSIGNORS}RangeAssignor"
}
"""What KIP-429 has clients name in the first of its two rounds."""

BETWEEN_S = 8


def kip429_upgrade(stage: Stage) -> None:
    """Three classic clients with the range assignor read six partitions. In a first rolling restart each names cooperative-sticky and range, in a second one cooperative-sticky alone."""
    topic = stage.topic("orders", 6)
    clients = [stage.classic(f"worker-{number}", topic, **EAGER).enter() for number in (1, 2, 3)]
    stage.begin()
    _two_rounds(stage, topic, clients, (BOTH, COOPERATIVE), static=False)


def kip429_static(stage: Stage) -> None:
    """Two classic clients with a group.instance.id and the range assignor read four partitions. In a first rolling restart each names cooperative-sticky and range, in a second one cooperative-sticky alone."""
    topic = stage.topic("orders", 4)
    names = ("seat-1", "seat-2")
    clients = [stage.classic(name, topic, group_instance_id=name, **EAGER).enter() for name in names]
    stage.begin()
    _two_rounds(stage, topic, clients, (BOTH, COOPERATIVE), static=True)


def _two_rounds(
    stage: Stage,
    topic: str,
    clients: list[Client],
    settings: Sequence[Mapping[str, Any]],
    *,
    static: bool,
) -> None:
    names = [each.client_id for each in clients]
    for number, named in enumerate(settings):
        at_ms = stage.now_ms()
        for index, name in enumerate(names):
            last = number == 0 and name == names[-1]
            if last and not static:
                # When it has left, all others name both.
                notes.strategy(stage, "range", "cooperative-sticky", [])
            clients[index].leave()
            seat = {"group_instance_id": name} if static else {}
            clients[index] = stage.classic(name, topic, **seat, **named)
            if last and static:
                notes.strategy(stage, "range", "cooperative-sticky", [name])
            clients[index].enter()
            stage.steady(BETWEEN_S)
        notes.roll(stage, names, at_ms)
        stage.steady()
    notes.rounds(stage, names, len(settings))


def strategy_rolled_back(stage: Stage) -> None:
    """Two classic clients name cooperative-sticky and range, and read four partitions. In a rolling restart each names range alone."""
    topic = stage.topic("orders", 4)
    names = ["worker-1", "worker-2"]
    clients = [stage.classic(name, topic, **BOTH).enter() for name in names]
    stage.begin()
    at_ms = stage.now_ms()
    for name, client in zip(names, clients, strict=True):
        client.leave()
        again = stage.classic(name, topic, **EAGER)
        if name == names[0]:
            notes.strategy(stage, "cooperative-sticky", "range", [name])
        again.enter()
        stage.steady(BETWEEN_S)
    notes.roll(stage, names, at_ms)
    stage.steady()


def strategy_restart(stage: Stage) -> None:
    """Two classic clients with the roundrobin assignor read four partitions. Both close; 8 s later both are started with the sticky assignor."""
    topic = stage.topic("orders", 4)
    names = ["worker-1", "worker-2"]
    before = {"partition_assignment_strategy": f"{ASSIGNORS}RoundRobinAssignor"}
    after = {"partition_assignment_strategy": f"{ASSIGNORS}StickyAssignor"}
    clients = [stage.classic(name, topic, **before).enter() for name in names]
    stage.begin()
    for client in clients:
        client.leave()
    stage.steady(8)
    again = [stage.classic(name, topic, **after) for name in names]
    notes.strategy(stage, "roundrobin", "sticky", [])
    for client in again:
        client.join()
    for client in again:
        client.wait_for_partitions()
    stage.steady(25)


def to_consumer(stage: Stage) -> None:
    """Three classic clients read six partitions. One after the other they are started again with group.protocol=consumer, and stay so."""
    _migrate(stage, ("worker-1", "worker-2", "worker-3"), upwards=True)


def to_classic(stage: Stage) -> None:
    """Two clients of the consumer protocol read six partitions. One after the other they are started again as classic clients, and stay so."""
    _migrate(stage, ("worker-1", "worker-2"), upwards=False)


def _migrate(stage: Stage, names: Sequence[str], *, upwards: bool) -> None:
    topic = stage.topic("orders", 6)
    before, after = (stage.classic, stage.java) if upwards else (stage.java, stage.classic)
    clients = [before(name, topic).enter() for name in names]
    stage.begin()
    at_ms = stage.now_ms()
    for name, client in zip(names, clients, strict=True):
        client.leave()
        if upwards and name == names[0]:
            stage.note(
                "migration",
                f"The first client of the consumer protocol, {name}, joins the classic group, which goes on.",
                clients=[name],
                tellable=True,
                detail="consumer",
            )
        if not upwards and name == names[-1]:
            stage.note(
                "migration",
                f"The last client of the consumer protocol, {name}, has left: the group is a classic one.",
                clients=[name],
                tellable=True,
                detail="classic",
            )
        after(name, topic).enter()
        stage.steady(BETWEEN_S)
    notes.roll(stage, list(names), at_ms)
    stage.steady()


def two_deploys(stage: Stage) -> None:
    """Three clients read six partitions. Each closes and is started again, one after the other; 20 s later the same once more."""
    topic = stage.topic("orders", 6)
    names = ["worker-1", "worker-2", "worker-3"]
    clients = [stage.java(name, topic).enter() for name in names]
    stage.begin()
    for _ in range(2):
        at_ms = stage.now_ms()
        for index, name in enumerate(names):
            clients[index].leave()
            clients[index] = stage.java(name, topic).enter()
            stage.steady(5)
        notes.roll(stage, names, at_ms)
        stage.steady()
    notes.rounds(stage, names, 2)
