"""How far an import is: its stages, and their lines."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from groups.child_side import Lines

PROGRESS_EVERY_S: Final = 0.25
"""Counts are replaced at most four times a second: more cannot be read."""

STAGES: Final = ("Recognised", "Read", "Folded", "Stored")

READING_SHARE: Final = 0.4
"""What reading is of the whole, about: 0.3 of a log of commits, 0.5 of one of rebalances."""

REMAINING_SINCE_S: Final = 2.0
"""Before that nothing is said of the time that remains: it would be a guess."""


DONE_LEAST: Final = 0.1
"""Of the work since the first part was done; a file that is read at once gives no estimate."""


@dataclass(slots=True)
class Progress:
    """The stages of one import, written as lines; from two threads."""

    lines: Lines
    stages: dict[str, dict[str, Any]] = field(default_factory=dict)
    stage: str = "Starting"
    bytes_read: int = 0
    """Of all files that are read."""

    share: float = 0.0
    """How much of the work is done, 0 to 1."""

    first: tuple[float, float] | None = None
    """When the first part of the work was done, and how much: what came before, as the start of Spark, grows with no file."""

    published_s: float = 0.0
    published: bytes = b""

    def set(self, name: str, done: int, of: int | None, unit: str) -> None:
        """A stage's count. It never falls: a task that is lost is done again, and that is not shown."""
        before = self.stages.get(name)
        self.stages[name] = {
            "name": name,
            "done": max(done, before["done"]) if before is not None else done,
            "of": of,
            "unit": unit,
        }

    def reach(self, share: float) -> None:
        """So much of the work is done; it never falls, either."""
        self.share = max(self.share, share)
        if self.first is None and share > 0:
            self.first = (time.monotonic(), self.share)

    def publish(self, stage: str | None = None) -> None:
        """Writes a line at once when a stage begins, otherwise at most four times a second."""
        if stage is None and time.monotonic() - self.published_s < PROGRESS_EVERY_S:
            return
        self.stage = stage or self.stage
        self.published_s = time.monotonic()
        stages = [self.stages.get(name, {"name": name, "done": 0, "of": None, "unit": ""}) for name in STAGES]
        line = orjson.dumps(
            {
                "type": "progress",
                "stage": self.stage,
                "stages": stages,
                "bytes": self.bytes_read,
                "remaining_s": self.remaining_s(),
            }
        )
        if line != self.published:
            self.published = line
            self.lines.write(line)

    def remaining_s(self) -> int | None:
        """Seconds that remain if the rest goes on as what was done since ``first``; null while that cannot be said."""
        if self.first is None:
            return None
        passed = time.monotonic() - self.first[0]
        done = self.share - self.first[1]
        if passed < REMAINING_SINCE_S or done < DONE_LEAST or self.share >= 1:
            return None
        return round(passed * (1 - self.share) / done)


class Counting:
    """Writes the progress several times a second while the work goes on: ``look`` sets the counts."""

    def __init__(self, progress: Progress, look: Callable[[], None]) -> None:
        self.progress = progress
        self.look = look
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self._count, name="progress", daemon=True)

    def _count(self) -> None:
        while not self.stop.wait(PROGRESS_EVERY_S):
            self.look()
            self.progress.publish()

    def __enter__(self) -> None:
        self.thread.start()

    def __exit__(self, *exception: object) -> None:
        self.stop.set()
        self.thread.join()
