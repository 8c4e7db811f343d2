"""A process that stays for the next import, with its Spark session if it has one: starting is most of a small import.

It answers one request after another, and ends when nobody asked for ``IDLE_S``, when it has come to
hold more than ``MEMORY_BYTES_MOST``, or when its standard input ends.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from groups.child_side import Lines
from groups.pipeline.spark.child import end_with_java
from groups.pipeline.spark.failures import why
from groups.pipeline.spark.java import NoJava
from groups.pipeline.spark.session import CACHE, SessionFailed, close_session, last_lines, open_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

IDLE_S: Final = float(os.environ.get("REBALANCE_SPARK_IDLE_S") or 300)
"""Somebody who imports a second log does so within a few minutes; a gigabyte is not kept longer for nobody."""

MEMORY_BYTES_MOST: Final = 1_600_000_000
"""Of the driver, its Java and Python's workers together, after an import. A fresh session has about a gigabyte."""


class WarmSession:
    """Opens a session when it is first asked for, and again where another master is wanted."""

    def __init__(self, *, archive: bool = False) -> None:
        self._archive = archive
        self._master: str | None = None
        self._session: SparkSession | None = None

    @property
    def is_open(self) -> bool:
        return self._session is not None

    def session(self, master: str | None) -> SparkSession:
        """``NoJava`` or ``SessionFailed`` where Spark does not start."""
        if self._session is not None and self._master != master:
            self.close()
        if self._session is None:
            self._session = open_session(master=master, archive=self._archive)
            self._master = master
            # Java was asked to end, too, and clears up behind itself: this process stays until it has.
            session = self._session
            signal.signal(signal.SIGTERM, lambda *_: end_with_java(session))
        return self._session

    def close(self) -> None:
        if self._session is not None:
            close_session(self._session, CACHE)
            self._session = None


def answer_requests(
    run: Callable[[Mapping[str, Any], Lines, WarmSession], None],
    *,
    work: str,
    refusals: tuple[type[Exception], ...] = (),
    idle_s: float = IDLE_S,
) -> int:
    """The whole of the job's process: ``run`` answers each line of standard input.

    What goes wrong is the last line of an answer, ``{"type": "error", "message": "one line"}``, with the last lines of Spark's ``log``;
    the process then ends, since nobody knows what it still holds.
    """
    expected: tuple[type[Exception], ...] = (NoJava, SessionFailed, *refusals)
    requests: queue.Queue[bytes] = queue.Queue()
    threading.Thread(target=_read_requests, args=(requests,), name="requests", daemon=True).start()
    # Java and Python's workers inherit standard output.
    lines = Lines.alone()
    warm = WarmSession()
    wait_s: float | None = None
    while True:
        try:
            line = requests.get(timeout=wait_s)
        except queue.Empty:
            break
        try:
            run(orjson.loads(line), lines, warm)
            failed = False
        except expected as error:
            failed = True
            lines.say({"type": "error", "message": str(error)})
        except Exception as error:
            failed = True
            # Spark's own errors are pages of Java; the parent shows one line and logs what went to standard error.
            lines.say({"type": "error", "message": why(error, work), "log": last_lines()})
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
        if failed or memory_bytes() > MEMORY_BYTES_MOST:
            break
        wait_s = idle_s
    warm.close()
    return 0


def _read_requests(requests: queue.Queue[bytes]) -> None:
    """Lines of standard input; at its end this process ends: its parent is gone, or wants it to end."""
    held = b""
    # Not through sys.stdin: its lock, held here for ever, would break the interpreter's own ending.
    while piece := os.read(0, 65536):
        held += piece
        *whole, held = held.split(b"\n")
        for line in whole:
            requests.put(line)
    os.kill(os.getpid(), signal.SIGTERM)
    os._exit(1)


def memory_bytes() -> int:
    """What this process and all below it hold; 0 if the system does not report it."""
    try:
        below = {os.getpid()}
        sizes: dict[int, tuple[int, int]] = {}
        page = os.sysconf("SC_PAGE_SIZE")
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                resident = int((folder / "statm").read_text().split()[1]) * page
            except (OSError, IndexError, ValueError):
                continue
            sizes[int(folder.name)] = (parent, resident)
        grew = True
        while grew:
            more = {pid for pid, (parent, _) in sizes.items() if parent in below} - below
            below |= more
            grew = bool(more)
        return sum(resident for pid, (_, resident) in sizes.items() if pid in below)
    except OSError:
        return 0
