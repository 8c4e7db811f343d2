"""A real server for tests and benchmarks: ``manage.py serve`` as a process of its own, on a folder of its own."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
START_S = 240.0
"""A cold start compiles every module; a warm one takes two seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server that answers: its address without a slash at the end, its token, and the environment that it runs in."""

    url: str
    token: str
    environment: dict[str, str]
    log: Path
    pid: int

    @property
    def entrance(self) -> str:
        """The address that is printed: a browser that opens it may ask for all others."""
        return f"{self.url}/?token={self.token}"

    @property
    def headers(self) -> dict[str, str]:
        """What a program shows."""
        return {"Authorization": f"Bearer {self.token}"}

    def cookie(self) -> dict[str, str]:
        """What a browser is given at the entrance, as Playwright takes it."""
        connection = HTTPConnection(self.url.removeprefix("http://"), timeout=60)
        with contextlib.closing(connection):
            connection.request("GET", f"/?token={self.token}")
            name, _, value = connection.getresponse().headers["Set-Cookie"].partition(";")[0].partition("=")
        return {"name": name, "value": value, "url": self.url, "sameSite": "Strict"}

    def open(self, address: str, data: bytes | None = None, **headers: str) -> HTTPResponse:
        """Ask as a program does: POST where there is ``data``, which is JSON unless the headers tell otherwise."""
        more = {"Content-Type": "application/json"} if data is not None else {}
        request = urllib.request.Request(
            self.url + address, data=data, headers={**self.headers, **more, **headers}
        )
        answer: HTTPResponse = urllib.request.urlopen(request, timeout=60)
        return answer


def environment_for(folder: Path, **more: str) -> dict[str, str]:
    """The environment of a fresh installation that keeps everything in ``folder``."""
    kept = {k: v for k, v in os.environ.items() if k not in {"DATABASE_URL", "REDIS_URL", "REBALANCE_VAR"}}
    return kept | {"REBALANCE_VAR": str(folder)} | more


@contextlib.contextmanager
def installed(folder: Path) -> Iterator[Served]:
    """The server as this environment asks for it: embedded, or on PostgreSQL and Redis with a worker of its own."""
    services = {name: os.environ.get(name, "") for name in ("DATABASE_URL", "REDIS_URL")}
    if not (services["REDIS_URL"] and services["DATABASE_URL"].startswith("postgresql")):
        with served(folder) as server:
            yield server
        return
    with served(folder, **services) as server, worker(folder, server.environment):
        yield server


@contextlib.contextmanager
def worker(folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """A Celery worker process for both queues, ready when it says so."""
    command = [
        sys.executable,
        "-m",
        "celery",
        "-A",
        "explorer",
        "worker",
        "-Q",
        "runs,imports",
        "--concurrency",
        "2",
    ]
    log = folder / "worker.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, "--loglevel", "INFO"],
            cwd=ROOT,
            env=environment,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + START_S
        while b" ready." not in log.read_bytes():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The worker did not start:\n{log.read_text()[-2000:]}")
            time.sleep(0.1)
        yield
    finally:
        end(process)


PREPARED = ROOT / "var" / "tests" / "prepared"
"""Folders in which a server of this code has started once, so that the next one need not record the case studies."""

PRODUCT = ("explorer", "groups", "simulations", "static", "templates")

KEPT = ("rebalance-explorer.sqlite3*", "static")
"""What a fresh folder takes from a prepared one: keys and tokens are each server's own."""


def prepare(folder: Path) -> None:
    """Makes a folder, if it is not there, and fills it as the first start of a server would: tables, case studies, static files."""
    folder.mkdir(exist_ok=True)
    digest = hashlib.sha256()
    for path in sorted(path for room in PRODUCT for path in (ROOT / room).rglob("*.*")):
        if "__pycache__" not in path.parts:
            digest.update(f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}\n".encode())
    prepared = PREPARED / digest.hexdigest()[:16]
    PREPARED.mkdir(parents=True, exist_ok=True)
    with (PREPARED / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not prepared.exists():
            for old in PREPARED.glob("*/"):
                shutil.rmtree(old)
            making = PREPARED / "making"
            making.mkdir()
            with served(making, fresh=True):
                pass
            making.rename(prepared)
        for pattern in KEPT:
            for found in prepared.glob(pattern):
                if found.is_dir():
                    shutil.copytree(found, folder / found.name)
                elif found.suffix != ".reserve":
                    shutil.copy2(found, folder)


@contextlib.contextmanager
def served(
    folder: Path, command: list[str] | None = None, cwd: Path = ROOT, *, fresh: bool = False, **more: str
) -> Iterator[Served]:
    """Start, wait for the address that is printed, stop by SIGINT as a user would.

    An empty folder is prepared first, unless the start has to be ``fresh``, or the command or database is another.
    """
    if not (fresh or command or "DATABASE_URL" in more or (folder.exists() and any(folder.iterdir()))):
        prepare(folder)
    environment = environment_for(folder, **more)
    log = folder / "server.log"
    with log.open("wb") as errors:
        process = subprocess.Popen(
            command or [sys.executable, "manage.py", "serve", "--port", "0"],
            cwd=cwd,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
    overdue = threading.Timer(START_S, process.kill)
    overdue.start()
    try:
        address = None
        for line in process.stdout:
            if address := re.search(r"(http://\S+?)/(?:\?token=(\S+))?(?=\s|$)", line):
                break
        overdue.cancel()
        if address is None:
            raise RuntimeError(f"The server ended before it was ready:\n{log.read_text()[-2000:]}")
        # What it prints later must not fill the pipe and stop it.
        threading.Thread(target=process.stdout.read, daemon=True).start()
        yield Served(
            url=address[1], token=address[2] or "", environment=environment, log=log, pid=process.pid
        )
    finally:
        overdue.cancel()
        end(process, signal.SIGINT)
        process.stdout.close()


def end(process: subprocess.Popen[str] | subprocess.Popen[bytes], how: int = signal.SIGTERM) -> None:
    """Ask the process and its children to end, and see to it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, how)
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
