"""A broker that dies, hangs and comes back, and a watching process that is killed: of a polled group what was not seen is said.

What is followed has nothing to say: ``test_fault_run``.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.broker.members import CONSUMER, Member
from tests.broker.node import Node, running
from tests.serving import Served, served

pytestmark = [pytest.mark.broker, pytest.mark.once]

LIMIT_S = 120
GROUP, TOPIC = "orders", "orders"


def until(holds: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        if found := holds():
            return found
        time.sleep(0.2)
    raise AssertionError("it did not come to be in time")


@pytest.fixture
def node(released_broker_jars: str, tmp_path: Path) -> Iterator[Node]:
    with running(tmp_path / "node") as node:
        with node.connect() as connection:
            connection.create_topic(TOPIC, 4)
        yield node


@pytest.fixture
def server(node: Node, tmp_path: Path) -> Iterator[Served]:
    file = tmp_path / "cluster.properties"
    polled = "rebalance.follow=false\n"
    file.write_text(f"bootstrap.servers={node.bootstrap}\nrequest.timeout.ms=2000\n{polled}")
    (tmp_path / "var").mkdir()
    with served(tmp_path / "var", REBALANCE_CLUSTER_TEST=str(file)) as server:
        yield server


def ask(server: Served, address: str) -> Any:
    with server.open(address) as answer:
        return json.load(answer)


def cluster(server: Served) -> dict[str, Any]:
    found = ask(server, "/api/clusters")
    return dict(found[0]) if found else {}


def group(server: Served, **wanted: Any) -> dict[str, Any] | None:
    if not (found := cluster(server)):
        return None
    for row in ask(server, f"/api/clusters/{found['id']}/groups"):
        if row["group"] == GROUP and all(row[name] == value for name, value in wanted.items()):
            return dict(row)
    return None


def begun(server: Served) -> dict[str, Any] | None:
    """The group at rest, with its timeline: it is listed a moment before that begins."""
    found = group(server, members=1, rebalancing=False)
    return found if found and found["timeline"] else None


def watching_child(server: Served) -> int:
    """The process that watches for the server."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, ValueError):
            continue
        if b"groups.watching.child" in words and parent == server.pid:
            return int(folder.name)
    return 0


def started(node: Node, name: str) -> Member:
    member = Member(node, name, GROUP, TOPIC, CONSUMER, program="rdkafka").start()
    member.wait_for("ready")
    member.join()
    member.wait_for("assigned")
    return member


def says(server: Served, timeline: str) -> list[str]:
    """What was not seen, as the timeline says it; its entries are dense, and none is there twice."""
    entries = ask(server, f"/api/timelines/{timeline}/entries")["entries"]
    assert [entry["sequence"] for entry in entries] == list(range(1, len(entries) + 1))
    return [entry["payload"]["says"] for entry in entries if "says" in entry["payload"]]


def test_a_watching_process_that_is_killed_is_followed_by_another_one_that_says_for_how_long_nobody_looked(
    node: Node, server: Served
) -> None:
    a = started(node, "a")
    first = until(lambda: begun(server))
    child = until(lambda: watching_child(server))
    os.kill(child, signal.SIGKILL)
    b = started(node, "b")
    again = until(lambda: group(server, members=2, rebalancing=False))
    assert again["timeline"] == first["timeline"]
    assert watching_child(server) != child
    until(lambda: cluster(server)["status"] == "connected")
    # Its parent gave the lease back at once: the pause may be too short to be worth a word.
    assert all(each.startswith("Nobody looked for ") for each in says(server, again["timeline"]))
    for member in (a, b):
        member.kill()


def test_a_broker_that_dies_and_comes_back_leaves_a_marked_hole_and_one_timeline(
    node: Node, server: Served
) -> None:
    a = started(node, "a")
    first = until(lambda: begun(server))
    node.kill()
    failing = until(lambda: (found := cluster(server))["status"] == "failing" and found)
    assert failing["problem"]
    assert group(server, members=1), "the group stands as it was last seen"
    node.start(same_ports=True)
    until(lambda: cluster(server)["status"] == "connected")
    again = until(lambda: group(server, condition="seen", rebalancing=False))
    assert again["timeline"] == first["timeline"]
    assert any(
        each.startswith(("Nobody looked for ", "Not seen from here", "Seen again"))
        for each in says(server, again["timeline"])
    )
    a.kill()


def test_a_broker_that_hangs_is_told_and_its_groups_go_on_when_it_does(node: Node, server: Served) -> None:
    a = started(node, "a")
    first = until(lambda: begun(server))
    os.kill(node.pid, signal.SIGSTOP)
    try:
        failing = until(lambda: (found := cluster(server))["status"] == "failing" and found)
        assert "does not answer" in failing["problem"]
    finally:
        os.kill(node.pid, signal.SIGCONT)
    until(lambda: cluster(server)["status"] == "connected")
    again = until(lambda: group(server, condition="seen"))
    assert again["timeline"] == first["timeline"]
    assert says(server, again["timeline"])
    a.kill()
