"""Child processes: where heavy work goes on, so that a page never waits behind it.

A child reads one line of JSON on standard input and writes JSON Lines on standard output. It ends with its task
(the generator is closed, or ``cancelled`` returns true) and with its parent, however that ends:

1. its standard input stays open as long as the parent lives, and a child ends when it is closed;
2. on Linux the kernel kills it when the thread that started it is gone (``PR_SET_PDEATHSIG``), which also ends a
   child that never looks at its input. It is set by the child itself, in the ``main`` below, before the program
   begins: what runs between fork and exec of a process with threads may lock up.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import logging
import os
import queue
import runpy
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any

import orjson

from groups.places import python_path

log = logging.getLogger(__name__)


LINES_AHEAD_MOST = 32
"""Lines that are read before they are asked for: the pipe then fills, and the child waits for its parent."""

LINE_BYTES_MOST = 64 * 1024 * 1024
"""A longer line is a child gone wrong; it must not take the memory of the server."""

SAID_LAST_MOST = 8 * 1024
"""Bytes of a child's standard error that are kept, to show why it failed."""

POLL_S = 0.25
"""How often a silent child's task looks whether it was cancelled."""

TERM_S = 2.0
"""Patience with a child that was asked to end, before it is killed."""

PR_SET_PDEATHSIG = 1
"""linux/prctl.h"""


shutting_down = threading.Event()
"""Set when this process ends: each child is ended, and its task gets ``ParentStops``."""


class ParentStops(Exception):
    """This process is ending, so the child was ended before it was done."""


class ChildFailed(Exception):
    """The child ended badly, or said something that is no JSON; the message is one line. ``lines``: its last ones on standard error."""

    def __init__(self, message: str, lines: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.lines = lines


class ChildKilled(ChildFailed):
    """A signal ended the child: it crashed, or something killed it."""


class Child:
    """``python -m module`` under way: questions in, messages out.

    ``outlives_thread``: it is kept when the thread that started it ends. Then only the end of its standard input ends it.
    """

    def __init__(
        self,
        module: str,
        arguments: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
        *,
        outlives_thread: bool = False,
    ) -> None:
        self.module = module
        # The kernel's signal comes when the thread ends that starts the child: 0 is no parent, and asks for none.
        parent = 0 if outlives_thread else os.getpid()
        self._process = process = subprocess.Popen(
            # -P: whatever lies in the working directory, the modules are the product's own.
            [sys.executable, "-P", "-m", "groups.jobs.children", str(parent), module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": python_path(), **(environment or {})},
            # A group of its own: a child's own children (Spark's Java) end with it.
            start_new_session=True,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        self._lines: queue.Queue[bytes | None] = queue.Queue(maxsize=LINES_AHEAD_MOST)
        self._said_last = bytearray()
        self._stopping = threading.Event()
        self._readers = [
            threading.Thread(
                target=_read_lines, args=(process.stdout, self._lines, self._stopping), daemon=True
            ),
            threading.Thread(target=_keep_last, args=(process.stderr, self._said_last), daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, question: Mapping[str, Any]) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it ended; its exit code shows why
            self._process.stdin.write(orjson.dumps(question) + b"\n")
            self._process.stdin.flush()

    def messages(self, cancelled: Callable[[], bool]) -> Iterator[dict[str, Any]]:
        """Each message of the answers, to the child's end or until ``cancelled`` returns true.

        ``ChildFailed`` when the child ends with another code than 0, ``ParentStops`` when this process ends first.
        """
        for line in self.lines(cancelled):
            yield _parsed(line, self.module)

    def lines(self, cancelled: Callable[[], bool], poll_s: float = POLL_S) -> Iterator[bytes]:
        """The same as they come, each with its line end; ``poll_s`` is how often a silent child's asker is looked for."""
        while True:
            if shutting_down.is_set():
                raise ParentStops(f"{self.module} was ended with the server.")
            if cancelled():
                return
            try:
                line = self._lines.get(timeout=poll_s)
            except queue.Empty:
                continue
            if line is None:
                break
            yield line
        code = self._process.wait()
        self._readers[1].join(TERM_S)
        if code != 0:
            failed = ChildKilled if code < 0 else ChildFailed
            lines = bytes(self._said_last).decode(errors="replace").strip().splitlines()
            raise failed(_why(self.module, code, lines), lines)

    def close(self) -> None:
        """End the child and whatever it started."""
        self._stopping.set()
        _end(self._process)
        for reader in self._readers:
            reader.join(TERM_S)
        for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
            with contextlib.suppress(BrokenPipeError):
                if stream is not None:
                    stream.close()


def run_child(
    module: str,
    arguments: Sequence[str] = (),
    *,
    question: Mapping[str, Any],
    cancelled: Callable[[], bool] = lambda: False,
    environment: Mapping[str, str] | None = None,
) -> Iterator[dict[str, Any]]:
    """Run ``python -m module`` and yield each line of its answer.

    Ends early, and the child with it, when ``cancelled`` returns true (it is asked between lines and about four times a
    second while there are none). ``ChildFailed`` when the child ends with another code than 0, ``ParentStops`` when
    this process ends first.
    """
    child = Child(module, arguments, environment)
    try:
        child.ask(question)
        yield from child.messages(cancelled)
    finally:
        child.close()


def _read_lines(stream: IO[bytes], lines: queue.Queue[bytes | None], stopping: threading.Event) -> None:
    while True:
        line = stream.readline(LINE_BYTES_MOST)
        while not stopping.is_set():
            try:
                lines.put(line or None, timeout=POLL_S)
                break
            except queue.Full:
                continue
        if not line or stopping.is_set():
            return


def _keep_last(stream: IO[bytes], said_last: bytearray) -> None:
    while piece := stream.read1(4096):  # type: ignore[attr-defined]
        said_last += piece
        del said_last[:-SAID_LAST_MOST]


def _parsed(line: bytes, module: str) -> dict[str, Any]:
    try:
        message = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise ChildFailed(f"{module} said something that is no line of JSON: {error}.") from error
    if not isinstance(message, dict):
        raise ChildFailed(f"{module} said something that is no JSON object.")
    return message


def _why(module: str, code: int, lines: Sequence[str]) -> str:
    """One line: how the child ended and the last thing it said."""
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"{module} was ended by {signal.Signals(-code).name}."
    if len(lines) > 1:
        log.warning("%s said:\n%s", module, "\n".join(lines))
    return f"{module} ended with code {code}: {lines[-1]}" if lines else f"{module} ended with code {code}."


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the child and its group: ask, wait, insist."""
    if process.poll() is not None:
        return
    _signal(process, signal.SIGTERM)
    try:
        process.wait(TERM_S)
    except subprocess.TimeoutExpired:
        log.warning("Child %d did not end when asked to and is killed.", process.pid)
    # Its own children may outlive it; the group's number stays taken while one of them does.
    _signal(process, signal.SIGKILL)
    process.wait()


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def end_with(parent: int) -> None:
    """Bind this process's life to that of the process that started it, on Linux."""
    if sys.platform != "linux":
        return
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        # The parent was gone before the kernel knew of the wish.
        sys.exit(json.dumps({"type": "error", "message": "The parent process is gone."}))


def main(arguments: Sequence[str]) -> None:
    """What a child begins with: bind its life to its parent's, then become the program."""
    parent, module, *rest = arguments
    if int(parent):
        end_with(int(parent))
    sys.argv = [module, *rest]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
