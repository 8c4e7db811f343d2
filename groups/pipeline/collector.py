"""Python's collector of cycles in the tasks: they make millions of objects, and hardly a cycle."""

from __future__ import annotations

import gc
from typing import Final

THRESHOLDS: Final = (50_000, 20, 20)
"""New containers before the collector looks at them: some megabytes. By default it does at 700, a twentieth of a task's time."""


def calm_collector() -> None:
    """For the process of a task, which other tasks go on using."""
    gc.set_threshold(*THRESHOLDS)
