"""One Kafka node (KRaft, broker and controller in one process) on loopback, for as long as a test needs it."""

from __future__ import annotations

import base64
import contextlib
import os
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from groups.releases import since
from groups.releases.table import version_of

from . import jars
from .java import java
from .rpc import Connection, RpcError

STARTS: Final = 3
"""How often a node is started on other ports, where it ended at once."""

READY_LIMIT_S = 240
"""Ready within 5 s on an idle machine; the tests share two cores with others."""

STOP_LIMIT_S = 60
"""A clean stop takes 2 s; what takes longer than this is killed, and its segments are not to be trusted."""

OFFSETS_PARTITIONS = 4
"""Few partitions: a group's records are found quickly, and a folder of segments stays small."""

PROBE = "probe-"
"""Groups that only find out whether the coordinator knows a topic."""

SETTINGS: dict[str, object] = {
    "process.roles": "broker,controller",
    "node.id": 1,
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "num.network.threads": 2,
    "num.io.threads": 4,
    "auto.create.topics.enable": "false",
    "offsets.topic.num.partitions": OFFSETS_PARTITIONS,
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.num.partitions": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    # A rebalance is to be over in seconds. The least values that the broker takes are settings themselves.
    "group.initial.rebalance.delay.ms": 0,
    "group.min.session.timeout.ms": 1000,
    "group.consumer.min.session.timeout.ms": 1000,
    "group.consumer.session.timeout.ms": 6000,
    "group.consumer.min.heartbeat.interval.ms": 200,
    "group.consumer.heartbeat.interval.ms": 1000,
    "group.coordinator.threads": 1,
    # Every record that was written is wanted: nothing is compacted while the node lives.
    "log.cleaner.backoff.ms": 600_000,
    # The metadata log would get a record every half second only to show that the controller lives.
    "metadata.max.idle.interval.ms": 0,
}

LOGGING = """\
Configuration:
  Appenders:
    File:
      name: broker
      fileName: ${sys:broker.log}
      PatternLayout: {pattern: "%d{UNIX_MILLIS} %p %c{1} %m%n"}
    RandomAccessFile:
      name: requests
      fileName: ${sys:broker.log}.requests
      PatternLayout: {pattern: "%d{UNIX_MILLIS} %m%n"}
  Loggers:
    Root: {level: WARN, AppenderRef: [{ref: broker}]}
    Logger:
      - {name: org.apache.kafka.coordinator.group, level: INFO}
      - name: kafka.request.logger
        level: "${sys:request.level}"
        additivity: false
        AppenderRef: [{ref: requests}]
"""


