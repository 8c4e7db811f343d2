"""A broker under load, a server that follows it, and what they stand on; the truth is what stands on the broker's disk."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from groups.wire.logs.batches import read_batches
from groups.wire.logs.record_batch import RecordBatch
from groups.wire.records import decode_record
from tests.broker.node import Node
from tests.broker.rpc import Connection
from tests.services import servers
from tests.serving import Served, served

GROUPS: Final = 4
TOPIC: Final = "faults"
LIMIT_S: Final = 120.0

Place = tuple[int, int]


"""Partition and offset."""


@dataclass(slots=True)
class Load:
    """Members of some groups that join, leave, commit and fall silent, whatever becomes of the broker."""

    node: Node
    seed: int
    sent: int = 0
    failed: int = 0
    _ended: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Load:
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        assert self._thread is not None
        self._thread.join(LIMIT_S)

    def _run(self) -> None:
        drawn = random.Random(self.seed)
        members: dict[str, dict[str, int]] = {f"group-{number}": {} for number in range(GROUPS)}
        while not self._ended.is_set():
            try:
                with self.node.connect() as connection:
                    topic_id = ""
                    for group in members:
                        connection.find_coordinator(group)
                    while not self._ended.wait(0.02):
                        group = drawn.choice(sorted(members))
                        self._act(connection, drawn, group, members[group], topic_id)
                        self.sent += 1
            except Exception:  # a broker that dies ends a connection in every way there is
                self.failed += 1
                self._ended.wait(0.2)

    def _act(
        self, connection: Connection, drawn: random.Random, group: str, members: dict[str, int], topic_id: str
    ) -> None:
        known = sorted(members)
        if len(known) < 2 or drawn.random() < 0.3:
            member = str(uuid.UUID(int=drawn.getrandbits(128)))
            told = connection.heartbeat(
                group, member, 0, subscribed=[TOPIC], rebalance_timeout_ms=60_000, owned={}
            )
        else:
            member = drawn.choice(known)
            leaves = len(known) > 4 or drawn.random() < 0.2
            told = connection.heartbeat(group, member, -1 if leaves else members[member])
            if leaves:
                members.pop(member)
                return
        if told["errorCode"]:
            members.pop(member, None)
        else:
            members[member] = told["memberEpoch"]


@dataclass(slots=True)
class World:
    """A broker, a server on its services, and what was written to the log so far."""

    folder: Path
    node: Node
    more: dict[str, str] = field(default_factory=dict)
    services: Services | None = None
    truth: dict[str, dict[Place, int]] = field(default_factory=dict)
    """Group → place → type of its record."""

    _server: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)
    _served: Served | None = None

    @property
    def server(self) -> Served:
        assert self._served is not None
        return self._served

    def serve(self) -> None:
        self._served = self._server.enter_context(
            served(self.folder / "var", REBALANCE_CLUSTER_TEST=str(self.folder / "properties"), **self.more)
        )

    def kill_server(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.server.pid, signal.SIGKILL)
        self._server.close()
        self._server = contextlib.ExitStack()

    def close(self) -> None:
        self._server.close()

    def ask(self, address: str) -> Any:
        with self.server.open(address) as answer:
            return json.load(answer)

    def child(self) -> int:
        """The process that watches for the server; 0 where there is none now."""
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (OSError, ValueError):
                continue
            if b"groups.watching.child" in words and parent == self.server.pid:
                return int(entry.name)
        return 0

    def look_at_log(self) -> None:
        """Take what stands on the broker's disk into the truth; what compaction took since stays in it."""
        for segment in sorted(self.node.data.glob("__consumer_offsets-*/*.log")):
            partition = int(segment.parent.name.rpartition("-")[2])
            try:
                data = segment.read_bytes()
            except FileNotFoundError:
                continue
            for batch in read_batches(data):
                if not isinstance(batch, RecordBatch) or batch.is_control:
                    continue
                for record in batch.records:
                    payload = decode_record(record.key, record.value)
                    key = payload["key"]
                    group = str(key.get("groupId", key.get("group")))
                    self.truth.setdefault(group, {})[partition, record.offset] = payload["type"]

    def recorded(self) -> dict[str, tuple[list[Place], list[Gap]]]:
        """Group → places of the records in its timelines, and the gaps: partition, first and last offset."""
        found: dict[str, tuple[list[Place], list[Gap]]] = {}
        for timeline in self.ask("/api/timelines"):
            if timeline["source"] != "live":
                continue
            places, gaps = found.setdefault(timeline["group"], ([], []))
            entries = self._entries(timeline["id"])
            assert [each["sequence"] for each in entries] == list(range(1, len(entries) + 1))
            for entry in entries:
                payload = entry["payload"]
                if entry["kind"] == "record":
                    places.append((entry["partition"], entry["offset"]))
                elif entry["kind"] == "commits":
                    places += self._commits_within(timeline["group"], payload)
                elif payload.get("note") == "gap" and payload.get("from_offset") is not None:
                    gaps.append((payload["partition"], payload["from_offset"], payload["to_offset"]))
        return found

    def _commits_within(self, group: str, payload: Mapping[str, Any]) -> list[Place]:
        """The places of a stretch of commits, which has their number and the first and the last offset."""
        found = [
            (partition, offset)
            for (partition, offset), type_ in self.truth.get(group, {}).items()
            if type_ == 1
            and partition == payload["partition"]
            and payload["from_offset"] <= offset <= payload["to_offset"]
        ]
        assert len(found) >= payload["records"] > 0
        return found if len(found) == payload["records"] else []

    def _entries(self, timeline: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while some := self.ask(f"/api/timelines/{timeline}/entries?from={len(found) + 1}")["entries"]:
            found += some
        return found

    def problems(self) -> list[str]:
        """What the timelines lack without saying so, and what stands in them twice."""
        recorded = self.recorded()
        return [
            f"{group}: {problem}"
            for group, truth in sorted(self.truth.items())
            for problem in lacking(truth, *recorded.get(group, ([], [])))
        ]

    def said_to_be_missing(self) -> int:
        """Records that were written, stand in no timeline, and lie in a gap that says so."""
        recorded = self.recorded()
        return sum(len(truth.keys() - set(recorded[group][0])) for group, truth in self.truth.items())


Gap = tuple[int, int, int]


"""Partition, first and last offset."""


def lacking(truth: Mapping[Place, int], places: Sequence[Place], gaps: Sequence[Gap]) -> list[str]:
    """What one group's timelines have twice, and what they lack although no gap says so."""
    told, once = [], set(places)
    if len(once) != len(places):
        told.append(f"{len(places) - len(once)} records stand there twice")
    lost = [
        (partition, offset)
        for partition, offset in truth.keys() - once
        if not any(part == partition and first <= offset <= last for part, first, last in gaps)
    ]
    if lost:
        told.append(f"{len(lost)} of {len(truth)} records are missing, {min(lost)} first")
    return told


@dataclass(slots=True)
class Services:
    """PostgreSQL and Redis that can be killed and come back with what they had."""

    folder: Path
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    commands: dict[str, list[str]] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)

    def start(self, name: str) -> None:
        user = servers.unprivileged_user() if name == "postgresql" else None
        options: dict[str, Any] = {} if user is None else {"user": user}
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                self.commands[name], stdout=log, stderr=log, cwd=self.folder, **options
            )

    def kill(self, name: str) -> None:
        self.running[name].kill()
        self.running[name].wait()


