"""What the machine gives this process: memory and processors."""

from __future__ import annotations

import contextlib
import os
import resource
from pathlib import Path
from typing import Final

ADDRESS_BYTES_MOST: Final = 4 * 1024**3
"""Far more than a question or a watched cluster needs, and less than a machine has."""


def bound_memory(bytes_most: int = ADDRESS_BYTES_MOST) -> None:
    """Have allocations beyond so many bytes of addresses fail in this process, which it survives or not. A lower bound stays."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = bytes_most if hard == resource.RLIM_INFINITY else min(bytes_most, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def forget_peak() -> None:
    """Has ``peak_bytes`` count from now on; without effect where the system has no ``/proc``."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_bytes() -> int:
    """The most memory that this process has had since ``forget_peak``; 0 where the system has no ``/proc``."""
    with contextlib.suppress(OSError), Path("/proc/self/status").open() as status:
        return next((int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM")), 0)
    return 0


def memory_bytes() -> int:
    """The memory that this process has now; 0 where the system has no ``/proc``."""
    with contextlib.suppress(OSError), Path("/proc/self/statm").open() as statm:
        return int(statm.read().split()[1]) * resource.getpagesize()
    return 0


def processors() -> int:
    """How many this process may use at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
