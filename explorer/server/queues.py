"""What waits in each queue, and what a worker has: for the status page and the metrics."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Count

from groups.jobs.serving import IMPORTS, RUNS
from groups.models import Import, Timeline
from simulations.models import Sweep


class QueueCount(NamedTuple):
    waiting: int
    running: int


def queue_counts() -> dict[str, QueueCount]:
    """By the queue's name: four queries, whatever the number of rows."""
    runs = Timeline.objects.filter(source=Timeline.Source.SIMULATION, status=Timeline.Status.RUNNING)
    waiting, all_runs = runs.filter(lease_owner="").count(), runs.count()
    imports = dict(Import.objects.order_by().values_list("status").annotate(Count("pk")))
    sweeps = dict(Sweep.objects.order_by().values_list("status").annotate(Count("pk")))
    return {
        RUNS: QueueCount(waiting, all_runs - waiting),
        IMPORTS: QueueCount(
            imports.get(Import.Status.WAITING, 0) + sweeps.get(Sweep.Status.WAITING, 0),
            imports.get(Import.Status.RUNNING, 0) + sweeps.get(Sweep.Status.RUNNING, 0),
        ),
    }
