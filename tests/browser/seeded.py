"""What tests and pictures find in a server's database before anybody looks: put there past the browser."""

from __future__ import annotations

import subprocess
import sys

from tests.serving import ROOT, Served


def sweep_in(server: Served, how: str) -> str:
    """The id of a sweep of six assignors, three shapes and three events: ``whole``, or ``begun`` and still running."""
    command = [sys.executable, "-m", "tests.browser.seed_sweep", how]
    return subprocess.run(
        command, cwd=ROOT, env=server.environment, check=True, capture_output=True, text=True
    ).stdout
