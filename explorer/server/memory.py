"""Memory that was needed for a moment goes back to the machine, where the C library is the GNU one.

It keeps an arena for each thread that was busy at once, and gives none of them back by itself: measured, 300 concurrent
lists left the server with twice its memory for good.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
from dataclasses import dataclass
from typing import Final

from groups.pipeline.held_memory import trim

M_ARENA_MAX: Final = -8
M_MMAP_THRESHOLD: Final = -3
"""malloc.h"""

ARENAS_MOST: Final = 2
"""Python takes small things from its own pools; more arenas speed up nothing here."""


LARGE_BYTES: Final = 256 * 1024
"""What is as large (an answer, a body) has pages of its own, which go back at once. The library's own bound grows with
what it sees, to 32 MB, and answers then leave holes between small things."""


def keep_little() -> None:
    """Call it before the first threads: once a second one has asked for memory, GNU's library has settled how many arenas
    there may be, eight for each processor, and hears of no other number."""
    with contextlib.suppress(AttributeError, OSError):
        library = ctypes.CDLL(None)
        library.mallopt(M_ARENA_MAX, ARENAS_MOST)
        library.mallopt(M_MMAP_THRESHOLD, LARGE_BYTES)


ENDED_MOST: Final = 100
"""Sockets that ended since all was looked through: they refer to themselves, 30 KB each (measured)."""

MORE_BLOCKS_MOST: Final = 50_000
"""Blocks that Python may hold beyond those after the last look, some 3 MB of small things. A request leaves 36 that refer
to themselves (measured: its thread's database connection). Those of minutes would take new pages, and whatever lives on
next to them keeps the pages when they are gone."""

LOOK_EVERY_S: Final = 300.0
"""What else refers to itself is little, and waits for so long."""


BY_ITSELF_AFTER: Final = 1_000
"""Looks through what is younger, some 7,000 new things each, before Python looks through everything by itself: otherwise it
does when a quarter more is there, which a thousand sockets are that open."""


@dataclass(slots=True)
class Looks:
    """When all that the process holds is worth looking through: with a thousand open sockets that takes 0.15 s of a processor
    (measured), in which nobody hears anything. Done every ten seconds it was the slowest hundredth of all messages."""

    ended: int = 0
    at_s: float = float("-inf")
    blocks: int | None = None
    """What Python held after the last look, or less since; null before that is known."""

    def is_due(self, ended: int, now_s: float, blocks: int) -> bool:
        """``ended`` counts the sockets that ended since the process began, ``blocks`` is what Python holds
        (``sys.getallocatedblocks()``)."""
        self.blocks = blocks if self.blocks is None else min(self.blocks, blocks)
        if (
            ended - self.ended < ENDED_MOST
            and now_s - self.at_s < LOOK_EVERY_S
            and blocks - self.blocks < MORE_BLOCKS_MOST
        ):
            return False
        self.ended, self.at_s = ended, now_s
        return True

    def looked(self, blocks: int) -> None:
        """All was looked through, which left so much: only what comes from here on can be worth another look."""
        self.blocks = blocks


def give_back(*, all_of_it: bool) -> None:
    """Collects what only refers to itself, of the last moments or ``all_of_it``, such as ended sockets, which waited for a
    collection that hardly ever came; and gives what is free to the machine. What is there at the first call is there for
    good and is not looked through again: that took 0.1 s of everybody's time."""
    gc.collect(2 if all_of_it else 1)
    if not gc.get_freeze_count():
        gc.freeze()
        young, middle, _ = gc.get_threshold()
        gc.set_threshold(young, middle, BY_ITSELF_AFTER)
    trim()
