"""Sweeps as Celery tasks: fetch, call, save. The answering itself goes on in a child process."""

from __future__ import annotations

import contextlib
from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from groups.imports.tasks import SPARK_POLL_S, SPARK_WAIT_MOST_S
from groups.jobs.leases import end_of_wait
from groups.spark_ready import come_by_themselves, how_to_install, missing_packages
from simulations.jobs import sweep_runs
from simulations.jobs.long_questions import NoSuchQuestion
from simulations.models import Sweep


@shared_task(name="simulations.sweep")  # type: ignore[untyped-decorator]
def run_sweep(sweep_id: str) -> int | None:
    """Run a waiting sweep; how many cases. A second delivery finds it taken and does nothing."""
    waiting = Sweep.objects.filter(pk=sweep_id, status=Sweep.Status.WAITING)
    if (sweep := waiting.first()) is None:
        return None
    missing = missing_packages()
    if not missing:
        # One that is deleted while it runs has nobody to notify.
        with contextlib.suppress(NoSuchQuestion):
            sweep_runs.perform(sweep_id)
            return sweep_runs.get(sweep_id).done
        return None
    overdue = timezone.now() - sweep.created > timedelta(seconds=SPARK_WAIT_MOST_S)
    if overdue or not come_by_themselves():
        problem = f"{how_to_install(missing)} Then go on."
        waiting.update(
            status=Sweep.Status.FAILED, problem=problem, stage="", finished=timezone.now(), lease_until=None
        )
    else:
        waiting.update(stage="Getting Spark ready", lease_until=end_of_wait())
        # The worker is free meanwhile: the task comes back instead of sleeping.
        run_sweep.apply_async((sweep_id,), countdown=SPARK_POLL_S)
    sweep_runs.say(sweep_runs.get(sweep_id))
    return None


def take_up_lost() -> None:
    """Queue lost waiting sweeps again, and mark lost running ones as interrupted."""
    sweep_runs.sweeps.leases.take_up_lost(run_sweep.delay, sweep_runs.interrupt)
