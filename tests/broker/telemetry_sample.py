"""Records what four consumers push to a broker (KIP-714): ``python -m tests.broker.telemetry_sample FILE``.

Two Java clients of a group of the consumer protocol, which spend a while in ``onPartitionsRevoked``, and two of librdkafka's in a classic
group. A second member joins each group, and one leaves. FILE has each push after its length, as a collector's file exporter writes it.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from tests.broker.members import CLASSIC, CONSUMER, Member, Program
from tests.broker.node import running

REVOKE_MS: Final = 700
PUSH_MS, PUSHES = 2_000, 4
WANTED: Final = ",".join(f"org.apache.kafka.consumer.{each}." for each in ("coordinator", "poll", "last"))


def record(out: Path) -> None:
    out.unlink(missing_ok=True)
    plug_in = {"metric.reporters": "TelemetryFile", "telemetry.file": out.resolve()}
    with tempfile.TemporaryDirectory() as folder, running(Path(folder), plug_in) as node:
        node.tool(
            "kafka.admin.ConfigCommand", "--bootstrap-server", node.bootstrap, "--alter", "--entity-type", "client-metrics",
            "--entity-name", "all", "--add-config", f"interval.ms={PUSH_MS},metrics=[{WANTED}]",
        )  # fmt: skip
        with node.connect() as connection:
            connection.create_topic("orders", 4)

        def joined(group: str, name: str, settings: dict[str, object], program: Program = "java") -> Member:
            settings = {**settings, "enable.metrics.push": "true"}
            member = Member(node, name, group, "orders", settings, REVOKE_MS, program).start()
            member.wait_for("ready")
            member.join()
            return member

        members = []
        for java, librdkafka in (("shop-1", "stock-1"), ("shop-2", "stock-2")):
            members += [joined("shop", java, {**CONSUMER}), joined("stock", librdkafka, CLASSIC, "rdkafka")]
            time.sleep(PUSH_MS * PUSHES / 1000)
        for each in members:
            each.leave()


if __name__ == "__main__":
    record(Path(sys.argv[1]))
