"""An import on a standalone Spark cluster, one of whose two workers is killed half-way.

What it stores is held against an import without a cluster into SQLite; with ``DATABASE_URL`` set, the cluster's goes into
that database. ``IMPORT_RECORDS`` sets the size: small by default, 5 million as the benchmarks run it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.generated.mixes import typical
from tests.pipeline.spark_cluster import Cluster, cluster

pytestmark = [pytest.mark.spark, pytest.mark.once]

ROOT = Path(__file__).resolve().parent.parent.parent
RECORDS = int(os.environ.get("IMPORT_RECORDS") or 150_000)
LIMIT_S = 1_800


def imported(
    log: Path, var: Path, *, on: Cluster | None = None, kill: bool = False
) -> list[tuple[str, int, str]]:
    """Imports the log into a database of its own; group, entries and digest of each timeline."""
    environment = {**os.environ, "REBALANCE_VAR": str(var)}
    if on is None:
        environment.pop("DATABASE_URL", None)
    else:
        # A database of the services begins empty.
        subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), "migrate", "--verbosity", "0"],
            env=environment,
            check=True,
        )
    words = [sys.executable, str(ROOT / "manage.py"), "import_log", str(log)]
    if on is not None:
        environment |= on.environment
        words += ["--master", on.url]
    process = subprocess.Popen(
        words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if kill and on is not None and line.startswith("Folding"):
            kill = False
            on.kill_worker()
    out, _ = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, "".join(said)
    assert not kill, "the worker was to be killed while the log is folded"
    assert json.loads(out)["records"]["skipped"] == []
    return digests(environment)


def digests(environment: dict[str, str]) -> list[tuple[str, int, str]]:
    script = (
        "import json; from groups.models import Timeline;"
        "print(json.dumps(list(Timeline.objects.filter(source='import').order_by('group')"
        ".values_list('group', 'last', 'digest'))))"
    )
    done = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "shell", "--verbosity", "0", "-c", script],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: list[Any] = json.loads(done.stdout)
    return [tuple(row) for row in found]


def test_a_worker_that_is_killed_half_way_changes_nothing_of_what_is_stored(
    tmp_path: Path, spark_can_start: None
) -> None:
    log = typical(tmp_path / "log", RECORDS).files[0].parent
    alone = imported(log, tmp_path / "alone")
    folder = tmp_path / "cluster"
    folder.mkdir()
    with cluster(folder) as two:
        shared = imported(log, tmp_path / "shared", on=two, kill=True)

    assert len(alone) > 10
    assert shared == alone
    left = [path for path in (tmp_path / "shared" / "store").rglob("*") if path.name.startswith(".")]
    assert left == [], "what the killed worker had begun to write is cleared away"
