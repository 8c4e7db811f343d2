"""The import of the bundled sample log, from the command to the first timeline's row and to the end."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.figures import Figure
from tests.serving import Served, served

WAIT_S = 120.0


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as server:
        for what in ("first import on this installation", "a later import"):
            yield import_sample(server, f"import of the sample log to the first timeline, {what}")


def import_sample(server: Served, what: str) -> Figure:
    """As the page does it: ask for the sample, then look until a timeline of it can be opened."""
    began = time.monotonic()
    made = json.load(server.open("/api/imports", b'{"sample": true}'))["import"]
    while time.monotonic() - began < WAIT_S:
        state = json.load(server.open(f"/api/imports/{made}"))
        if state.get("timelines") or state["status"] in ("failed", "cancelled"):
            break
        time.sleep(0.1)
    took = time.monotonic() - began
    while state["status"] in ("waiting", "running") and time.monotonic() - began < WAIT_S:
        time.sleep(0.2)
        state = json.load(server.open(f"/api/imports/{made}"))
    if state["status"] != "complete":
        raise RuntimeError(f"The import ended {state['status']}: {state.get('problem')}")
    return Figure(what=what, value=took, unit="s", goal=30)
