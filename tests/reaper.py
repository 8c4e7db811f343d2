"""Ends the processes of a run of tests that was killed and could not end them itself: servers, brokers, browsers.

A process next to the run waits until the run ends. Then it ends each process with the run's mark in its environment,
which every child inherits, in whatever session it is; and it removes the run's temporary folder.
Linux only: it reads ``/proc``. It runs as a script, with nothing but the standard library.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from typing import Final

__all__ = ["MARK", "reap_after"]

MARK: Final = "REBALANCE_TEST_RUN"
"""An environment variable: the process id of the run to which a process belongs. A run within a run has its own."""

LOOK_EVERY_S: Final = 0.5

ASKED_S: Final = 5.0
"""Servers may take so long to end by themselves before they are killed."""

TRIES_S: Final = 30.0
"""A process that does not end after this belongs to another account, and cannot be ended."""


def reap_after(folder: str = "") -> None:
    """Marks what this process starts from now on, and starts the process that ends it after this one."""
    if not os.path.exists("/proc/self/environ"):  # noqa: PTH110  (nothing is imported for a process that waits)
        return
    unmarked = {name: value for name, value in os.environ.items() if name != MARK}
    os.environ[MARK] = str(os.getpid())
    nothing = [(os.POSIX_SPAWN_OPEN, each, os.devnull, os.O_RDWR, 0) for each in range(3)]
    command = [sys.executable, "-I", "-S", __file__, str(os.getpid()), folder]
    # In a session of its own: Ctrl-C must not end it. Without a Popen, which warns of a child that outlives it.
    os.posix_spawn(sys.executable, command, unmarked, file_actions=nothing, setsid=True)


def main(run: int, folder: str) -> None:
    while os.getppid() == run:
        time.sleep(LOOK_EVERY_S)
    begun_s = time.monotonic()
    while (left := list(marked(run))) and (for_s := time.monotonic() - begun_s) < TRIES_S:
        for pid in left:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGTERM if for_s < ASKED_S else signal.SIGKILL)
        time.sleep(LOOK_EVERY_S)
    if folder:
        shutil.rmtree(folder, ignore_errors=True)


def marked(run: int) -> Iterator[int]:
    """Processes with the mark of a run. One that has ended and was not waited for has no environment any more."""
    mark = f"{MARK}={run}".encode()
    for name in os.listdir("/proc"):  # noqa: PTH208  (nothing is imported for a process that waits)
        if name.isascii() and name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as environment:  # noqa: PTH123
                if mark in environment.read().split(b"\0"):
                    yield int(name)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