@contextlib.contextmanager
def services() -> Iterator[Services]:
    with servers.temporary_folder() as folder:
        made = Services(folder)
        with servers.postgresql(folder) as database, servers.redis_server(folder) as redis_url:
            # Their own contexts know the first process of each; from here on they are ours to kill.
            data = folder / "postgresql"
            url, port = database.url, str(database.port)
            program = str(servers.newest_postgresql() / "postgres")
            made.commands = {
                "postgresql": [
                    program, "-D", str(data), "-c", "listen_addresses=127.0.0.1", "-p", port, "-k", str(data)
                ],
                "redis": [
                    "redis-server", "--bind", "127.0.0.1", "--port",
                    redis_url.rpartition(":")[2].partition("/")[0], "--save", "", "--appendonly", "no",
                ],
            }  # fmt: skip
            made.environment = {"DATABASE_URL": url, "REDIS_URL": redis_url}
        # What the contexts started has ended: the same commands start it again on the same data and ports.
        try:
            for name in made.commands:
                made.start(name)
            until(lambda: _listens(int(made.commands["postgresql"][6])))
            yield made
        finally:
            for process in made.running.values():
                servers.end(process)


def _listens(port: int) -> bool:
    import socket

    with socket.socket() as asked:
        return asked.connect_ex(("127.0.0.1", port)) == 0


def until(holds: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        if found := holds():
            return found
        time.sleep(0.3)
    raise AssertionError("it did not come to be in time")
