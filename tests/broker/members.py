"""Released Java consumers as processes of their own, driven line by line (clients/GroupMember.java)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from . import jars
from .java import java
from .node import Node, on_a_leash
from .rpc import RpcError

PROGRAMS = Path(__file__).resolve().parent / "clients"
Program = Literal["java", "rdkafka", "exactly_once"]
"""Which program a member is: of the Java client, of librdkafka, or of librdkafka with offsets in transactions."""

CLIENT_LIMIT_S = 180
"""A consumer is up within 1.5 s on an idle machine, 10 s when several start at once."""

SESSION_TIMEOUT_MS = 6000
"""Of a classic member, as the broker's setting is for a consumer group's: a killed one is missed soon."""

CONSUMER = {"group.protocol": "consumer"}
CLASSIC = {
    "group.protocol": "classic",
    "session.timeout.ms": SESSION_TIMEOUT_MS,
    "heartbeat.interval.ms": 1000,
}


@dataclass(slots=True)
class Member:
    """One member, of the Java client or of librdkafka. It is started, says ``ready``, and joins only when told to."""

    node: Node
    client_id: str
    group: str
    topic: str
    settings: Mapping[str, object]
    revoke_ms: int = 0
    program: Program = "java"
    on_line: Callable[[str], None] | None = None
    options: Sequence[str] = ()
    """More options of Java."""
    log: Path | None = None
    """The file that gets what it prints as errors: librdkafka's log."""
    lines: list[str] = field(default_factory=list)
    _process: subprocess.Popen[str] | None = None
    _listener: threading.Thread | None = None
    _heard: threading.Condition = field(default_factory=threading.Condition)

    def start(self) -> Member:
        settings = {
            "bootstrap.servers": self.node.bootstrap,
            "client.id": self.client_id,
            "group.id": self.group,
            "auto.offset.reset": "earliest",
            **self.settings,
        }
        if self.program != "java":
            name = "rdkafka_member.py" if self.program == "rdkafka" else "rdkafka_exactly_once.py"
            command = [sys.executable, str(PROGRAMS / name), self.topic]
        else:
            command = java(jars.class_path(), "-Xmx96m", "-Dlog4j2.level=ERROR", *self.options)
            command += ["GroupMember", self.topic, str(self.revoke_ms)]
        command += [f"{key}={value}" for key, value in settings.items()]
        with Path(self.log or os.devnull).open("a") as errors:
            self._process = subprocess.Popen(
                on_a_leash(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        return self

    def join(self) -> None:
        self.tell("join")

    def commit(self) -> None:
        self.tell("commit")

    def count(self) -> int:
        """How many records it has read by now."""
        asked = sum(line.startswith("read ") for line in self.lines)
        self.tell("count")
        return int(self.wait_for("read ", times=asked + 1).split()[1])

    def stall(self, length_ms: int) -> None:
        """Does not poll for so long."""
        self.tell(f"stall {length_ms}")

    def subscribe(self, topics: str) -> None:
        """Subscribes to these topics (comma) from now on, or to one ``regex:`` and a pattern."""
        self.tell(f"subscribe {topics}")

    def leave(self) -> None:
        """Leaves the group cleanly and ends."""
        self.tell("leave")
        self.wait_for("left")
        self._end()

    def kill(self) -> None:
        """SIGKILL: the broker hears nothing and finds out by the session timeout."""
        if self._process is not None:
            self._process.kill()
            self._end()

    def wait_until_ended(self) -> None:
        """Waits until the process ends by itself."""
        assert self._process is not None
        self._process.wait(CLIENT_LIMIT_S)
        self._end()

    def suspend(self) -> None:
        """SIGSTOP: no thread of the client runs, its connections stay open."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def wait_for(self, start: str, *, times: int = 1, limit_s: float = CLIENT_LIMIT_S) -> str:
        """Waits for the ``times``-th line that begins with ``start`` and returns it."""
        deadline = time.monotonic() + limit_s
        with self._heard:
            while True:
                matching = [line for line in self.lines if line.startswith(start)]
                if len(matching) >= times:
                    return matching[times - 1]
                if not self._heard.wait(deadline - time.monotonic()):
                    raise RpcError(f"{self.client_id} did not say {start!r} in {limit_s} s: {self.lines}")

    def tell(self, command: str) -> None:
        """Sends a line to the program; GroupMember.java lists them."""
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()

    def _listen(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if self.on_line is not None:
                self.on_line(line.strip())
            with self._heard:
                self.lines.append(line.strip())
                self._heard.notify_all()

    def _end(self) -> None:
        assert self._process is not None
        self._process.wait(CLIENT_LIMIT_S)
        # What it printed before its end is in ``lines``.
        if self._listener is not None:
            self._listener.join(CLIENT_LIMIT_S)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._process = None
