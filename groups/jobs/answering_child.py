"""The other end of ``groups.jobs.warm_children``: a process that answers a line of JSON with a line, one after the other."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from typing import Any, Final

import orjson

MEMORY_KB_MOST: Final = 300 * 1024
"""A child that has grown to this ends after its answer: the largest questions take hundreds of megabytes, and Python
gives little of it back."""

ADDRESS_BYTES_MOST: Final = 4 * 1024**3
"""No question needs more; one that was made to fill the machine's memory ends this child alone."""


def answer_lines(answered: Callable[[Any], bytes]) -> None:
    """Answer each line of standard input until it ends. An answer is one line, without its end."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_BYTES_MOST, ADDRESS_BYTES_MOST))
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(answered(orjson.loads(line)) + b"\n")
        sys.stdout.buffer.flush()
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > MEMORY_KB_MOST:
            return
