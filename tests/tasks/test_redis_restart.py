"""A worker outlives a restart of Redis, with what it works on; a queue that no worker serves is stated."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from django.test import Client
from django.urls import reverse

import explorer.celery  # noqa: F401  (the queue of this process)
from explorer.pages.imports.uploading import start_sample
from explorer.pages.runs.starting import start_run
from explorer.push.hub import tails_of
from explorer.server import attendance, housekeeping
from groups import storage
from groups.jobs import serving
from groups.models import Import
from groups.places import ROOT
from tests.conftest import missing
from tests.services.servers import Redis, free_port

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.services,
    pytest.mark.once,
    pytest.mark.long,
]

Until = Callable[[Callable[[], object]], None]

PROGRAMS = {
    "ours": ["manage.py", "worker", "--queues", "runs", "--concurrency", "2"],
    "celery's": ["-m", "celery", "-A", "explorer", "worker", "--queues", "runs", "--concurrency", "2"],
}


@pytest.fixture
def own_redis(settings: Any) -> Iterator[Redis]:
    if shutil.which("redis-server") is None:
        missing("redis-server is not installed")
    found = Redis(free_port())
    found.start()
    settings.REDIS_URL = found.url
    yield found
    found.stop()
    serving.note({})


@pytest.fixture(params=list(PROGRAMS))
def worker(
    request: pytest.FixtureRequest, own_redis: Redis, database_of_the_test: str, tmp_path: Path
) -> Iterator[subprocess.Popen[bytes]]:
    environment = {**os.environ, "DATABASE_URL": database_of_the_test, "REDIS_URL": own_redis.url}
    with (tmp_path / "worker.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, *PROGRAMS[request.param]], cwd=ROOT, env=environment, stdout=log, stderr=log
        )
        yield process
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        finally:
            process.kill()


def status_of(timeline_id: str) -> tuple[str, int]:
    timeline = storage.get(timeline_id)
    return timeline.status, timeline.last


def test_a_worker_with_a_task_outlives_a_restart_of_redis(
    own_redis: Redis,
    worker: subprocess.Popen[bytes],
    long_scenario: str,
    until: Until,
    queue: Callable[[str], None],
) -> None:
    long = start_run(long_scenario).id
    queue(long)
    until(lambda: status_of(long)[1] > 0)
    own_redis.stop()
    own_redis.start()
    until(lambda: attendance.unserved(["runs"]) == [])
    last = status_of(long)[1]
    short = start_run("kip848-basic").id
    queue(short)
    until(lambda: status_of(short)[0] == "complete")
    until(lambda: status_of(long)[1] > last or status_of(long)[0] == "complete")
    assert storage.get(long).attempts == 1, "the same worker continues it"
    assert worker.poll() is None
    storage.cancel(long)


@pytest.fixture
def queue(own_redis: Redis) -> Iterator[Callable[[str], None]]:
    """Puts a run into the queue of the test's Redis: this process has another queue."""
    from celery import Celery

    app = Celery("queue", broker=own_redis.url, set_as_current=False)
    yield lambda timeline_id: app.send_task("simulations.run", (timeline_id,), queue="runs") and None
    app.close()


def test_a_queue_counts_as_served_while_a_worker_marks_it(
    own_redis: Redis, worker: subprocess.Popen[bytes], until: Until
) -> None:
    until(lambda: attendance.unserved(serving.QUEUES) == ["imports"])
    with redis.Redis(port=own_redis.port) as client:
        assert 0 < client.ttl(attendance.MARK + "runs") <= attendance.EXPIRES_S


def test_every_page_of_what_waits_states_that_no_worker_serves_its_queue(
    own_redis: Redis, client: Client
) -> None:
    run, other = (start_run("kip848-basic").id for _ in range(2))
    found = start_sample().id
    housekeeping.look_after_redis(own_redis.url)
    in_runs = "No worker takes what waits in the queue “runs”. Start one: `rebalance-explorer worker --queues runs`."
    in_imports = in_runs.replace("runs", "imports")
    assert client.get(f"/api/timelines/{run}").json()["waits"] == in_runs
    assert client.get(f"/api/imports/{found}").json()["waits"] == in_runs, "it is small"
    large = Import.objects.get(pk=found)
    Import.objects.filter(pk=found).update(options=large.options | {"queue": "imports"})
    assert client.get(f"/api/imports/{found}").json()["waits"] == in_imports
    tails = tails_of([f"timeline.{run}", f"import.{found}"])
    assert (tails[f"timeline.{run}"]["waits"], tails[f"import.{found}"]["waits"]) == (in_runs, in_imports)
    assert (
        in_runs.partition(" Start")[0]
        in client.get(reverse("compare"), {"runs": f"{run},{other}"}).content.decode()
    )
    assert in_runs in str(storage.NotReady(run)), "what waits to be folded again"
    attendance.mark(serving.QUEUES)
    housekeeping.look_after_redis(own_redis.url)
    assert client.get(f"/api/timelines/{run}").json()["waits"] == ""


def test_while_redis_is_away_what_waits_states_it(own_redis: Redis) -> None:
    own_redis.stop()
    with pytest.raises(redis.RedisError):
        housekeeping.look_after_redis(own_redis.url)
    assert "Redis cannot be reached" in serving.why_not_served("runs")
