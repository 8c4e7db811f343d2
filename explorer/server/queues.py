"""What waits in each queue, and what a worker has: for the status page and the metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db.models import Count

from groups.imports import lifecycle
from groups.jobs.serving import IMPORTS, RUNS
from groups.models import Import, Timeline
from simulations.models import Sweep


class QueueCount(NamedTuple):
    waiting: int
    running: int


def route(
    name: str, args: Sequence[Any], kwargs: object, options: object, task: object = None, **known: object
) -> dict[str, str] | None:
    """Celery's router: an import's queue is in its row."""
    if name != "groups.import":
        return None
    found = Import.objects.only("options").filter(pk=args[0]).first()
    return {"queue": lifecycle.queue_of(found) if found is not None else IMPORTS}


def queue_counts() -> dict[str, QueueCount]:
    """By the queue's name: five queries, whatever the number of rows."""
    runs = Timeline.objects.filter(source=Timeline.Source.SIMULATION, status=Timeline.Status.RUNNING)
    waiting, all_runs = runs.filter(lease_owner="").count(), runs.count()
    all_imports = Import.objects.order_by()
    imports = dict(all_imports.values_list("status").annotate(Count("pk")))
    small = dict(all_imports.filter(options__queue=RUNS).values_list("status").annotate(Count("pk")))
    sweeps = dict(Sweep.objects.order_by().values_list("status").annotate(Count("pk")))
    return {
        RUNS: QueueCount(
            waiting + small.get(Import.Status.WAITING, 0),
            all_runs - waiting + small.get(Import.Status.RUNNING, 0),
        ),
        IMPORTS: QueueCount(
            *(
                imports.get(status, 0) - small.get(status, 0) + sweeps.get(status, 0)
                for status in (Sweep.Status.WAITING, Sweep.Status.RUNNING)
            )
        ),
    }
