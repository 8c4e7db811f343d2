"""From the broker's write to the message in a browser: a real broker, a server that follows it, Chromium that hears.

What is measured begins when the heartbeat that changes the group is sent, so it holds the broker's own work, too.
"""

from __future__ import annotations

import json
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import sync_playwright

from tests.benchmarks.figures import Figure, middle, percentile
from tests.benchmarks.pages import CHROMIUM
from tests.broker.node import Node, running
from tests.broker.rpc import Connection
from tests.serving import Served, served

GROUP: Final = "measured"
TOPIC: Final = "measured"
JOINS: Final = 100
JOIN, LEAVE = 0, -1
LIMIT_S: Final = 60.0
JOINING: Final[dict[str, Any]] = {"subscribed": [TOPIC], "rebalance_timeout_ms": 60_000, "owned": {}}


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        times = measure(Path(folder), JOINS)
    yield Figure(
        what="live: heartbeat that changes a group to its message in the browser, followed, median",
        value=middle(times),
        unit="ms",
        goal=250,
    )
    yield Figure(
        what="live: the same, 99th percentile",
        value=percentile(times, 0.99),
        unit="ms",
    )


def measure(folder: Path, joins: int) -> list[float]:
    """Milliseconds of each join and each leave of a member; both clocks are this machine's."""
    (folder / "var").mkdir()
    with running(folder / "node") as node:
        with node.connect() as connection:
            connection.create_topic(TOPIC, 4)
            # The group is there, and has a timeline, before the first change that is measured.
            connection.find_coordinator(GROUP)
            while connection.heartbeat(GROUP, "first", JOIN, **JOINING)["errorCode"]:
                time.sleep(0.2)
            _change(connection, "first", LEAVE)
        properties = folder / "cluster.properties"
        properties.write_text(f"bootstrap.servers={node.bootstrap}\nrebalance.follow=true\n")
        with served(folder / "var", REBALANCE_CLUSTER_MEASURED=str(properties)) as server:
            return _heard(node, server, _timeline(server), joins)


def _timeline(server: Served) -> str:
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        for cluster in _ask(server, "/api/clusters"):
            for row in _ask(server, f"/api/clusters/{cluster['id']}/groups"):
                if row["group"] == GROUP and row["timeline"] and row["group_epoch"]:
                    return str(row["timeline"])
        time.sleep(0.2)
    raise AssertionError(f"the group is not followed in time: {_ask(server, '/api/clusters')}")


def _ask(server: Served, address: str) -> Any:
    with server.open(address) as answer:
        return json.load(answer)


def _heard(node: Node, server: Served, timeline: str, joins: int) -> list[float]:
    times = []
    with sync_playwright() as playwright, node.connect() as connection:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM)
        page = browser.new_page()
        page.goto(server.entrance)
        page.evaluate(
            """url => new Promise(done => {
                window.heard = [];
                const socket = new WebSocket(url);
                socket.onmessage = event => {
                    const now = performance.timeOrigin + performance.now(), said = JSON.parse(event.data);
                    if (said.type === "hello") done();
                    if (said.type === "changes") for (const change of said.changes)
                        if (change.path[0] === "group_epoch") window.heard.push([change.new, now]);
                };
            })""",
            f"{server.url.replace('http', 'ws')}/ws/timelines/{timeline}",
        )
        sent: dict[int, float] = {}
        epoch = _epoch(connection)
        for _ in range(joins):
            member = str(uuid.uuid4())
            for step in (JOIN, LEAVE):
                epoch += 1
                sent[epoch] = time.time() * 1000
                _change(connection, member, step)
                # The next change waits for this one, as people do; whatever is slow is seen in its own time.
                page.wait_for_function("epoch => window.heard.some(([told]) => told >= epoch)", arg=epoch)
        for told, at_ms in page.evaluate("window.heard"):
            if told in sent:
                times.append(at_ms - sent.pop(told))
        browser.close()
    assert not sent, f"{len(sent)} changes were not heard"
    return times


def _epoch(connection: Connection) -> int:
    return int(connection.describe_consumer_group(GROUP)["groupEpoch"])


def _change(connection: Connection, member: str, step: int) -> None:
    told = connection.heartbeat(GROUP, member, step, **(JOINING if step == JOIN else {}))
    assert not told["errorCode"], told
