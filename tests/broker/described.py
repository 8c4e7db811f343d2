"""What the broker says about a group while a scenario runs: raw descriptions and the command line tool's tables.

A description is kept as plain JSON, reduced to what can be compared with a frame::

    {"group", "protocol", "state", "epoch", "assignment_epoch", "assignor",
     "members": {member id: {"epoch", "client_id", "host", "subscribed", "assignment": {topic: [partition]}, "target": …}}}

A classic group has ``generation`` nowhere: no RPC tells it. ``assignment`` of a consumer group's member is what it has
plus what it is still to give up (4.3.1).
"""

from __future__ import annotations

import itertools
import struct
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from .node import Node
from .rpc import Connection, Reader

POLL_S = 0.1
"""Often enough to see a member that gives partitions up, rare enough to leave the broker its processor."""

CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"

Description = dict[str, Any]


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def describe_consumer(connection: Connection, group: str, *, version: int = 1) -> Description:
    """A consumer group by ConsumerGroupDescribe."""
    answer = connection.describe_consumer_group(group, version=version)
    return {
        "group": group,
        "protocol": "consumer",
        "error": answer["errorCode"],
        "state": answer["groupState"],
        "epoch": answer["groupEpoch"],
        "assignment_epoch": answer["assignmentEpoch"],
        "assignor": answer["assignorName"],
        "members": {
            member["memberId"]: {
                "epoch": member["memberEpoch"],
                "client_id": member["clientId"],
                "host": member["clientHost"],
                "subscribed": sorted(member["subscribedTopicNames"]),
                "assignment": _by_topic(member["assignment"]),
                "target": _by_topic(member["targetAssignment"]),
            }
            for member in sorted(answer["members"], key=lambda each: each["memberId"])
        },
    }


def describe_classic(connection: Connection, group: str) -> Description:
    """A classic group by DescribeGroups, with its members' assignments decoded."""
    answer = connection.describe_classic_group(group)
    return {
        "group": group,
        "protocol": "classic",
        "error": answer["errorCode"],
        "state": answer["groupState"],
        "assignor": answer["protocolData"],
        "members": {
            member["memberId"]: {
                "client_id": member["clientId"],
                "host": member["clientHost"],
                "assignment": _embedded_assignment(member["memberAssignment"]),
            }
            for member in sorted(answer["members"], key=lambda each: each["memberId"])
        },
    }


def _by_topic(assignment: dict[str, Any]) -> dict[str, list[int]]:
    named = {each["topicName"]: sorted(each["partitions"]) for each in assignment["topicPartitions"]}
    return {name: named[name] for name in sorted(named)}


def _embedded_assignment(data: bytes | None) -> dict[str, list[int]]:
    """ConsumerProtocolAssignment, any version: int16 version, then topics with their partitions."""
    if not data:
        return {}
    reader = Reader(data)
    reader.take(2)
    out: dict[str, list[int]] = {}
    for _ in range(reader.unpack("i")):
        name = reader.take(reader.unpack("h")).decode()
        count = reader.unpack("i")
        out[name] = sorted(struct.unpack(f">{count}i", reader.take(4 * count)))
    return {name: out[name] for name in sorted(out) if out[name]}


@dataclass(slots=True)
class Watcher:
    """Describes groups over and over and keeps each answer that differs from the one before.

    A snapshot is ``{"sent_ms", "got_ms", "until_ms", "said"}``: the first request that was answered so, and when the
    last answer of the same words had come.
    """

    node: Node
    groups: Iterable[tuple[str, str]]
    snapshots: list[dict[str, Any]] = field(default_factory=list)
    tables: list[dict[str, Any]] = field(default_factory=list)
    _ended: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None
    _problem: BaseException | None = None

    def __enter__(self) -> Watcher:
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        assert self._thread is not None
        self._thread.join()
        if self._problem is not None:
            raise self._problem

    def tabulate(self, group: str, protocol: str) -> None:
        """Keeps what ``kafka-consumer-groups --describe --verbose`` prints of a group; takes two seconds a table.

        A table is ``{"group", "protocol", "members": {"sent_ms", "got_ms", "rows"}, "state": {…}}``.
        """
        common = ("--bootstrap-server", self.node.bootstrap, "--describe", "--group", group, "--verbose")
        table: dict[str, Any] = {"group": group, "protocol": protocol}
        for name in ("members", "state"):
            sent_ms = now_ms()
            text = self.node.tool(CONSUMER_GROUPS, *common, f"--{name}")
            table[name] = {"sent_ms": sent_ms, "got_ms": now_ms(), "rows": rows(text)}
        self.tables.append(table)

    def _watch(self) -> None:
        latest: dict[str, dict[str, Any]] = {}
        try:
            with self.node.connect("watcher") as connection:
                for turn in itertools.count():
                    if self._ended.is_set():
                        return
                    for group, protocol in self.groups:
                        sent_ms = now_ms()
                        # Both versions of the answer say what is compared here, so they take turns.
                        said = (
                            describe_classic(connection, group)
                            if protocol == "classic"
                            else describe_consumer(connection, group, version=turn % 2)
                        )
                        got_ms = now_ms()
                        if said["error"] != 0:
                            continue
                        before = latest.get(group)
                        if before is not None and before["said"] == said:
                            before["until_ms"] = got_ms
                            continue
                        latest[group] = {
                            "sent_ms": sent_ms,
                            "got_ms": got_ms,
                            "until_ms": got_ms,
                            "said": said,
                        }
                        self.snapshots.append(latest[group])
                    self._ended.wait(POLL_S)
        except BaseException as problem:
            self._problem = problem


def rows(table: str) -> list[dict[str, str]]:
    """The rows of a table as ``kafka-consumer-groups --verbose`` prints it, by member where there are any.

    Cells hold no blanks but for ``COORDINATOR (ID)``, the broker's own address, which is left out.
    """
    lines = [line for line in table.splitlines() if line.strip()]
    head = next(index for index, line in enumerate(lines) if line.startswith("GROUP "))
    names = lines[head].replace("COORDINATOR (ID)", "COORDINATOR ID").split()
    out = [dict(zip(names, line.split(), strict=True)) for line in lines[head + 1 :]]
    for row in out:
        row.pop("COORDINATOR", None)
        row.pop("ID", None)
    return sorted(out, key=lambda row: row.get("CONSUMER-ID", ""))
