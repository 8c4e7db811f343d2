"""What carries the tasks of an import: Spark, or processes of this machine alone. Both run the same functions
(``reading.tasks.read_task``, ``folding.tasks.fold_blocks``)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from groups.pipeline.folding.context import Context
    from groups.pipeline.reading.rows import Wanted
    from groups.pipeline.reading.tasks import Task

SPARK: Final = "spark"
LOCAL: Final = "local"
AUTO: Final = "auto"
ENGINES: Final = (AUTO, LOCAL, SPARK)
"""What can be asked for; ``auto`` chooses by size."""

LOCAL_BYTES_MOST: Final = 64_000_000
"""Logs that are read without Spark: half a minute of one core. Beyond, Spark's start is small next to the work."""

SUBMITTED: Final = "PYSPARK_GATEWAY_PORT"
"""Set in the environment by ``spark-submit``."""


class Engine(Protocol):
    """The tasks of one import. ``read`` comes first, then ``fold``; counts are read from another thread meanwhile."""

    def read(self, tasks: Sequence[Task], wanted: Wanted) -> Iterator[tuple[str, int, bytes]]:
        """Reads every split once and keeps the blocks. Kind, source and payload of all other rows, in the order of the tasks."""
        ...

    def tasks_done(self) -> int:
        """Reading tasks that have ended."""
        ...

    def fold(
        self, context: Context, *, fill_partitions: bool, bytes_read: int
    ) -> Iterator[tuple[str, bytes]]:
        """Folds and stores every group; the lines of ``fold_blocks``. ``fill_partitions``: some files do not name theirs."""
        ...

    def groups_done(self) -> int:
        """Groups that are folded."""
        ...

    def executors_lost(self) -> int:
        """Spark's executors that ended meanwhile, whose tasks run again elsewhere."""
        ...

    def close(self) -> None:
        """Frees what was kept, also after a failure."""
        ...


class Choice(NamedTuple):
    """An engine and the reason, a clause that ends no sentence."""

    engine: str
    why: str


def choose(asked: str, *, size: int, master: str | None) -> Choice:
    """The engine for files of ``size`` bytes.

    >>> choose("auto", size=3_400_000, master=None)
    Choice(engine='local', why='3.4 MB are at most 64 MB')
    """
    if asked in (LOCAL, SPARK):
        return Choice(asked, "it was asked for")
    if SUBMITTED in os.environ:
        return Choice(SPARK, "spark-submit started the job")
    if master:
        return Choice(SPARK, f"the Spark master {master} is given")
    if size <= LOCAL_BYTES_MOST:
        return Choice(LOCAL, f"{megabytes(size)} are at most {megabytes(LOCAL_BYTES_MOST)}")
    return Choice(SPARK, f"{megabytes(size)} are more than {megabytes(LOCAL_BYTES_MOST)}")


def megabytes(size: int) -> str:
    """
    >>> megabytes(30_002), megabytes(3_400_000), megabytes(64_000_000)
    ('0.03 MB', '3.4 MB', '64 MB')
    """
    return f"{float(f'{size / 1e6:.2g}'):g} MB"
