"""What a task stores is what ``manage.py simulate`` prints, byte for byte, and what every other machine stores.

The task goes through the queue to the worker that the app has: the embedded one, and on PostgreSQL and Redis a worker
process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings

from explorer.pages.runs.starting import start_run
from explorer.server.worker import EmbeddedWorker
from groups import storage
from groups.models import Batch, Timeline
from tests.house import ROOT
from tests.serving import worker
from tests.simulations import pinned

pytestmark = pytest.mark.django_db(transaction=True)

RUNS = [
    ("storm", "kafka", pinned.SEEDS[0], "0"),
    ("hostile-kip", "kip", pinned.SEEDS[1], "4711"),
    ("kip848-client-side", "kip", pinned.SEEDS[0], "random"),
]
"""Case, semantics, seed, and the hash seed of the command's process; the worker's is always drawn."""


@pytest.fixture
def _working(database_of_the_test: str, tmp_path: Path) -> Iterator[None]:
    """A worker takes what is queued."""
    if settings.REDIS_URL:
        with worker(tmp_path, {**os.environ, "DATABASE_URL": database_of_the_test}):
            yield
        return
    embedded = EmbeddedWorker()
    embedded.start()
    try:
        yield
    finally:
        embedded.stop()


def stored(timeline: Timeline) -> bytes:
    """The entries as they lie in the database, a line each."""
    rows = Batch.objects.filter(timeline=timeline).order_by("first").values_list("entries", flat=True)
    # Where a batch ends is a matter of the clock; what stands between its brackets is not.
    return b",".join(bytes(row)[1:-1] for row in rows)


def printed(file: Path, semantics: str, seed: int, hash_seed: str) -> bytes:
    words = ["simulate", str(file), "--semantics", semantics, "--seed", str(seed), "--format", "entries"]
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        check=True,
    ).stdout


@pytest.mark.usefixtures("_working")
@pytest.mark.long
def test_a_worker_stores_the_bytes_that_the_command_prints(
    until: Callable[[Callable[[], object]], None], tmp_path: Path
) -> None:
    started = [start_run(pinned.text_of(case), semantics, seed) for case, semantics, seed, _ in RUNS]
    for timeline, (case, semantics, seed, hash_seed) in zip(started, RUNS, strict=True):
        until(lambda of=timeline.id: storage.get(of).status != Timeline.Status.RUNNING)  # type: ignore[misc]
        assert storage.get(timeline.id).status == Timeline.Status.COMPLETE
        file = tmp_path / f"{case}.yaml"
        file.write_text(pinned.text_of(case), encoding="utf-8")
        lines = printed(file, semantics, seed, hash_seed)
        assert stored(timeline) == b",".join(lines.splitlines())
        assert pinned.digest([lines]) == pinned.committed()[case][semantics][str(seed)]["sha256"]
