"""A sweep of 10,080 cases from the command, Spark's start included."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.figures import Figure
from tests.serving import ROOT, environment_for

SEEDS = 42
CASES = 6 * 8 * 5 * SEEDS


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "manage.py", "sweep", "--seeds", f"1-{SEEDS}"]
        began = time.monotonic()
        done = subprocess.run(
            command, cwd=ROOT, env=environment_for(Path(folder)), check=True, capture_output=True
        )
        took = time.monotonic() - began
    answered = len(done.stdout.splitlines())
    if answered != CASES:
        raise RuntimeError(f"{answered} cases were answered, not {CASES}.")
    yield Figure(
        what=f"sweep of {CASES:,} cases, all usual axes, Spark's start included", value=took, unit="s"
    )
