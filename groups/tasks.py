"""Tasks on timelines: fetch, call, save."""

from __future__ import annotations

import contextlib

from celery import shared_task

from groups import storage
from groups.jobs.children import ParentStops, run_child


@shared_task(name="groups.refold")  # type: ignore[untyped-decorator]
def refold(timeline_id: str) -> int | None:
    """Make a timeline's cache again, in a child process: a long timeline is a minute of busy Python. Its entries."""
    if not storage.stale().filter(pk=timeline_id).exists():
        return None
    # A server that ends before the cache is made restarts at its next start.
    with contextlib.suppress(ParentStops):
        for _ in run_child("groups.refold_child", question={"timeline": timeline_id}):
            pass
    return storage.get(timeline_id).last
