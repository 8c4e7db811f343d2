"""What a child process does with its standard input and output: the other end of ``groups.jobs.children``."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import IO, Any, Final

import orjson

from groups.address_space import bound_memory, memory_bytes

MEMORY_BYTES_MOST: Final = 300 * 1024**2
"""A child that has grown to this ends after its answer: the largest questions take hundreds of megabytes, and Python
gives little of it back."""

Message = Mapping[str, Any] | bytes
"""One line of an answer; bytes are JSON already."""


@dataclass(slots=True)
class Lines:
    """Where the lines go. Written from several threads, so each goes out under one lock."""

    out: IO[bytes]
    lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def alone(cls) -> Lines:
        """Standard output for lines alone: what libraries and a child's own children print goes to standard error."""
        lines = cls(os.fdopen(os.dup(1), "wb"))
        os.dup2(2, 1)
        return lines

    def say(self, message: Mapping[str, Any]) -> None:
        self.write(orjson.dumps(message))

    def write(self, line: bytes) -> None:
        """A line that is JSON already."""
        with self.lock:
            self.out.write(line.rstrip(b"\n") + b"\n")
            self.out.flush()


def question() -> Any:
    """The next line of standard input."""
    return orjson.loads(sys.stdin.buffer.readline())


def end_with_parent(end: Callable[[], object] = lambda: os._exit(0)) -> None:
    """Calls ``end``, in a thread, when standard input ends: the parent is gone, or wants this process to end."""

    def wait() -> None:
        # Not through sys.stdin: at this process's own end its buffer's lock would be found taken.
        while os.read(0, 4096):
            pass
        end()

    threading.Thread(target=wait, name="parent", daemon=True).start()


def answer_question(answer: Callable[[Any], Iterable[Message]]) -> int:
    """The whole of a child that is asked once: the messages that answer its question, a line each. Its exit code."""
    lines = Lines(sys.stdout.buffer)
    asked = _asked(sys.stdin.buffer.readline(), lines)
    end_with_parent()
    try:
        for message in answer(asked):
            lines.write(message if isinstance(message, bytes) else orjson.dumps(message))
    except BrokenPipeError:
        os._exit(0)
    return 0


def answer_lines(answered: Callable[[Any], bytes]) -> None:
    """The whole of a child that is kept and answers each question in one line."""
    bound_memory()
    answer_questions(lambda asked: (answered(asked),))


def answer_questions(answer: Callable[[Any], Iterable[bytes]]) -> None:
    """The whole of a child that is kept: answers each line of standard input until it ends, as its parent does."""
    lines = Lines(sys.stdout.buffer)
    try:
        for asked in sys.stdin.buffer:
            for line in answer(_asked(asked, lines)):
                lines.write(line)
            # Not `ru_maxrss`: a process begins with the peak of the one that started it.
            if memory_bytes() > MEMORY_BYTES_MOST:
                return
    except BrokenPipeError:
        os._exit(0)


def _asked(line: bytes, lines: Lines) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        lines.say({"type": "error", "message": f"the question is no JSON: {error}"})
        sys.exit(2)
