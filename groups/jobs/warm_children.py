"""Children that answer one question after the other: for work that is too heavy for the server's process, and that
somebody waits for.

``groups.jobs.children`` starts a process for each task, which takes a quarter of a second; these stand ready. There are so
many and no more: a request while all are busy is refused, since behind two that compute, a third would only wait.
A child whose asker has left is ended, and the next question starts another.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import IO, Any, Final

import orjson

from groups.jobs import waiting
from groups.jobs.children import LINE_BYTES_MOST, ChildFailed, ParentStops, python_path, shutting_down

POLL_S: Final = 0.05
"""How often it is looked whether the asker is still there."""

LEFT_S: Final = 1.0
"""A child that is so far is left to end, since its start takes a third of that: a page asks again at every click."""

ANSWER_S: Final = 60.0
"""An answer takes a second in the worst case that is known."""

FREE_S: Final = 0.25
"""How long a question waits for a child: two clicks of two readers fall together now and then."""


class Busy(Exception):
    """As many questions as there are children are being answered."""


class AskerLeft(Exception):
    """Nobody waits for the answer any more."""


class _Child:
    """One process, asked by one thread at a time."""

    def __init__(self, module: str) -> None:
        self.module = module
        # No death signal as other children have: it comes when the *thread* that started it ends, which here is a
        # request's. It ends with its standard input, which ends with this process.
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": python_path()},
            start_new_session=True,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.question: IO[bytes] = self.process.stdin
        self.answer: IO[bytes] = self.process.stdout
        self.rest = b""

    def ask(self, question: bytes, left: Callable[[], bool]) -> bytes:
        """The answer's line. Raises ``BrokenPipeError`` where the child has ended before."""
        begun_s = time.monotonic()
        self.question.write(question + b"\n")
        self.question.flush()
        # Not select(), which knows no file beyond the thousandth.
        ready = select.poll()
        ready.register(self.answer, select.POLLIN)
        pieces = [self.rest]
        length = len(self.rest)
        while b"\n" not in pieces[-1]:
            waited_s = time.monotonic() - begun_s
            if shutting_down.is_set():
                raise ParentStops(f"{self.module} was ended with the server.")
            if waited_s > LEFT_S and left():
                raise AskerLeft
            if waited_s > ANSWER_S or length > LINE_BYTES_MOST:
                raise ChildFailed(f"{self.module} came to no answer in {waited_s:.0f} s.")
            if not ready.poll(POLL_S * 1000):
                continue
            piece = os.read(self.answer.fileno(), 1024 * 1024)
            if not piece:
                raise BrokenPipeError
            pieces.append(piece)
            length += len(piece)
        line, _, self.rest = b"".join(pieces).partition(b"\n")
        return line

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.question, self.answer):
            with contextlib.suppress(BrokenPipeError):
                stream.close()


class WarmChildren:
    """``count`` children at most that run a module, which answers each line of JSON with one."""

    def __init__(self, module: str, count: int) -> None:
        self.module = module
        self._free = threading.BoundedSemaphore(count)
        # Who waits for a child has a thread: there are no more of them than children.
        self._next = threading.BoundedSemaphore(count)
        self._idle: list[_Child] = []

    def ask(self, question: Mapping[str, Any], left: Callable[[], bool] = lambda: False) -> bytes:
        """The answer, a line of JSON. ``Busy``, ``AskerLeft``, ``ChildFailed`` or ``ParentStops`` where there is none."""
        if not self._free.acquire(blocking=False):
            self._wait_for_one()
        waiting.begins()
        try:
            return self._asked(orjson.dumps(question), left)
        finally:
            self._free.release()

    def _wait_for_one(self) -> None:
        if not self._next.acquire(blocking=False):
            raise Busy
        waiting.begins()
        try:
            if not self._free.acquire(timeout=FREE_S):
                raise Busy
        finally:
            self._next.release()

    def close(self) -> None:
        """End those that stand ready."""
        while self._idle:
            self._idle.pop().end()

    def _asked(self, question: bytes, left: Callable[[], bool]) -> bytes:
        if left():
            raise AskerLeft
        # One that stood ready may have ended meanwhile, and as many as stand ready; the last one is a new one.
        while True:
            is_new = not self._idle
            child = _Child(self.module) if is_new else self._idle.pop()
            try:
                answer = child.ask(question, left)
            except BrokenPipeError as error:
                child.end()
                if is_new:
                    code = child.process.returncode
                    raise ChildFailed(f"{self.module} ended with code {code} without an answer.") from error
            except BaseException:
                child.end()
                raise
            else:
                self._idle.append(child)
                return answer
