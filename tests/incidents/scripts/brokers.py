"""What happens to the broker."""

from __future__ import annotations

from tests.incidents.stage import Stage

from .deaths import workers


def coordinator_restart(stage: Stage) -> None:
    """Three clients read six partitions. The broker, which coordinates the group, is stopped and started again."""
    workers(stage, stage.topic("orders", 6), 3)
    stage.restart_broker()
    stage.steady(30)
