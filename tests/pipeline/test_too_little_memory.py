"""A log that would fill the machine's memory ends its import alone: one sentence, exit code 2, and nothing left behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from groups.wire.logs.compression import Compression
from tests.pipeline.segments import FOO, Group, Segment
from tests.serving import ROOT

pytestmark = [pytest.mark.spark, pytest.mark.once]

LIMIT_S = 300

MEMBERS, PARTITIONS = 100, 60_000
"""Of a request: 24 MB in the log, a few kilobytes compressed, and more than half a gigabyte as records."""

MEMORY = "1700m"
"""A little more than what an import of a small log takes."""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere address space has no limit")
def test_a_log_that_takes_too_much_memory_is_told_in_a_sentence_and_nothing_is_left_behind(
    tmp_path: Path, spark_can_start: None
) -> None:
    group = Group()
    small = Segment().add(group.join("A", {FOO: range(3)})).write(tmp_path / "small")
    request = [
        record
        for number in range(MEMBERS)
        for record in group.advance(f"member-{number}", {FOO: range(PARTITIONS)})
    ]
    large = Segment().add(request, compression=Compression.ZSTD).write(tmp_path / "large")
    assert large.stat().st_size < 1_000_000
    environment = {
        **os.environ,
        "REBALANCE_VAR": str(tmp_path / "var"),
        "REBALANCE_WORKER_MEMORY": MEMORY,
    }
    environment.pop("DATABASE_URL", None)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *arguments],
            env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False,
        )  # fmt: skip

    fits, does_not = run("import_log", str(small.parent)), run("import_log", str(large.parent))

    assert fits.returncode == 0, fits.stderr
    assert does_not.returncode == 2
    # Most often the worker has not even the memory to say so.
    assert "REBALANCE_WORKER_MEMORY" in does_not.stderr.splitlines()[-1]
    assert "Traceback" not in does_not.stderr
    assert len(run("timeline", "list").stdout.splitlines()) == 1
