"""Searches for remedies and proofs as Celery tasks. The work happens in a child process."""

from __future__ import annotations

import contextlib

from celery import shared_task

from simulations.jobs import proof_runs
from simulations.jobs.long_questions import NoSuchQuestion
from simulations.jobs.remedy_runs import searches


@shared_task(name="simulations.remedies")  # type: ignore[untyped-decorator]
def run_search(search_id: str) -> None:
    """Runs a waiting search. A second delivery finds it taken and does nothing."""
    with contextlib.suppress(NoSuchQuestion):
        searches.perform(search_id)


@shared_task(name="simulations.proof")  # type: ignore[untyped-decorator]
def run_proof(proof_id: str) -> None:
    """As ``run_search``."""
    with contextlib.suppress(NoSuchQuestion):
        proof_runs.perform(proof_id)


def take_up_lost() -> None:
    """Queues lost waiting questions again, and reports lost running ones as interrupted."""
    searches.leases.take_up_lost(run_search.delay, searches.interrupt)
    proof_runs.proofs.leases.take_up_lost(run_proof.delay, proof_runs.interrupt)
