"""Many blocks of work on Spark, a wave of them after the other, so that answers come while the rest is worked on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Final, TypeVar

AT_ONCE: Final = 2
"""While the last tasks of one wave run, those of the next one begin."""

GROWS_MOST: Final = 2
"""A wave is at most so much larger than the one before: the blocks behind may be dearer."""

Block = TypeVar("Block")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How long a wave is to last, and how few and how many blocks it may have."""

    wave_s: float
    least: int
    most: int

    def next_size(self, blocks: int, took_s: float, cores: int) -> int:
        """Blocks of a wave that lasts ``wave_s``, judged by the last one; ``took_s`` is that of all its workers."""
        a_second = blocks * cores / max(took_s, 0.001)
        return int(max(self.least, min(self.most, GROWS_MOST * blocks, self.wave_s * a_second)))


def waves(
    left: Sequence[Block], collect: Callable[[Sequence[Block]], list[Any]], *, pace: Pace, cores: int
) -> Iterator[list[Any]]:
    """What ``collect`` gives for each wave, as it comes: a row a block, with the worker's time as ``took_s``.

    ``collect`` is called from several threads.
    """
    size, place = pace.least, 0
    running: set[Future[list[Any]]] = set()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        while running or place < len(left):
            while place < len(left) and len(running) < AT_ONCE:
                running.add(pool.submit(collect, left[place : place + size]))
                place += size
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for wave in done:
                rows = wave.result()
                size = pace.next_size(len(rows), sum(row.took_s for row in rows), cores)
                yield rows
