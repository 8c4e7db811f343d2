"""What a task has freed goes back to the system."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os
from pathlib import Path
from groups.pipeline.held_memory import give_back

def held() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1_000_000

# Pieces of a split, and something behind them that stays: the C library keeps the room between.
pieces = [b"x" * 60_000 for _ in range(5_000)]
stays = [b"x" * 60_000 for _ in range(9)]
del pieces
before = held()
give_back()
print(before, held())
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux tells what a process holds")
def test_what_was_freed_between_what_stays_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)

    before, after = map(int, done.stdout.split())
    assert before > 250
    assert after < 100
