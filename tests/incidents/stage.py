"""The stage of one incident: its group and topics on a node, its clients, and a note of all that is done to them."""

from __future__ import annotations

import contextlib
import json
import lzma
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource

from tests.broker.acting import HEARD_S
from tests.broker.members import Member, Program
from tests.broker.node import Node, wait_for_coordinator
from tests.broker.recorded_texts import log_to

from .clients import JOIN_LIMIT_S, Client, now_ms
from .facts import FACTS, LINES, SEGMENTS, Fact, Kind, Process, Protocol
from .finishing import COMMIT_MS, finished
from .ledger import Ledger, Stop
from .segments import Offsets, counted, packed, unpacked
from .traffic import Traffic

SESSION_MS = 10_000
"""45 s in real life: an incident is to be over in a minute or two."""

HEARTBEAT_MS = 1_000
STEADY_S = 20
"""Ten commits of each client: the rhythm that a silence is measured against."""

CONSUMER: Mapping[str, object] = {"group.protocol": "consumer"}
CLASSIC: Mapping[str, object] = {
    "group.protocol": "classic",
    "session.timeout.ms": SESSION_MS,
    "heartbeat.interval.ms": HEARTBEAT_MS,
}


class Stage:
    """One group on a node. Scripts act through it and through its clients; ``keep`` writes the recording."""

    def __init__(self, node: Node, name: str, traffic: Traffic, leftovers: contextlib.ExitStack) -> None:
        self.node, self.name, self.group = node, name, name
        self.traffic = traffic
        self.ledger = Ledger()
        self.facts: list[Fact] = []
        self.processes: list[Process] = []
        self.clients: list[Client] = []
        self.revoke_ms: dict[tuple[str, int], int] = {}
        self.settings = {key: str(value) for key, value in node.settings.items() if key.startswith("group.")}
        self.idle_topics: set[str] = set()
        self.began_ms = 0
        self.cleaned_ms = 0
        """Until when Kafka's cleaner was at work; 0 where it never was."""
        self.logs: list[Path] = []
        """What clients log, where lines are kept."""
        self.keeps_lines = False
        self._leftovers = leftovers
        self._lives: dict[str, int] = {}
        self._lock = threading.Lock()
        wait_for_coordinator(node, self.group)

    # The world around the group.

    def topic(self, name: str, partitions: int, *, per_second: float = 2.0) -> str:
        """Makes a topic, named after the incident, that gets so many records a second in each partition."""
        full = f"{self.name}.{name}"
        with self.node.connect() as connection:
            connection.create_topic(full, partitions)
        # No probe of wait_for_topic: its records would lie in another incident's partition.
        time.sleep(HEARD_S)
        self.traffic.feed(full, partitions, per_second)
        if not per_second:
            self.idle_topics.add(full)
        return full

    def new_topic(self, name: str, partitions: int) -> str:
        full = f"{self.name}.{name}"
        at_ms = now_ms()
        with self.node.connect() as connection:
            connection.create_topic(full, partitions)
        self.traffic.feed(full, partitions, 2.0)
        self.note(
            "topic_created",
            f"Topic {full} is made with {partitions} partitions.",
            at_ms=at_ms,
            tellable=True,
            detail=full,
        )
        return full

    def grow(self, topic: str, partitions: int) -> None:
        at_ms = now_ms()
        with self.node.connect() as connection:
            connection.grow_topic(topic, partitions)
        self.traffic.feed(topic, partitions, 2.0)
        self.note(
            "topic_grown",
            f"Topic {topic} grows to {partitions} partitions.",
            at_ms=at_ms,
            tellable=True,
            detail=topic,
        )

    def delete(self, topic: str) -> None:
        self.traffic.stop(topic)
        at_ms = now_ms()
        with self.node.connect() as connection:
            connection.delete_topic(topic)
        self.note("topic_deleted", f"Topic {topic} is deleted.", at_ms=at_ms, tellable=True, detail=topic)

    def delete_group(self) -> None:
        at_ms = now_ms()
        admin = AdminClient({"bootstrap.servers": self.node.bootstrap})
        admin.delete_consumer_groups([self.group])[self.group].result(JOIN_LIMIT_S)
        self.note(
            "group_deleted", f"Group {self.group} is deleted by an administrator.", at_ms=at_ms, tellable=True
        )

    def reset_offsets(self, topic: str, partitions: int) -> None:
        """All of the topic to the beginning, by Kafka's own tool."""
        at_ms = now_ms()
        self.node.tool(
            "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
            *("--bootstrap-server", self.node.bootstrap, "--group", self.group, "--topic", topic),
            *("--reset-offsets", "--to-earliest", "--execute"),
        )
        self.note(
            "offsets_set",
            f"An administrator sets all committed offsets of {topic} to the beginning; the group is empty.",
            at_ms=at_ms,
            duration_ms=now_ms() - at_ms,
            partitions=[f"{topic}-{number}" for number in range(partitions)],
            tellable=True,
        )

    def producer_id(self, client_id: str) -> str:
        """Of a client that commits in transactions."""
        listed = self.node.tool(
            "org.apache.kafka.tools.TransactionsCommand", "--bootstrap-server", self.node.bootstrap, "list"
        )
        rows = [line.split() for line in listed.splitlines()]
        return next(row[2] for row in rows if row and row[0] == f"{self.name}.{client_id}")

    def broker_log(self) -> str:
        return (self.node.folder / "broker.log").read_text()

    def on_end(self, act: Callable[[], None]) -> None:
        self._leftovers.callback(act)

    def restart_broker(self) -> None:
        """A clean stop and a new start; the clients go on and find it again."""
        at_ms = now_ms()
        self.node.stop()
        self.node.start(same_ports=True)
        wait_for_coordinator(self.node, self.group)
        self.note(
            "coordinator_moved",
            "The broker that coordinates the group is stopped and started again.",
            at_ms=at_ms,
            duration_ms=now_ms() - at_ms,
            tellable=True,
        )

    def stop_cleaner(self) -> None:
        """From now on the log keeps what is written; of what was done until now it may have lost the records."""
        off = [ConfigEntry("log.cleaner.backoff.ms", "600000", incremental_operation=AlterConfigOpType.SET)]
        resource = ConfigResource(ConfigResource.Type.BROKER, "1", incremental_configs=off)
        admin = AdminClient({"bootstrap.servers": self.node.bootstrap})
        admin.incremental_alter_configs([resource])[resource].result(JOIN_LIMIT_S)
        self.cleaned_ms = now_ms()

    # Clients.

    def java(self, client_id: str, topics: str, *, revoke_ms: int = 0, **settings: Any) -> Client:
        return self._client(client_id, topics, CONSUMER, settings, revoke_ms)

    def classic(self, client_id: str, topics: str, *, revoke_ms: int = 0, **settings: Any) -> Client:
        return self._client(client_id, topics, CLASSIC, settings, revoke_ms)

    def rdkafka(self, client_id: str, topics: str, **settings: Any) -> Client:
        return self._client(client_id, topics, CONSUMER, settings, 0, "rdkafka")

    def classic_rdkafka(self, client_id: str, topics: str, **settings: Any) -> Client:
        return self._client(client_id, topics, CLASSIC, settings, 0, "rdkafka")

    def exactly(self, client_id: str, topics: str, **settings: Any) -> Client:
        """It commits its offsets in transactions of a producer, whose id is its own."""
        given = {"transactional_id": f"{self.name}.{client_id}", **settings}
        return self._client(client_id, topics, CONSUMER, given, 0, "exactly_once")

    def _client(
        self,
        client_id: str,
        topics: str,
        protocol: Mapping[str, object],
        settings: Mapping[str, object],
        revoke_ms: int,
        program: Program = "java",
    ) -> Client:
        given = {name.replace("_", "."): value for name, value in settings.items()}
        all_settings = {"auto.commit.interval.ms": COMMIT_MS, **protocol, **given}
        with self._lock:
            life = self._lives[client_id] = self._lives.get(client_id, 0) + 1
        instance = given.get("group.instance.id")
        process = Process(
            client_id=client_id,
            instance_id=None if instance is None else str(instance),
            library="java" if program == "java" else "librdkafka",
            started_ms=now_ms(),
            ended_ms=None,
            member_ids=[],
        )
        if self.keeps_lines and program != "java":
            all_settings["debug"] = "cgrp"
        member = Member(self.node, client_id, self.group, topics, all_settings, revoke_ms, program)
        if self.keeps_lines:
            self.logs.append(log_to(member, self.node.folder / f"{self.name}.{client_id}.{life}.log"))
        client = Client(member, client_id, life, process, self, str(protocol["group.protocol"]))
        member.on_line = client.hear
        self.processes.append(process)
        self.clients.append(client)
        self.revoke_ms[client_id, life] = revoke_ms
        self.settings |= {
            name: str(value) for name, value in all_settings.items() if name != "group.instance.id"
        }
        member.start()
        self._leftovers.callback(member.kill)
        return client.wait_for("ready")

    def hear(self, client: Client, line: str) -> None:
        at_ms = now_ms()
        # Kafka's own classes print to standard output, too, where a client ends by an exception.
        what, *words = line.split() or [""]
        with self._lock:
            if what == "assigned":
                member_id, *words = words
                if member_id not in client.process["member_ids"]:
                    client.process["member_ids"].append(member_id)
                self.ledger.assigned(client.client_id, client.life, words, at_ms)
            elif what in ("revoked", "lost"):
                stop: Stop = "left" if client.leaving else "revoked"
                self.ledger.given_up(client.client_id, client.life, words, at_ms, stop)
                slow_ms = self.revoke_ms[client.client_id, client.life]
                if slow_ms and what == "revoked":
                    self.ledger.busy(client.client_id, client.life, at_ms, at_ms + slow_ms)

    # Time, and what is noted.

    def now_ms(self) -> int:
        return now_ms()

    def begin(self) -> None:
        """The group has formed and stands still: what comes now is the incident."""
        self.steady()
        self.began_ms = now_ms()

    def begin_at_once(self) -> None:
        """As ``begin``, without a wait: the incident comes while the group has just formed."""
        self.began_ms = now_ms()

    def steady(self, seconds: float = STEADY_S) -> None:
        time.sleep(seconds)

    def note(
        self,
        kind: Kind,
        sentence: str,
        *,
        at_ms: int | None = None,
        clients: list[str] | None = None,
        partitions: list[str] | None = None,
        duration_ms: int | None = None,
        tellable: bool = False,
        why_not: str = "",
        cause: str = "",
        times: int = 0,
        detail: str = "",
        source: Literal["script", "client", "broker"] = "script",
    ) -> None:
        fact = Fact(
            at_ms=now_ms() if at_ms is None else at_ms,
            kind=kind,
            sentence=sentence,
            source=source,
            clients=clients or [],
            partitions=partitions or [],
            duration_ms=duration_ms,
            tellable=tellable or (kind in ("joined", "left") and not why_not),
        )
        if why_not:
            fact["why_not"] = why_not
        if cause:
            fact["cause"] = cause
        if times:
            fact["times"] = times
        if detail:
            fact["detail"] = detail
        self.facts.append(fact)

    def count_offsets(self) -> Offsets:
        """Of the group's log about now: the cleaner may replace a segment while it is read, which is then read again."""
        while True:
            with contextlib.suppress(FileNotFoundError), tempfile.TemporaryDirectory() as folder:
                return counted(self.node, unpacked(packed(self.node.data, self.group), Path(folder)))

    def keep(self, into: Path, *, title: str, done: str, protocol: Protocol) -> None:
        """Copies the group's log as it is now, and writes what was done."""
        copied_ms = now_ms()
        if self.cleaned_ms:
            # The cleaner deletes what it replaced a moment later: nothing is copied while it may.
            self.node.stop()
        log = packed(self.node.data, self.group)
        if self.cleaned_ms:
            self._note_compaction(log)
        into.mkdir(parents=True, exist_ok=True)
        (into / SEGMENTS).write_bytes(log)
        facts = finished(self, title=title, done=done, protocol=protocol, copied_ms=copied_ms)
        (into / FACTS).write_text(json.dumps(facts, indent=1, ensure_ascii=False) + "\n")
        if self.keeps_lines:
            (into / LINES).write_bytes(lzma.compress("".join(self._lines()).encode()))

    def _lines(self) -> Iterator[str]:
        """What the broker logs of the group, and all that its clients do."""
        yield from (line for line in self.broker_log().splitlines(keepends=True) if self.group in line)
        yield from (log.read_text() for log in self.logs)

    def _note_compaction(self, log: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            offsets = counted(self.node, unpacked(log, Path(folder)))
        self.note(
            "compacted",
            f"Kafka's cleaner has taken {offsets.gone} of {offsets.written} offsets away.",
            at_ms=self.cleaned_ms,
            tellable=True,
            times=offsets.gone,
            detail=str(offsets.written),
        )
