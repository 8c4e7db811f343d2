"""``python -m tests.incidents.record NAME…``: plays incidents with real clients on a real broker, and keeps what was written."""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.benchmarks.generated.mixes import partition_for
from tests.broker.node import Node, running

from .facts import RECORDED
from .scripts import INCIDENTS
from .segments import OFFSETS_PARTITIONS
from .stage import HEARTBEAT_MS, SESSION_MS, Stage
from .traffic import Traffic

AT_ONCE = 4
"""Incidents that are played side by side: each has two to six clients of about 150 MB."""

SETTINGS: dict[str, object] = {
    "offsets.topic.num.partitions": OFFSETS_PARTITIONS,
    "group.consumer.session.timeout.ms": SESSION_MS,
    "group.consumer.heartbeat.interval.ms": HEARTBEAT_MS,
    "group.consumer.migration.policy": "bidirectional",
    # Kafka's own default: a classic group waits for members that start together.
    "group.initial.rebalance.delay.ms": 3000,
}


def record(node: Node, name: str, traffic: Traffic, into: Path = RECORDED, *, lines: bool = False) -> None:
    """Plays one incident on the node and writes its folder under ``into``."""
    incident = INCIDENTS[name]
    with contextlib.ExitStack() as leftovers:
        stage = Stage(node, name, traffic, leftovers)
        stage.keeps_lines = lines
        incident.play(stage)
        stage.keep(into / name, title=incident.title, done=incident.done, protocol=incident.protocol)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.incidents.record", description=__doc__)
    parser.add_argument("names", nargs="+", metavar="NAME", choices=sorted(INCIDENTS))
    parser.add_argument("--into", type=Path, default=RECORDED, help="default: beside the scripts")
    parser.add_argument("--lines", action="store_true", help="keeps the lines of broker and clients, too")
    parser.add_argument("--folder", type=Path, help="where the node lives, which is kept then")
    options = parser.parse_args()
    names: list[str] = list(dict.fromkeys(options.names))
    alone = [name for name in names if INCIDENTS[name].alone or INCIDENTS[name].settings]
    if alone and len(names) > 1:
        parser.error(f"needs a broker to itself: {alone[0]}")
    settings = {**SETTINGS, **INCIDENTS[names[0]].settings}
    slots = [partition_for(name, OFFSETS_PARTITIONS) for name in names]
    if len(set(slots)) < len(slots):
        parser.error(
            f"these lie in one partition of the offsets topic; record them one by one: {names} {slots}"
        )
    failed: list[str] = []

    def one(name: str) -> None:
        try:
            record(node, name, traffic, options.into, lines=options.lines)
            sys.stdout.write(f"{name}: recorded\n")
        except Exception:
            failed.append(name)
            sys.stderr.write(f"{name}: {traceback.format_exc()}\n")
        sys.stdout.flush()

    with (
        tempfile.TemporaryDirectory() as passing,
        running((options.folder or Path(passing)) / "node", settings) as node,
        Traffic(node) as traffic,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        list(pool.map(one, names))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
