"""From ``make run`` to a page: a fresh clone with packages cached, and a second start."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.figures import Figure
from tests.serving import ROOT, served


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as temporary:
        clone = Path(temporary) / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        for what in (
            "make run in a fresh clone, packages cached, to the first page",
            "make run again, to the first page",
        ):
            began = time.monotonic()
            with served(Path(temporary), ["make", "run", "PORT=0"], cwd=clone) as server:
                server.open("/").read()
                took = time.monotonic() - began
            yield Figure(what=what, value=took, unit="s", goal=10)
