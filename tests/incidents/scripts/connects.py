"""Groups of Kafka Connect's workers."""

from __future__ import annotations

from tests.incidents import notes
from tests.incidents.connect import Worker
from tests.incidents.stage import Stage


def _formed(stage: Stage, count: int) -> list[Worker]:
    workers = [Worker(stage, f"connect-{number}") for number in range(1, count + 1)]
    for worker in workers:
        worker.start().wait_until_joined()
    workers[0].create_connector("ticks", tasks=3)
    stage.begin()
    stage.note("group_type", "The group is one of Kafka Connect's workers.", tellable=True, detail="connect")
    return workers


def connect_grows(stage: Stage) -> None:
    """Two Kafka Connect workers run a connector with three tasks. A third worker joins."""
    workers = _formed(stage, 2)
    notes.leader(stage, workers)
    third = Worker(stage, "connect-3")
    third.start().wait_until_joined()
    stage.steady(40)


def connect_leader_leaves(stage: Stage) -> None:
    """Three Kafka Connect workers run a connector with three tasks. The worker that leads the group is stopped; another leads then."""
    workers = _formed(stage, 3)
    leader = notes.leader(stage, workers)
    leader.leave()
    stage.steady(40)
    notes.leader(stage, [each for each in workers if each is not leader])
