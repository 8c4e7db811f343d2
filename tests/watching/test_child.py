"""The process that watches a cluster for a server ends by itself without noise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from groups.places import ROOT


@pytest.mark.once
@pytest.mark.long
def test_the_child_of_a_cluster_that_was_deleted_meanwhile_ends_while_its_parent_lives(
    tmp_path: Path,
) -> None:
    """Its input stays open as long as the parent lives; a thread that waits for the end of it may not hold what Python needs to end."""
    environment = {**os.environ, "REBALANCE_VAR": str(tmp_path), "DATABASE_URL": "", "REDIS_URL": ""}
    subprocess.run(
        [sys.executable, "manage.py", "migrate"], cwd=ROOT, env=environment, capture_output=True, check=True
    )
    with subprocess.Popen(
        [sys.executable, "-m", "groups.watching.child"],
        cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as child:  # fmt: skip
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        child.stdin.write(b'{"clusters": ["deleted", "gone"], "owner": "a test"}\n')
        child.stdin.flush()
        said, failed = child.stdout.read(), child.stderr.read()
        assert (child.wait(60), said) == (0, b""), failed[-2000:]
