"""The other end of ``groups.jobs.warm_children``: a process that answers a line of JSON with a line, one after the other."""

from __future__ import annotations

import resource
import sys
from collections.abc import Callable
from typing import Any, Final

import orjson

from groups.address_space import bound_memory

MEMORY_KB_MOST: Final = 300 * 1024
"""A child that has grown to this ends after its answer: the largest questions take hundreds of megabytes, and Python
gives little of it back."""


def answer_lines(answered: Callable[[Any], bytes]) -> None:
    """Answer each line of standard input until it ends. An answer is one line, without its end."""
    bound_memory()
    for line in sys.stdin.buffer:
        sys.stdout.buffer.write(answered(orjson.loads(line)) + b"\n")
        sys.stdout.buffer.flush()
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > MEMORY_KB_MOST:
            return
