"""Records the sample log that comes with the product: ``python -m tests.broker.record_sample``.

A released broker and released Java consumers play the script below for about 80 s. What the broker then has on disk
of the two groups goes to ``groups/samples/orders-enrich/`` byte for byte; what it said of them meanwhile goes to
``tests/broker/fixtures/``, so that a test without a broker can hold the frames of the import against it.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from confluent_kafka import Producer

from .described import Watcher
from .dump import dump
from .jars import RELEASE
from .members import CLASSIC, CONSUMER, Member
from .node import Node, running, wait_for_coordinator

ROOT = Path(__file__).resolve().parent.parent.parent
SAMPLE = ROOT / "groups" / "samples" / "orders-enrich"
FIXTURE = ROOT / "tests" / "broker" / "fixtures" / "orders-enrich.described.json"
DUMPED = ROOT / "tests" / "broker" / "fixtures" / "orders-enrich.dumped.jsonl"

ENRICH = "orders-enrich"
AUDIT = "payments-audit"
COOPERATIVE = {"partition.assignment.strategy": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"}

ENDS_AT_S = 82
MESSAGES_EVERY_S = 0.05

DESCRIPTION = """\
Three consumers of the consumer protocol share orders (6 partitions): they join one after another, the second one is \
killed and found missing when its session times out, the topic grows to 8 partitions, and the third one leaves. Beside \
them a classic group with the cooperative-sticky assignor reads payments (3 partitions): three members join, one leaves."""

HOW = """\
python -m tests.broker.record_sample: one Kafka node (KRaft) on loopback with a session timeout of 6 s and a heartbeat \
interval of 1 s, Java consumers of the same release that commit every 5 s, stopped cleanly while members were alive; \
the folders are the broker's own, file by file."""


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="sample-") as folder:
        with running(Path(folder)) as node, contextlib.ExitStack() as leftovers:
            watcher, started, names = play(node, leftovers)
            # The broker goes first: members that are still there then leave no trace of an end.
            node.stop()
        keep(Path(folder) / "data", started, names)
    FIXTURE.parent.mkdir(exist_ok=True)
    said = {"release": RELEASE, "snapshots": watcher.snapshots, "tables": watcher.tables}
    FIXTURE.write_text(json.dumps(said, indent=1) + "\n")
    keep_dump()
    return 0


def play(node: Node, leftovers: contextlib.ExitStack) -> tuple[Watcher, datetime, dict[str, str]]:
    """Plays the script; returns what was said, when it began, and the topics' ids."""
    with node.connect() as connection:
        names = {
            topic: connection.create_topic(topic, count) for topic, count in (("orders", 6), ("payments", 3))
        }
    for group in (ENRICH, AUDIT):
        wait_for_coordinator(node, group)

    def member(client_id: str, group: str, topic: str, settings: dict[str, object], revoke_ms: int) -> Member:
        started = Member(node, client_id, group, topic, settings, revoke_ms).start()
        leftovers.callback(started.kill)
        return started

    # The first member takes its time to give partitions up, so that pending revocation lasts long enough to be seen.
    enrich_1 = member("enrich-1", ENRICH, "orders", CONSUMER, 2500)
    enrich_2 = member("enrich-2", ENRICH, "orders", CONSUMER, 700)
    enrich_3 = member("enrich-3", ENRICH, "orders", CONSUMER, 700)
    audit_1, audit_2, audit_3 = (
        member(f"audit-{n}", AUDIT, "payments", {**CLASSIC, **COOPERATIVE}, 500) for n in (1, 2, 3)
    )
    everyone = [enrich_1, enrich_2, enrich_3, audit_1, audit_2, audit_3]
    for each in everyone:
        each.wait_for("ready")

    def grow_orders() -> None:
        with node.connect() as connection:
            connection.grow_topic("orders", 8)

    with (
        producing(node, ["orders", "payments"]),
        Watcher(node, [(ENRICH, "consumer"), (AUDIT, "classic")]) as watcher,
    ):

        def tabulate() -> None:
            watcher.tabulate(ENRICH, "consumer")
            watcher.tabulate(AUDIT, "classic")

        script: list[tuple[float, Callable[[], None]]] = [
            (0, enrich_1.join),
            (3, audit_1.join),
            (9, enrich_2.join),
            (13, audit_2.join),
            (19, enrich_3.join),
            (26, tabulate),
            (34, audit_3.join),
            (39, enrich_2.kill),
            (52, grow_orders),
            (58, tabulate),
            (66, audit_2.leave),
            (71, enrich_3.leave),
            (75, tabulate),
            (ENDS_AT_S, lambda: None),
        ]
        began, started = time.monotonic(), datetime.now(UTC)
        for at_s, act in script:
            time.sleep(max(0.0, began + at_s - time.monotonic()))
            sys.stderr.write(f"{at_s:3} s  {getattr(act, '__qualname__', act)}\n")
            act()
    return watcher, started, names


@contextlib.contextmanager
def producing(node: Node, topics: list[str]) -> Iterator[None]:
    """Writes small messages to the topics all the while, so that there is something to commit."""
    ended = threading.Event()

    def produce() -> None:
        producer = Producer({"bootstrap.servers": node.bootstrap, "linger.ms": 50})
        number = 0
        while not ended.wait(MESSAGES_EVERY_S):
            for topic in topics:
                number += 1
                producer.produce(topic, key=str(number), value=b"{}")
            producer.poll(0)
        producer.flush(5)

    thread = threading.Thread(target=produce, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def keep(data: Path, started: datetime, names: dict[str, str]) -> None:
    """Copies the folders that hold records of the groups, and the metadata log that names their topics."""
    segments = SAMPLE / "segments"
    shutil.rmtree(segments, ignore_errors=True)
    for folder in [*sorted(data.glob("__consumer_offsets-*")), data / "__cluster_metadata-0"]:
        if any(segment.stat().st_size for segment in folder.glob("*.log")):
            shutil.copytree(folder, segments / folder.name, copy_function=shutil.copyfile)
    manifest = {
        "title": "A consumer group loses a member and gains partitions",
        "description": DESCRIPTION,
        "groups": [
            {"group": ENRICH, "protocol": "consumer", "assignor": "uniform", "topics": ["orders"]},
            {"group": AUDIT, "protocol": "classic", "assignor": "cooperative-sticky", "topics": ["payments"]},
        ],
        "topics": {names[topic]: topic for topic in names},
        "paths": ["segments"],
        "release": RELEASE,
        "recorded": started.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "how": HOW,
    }
    (SAMPLE / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


def keep_dump() -> None:
    """Keeps what ``kafka-dump-log`` reads out of the sample, a line a record."""
    lines = []
    for segment in sorted(SAMPLE.glob("segments/__consumer_offsets-*/*.log")):
        partition = int(segment.parent.name.rpartition("-")[2])
        for record in dump([segment]):
            line = {"partition": partition, "offset": record.offset, "at_ms": record.at_ms}
            lines.append(json.dumps(line | {"key": record.key, "payload": record.payload}) + "\n")
    DUMPED.write_text("".join(lines))


if __name__ == "__main__":
    sys.exit(main())
