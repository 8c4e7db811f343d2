"""What the faults in a copy of the tree ask: is it I who am on? It notes that a fault's place was reached, too.

All faults of a sample stand in the copy at once, each behind ``on(number)``; at most one is on. What was reached is a file
in memory that a test's own processes share, so that a fault is found behind a command's process as well.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Final

ACTIVE: Final = "MUTANT_ACTIVE"
"""The environment's variable with the number of the fault that is on."""

REACHED: Final = "MUTANTS_REACHED"
"""The environment's variable with the path of a file that has a byte for each fault."""


def _opened() -> bytearray | mmap.mmap:
    path = os.environ.get(REACHED)
    if path is None:
        return bytearray(1 << 16)
    with Path(path).open("r+b") as file:
        return mmap.mmap(file.fileno(), 0)


_reached = _opened()
_active = int(os.environ.get(ACTIVE, "-1"))


def on(number: int) -> bool:
    _reached[number] = 1
    return number == _active


def turn_on(number: int) -> None:
    """In this process, and in those that it starts."""
    global _active
    _active = number
    os.environ[ACTIVE] = str(number)


def taken() -> list[int]:
    """The faults whose places were reached since this was asked last."""
    data = bytes(_reached)
    numbers = [number for number, byte in enumerate(data) if byte]
    for number in numbers:
        _reached[number] = 0
    return numbers
