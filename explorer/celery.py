"""The task queue. ``manage.py worker`` is a worker process where REDIS_URL is set."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Sequence
from typing import Any

from celery import Celery, Task, signals
from django.db import InterfaceError, OperationalError

from explorer.server import spans
from explorer.server.attendance import Attendance
from explorer.server.requests import current
from groups.jobs.patience import AGAIN_S, AWAY_MOST_S, is_away

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "explorer.settings")

log = logging.getLogger(__name__)


class PatientTask(Task):  # type: ignore[misc]
    """A task that finds the database away comes back a second later. If it failed instead, its row would wait for
    ``groups.jobs.leases.QUEUED_S`` until a server misses it."""

    def __call__(self, *args: Any, **settings: Any) -> Any:
        try:
            return super().__call__(*args, **settings)
        except (OperationalError, InterfaceError) as error:
            if not is_away(error):
                raise
            log.warning("The database is away. Task %s %s is tried again.", self.name, _of(args))
            raise self.retry(exc=error, countdown=AGAIN_S, max_retries=AWAY_MOST_S // AGAIN_S) from error


app = Celery("explorer", task_cls=PatientTask)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.autodiscover_tasks(["groups.imports"])
app.autodiscover_tasks(["simulations.jobs"], related_name="run_tasks")
app.autodiscover_tasks(["simulations.jobs"], related_name="sweep_tasks")
app.autodiscover_tasks(["simulations.jobs"], related_name="question_tasks")

app.steps["consumer"].add(Attendance)


@signals.celeryd_init.connect  # type: ignore[untyped-decorator]
def keep_to_itself(**known: Any) -> None:
    """What a worker writes is its own alone, as a server's is."""
    os.umask(0o077)


_begun_s: dict[str, float] = {}
"""When each task of this process began, by its id."""


@signals.before_task_publish.connect  # type: ignore[untyped-decorator]
def send_trace(headers: dict[str, Any], **known: Any) -> None:
    """A task that a request began is in the request's trace."""
    noted = current.get()
    if noted is not None:
        headers["traceparent"] = str(noted.place)


@signals.task_prerun.connect  # type: ignore[untyped-decorator]
def log_begun(task_id: str, task: Task, args: Sequence[Any], **known: Any) -> None:
    _begun_s[task_id] = time.monotonic()
    log.info("Task %s %s began.", task.name, _of(args))


@signals.task_postrun.connect  # type: ignore[untyped-decorator]
def log_ended(
    task_id: str, task: Task, args: Sequence[Any], retval: Any, state: str | None, **known: Any
) -> None:
    """A task returns how many records it went through (of a run its entries, of a sweep its cases), or nothing where it had nothing to do."""
    took_s = time.monotonic() - _begun_s.pop(task_id, time.monotonic())
    failed = state not in (None, "SUCCESS")
    place = spans.place_after((task.request.headers or {}).get("traceparent", ""))
    facts = {"task": task_id, "of": _of(args)}
    spans.note(task.name, place, took_s, kind=spans.CONSUMER, failed=failed, facts=facts)
    records = f", {retval:,} records" if isinstance(retval, int) and not failed else ""
    how = f" ({state})" if failed else ""
    log.info("Task %s %s ended after %.1f s%s%s.", task.name, _of(args), took_s, records, how)


def _of(args: Sequence[Any]) -> str:
    """The id of what a task works on."""
    return str(args[0]) if args else ""
