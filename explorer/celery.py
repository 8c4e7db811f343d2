"""The task queue. ``celery -A explorer worker -Q runs,imports`` is a worker process where REDIS_URL is set."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "explorer.settings")

app = Celery("explorer")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["groups"], related_name="import_tasks")
app.autodiscover_tasks(["simulations"], related_name="sweep_tasks")

QUEUES = ("runs", "imports")
"""A queue a kind: a team can give each its own workers, so that a long import does not hold up runs."""
