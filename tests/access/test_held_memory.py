"""What a server keeps of the memory that it needed for a moment."""

from __future__ import annotations

import asyncio
import contextlib
import platform
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from explorer.server import housekeeping, memory
from explorer.server.memory import ARENAS_MOST, MORE_BLOCKS_MOST
from groups import reserve
from tests.serving import served

pytestmark = pytest.mark.once

ARENA_STEP = 64 * 1024 * 1024
"""Where an arena of a thread begins on a machine of 64 bits: at a multiple of it (HEAP_MAX_SIZE, malloc/arena.c)."""

HEAD_BYTES = 4096
"""A heap begins with the address of its arena, which is just behind it in the first heap of that arena (heap_info)."""


def arenas(pid: int) -> int:
    """The first one is the process's own heap. Python's blocks of 1 MB may begin at such a place too: the head tells them apart."""
    found = 1
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory_of:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            match = re.fullmatch(r"([0-9a-f]+)-[0-9a-f]+ rw-p 00000000 00:00 0\s*", line)
            if match and (begin := int(match[1], 16)) % ARENA_STEP == 0:
                memory_of.seek(begin)
                found += 0 < int.from_bytes(memory_of.read(8), sys.byteorder) - begin < HEAD_BYTES
    return found


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="arenas are of GNU's C library")
@pytest.mark.long
def test_however_many_threads_answer_the_server_takes_memory_from_few_arenas(tmp_path: Path) -> None:
    with served(tmp_path) as server, ThreadPoolExecutor(16) as askers:
        answers = list(askers.map(lambda _: server.open("/api/timelines").status, range(100)))
        assert set(answers) == {200}
        assert arenas(server.pid) <= ARENAS_MOST


async def test_a_server_looks_through_all_once_requests_have_left_much_and_then_counts_from_what_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[bool] = []
    lives, garbage = 1_000_000, 0

    def give_back(*, all_of_it: bool) -> None:
        nonlocal lives, garbage
        looks.append(all_of_it)
        lives += 40_000 if all_of_it else 0
        garbage = 0 if all_of_it else garbage + 20_000

    monkeypatch.setattr(memory, "give_back", give_back)
    monkeypatch.setattr(sys, "getallocatedblocks", lambda: lives + garbage)
    monkeypatch.setattr(housekeeping, "sweep", lambda: None)
    monkeypatch.setattr(reserve, "fill", lambda: None)
    monkeypatch.setattr(housekeeping, "SWEEP_EVERY_S", 0.0)
    sweeping = asyncio.create_task(housekeeping.keep_sweeping())
    while len(looks) < 9:
        await asyncio.sleep(0.01)
    sweeping.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await sweeping
    between = -(-MORE_BLOCKS_MOST // 20_000)
    assert looks[:9] == ([True] + [False] * between) * 2 + [True]
