"""A disk that is full: one sentence, exit code 2, and nothing left behind. The disk is a real one, and a small one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.benchmarks.generated.mixes import typical
from tests.serving import ROOT

pytestmark = [pytest.mark.spark, pytest.mark.once]

LIMIT_S = 300


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 60 KB in memory."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=60k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("a file system cannot be mounted here: it takes the rights of root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_told_in_a_sentence_and_nothing_is_left_behind(
    small_disk: Path, tmp_path: Path, spark_can_start: None
) -> None:
    log = typical(tmp_path / "log", 10_000).files[0].parent
    environment = {
        **os.environ,
        "REBALANCE_VAR": str(tmp_path / "var"),
        "STORE_URL": str(small_disk / "store"),
    }
    environment.pop("DATABASE_URL", None)

    done = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "import_log", str(log)],
        env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    listed = subprocess.run(
        [sys.executable, str(ROOT / "manage.py"), "timeline", "list"],
        env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip

    assert done.returncode == 2
    assert "the disk is full" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert listed.stdout == ""
    assert [path for path in (small_disk / "store").rglob("*") if path.is_file()] == []
