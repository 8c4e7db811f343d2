"""Starts PostgreSQL and Redis for the tests: on loopback, on free ports, in a folder that goes with them."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import redis

START_S = 180.0
"""Both are up within a second on a small machine that does nothing else."""


class Absent(Exception):
    """The machine lacks a server; the message tells which, and how to get it."""


@contextlib.contextmanager
def services() -> Iterator[dict[str, str]]:
    """Both servers; yields the settings that lead to them."""
    with temporary_folder() as folder, postgresql(folder) as database, redis_server(folder) as redis_url:
        yield {"DATABASE_URL": database.url, "REDIS_URL": redis_url}


@contextlib.contextmanager
def postgresql(folder: Path) -> Iterator[PostgreSQL]:
    programs = newest_postgresql()
    data = folder / "postgresql"
    data.mkdir()
    user = unprivileged_user()
    if user is not None:
        # PostgreSQL refuses to run as root.
        shutil.chown(data, user)
    options = {"user": user} if user is not None else {}
    subprocess.run(
        [
            programs / "initdb",
            "-D",
            data,
            "-U",
            "explorer",
            "--auth=trust",
            "--no-sync",
            "--locale=C.UTF-8",
            "-E",
            "UTF8",
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        cwd=data,
        **options,
    )
    found = PostgreSQL(data, folder / "postgresql.log", programs / "postgres", options)
    found.start()
    try:
        yield found
    finally:
        found.stop()


@dataclass(slots=True)
class PostgreSQL:
    """A server that may be stopped, which ends its connections, and started again at the same port."""

    data: Path
    log: Path
    program: Path
    options: dict[str, str]
    port: int = 0
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgresql://explorer@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        self.port = self.port or free_port()
        # What is lost in a crash of the machine was only a test's.
        fast = ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"]
        where = ["-c", "listen_addresses=127.0.0.1", "-p", str(self.port), "-k", str(self.data)]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [self.program, "-D", self.data, *where, *fast],
                stdout=log, stderr=log, cwd=self.data, **self.options,
            )  # fmt: skip
        try:
            wait_for(lambda: psycopg.connect(self.url, connect_timeout=2).close(), self.process, self.log)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        if self.process is not None:
            end(self.process)
            self.process = None


@dataclass(slots=True)
class Redis:
    """A server that keeps nothing when it is stopped, and may be started again at the same port."""

    port: int
    log: Path | None = None
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        with (self.log or Path(os.devnull)).open("ab") as log:
            self.process = subprocess.Popen(redis_command(self.port), stdout=log, stderr=log)
        try:
            with redis.Redis(host="127.0.0.1", port=self.port) as client:
                wait_for(client.ping, self.process, self.log or Path(os.devnull))
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        if self.process is not None:
            end(self.process)
            self.process = None


@contextlib.contextmanager
def redis_server(folder: Path) -> Iterator[str]:
    if shutil.which("redis-server") is None:
        raise Absent("redis-server is not installed (Debian: apt-get install redis-server)")
    found = Redis(free_port(), folder / "redis.log")
    found.start()
    try:
        yield found.url
    finally:
        found.stop()


def redis_command(port: int) -> list[str]:
    """A Redis that keeps nothing. A title of its own would overwrite its environment, by which ``reaper`` knows it."""
    nothing_kept = ("--save", "", "--appendonly", "no")
    return [
        *("redis-server", "--bind", "127.0.0.1", "--port", str(port)),
        *("--set-proc-title", "no", *nothing_kept),
    ]


def newest_postgresql() -> Path:
    """The folder with ``initdb`` and ``postgres``: the newest of Debian's, else the PATH's."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    on_path = shutil.which("initdb")
    if found:
        return found[-1].parent
    if on_path is not None:
        return Path(on_path).parent
    raise Absent("PostgreSQL is not installed (Debian: apt-get install postgresql)")


def unprivileged_user() -> str | None:
    if os.getuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="rebalance-explorer-") as name:
        # The other user must be able to walk into it.
        Path(name).chmod(0o755)
        yield Path(name)


def wait_for(answers: object, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_S
    while True:
        if process.poll() is not None:
            raise RuntimeError(f"The server ended at once: {log.read_text()[-2000:]}")
        try:
            answers()  # type: ignore[operator]
            return
        except (psycopg.OperationalError, redis.ConnectionError):
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def end(process: subprocess.Popen[bytes]) -> None:
    # PostgreSQL's fast shutdown is SIGINT; Redis takes it as a plain end.
    process.send_signal(2)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
