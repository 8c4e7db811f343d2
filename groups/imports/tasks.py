"""Imports as Celery tasks: fetch, call, save. The reading itself goes on in a child process."""

from __future__ import annotations

import contextlib
from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from groups.imports import lifecycle
from groups.jobs.leases import end_of_wait
from groups.models import Import
from groups.spark_ready import come_by_themselves, how_to_install, missing_packages

SPARK_POLL_S = 2
"""How often an import that waits for Spark's packages looks again: the wait is a minute or two."""

SPARK_WAIT_MOST_S = 30 * 60
"""After so long the packages will not come by themselves: the import says how to install them."""


@shared_task(name="groups.import")  # type: ignore[untyped-decorator]
def run_import(import_id: str) -> int | None:
    """Read a waiting import; how many records. A second delivery finds it taken and does nothing."""
    try:
        found = lifecycle.get(import_id)
    except lifecycle.NoSuchImport:
        return None
    if found.status != Import.Status.WAITING:
        return None
    missing = missing_packages()
    if not missing:
        # One that is deleted while it is read has nobody to tell.
        with contextlib.suppress(lifecycle.NoSuchImport):
            return int(lifecycle.perform(import_id).report["records"]["read"])
    elif timezone.now() - found.created > timedelta(seconds=SPARK_WAIT_MOST_S) or not come_by_themselves():
        fail(import_id, missing)
    else:
        wait(import_id)
        # The worker is free meanwhile: the task comes back instead of sleeping.
        run_import.apply_async((import_id,), countdown=SPARK_POLL_S)
    return None


def wait(import_id: str) -> None:
    """Say that Spark is being made ready."""
    stage = "Getting Spark ready"
    Import.objects.filter(pk=import_id, status=Import.Status.WAITING).update(
        progress={"stage": stage, "stages": []},
        lease_until=end_of_wait(),
    )
    lifecycle.say(import_id, {"type": "progress", "stage": stage, "stages": [], "timelines": 0})


def fail(import_id: str, missing: list[str]) -> None:
    problem = f"{how_to_install(missing)} Then import again."
    Import.objects.filter(pk=import_id, status=Import.Status.WAITING).update(
        status=Import.Status.FAILED, problem=problem, finished=timezone.now(), lease_until=None
    )
    lifecycle.say(import_id, {"type": "status", "status": Import.Status.FAILED, "problem": problem})


def take_up_lost() -> None:
    """Queue lost waiting imports again, and tell lost running ones as failed."""
    lifecycle.leases.take_up_lost(run_import.delay, lifecycle.interrupt)
