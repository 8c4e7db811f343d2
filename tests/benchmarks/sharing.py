"""Incidents that are handed on: how long one takes to make and how large it is, how soon it opens, and many who read one link."""

from __future__ import annotations

import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from tests.benchmarks.figures import Figure, middle, percentile
from tests.benchmarks.pages import CHROMIUM
from tests.browser import large
from tests.serving import ROOT, Served, served

MEMBERS = 200
PARTITIONS = 2_000
ENTRIES = 10_000
READERS = 200
TIMES = 5


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder, served(Path(folder)) as server:
        timeline = stored(server)
        file = Path(folder) / "incident.html"
        for options, what in (((), ""), (("--hide-names",), ", names hidden")):
            seconds = exported(server, timeline, file, *options)
            yield Figure(what=f"one file of {MEMBERS} members × {PARTITIONS:,} partitions × {ENTRIES:,} entries{what}, processor time", value=seconds, unit="s", goal=5)  # fmt: skip
        yield Figure(what="its size", value=file.stat().st_size / 1e6, unit="MB", goal=2)
        yield Figure(what="from opening the file to its board", value=opened(file), unit="s", goal=1)
        yield Figure(what=f"{READERS} readers of one link at once, 99th percentile of the page", value=read(server, timeline), unit="ms", goal=250)  # fmt: skip


def stored(server: Served) -> str:
    """The large group, with members that come and go until there are as many entries."""
    scenario = large.scenario(MEMBERS)
    each = PARTITIONS // MEMBERS
    scenario["topics"] = {"orders": {"partitions": PARTITIONS}}
    there = list(scenario["start"]["members"])
    for place, member in enumerate(there):
        owned = list(range(place, PARTITIONS, len(there)))
        scenario["start"]["members"][member]["owned"] = {"orders": owned}
    assert each > 1
    restless = [large.name_of(number) for number in (7, 9)]
    scenario["script"] += [
        {"at": f"{60 + 10 * turn}s", "leave" if turn % 4 < 2 else "join": restless[turn % 2]}
        for turn in range(8)
    ]
    scenario["until"] = "200s"
    entries = manage(server, "simulate", "-", "--format", "entries", given=json.dumps(scenario).encode())
    first = b"".join(entries.splitlines(keepends=True)[:ENTRIES])
    return str(json.loads(manage(server, "timeline", "add", "-", given=first))["id"])


def manage(server: Served, *words: str, given: bytes = b"") -> bytes:
    command = [sys.executable, "manage.py", *words]
    return subprocess.run(
        command, cwd=ROOT, env=server.environment, check=True, capture_output=True, input=given
    ).stdout


def exported(server: Served, timeline: str, file: Path, *options: str) -> float:
    """Processor seconds of the command, its start among them."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    manage(server, "timeline", "export", timeline, "--out", str(file), *options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def opened(file: Path) -> float:
    """Seconds until the board is alive, the median."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=CHROMIUM)  # fmt: skip
        times = []
        for _ in range(TIMES):
            page = browser.new_page()
            begun = time.perf_counter()
            page.goto(file.as_uri(), wait_until="commit")
            page.wait_for_selector("html[data-alive]")
            times.append(time.perf_counter() - begun)
            page.close()
        browser.close()
    return middle(times)


def read(server: Served, timeline: str) -> float:
    """Milliseconds to the whole page, of each reader with a connection of its own, twenty at a time."""
    body = json.dumps({"view": "reader"}).encode()
    with server.open(f"/api/timelines/{timeline}/links", body) as answer:
        told: dict[str, Any] = json.load(answer)
    host = server.url.removeprefix("http://")
    token = told["url"].removeprefix("/s/")
    headers = {"Cookie": f"rebalance-share-{told['id']}={token}", "Accept-Encoding": "gzip"}

    def reader(_: int) -> float:
        connection = HTTPConnection(host, timeout=60)
        begun = time.perf_counter()
        connection.request("GET", f"/s/open/{told['id']}/", headers=headers)
        page = connection.getresponse().read()
        took_ms = 1000 * (time.perf_counter() - begun)
        connection.close()
        assert gzip.decompress(page).startswith(b"<!doctype html>")
        return took_ms

    with ThreadPoolExecutor(max_workers=20) as pool:
        return percentile(list(pool.map(reader, range(READERS))), 0.99)
