"""The task queue. ``celery -A explorer worker -Q runs,imports`` is a worker process where REDIS_URL is set."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery, signals

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "explorer.settings")

app = Celery("explorer")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["groups.imports"])
app.autodiscover_tasks(["simulations.jobs"], related_name="run_tasks")
app.autodiscover_tasks(["simulations.jobs"], related_name="sweep_tasks")

QUEUES = ("runs", "imports")
"""A queue a kind: a team can give each its own workers, so that a long import does not hold up runs."""


@signals.celeryd_init.connect  # type: ignore[untyped-decorator]
def keep_to_itself(**told: Any) -> None:
    """What a worker writes is its own alone, as a server's is."""
    os.umask(0o077)
