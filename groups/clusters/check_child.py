"""The child process that tests a connection: ``{"properties": {…}}`` in, ``{"type": "step", "step": {…}}`` out for each step.

A broker that is tested is not trusted yet. What it answers is read here, where it can fill no more than this process.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from typing import Final

from groups.address_space import bound_memory
from groups.child_side import Lines, question
from groups.clusters.checking import check
from groups.history.state.plain import to_plain

ADDRESS_BYTES_MOST: Final = 1024**3
"""Metadata of 100,000 partitions with three replicas take 260 MB to read, of a million 840 MB (measured)."""


async def _steps(properties: Mapping[str, str]) -> None:
    lines = Lines(sys.stdout.buffer)
    async for step in check(properties):
        lines.say({"type": "step", "step": to_plain(step)})


if __name__ == "__main__":
    bound_memory(ADDRESS_BYTES_MOST)
    asyncio.run(_steps(question()["properties"]))
