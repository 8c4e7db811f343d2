"""The import of the bundled sample log, from the command to the first timeline's row and to the end."""

from __future__ import annotations

import json
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.figures import Figure
from tests.serving import served

WAIT_S = 120.0


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as server:
        for what in ("first import on this installation", "a later import"):
            yield import_sample(server.url, f"import of the sample log to the first timeline, {what}")


def import_sample(url: str, what: str) -> Figure:
    """As the page does it: ask for the sample, then look until a timeline of it can be opened."""
    request = urllib.request.Request(
        url + "/api/imports",
        data=json.dumps({"sample": True}).encode(),
        headers={"Content-Type": "application/json"},
    )
    began = time.monotonic()
    made = json.load(urllib.request.urlopen(request, timeout=30))["import"]
    while time.monotonic() - began < WAIT_S:
        state = json.load(urllib.request.urlopen(f"{url}/api/imports/{made}", timeout=30))
        if state.get("timelines") or state["status"] in ("failed", "cancelled"):
            break
        time.sleep(0.1)
    took = time.monotonic() - began
    while state["status"] in ("waiting", "running") and time.monotonic() - began < WAIT_S:
        time.sleep(0.2)
        state = json.load(urllib.request.urlopen(f"{url}/api/imports/{made}", timeout=30))
    if state["status"] != "complete":
        raise RuntimeError(f"The import ended {state['status']}: {state.get('problem')}")
    return Figure(what=what, value=took, unit="s", goal=30)