@dataclass(slots=True)
class Node:
    """A node in ``folder``: its settings, its data and its log. ``start`` and ``stop`` may be called again."""

    folder: Path
    settings: Mapping[str, object] = field(default_factory=dict)
    request_log: bool = False
    port: int = 0
    release: str = jars.RELEASE
    cluster_id: str = ""
    """Of the nodes that belong together; empty for one that is alone. Their settings name the voters, in whose values and in
    those of the listeners ``{port}`` and ``{controller}`` stand for the node's own ports."""

    options: Sequence[str] = ()
    """More options of Java; with them the archive of classes is not made first, since they are there to make it."""

    _controller_port: int = 0
    _process: subprocess.Popen[bytes] | None = None

    @property
    def class_path(self) -> str:
        return jars.class_path() if self.release == jars.RELEASE else jars.released(self.release)

    @property
    def has_dynamic_quorum(self) -> bool:
        """From 3.9 on a controller finds the others by their addresses (KIP-853); before, their ids are settings."""
        return tuple(map(int, self.release.split(".")[:2])) >= (3, 9)

    def follows(self, rule: str) -> bool:
        """Whether its release has this rule of ``groups.releases``; a release that is not simulated may be asked, too."""
        return version_of(since(rule)) <= version_of(self.release)

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def controller_port(self) -> int:
        return self._controller_port

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self, *, outlive: bool = False, same_ports: bool = False) -> None:
        """Formats the storage where needed, starts the node and waits until it answers.

        With ``outlive`` the node goes on when this process ends (the command line's ``start``); with ``same_ports`` it
        listens where it did before, so that its clients find it again.
        """
        if self.release == jars.RELEASE and not self.options:
            from .class_archive import make_once  # it starts a node itself

            make_once()
        self.folder.mkdir(parents=True, exist_ok=True)
        if not same_ports:
            self.port, self._controller_port = _free_ports()
        (self.folder / "log4j2.yaml").write_text(LOGGING)
        (self.folder / "server.properties").write_text(self._properties(self._controller_port))
        program = java(
            self.class_path,
            "-Xms128m",
            "-Xmx512m",
            f"-Dlog4j2.configurationFile={self.folder / 'log4j2.yaml'}",
            f"-Dbroker.log={self.folder / 'broker.log'}",
            f"-Drequest.level={'DEBUG' if self.request_log else 'WARN'}",
            *self.options,
        )
        if not (self.data / "meta.properties").exists():
            self._format(program)
        command = [*program, "kafka.Kafka", str(self.folder / "server.properties")]
        with (self.folder / "broker.out").open("wb") as out:
            self._process = subprocess.Popen(
                command if outlive else on_a_leash(command),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            self._wait_until_ready()
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """Stops the node so that its segments are complete on disk."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        self._process = None

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def connect(self, client_id: str = "test") -> Connection:
        return Connection(self.port, client_id)

    def tool(self, main_class: str, *arguments: str, limit_s: float = 120) -> str:
        """Runs one of Kafka's own command line classes and returns what it printed."""
        command = [*java(self.class_path, "-Xmx256m"), main_class, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit_s)
        if done.returncode != 0:
            raise RpcError(f"{main_class} ended with {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def _properties(self, controller: int) -> str:
        settings = SETTINGS | {
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": f"PLAINTEXT://127.0.0.1:{self.port}"
            # Before 3.9 a controller's listener is not to be advertised.
            + (f",CONTROLLER://127.0.0.1:{controller}" if self.has_dynamic_quorum else ""),
            **(
                {"controller.quorum.bootstrap.servers": f"127.0.0.1:{controller}"}
                if self.has_dynamic_quorum
                else {"controller.quorum.voters": f"1@127.0.0.1:{controller}"}
            ),
            "log.dirs": str(self.data),
            **self.settings,
        }
        if self.cluster_id:
            # Who names its voters has a quorum that does not change.
            del settings["controller.quorum.bootstrap.servers"]
            ports = {"port": self.port, "controller": controller}
            placed = ("listeners", "advertised.listeners", "controller.quorum.voters")
            settings |= {name: str(settings[name]).format(**ports) for name in placed}
        return "".join(f"{key}={value}\n" for key, value in settings.items())

    def _format(self, program: list[str]) -> None:
        cluster = self.cluster_id or new_cluster_id()
        standalone = ["--standalone"] if self.has_dynamic_quorum and not self.cluster_id else []
        arguments = ["format", *standalone, "-t", cluster, "-c", str(self.folder / "server.properties")]
        done = subprocess.run(
            [*program, "kafka.tools.StorageTool", *arguments],
            capture_output=True,
            text=True,
            timeout=READY_LIMIT_S,
        )
        if done.returncode != 0:
            raise RpcError(f"the storage could not be formatted: {done.stdout}{done.stderr}")

    def _wait_until_ready(self) -> None:
        assert self._process is not None
        deadline = time.monotonic() + READY_LIMIT_S
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise RpcError(f"the node ended at once: {(self.folder / 'broker.out').read_text()[-2000:]}")
            with contextlib.suppress(OSError, RpcError), self.connect() as connection:
                if connection.brokers() > 0:
                    return
            time.sleep(0.1)
        raise RpcError(f"the node was not ready within {READY_LIMIT_S} s")


def new_cluster_id() -> str:
    """As Kafka's own Uuid.randomUuid: an id that begins with a hyphen would be taken for an option."""
    drawn = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    return drawn.replace("-", "A", 1) if drawn.startswith("-") else drawn


@contextlib.contextmanager
def running(
    folder: Path,
    settings: Mapping[str, object] | None = None,
    *,
    request_log: bool = False,
    release: str = jars.RELEASE,
    options: Sequence[str] = (),
) -> Iterator[Node]:
    """A node that runs inside the ``with`` block, whatever happens there."""
    node = Node(folder, settings or {}, request_log, release=release, options=options)
    for left in reversed(range(STARTS)):
        try:
            node.start()
            break
        except RpcError:
            # A port that was free when it was chosen may have been taken by then.
            if not left:
                raise
    try:
        yield node
    finally:
        node.stop()


def wait_for_coordinator(node: Node, group: str, limit_s: float = 180) -> None:
    """Waits until the group's coordinator answers, so that no client meets a loading one."""
    deadline = time.monotonic() + limit_s
    with node.connect() as connection:
        while time.monotonic() < deadline:
            # GROUP_ID_NOT_FOUND (69) is an answer of a coordinator that has loaded; 14 to 16 are not.
            if connection.find_coordinator(group) == 0:
                described = connection.describe_consumer_group(group)
                if described["errorCode"] in (0, 69):
                    return
            time.sleep(0.1)
    raise RpcError(f"no coordinator for group {group} within {limit_s} s")


def wait_for_topic(node: Node, topic: str, beside: str, limit_s: float = 180) -> None:
    """Waits until the coordinator knows a topic, which it learns a moment after the broker said that it was made.

    A group that joins before that is given nothing. A probe of another name finds out; it lies in a partition of
    the offsets topic of its own if ``beside``, the group that is to come, lies in another one.
    """
    probe = next(name for name in (f"{PROBE}{n}" for n in range(1000)) if _slot(name) != _slot(beside))
    deadline = time.monotonic() + limit_s
    wait_for_coordinator(node, probe)
    with node.connect() as connection:
        while time.monotonic() < deadline:
            answer = connection.heartbeat(
                probe, "probe", 0, subscribed=[topic], rebalance_timeout_ms=10_000, owned={}
            )
            connection.heartbeat(probe, "probe", -1)
            if (answer.get("assignment") or {}).get("topicPartitions"):
                return
            time.sleep(0.25)
    raise RpcError(f"the coordinator did not learn of {topic} within {limit_s} s")


def _slot(group: str) -> int:
    """The group's place modulo 4, a divisor of every number of offsets partitions that a test starts with."""
    hashed = 0
    for unit in group:
        hashed = (31 * hashed + ord(unit)) & 0xFFFFFFFF
    return abs(hashed - (1 << 32) if hashed >= 1 << 31 else hashed) % 4


def free_port() -> int:
    return _free_ports()[0]


def _free_ports() -> tuple[int, int]:
    with socket.socket() as first, socket.socket() as second:
        first.bind(("127.0.0.1", 0))
        second.bind(("127.0.0.1", 0))
        return first.getsockname()[1], second.getsockname()[1]


_LEASH = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 15)  # PR_SET_PDEATHSIG, SIGTERM; it stays set across exec
if os.getppid() == int(sys.argv[1]):
    os.execvp(sys.argv[2], sys.argv[2:])
"""


def on_a_leash(command: list[str]) -> list[str]:
    """The command so that the kernel stops it when this process dies, however it dies (Linux; elsewhere as it is)."""
    if sys.platform != "linux":
        return command
    return [sys.executable, "-S", "-c", _LEASH, str(os.getpid()), *command]
