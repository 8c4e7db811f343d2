"""The bound on the memory of a process that reads or folds: the same as that of Spark's Python workers."""

from __future__ import annotations

import contextlib
import re
import resource
from collections.abc import Iterator
from typing import Final

from groups.pipeline.spark.session import WORKER_MEMORY

UNITS: Final = {"": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}


class BadSize(ValueError):
    """A size that is none; the message is one line."""


def worker_bytes(text: str = WORKER_MEMORY) -> int:
    """``REBALANCE_WORKER_MEMORY`` as Spark reads it: a number with a unit, in bytes.

    >>> worker_bytes("4g"), worker_bytes("1700m"), worker_bytes("512MB")
    (4294967296, 1782579200, 536870912)
    """
    found = re.fullmatch(r"(\d{1,12})\s*([kmgt]?)b?", text.strip().lower())
    if found is None:
        raise BadSize(f"REBALANCE_WORKER_MEMORY is {text!r}; a size as 4g or 1700m was expected")
    return int(found[1]) * UNITS[found[2]]


@contextlib.contextmanager
def bounded() -> Iterator[None]:
    """Bounds this process meanwhile; Java, which it may start afterwards, is not bounded."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limits = [worker_bytes(), *(one for one in (soft, hard) if one != resource.RLIM_INFINITY)]
    resource.setrlimit(resource.RLIMIT_AS, (min(limits), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
