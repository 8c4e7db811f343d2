"""One incident of real clients on a real broker, in every form of text in which it is sent.

``python -m tests.broker.recorded_texts FOLDER`` makes ``tests/wire/fixtures/pasted`` anew: the segments, the coordinator's lines, the request log,
lines of Java and librdkafka clients, tables of ``kafka-consumer-groups``, and what ``kafka-console-consumer`` prints.
"""

from __future__ import annotations

import contextlib
import gzip
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from . import jars, node
from .java import java
from .members import Member
from .node import Node, running
from .real_classic_clients import ASSIGNORS, SETTINGS, ClassicCast
from .real_clients import GONE_S, SETTLE_S

COMMAND = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
CONSOLE = "org.apache.kafka.tools.consumer.ConsoleConsumer"
NEW_FORMATTERS = {
    "console-offsets": "org.apache.kafka.tools.consumer.OffsetsMessageFormatter",
    "console-groups": "org.apache.kafka.tools.consumer.GroupMetadataMessageFormatter",
}
OLD_BROKER, OLD_RELEASE = "3.9.1", "2.8.2"
"""The last broker whose commits the older tool can read, and the tool."""
OLD_FORMATTERS = {
    "console-offsets-old": "kafka.coordinator.group.GroupMetadataManager$OffsetsMessageFormatter",
    "console-groups-old": "kafka.coordinator.group.GroupMetadataManager$GroupMetadataMessageFormatter",
}

CLIENT_LOGGING = """\
Configuration:
  Appenders:
    File:
      name: client
      fileName: ${sys:client.log}
      PatternLayout: {pattern: "[%d] %p %m (%c)%n"}
  Loggers:
    Root: {level: INFO, AppenderRef: [{ref: client}]}
"""
"""As Kafka's own command line tools write their lines."""


def log_to(member: Member, log: Path) -> Path:
    """The member keeps what its client logs in this file, which is returned."""
    member.log = log
    if member.program == "java":
        configuration = log.with_suffix(".log4j2.yaml")
        configuration.write_text(CLIENT_LOGGING)
        member.options = (
            f"-Dlog4j2.configurationFile={configuration}",
            f"-Dclient.log={log}",
            "-Dlog4j2.level=INFO",
        )
    return log


class Recorded(ClassicCast):
    """A cast whose members keep what they log, in the node's folder."""

    def _start(self, member: Member) -> Member:
        log_to(member, self.node.folder / f"{member.client_id}.log")
        return super()._start(member)


def play(running_node: Node) -> list[str]:
    """Both groups through their incident; the tables of each moment."""
    tables: list[str] = []

    def look() -> None:
        for kind in ([], ["--members", "--verbose"], ["--state"]):
            tables.append(f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\n")
            tables.append(
                running_node.tool(
                    COMMAND, "--bootstrap-server", running_node.bootstrap, "--describe", "--all-groups", *kind
                )
            )

    with contextlib.ExitStack() as leftovers:
        classic, modern = (Recorded(running_node, name, leftovers) for name in ("checkout", "billing"))
        topic, other = classic.topic("orders", 6), modern.topic("invoices", 4)
        a, b = (
            classic.classic_java(name, topic, f"{ASSIGNORS}.RangeAssignor") for name in ("cart-a", "cart-b")
        )
        c = classic.classic_rdkafka("cart-c", topic, "range", debug="cgrp")
        d = modern.java("bill-d", other)
        e = modern.rdkafka("bill-e", other, debug="cgrp")
        for member in (a, b, c, d, e):
            member.wait_for("ready")
        for member in (a, d):
            member.join()
            member.wait_for("assigned")
            member.commit()
            member.wait_for("committed")
        for member in (b, c, e):
            member.join()
            member.wait_for("assigned")
            time.sleep(SETTLE_S)
        look()
        c.kill()
        e.kill()
        time.sleep(GONE_S)
        a.commit()
        a.wait_for("committed", times=2)
        look()
        b.leave()
        time.sleep(SETTLE_S)
        look()
        a.leave()
        d.leave()
        time.sleep(SETTLE_S)
        look()
    return tables


def console(running_node: Node, formatter: str, release: str | None = None) -> str:
    """What the console consumer prints of the whole offsets topic."""
    main, path = (CONSOLE, running_node.class_path)
    options = [
        "--topic",
        "__consumer_offsets",
        "--from-beginning",
        "--timeout-ms",
        "8000",
        "--formatter",
        formatter,
    ]
    if release is not None:
        main, path = "kafka.tools.ConsoleConsumer", jars.released(release)
    command = [*java(path, "-Xmx256m"), main, "--bootstrap-server", running_node.bootstrap]
    return subprocess.run([*command, *options], capture_output=True, text=True, timeout=120).stdout


def of_older_release(folder: Path) -> dict[str, str]:
    """What the older console consumer prints of a group of two members."""
    with running(folder, {"group.initial.rebalance.delay.ms": 500}, release=OLD_BROKER) as kafka:
        with contextlib.ExitStack() as leftovers, kafka.connect() as connection:
            connection.create_topic("parcels", 2)
            settings = {"partition.assignment.strategy": "range", "group.protocol": "classic"}
            members = [
                Member(kafka, name, "shipping", "parcels", settings, program="rdkafka").start()
                for name in ("ship-a", "ship-b")
            ]
            for member in members:
                leftovers.callback(member.kill)
                member.wait_for("ready")
                member.join()
                member.wait_for("assigned")
                time.sleep(SETTLE_S)
            members[0].commit()
            members[0].wait_for("committed")
            members[1].leave()
            time.sleep(SETTLE_S)
        return {name: console(kafka, formatter, OLD_RELEASE) for name, formatter in OLD_FORMATTERS.items()}


def main() -> int:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    node.LOGGING = node.LOGGING.replace("%d{UNIX_MILLIS} %p %c{1} %m%n", "[%d] %p %m (%c)%n")
    texts: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as place:
        with running(Path(place) / "node", SETTINGS, request_log=True) as kafka:
            texts["tables"] = "".join(play(kafka))
            for name, formatter in NEW_FORMATTERS.items():
                texts[name] = console(kafka, formatter)
        texts["broker"] = (kafka.folder / "broker.log").read_text()
        texts["requests"] = (kafka.folder / "broker.log.requests").read_text()
        texts |= of_older_release(Path(place) / "old")
        for name in ("cart-a", "cart-b", "cart-c", "bill-d", "bill-e"):
            texts[name] = (kafka.folder / f"{name}.log").read_text()
        for pattern in ("__consumer_offsets-*/*.log", "__cluster_metadata-0/*.log"):
            for segment in sorted(kafka.data.glob(pattern)):
                kept_as = folder / "segments" / segment.relative_to(kafka.data)
                kept_as.parent.mkdir(parents=True, exist_ok=True)
                kept_as.write_bytes(segment.read_bytes())
    for name, text in texts.items():
        (folder / f"{name}.txt.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    return 0


if __name__ == "__main__":
    sys.exit(main())
