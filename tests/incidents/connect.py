"""A Kafka Connect worker as a process of its own, in distributed mode, and what is done to it."""

from __future__ import annotations

import json
import subprocess
import time
import urllib.request
from typing import TYPE_CHECKING

from tests.broker import jars
from tests.broker.java import java
from tests.broker.members import CLIENT_LIMIT_S
from tests.broker.node import free_port, on_a_leash
from tests.broker.rpc import RpcError

from .clients import JOIN_LIMIT_S, now_ms
from .coordinator_log import classic_arrivals
from .facts import Process

if TYPE_CHECKING:
    from .stage import Stage


NO_COMMITS = "Workers commit no offsets: nothing shows whether one left or its session expired."


class Worker:
    """One worker; its group is the stage's. It notes when it joins and leaves, as a client does."""

    def __init__(self, stage: Stage, client_id: str) -> None:
        self.stage, self.client_id = stage, client_id
        self.port = free_port()
        self.process = Process(
            client_id=client_id,
            instance_id=None,
            library="java",
            started_ms=now_ms(),
            ended_ms=None,
            member_ids=[],
        )
        stage.processes.append(self.process)
        self._running: subprocess.Popen[bytes] | None = None

    def start(self) -> Worker:
        name = self.stage.name
        settings = {
            "bootstrap.servers": self.stage.node.bootstrap,
            "group.id": self.stage.group,
            "client.id": self.client_id,
            "listeners": f"HTTP://127.0.0.1:{self.port}",
            "plugin.discovery": "only_scan",
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            "value.converter": "org.apache.kafka.connect.storage.StringConverter",
            "session.timeout.ms": 10_000,
            "heartbeat.interval.ms": 1_000,
            "scheduled.rebalance.max.delay.ms": 10_000,
            **{f"{kind}.storage.topic": f"{name}.{kind}" for kind in ("config", "offset", "status")},
            **{f"{kind}.storage.replication.factor": 1 for kind in ("config", "offset", "status")},
            **{f"{kind}.storage.partitions": 1 for kind in ("offset", "status")},
        }
        folder = self.stage.node.folder / f"{name}.{self.client_id}"
        folder.mkdir()
        properties = folder / "worker.properties"
        properties.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        command = java(jars.class_path(), "-Xmx160m", "-Dlog4j2.level=WARN")
        command += [
            "org.apache.kafka.connect.cli.ConnectDistributed",
            str(properties),
        ]
        with (folder / "out").open("wb") as out:
            self._running = subprocess.Popen(
                on_a_leash(command), stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT
            )
        self.stage.on_end(self.kill)
        return self

    def wait_until_joined(self) -> Worker:
        """Until the coordinator has given it a member id."""
        deadline = time.monotonic() + JOIN_LIMIT_S
        while time.monotonic() < deadline:
            for each in classic_arrivals(self.stage.broker_log(), self.stage.group):
                if self.is_one(each.member_id):
                    self.stage.note(
                        "joined",
                        f"{self.client_id} joins.",
                        at_ms=each.at_ms,
                        clients=[self.client_id],
                        source="broker",
                    )
                    return self
            time.sleep(0.5)
        raise RpcError(f"{self.client_id} did not join in {JOIN_LIMIT_S} s")

    def is_one(self, member_id: str) -> bool:
        mine = member_id.startswith(f"{self.client_id}-")
        if mine and member_id not in self.process["member_ids"]:
            self.process["member_ids"].append(member_id)
        return mine

    def create_connector(self, name: str, tasks: int) -> None:
        body = {
            "name": name,
            "config": {"connector.class": "TickSource", "tasks.max": str(tasks), "topic": name},
        }
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/connectors",
            json.dumps(body).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=CLIENT_LIMIT_S) as response:
            response.read()

    def leave(self) -> None:
        """SIGTERM: the worker stops its tasks and leaves the group."""
        assert self._running is not None
        at_ms = now_ms()
        self._running.terminate()
        self._running.wait(CLIENT_LIMIT_S)
        self.process["ended_ms"] = now_ms()
        said = f"{self.client_id} is stopped with SIGTERM and leaves."
        clients = [self.client_id]
        self.stage.note("left", said, at_ms=at_ms, clients=clients, why_not=NO_COMMITS)
        self.stage.note(
            "gone", f"{self.client_id} is no member any more.", at_ms=at_ms, clients=clients, tellable=True
        )
        self._running = None

    def kill(self) -> None:
        if self._running is not None:
            self._running.kill()
            self._running.wait(CLIENT_LIMIT_S)
            self._running = None
