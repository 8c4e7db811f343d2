"""Searches for remedies as Celery tasks. The runs happen in a child process."""

from __future__ import annotations

import contextlib

from celery import shared_task

from simulations.jobs import remedy_runs


@shared_task(name="simulations.remedies")  # type: ignore[untyped-decorator]
def run_search(search_id: str) -> None:
    """Runs a waiting search. A second delivery finds it taken and does nothing."""
    with contextlib.suppress(remedy_runs.NoSuchSearch):
        remedy_runs.perform(search_id)


def take_up_lost() -> None:
    """Queues lost waiting searches again, and reports lost running ones as interrupted."""
    remedy_runs.leases.take_up_lost(run_search.delay, remedy_runs.interrupt)
