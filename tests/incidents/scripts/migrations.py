"""Groups that change their protocol while they go on reading."""

from __future__ import annotations

from tests.incidents.stage import Stage

BETWEEN_S = 10


def migration_both_ways(stage: Stage) -> None:
    """Two classic clients read six partitions. One after the other they are started again with group.protocol=consumer; a minute later, one after the other, as classic clients again."""
    topic = stage.topic("orders", 6)
    names = ("worker-1", "worker-2")
    clients = [stage.classic(name, topic).enter() for name in names]
    stage.begin()
    for upwards in (True, False):
        for index, name in enumerate(names):
            clients[index].leave()
            if not upwards and name == names[-1]:
                stage.note(
                    "migration",
                    f"The last client of the consumer protocol, {name}, has left: the group is a classic one again.",
                    clients=[name],
                    tellable=True,
                    detail="classic",
                )
            start = stage.java if upwards else stage.classic
            client = start(name, topic)
            if upwards and name == names[0]:
                stage.note(
                    "migration",
                    f"The first client of the consumer protocol, {name}, joins the classic group, which goes on.",
                    clients=[name],
                    tellable=True,
                    detail="consumer",
                )
            clients[index] = client.enter()
            stage.steady(BETWEEN_S)
        stage.steady(BETWEEN_S)
    stage.steady(10)
