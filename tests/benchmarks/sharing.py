"""Incidents that are handed on: how long one takes to make and how large it is, how soon it opens, and many who read one link."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from explorer.sharing.door import GUESSES_MOST, WITHIN_S
from tests.benchmarks.figures import Figure, middle, percentile
from tests.benchmarks.pages import CHROMIUM
from tests.browser import large
from tests.serving import ROOT, Served, served

MEMBERS = 200
PARTITIONS = 2_000
ENTRIES = 10_000
READERS = 200
GUESSES = 10_000
GUESSERS = 8
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
        for what, path, goal in (("the page", "/s/open/{id}/", 250), ("its state, asked for while it plays", "/s/open/{id}/state", 250), ("the card, and the way to the page", "/s/{token}", 250)):  # fmt: skip
            took_ms, processor_ms = read(server, timeline, path)
            yield Figure(what=f"{READERS} readers of one link, all at once, 99th percentile of {what}", value=took_ms, unit="ms", goal=goal)  # fmt: skip
            yield Figure(what="processor time of each", value=processor_ms, unit="ms")
        yield from guessed(server, timeline)


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


def linked(server: Served, timeline: str) -> tuple[str, str]:
    """A link for readers: its id, and its token."""
    body = json.dumps({"view": "reader"}).encode()
    with server.open(f"/api/timelines/{timeline}/links", body) as answer:
        told: dict[str, Any] = json.load(answer)
    return told["id"], told["url"].removeprefix("/s/")


def read(server: Served, timeline: str, path: str) -> tuple[float, float]:
    """Milliseconds to the whole answer of each reader, the 99th percentile, and milliseconds of the server's processor for each.

    Each has a connection of its own, and all begin at the same time, on a server that has just looked the link up for nobody.
    """
    link_id, token = linked(server, timeline)
    host = server.url.removeprefix("http://")
    headers = {"Cookie": f"rebalance-share-{link_id}={token}", "Accept-Encoding": "gzip"}
    address = path.format(id=link_id, token=token)
    together = threading.Barrier(READERS)

    def reader(_: int) -> float:
        connection = HTTPConnection(host, timeout=60)
        together.wait()
        begun = time.perf_counter()
        connection.request("GET", address, headers=headers)
        answer = connection.getresponse()
        answer.read()
        took_ms = 1000 * (time.perf_counter() - begun)
        connection.close()
        assert answer.status == 200
        return took_ms

    before_s = processor_s(server.pid)
    with ThreadPoolExecutor(max_workers=READERS) as pool:
        took = list(pool.map(reader, range(READERS)))
    return percentile(took, 0.99), 1000 * (processor_s(server.pid) - before_s) / READERS


def guessed(server: Served, timeline: str) -> Iterator[Figure]:
    """Guesses of tokens, one after the other over each of some connections, and what a reader of a link waits meanwhile."""
    link_id, token = linked(server, timeline)
    host = server.url.removeprefix("http://")
    statuses: Counter[int] = Counter()

    def guesser(place: int) -> Counter[int]:
        connection = HTTPConnection(host, timeout=60)
        mine: Counter[int] = Counter()
        for number in range(place, GUESSES, GUESSERS):
            connection.request("GET", f"/s/{number:051}")
            answer = connection.getresponse()
            answer.read()
            mine[answer.status] += 1
        connection.close()
        return mine

    waited_ms = []
    before_s, begun = processor_s(server.pid), time.perf_counter()
    with ThreadPoolExecutor(max_workers=GUESSERS) as pool:
        guessing = [pool.submit(guesser, place) for place in range(GUESSERS)]
        reader = HTTPConnection(host, timeout=60)
        headers = {"Cookie": f"rebalance-share-{link_id}={token}"}
        while not all(one.done() for one in guessing):
            asked = time.perf_counter()
            reader.request("GET", f"/s/open/{link_id}/state", headers=headers)
            answer = reader.getresponse()
            answer.read()
            assert answer.status == 200
            waited_ms.append(1000 * (time.perf_counter() - asked))
        reader.close()
        for one in guessing:
            statuses += one.result()
    took_s, worked_s = time.perf_counter() - begun, processor_s(server.pid) - before_s
    # The first ones of an address are told that there is nothing, all others that they were too many.
    assert set(statuses) == {404, 429}
    assert statuses[404] <= GUESSES_MOST * (1 + took_s // WITHIN_S)
    yield Figure(
        what=f"{GUESSES:,} guesses of tokens over {GUESSERS} connections", value=GUESSES / took_s, unit="/s"
    )
    yield Figure(what="the server’s processor time of each", value=1000 * worked_s / GUESSES, unit="ms")
    yield Figure(what="a reader of a link meanwhile, 99th percentile", value=percentile(waited_ms, 0.99), unit="ms", goal=250)  # fmt: skip


def processor_s(pid: int) -> float:
    """Seconds of the processor that a process has had (Linux: ``proc(5)``, utime and stime)."""
    told = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")
