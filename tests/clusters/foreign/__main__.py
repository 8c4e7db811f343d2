"""``python -m tests.clusters.foreign``: groups of foreign clients on a real broker, as the app shows them next to Kafka's own tool.

Clients of librdkafka, franz-go, sarama, kafkajs and aiokafka are fetched from their registries (Python, Go and Node must be
installed). Their members join, hang, are killed and leave; the app follows the broker and polls it at the same time. A report
as JSON on standard output; exit 1 where anything differs, or where a planted difference is not found.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.broker import jars
from tests.broker.node import running
from tests.clusters.foreign.comparing import Comparer
from tests.clusters.foreign.installing import MissingToolError, installed
from tests.clusters.foreign.living import GROUPS, living
from tests.clusters.releases.tool import tool_of
from tests.serving import Served, served

TOPIC = "orders"
PARTITIONS = 7
START_S = 120.0
SETTLED_S = 90.0
"""After the last event every session ends and every group comes to rest within so long."""

KEPT = 30
"""Lines of each kind in the report."""


def say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def added(server: Served, name: str, properties: dict[str, str]) -> str:
    """The id of a cluster that was added through the API."""
    body = json.dumps({"name": name, "properties": properties}).encode()
    with server.open("/api/clusters", body) as answer:
        return str(json.load(answer)["id"])


def wait_until_read(comparer: Comparer) -> None:
    """Waits until both ways have read the broker once."""
    deadline = time.monotonic() + START_S
    for cluster in comparer.clusters.values():
        while not (comparer.ask(f"/api/clusters/{cluster}") or {}).get("seen"):
            if time.monotonic() > deadline:
                raise RuntimeError(f"the app did not read the broker within {START_S:.0f} s")
            time.sleep(0.5)


def plant(folder: Path, comparer: Comparer, group: str) -> list[str]:
    """Differences that are planted in the app's store one after the other and are not noticed, at the end, when nothing happens."""
    missed = []
    for way, cluster in comparer.clusters.items():
        for state in ("Dead", "Reconciling"):
            with (
                contextlib.closing(
                    sqlite3.connect(folder / "rebalance-explorer.sqlite3", timeout=60)
                ) as database,
                database,
            ):
                where = (
                    'update groups_watchedgroup set state = ? where cluster_id = ? and "group" = ?',
                    cluster,
                    group,
                )
                changed = database.execute(where[0], (state, *where[1:])).rowcount
            noticed = [each for each in comparer.look(group) if each.startswith(f"{way} row: state: {state}")]
            if changed != 1 or not noticed:
                missed.append(f"{way}: state {state} of {group}")
    return missed


def report(comparer: Comparer, events: dict[str, dict[str, int]], missed: list[str]) -> dict[str, Any]:
    by_state = Counter[str]()
    for (_, state), count in comparer.equal.items():
        by_state[state] += count
    return {
        "equal": comparer.equal.total(),
        "by_state": dict(by_state),
        "by_group": {
            name: sum(n for (group, _), n in comparer.equal.items() if group == name) for name in GROUPS
        },
        "late": len(comparer.late_s),
        "latest": [[round(length, 1), why] for length, why in sorted(comparer.late_s, reverse=True)[:KEPT]],
        "undecided": len(comparer.undecided),
        "longest_undecided": [
            [round(length, 1), why] for length, why in sorted(comparer.undecided, reverse=True)[:KEPT]
        ],
        "different": len(comparer.different),
        "differences": comparer.different[:KEPT],
        "planted_and_missed": missed,
        "events": events,
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.clusters.foreign", description=__doc__)
    parser.add_argument("--seconds", type=int, default=600, help="how long the groups live")
    parser.add_argument("--release", default=jars.RELEASE, help="of the broker; default: %(default)s")
    parser.add_argument("--seed", type=int, default=1, help="of the events")
    parser.add_argument(
        "--clients", type=Path, help="keeps the fetched clients in this folder for the next time"
    )
    parser.add_argument("--logs", type=Path, help="keeps what the clients print in this folder")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rebalance-foreign-")))
        try:
            clients = installed((options.clients or folder / "clients").resolve(), say)
        except MissingToolError as problem:
            say(f"The foreign clients cannot be run: {problem}.")
            return 2
        logs = (options.logs or folder / "logs").resolve()
        logs.mkdir(parents=True, exist_ok=True)
        say(f"Starting a broker of Kafka {options.release} …")
        node = stack.enter_context(running(folder / "broker", release=options.release))
        with node.connect() as connection:
            connection.create_topic(TOPIC, PARTITIONS)
        tool = stack.enter_context(tool_of(node, folder / "classes"))
        home = folder / "app"
        home.mkdir()
        server = stack.enter_context(served(home))
        properties = {"bootstrap.servers": node.bootstrap}
        comparer = Comparer(
            server,
            tool,
            {
                "followed": added(server, "followed", properties | {"rebalance.follow": "true"}),
                "polled": added(server, "polled", properties | {"rebalance.follow": "false"}),
            },
        )
        wait_until_read(comparer)
        groups, stopped = stack.enter_context(living(clients, node.bootstrap, TOPIC, logs, options.seed))
        say(f"{len(groups)} groups live for {options.seconds} s …")
        end_s = time.monotonic() + options.seconds
        while time.monotonic() < end_s:
            for name in GROUPS:
                comparer.bracket(name)
            say(
                f"{comparer.equal.total()} equal, {len(comparer.late_s)} late, {len(comparer.different)} different"
            )
        stopped.set()
        say("Nothing happens any more; each group is compared at rest …")
        settled_s = time.monotonic() + SETTLED_S
        left = list(GROUPS)
        while left and time.monotonic() < settled_s:
            left = [name for name in left if not comparer.bracket(name)]
        comparer.different += [f"{name}: not equal at rest" for name in left]
        result = report(
            comparer,
            {group.name: dict(group.events) for group in groups},
            plant(home, comparer, next(iter(GROUPS))),
        )
    sys.stdout.write(json.dumps(result, indent=1) + "\n")
    return 1 if result["different"] or result["planted_and_missed"] else 0


if __name__ == "__main__":
    sys.exit(main())
