"""Imports as Celery tasks: fetch, call, save. The reading itself goes on in a child process."""

from __future__ import annotations

from datetime import timedelta

from celery import shared_task
from django.utils import timezone

from groups.imports import lifecycle
from groups.jobs.leases import end_of_wait
from groups.models import Import
from groups.spark_ready import come_by_themselves, missing_packages

SPARK_POLL_S = 2
"""How often an import that waits for Spark's packages looks again: the wait is a minute or two."""

SPARK_WAIT_MOST_S = 30 * 60
"""After so long the packages will not come by themselves: the import fails, with a message on how to install them."""


@shared_task(name="groups.import")  # type: ignore[untyped-decorator]
def run_import(import_id: str) -> int | None:
    """Read a waiting import; how many records. A second delivery finds it taken and does nothing."""
    try:
        found = lifecycle.get(import_id)
    except lifecycle.NoSuchImport:
        return None
    if found.status != Import.Status.WAITING:
        return None
    spark_comes = come_by_themselves() and timezone.now() - found.created < timedelta(
        seconds=SPARK_WAIT_MOST_S
    )
    if spark_comes and found.progress.get("stage") == lifecycle.GETTING_SPARK and missing_packages():
        Import.objects.filter(pk=import_id, status=Import.Status.WAITING).update(lease_until=end_of_wait())
    else:
        attempts = found.options.get("attempts", 0) + 1
        Import.objects.filter(pk=import_id, status=Import.Status.WAITING).update(
            options=found.options | {"attempts": attempts}
        )
        try:
            found = lifecycle.perform(import_id, spark_comes=spark_comes)
        except lifecycle.NoSuchImport:
            # Deleted while it was read.
            return None
    if found.status == Import.Status.WAITING:
        # The worker is free meanwhile: the task comes back instead of sleeping.
        run_import.apply_async((import_id,), countdown=SPARK_POLL_S)
        return None
    return int(found.report["records"]["read"]) if found.report else None


def take_up_lost() -> None:
    """Queue lost waiting imports again, and mark lost running ones as failed."""
    lifecycle.leases.take_up_lost(run_import.delay, lifecycle.interrupt)
