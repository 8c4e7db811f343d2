"""A team of processes that a test asks over HTTP, and whose parts it stops, kills and starts again."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.services.servers import PostgreSQL, Redis, free_port, postgresql, temporary_folder
from tests.services.team import Processes

LIMIT_S = 600.0

QUEUES = ("runs", "imports")

TOKEN = "a-token-of-the-teams-own"


class Asked(Processes):
    """Three servers, a worker for runs and one for imports, on one database, one Redis and one folder."""

    def __init__(self, folder: Path, database: PostgreSQL, redis: Redis) -> None:
        self.database, self.redis = database, redis
        more = {"DATABASE_URL": database.url, "REDIS_URL": redis.url, "REBALANCE_VAR": str(folder / "var"),
            "ACCESS_TOKEN": TOKEN, "SECRET_KEY": "a-secret-of-twenty-letters", "CLUSTERS_KEY": "a-key-of-twenty-letters",
            "DEBUG": "0", "WATCH_CLUSTERS": "0", "LOG_LEVEL": "WARNING",
        }  # fmt: skip
        super().__init__(folder, os.environ | more)
        self.ports = [free_port() for _ in range(3)]
        self.begun: dict[str, int] = {}

    def start_worker(self, queue: str) -> None:
        self.start(queue, "worker", "--queues", queue, "--concurrency", "1")

    def start_server(self, number: int) -> None:
        self.start(f"server-{number}", "serve", "--port", str(self.ports[number]))

    def start(self, name: str, *words: str) -> None:
        self.begun[name] = self.written(name)
        super().start(name, *words)

    def complete(self) -> None:
        """Starts what does not run, and waits until all work."""
        servers = [f"server-{number}" for number in range(len(self.ports))]
        for name in (*servers, *QUEUES):
            if name not in self.processes or self.processes[name].poll() is not None:
                if name in QUEUES:
                    self.start_worker(name)
                else:
                    self.start_server(int(name[-1]))
        for name, begun in self.begun.items():
            ready = "Working on" if name in QUEUES else "plays at"
            until(lambda name=name, begun=begun, ready=ready: ready in self.log(name).read_text()[begun:])  # type: ignore[misc]

    def written(self, name: str) -> int:
        """Characters that the log of a process has by now."""
        return len(self.log(name).read_text()) if self.log(name).exists() else 0

    def stop_worker(self, queue: str) -> None:
        self.processes[queue].send_signal(signal.SIGTERM)
        self.processes[queue].wait(60)

    def restart_worker(self, queue: str) -> None:
        self.stop_worker(queue)
        self.start_worker(queue)

    def ask(self, server: int, path: str, body: bytes | None = None, kind: str = "application/json") -> Any:
        """The answer of one server; null while it cannot answer, as it may not while the database is away."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.ports[server]}{path}", data=body)
        request.add_header("Authorization", f"Bearer {TOKEN}")
        if body is not None:
            request.add_header("Content-Type", kind)
        with contextlib.suppress(OSError), urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
            return json.loads(text) if text else None
        return None

    def upload(self, server: int, files: list[Path]) -> Any:
        mark = uuid.uuid4().hex
        parts = [
            f'--{mark}\r\nContent-Disposition: form-data; name="paths"\r\n\r\n{file.parent.name}/{file.name}\r\n'.encode()
            + f'--{mark}\r\nContent-Disposition: form-data; name="files"; filename="{file.name}"\r\n\r\n'.encode()
            + file.read_bytes()
            + b"\r\n"
            for file in files
        ]
        body = b"".join(parts) + f"--{mark}--\r\n".encode()
        return self.ask(server, "/api/imports", body, f"multipart/form-data; boundary={mark}")


def until(holds: Callable[[], Any], within_s: float = LIMIT_S) -> Any:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if found := holds():
            return found
        time.sleep(0.2)
    raise AssertionError("it did not come about in time")


@contextlib.contextmanager
def asked_team() -> Iterator[Asked]:
    """A team that works, until the end of the context."""
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(temporary_folder())
        database = stack.enter_context(postgresql(folder))
        redis = Redis(free_port())
        redis.start()
        stack.callback(redis.stop)
        made = Asked(folder, database, redis)
        stack.callback(made.end)
        made.complete()
        yield made
