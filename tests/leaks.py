"""A test that leaves a process, a listening port or a temporary folder behind fails at its teardown.

What a fixture of a wider scope starts may stay until that fixture ends, and must be gone then. Temporary folders lie in
a folder of this run (``TMPDIR``), so runs next to each other do not see each other's. Linux only: it reads ``/proc``.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import tempfile
import time
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.reaper import MARK, reap_after

__all__ = ["Leaks"]

PROC: Final = Path("/proc")

GONE_WITHIN_S: Final = 10.0
"""A process that was asked to end, and the sockets that it held, may take a moment on a busy machine."""

KEPT: Final = re.compile(r" -m (groups|simulations|explorer)\.[\w.]+|multiprocessing|java .*spark")
"""The product's own children, which it keeps for the next work and which end with the process; what Spark's session
starts behind the tests' back."""

OF_THE_KILLED: Final = ("etilqs_", "pymp-")
"""What SQLite and multiprocessing have in the temporary folder while they work, and cannot remove where a test kills them."""

ENDED: Final = (b"Z", b"X")
"""The states of a process that has ended and was not waited for."""


class Leaks:
    """A pytest plugin: compares what there is after a test with what there was before it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="rbx-"))
        # PostgreSQL runs as another account where the tests run as root, and has a folder within.
        self.folder.chmod(0o711)
        self.before: set[str] = set()
        self.is_inner = False
        self.owned: dict[int, set[str]] = {}
        self.ended: list[tuple[str, set[str]]] = []

    def pytest_configure(self) -> None:
        # pytest keeps its own folders of the last runs where they were.
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", tempfile.gettempdir())
        os.environ["TMPDIR"] = str(self.folder)
        tempfile.tempdir = None
        reap_after(str(self.folder))

    def pytest_unconfigure(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Generator[None, Any, Any]:
        if fixturedef.scope == "function":
            return (yield)
        before = self.present()
        try:
            return (yield)
        finally:
            self.owned[id(fixturedef)] = self.present() - before

    def pytest_fixture_post_finalizer(self, fixturedef: Any) -> None:
        if owned := self.owned.pop(id(fixturedef), None):
            self.ended.append((fixturedef.argname, owned))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, Any, Any]:
        self.is_inner = item.get_closest_marker("inner") is not None
        self.before = self.present()
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, Any, Any]:
        try:
            return (yield)
        finally:
            ended, self.ended = self.ended, []
            kept = self.before.union(*self.owned.values()) - {each for _, owned in ended for each in owned}
            self.adopt(item, self.present() - kept)
            kept = kept.union(*self.owned.values())
            if left := self.left(kept):
                names = " and ".join(f"the fixture {name}" for name, owned in ended if owned & left)
                what = ", ".join(with_command(each) for each in sorted(left))
                pytest.fail(f"{names or 'the test'} leaves behind: {what}", pytrace=False)

    def adopt(self, item: pytest.Item, new: set[str]) -> None:
        """A test may restart what a wider fixture of its started: the new process must be gone when that one ends."""
        for definitions in item._fixtureinfo.name2fixturedefs.values():
            owned = self.owned.get(id(definitions[-1]), set())
            if any(each.startswith("process") for each in owned):
                owned.update(each for each in new if each.startswith("process"))

    def left(self, kept: set[str]) -> set[str]:
        """What is there and not in ``kept``, after as long as it may take to go."""
        until = time.monotonic() + GONE_WITHIN_S
        while (left := self.present() - kept) and time.monotonic() < until:
            time.sleep(0.05)
        return left

    def present(self) -> set[str]:
        """Child processes, processes of this run without a parent, listening ports, temporary folders: a line each.

        After a test of the inner rooms only what can be counted within 0.1 ms: there are thousands of them.
        """
        found = {*children(), *self.folders()}
        return found if self.is_inner else found.union(orphans(), ports())

    def folders(self) -> Iterator[str]:
        with contextlib.suppress(FileNotFoundError):
            for entry in os.scandir(self.folder):
                if entry.name.startswith(OF_THE_KILLED):
                    continue
                yield f"{'folder' if entry.is_dir(follow_symlinks=False) else 'file'} {entry.name}"


def children() -> Iterator[str]:
    """Processes that this one started and that still run."""
    pids: set[str] = set()
    for task in (PROC / "self/task").iterdir():
        with contextlib.suppress(OSError):
            pids.update((task / "children").read_text().split())
    yield from described(pids)


def orphans() -> Iterator[str]:
    """Processes of this run whose parent has ended."""
    mark = f"{MARK}={os.getpid()}".encode()
    found = []
    for process in PROC.iterdir():
        # What this run starts has a higher number than it has.
        if process.name.isascii() and process.name.isdigit() and int(process.name) > os.getpid():
            with contextlib.suppress(OSError, IndexError):
                parent = (process / "stat").read_bytes().rpartition(b") ")[2].split()[1]
                if parent == b"1" and mark in (process / "environ").read_bytes().split(b"\0"):
                    found.append(process.name)
    yield from described(found)


def described(pids: Iterable[str]) -> Iterator[str]:
    """A line for each process that runs and that nobody keeps on purpose.

    By number alone: between its start and the first line of its program a process has its parent's command, or none.
    """
    for pid in pids:
        with contextlib.suppress(OSError, IndexError):
            state = (PROC / pid / "stat").read_bytes().rpartition(b") ")[2].split()[0]
            if state not in ENDED and not KEPT.search(command_of(pid)):
                yield f"process {pid}"


def command_of(pid: str) -> str:
    """The command line of a process; empty if it has ended."""
    with contextlib.suppress(OSError):
        return (PROC / pid / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    return ""


def with_command(line: str) -> str:
    kind, _, pid = line.partition(" ")
    return f"{line} ({command_of(pid)[:120]})" if kind == "process" else line


def ports() -> Iterator[str]:
    """TCP ports on which this process listens. Each socket is asked: to read ``/proc/net/tcp`` takes milliseconds."""
    for descriptor in (PROC / "self/fd").iterdir():
        with contextlib.suppress(OSError):
            if not str(descriptor.readlink()).startswith("socket:["):
                continue
            with socket.fromfd(int(descriptor.name), socket.AF_INET, socket.SOCK_STREAM) as copy:
                family = copy.getsockopt(socket.SOL_SOCKET, socket.SO_DOMAIN)
                listens = copy.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
                if listens and family in (socket.AF_INET, socket.AF_INET6):
                    yield f"port {copy.getsockname()[1]}"
