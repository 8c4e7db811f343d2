"""An import on a standalone Spark cluster, one of whose two workers is killed half-way.

What it stores is held against an import without a cluster into SQLite; with ``DATABASE_URL`` set, the cluster's goes into
that database. ``IMPORT_RECORDS`` sets the size: small by default, 5 million as the benchmarks run it. With workers of another
account, and at size: ``python -m tests.pipeline.cluster_at_size``.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.benchmarks.generated.mixes import typical
from tests.pipeline.cluster_imports import imported, unfinished
from tests.pipeline.spark_cluster import cluster

pytestmark = [pytest.mark.spark, pytest.mark.once]

RECORDS = int(os.environ.get("IMPORT_RECORDS") or 150_000)


def test_a_worker_that_is_killed_half_way_changes_nothing_of_what_is_stored(
    tmp_path: Path, spark_can_start: None
) -> None:
    log = typical(tmp_path / "log", RECORDS).files[0].parent
    alone = imported(log, tmp_path / "alone")
    folder = tmp_path / "cluster"
    folder.mkdir()
    with cluster(folder) as two:
        shared = imported(log, tmp_path / "shared", on=two, kills=[two.kill_worker])

    assert len(alone) > 10
    assert shared == alone
    assert unfinished(tmp_path / "shared" / "store") == []
