"""Fifty windows that follow one presenter: from a move that is sent to the last of them that has it."""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.benchmarks.figures import Figure, middle, percentile
from tests.benchmarks.live_sockets import Heard, open_sockets, text_of
from tests.serving import Served, served

READERS: Final = 50
MOVES: Final = 200
EVERY_S: Final = 0.1
"""A presenter sends no more often."""

GOAL_MS: Final = 250.0
REPEAT_S: Final = 4.5


def run() -> Iterator[Figure]:
    with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "var") as server:
        times = asyncio.run(_heard(server))
    what = f"together: a presenter's move sent to the last of {READERS} readers"
    yield Figure(what=f"{what}, median", value=middle(times), unit="ms")
    yield Figure(what=f"{what}, 99th percentile", value=percentile(times, 0.99), unit="ms", goal=GOAL_MS)


async def _heard(server: Served) -> list[float]:
    """Milliseconds of each move; each reader has a window of its own and repeats that it follows, as a browser does."""
    heard: Heard = {}
    opened = await open_sockets(server, "/ws/together/released-six-partitions?who=window01", READERS, heard)
    address = "/api/timelines/released-six-partitions/together"

    def says(**said: object) -> None:
        server.open(address, json.dumps(said).encode()).close()

    async def follow(reader: int) -> None:
        await asyncio.sleep(REPEAT_S * reader / READERS)
        while True:
            await asyncio.to_thread(says, who=f"reader{reader:04}", does="follows", turn=1)
            await asyncio.sleep(REPEAT_S)

    following = [asyncio.create_task(follow(reader)) for reader in range(READERS)]
    sent_s = []
    for move in range(MOVES):
        sent_s.append(time.time())
        await asyncio.to_thread(says, who="window01", does="presents", turn=1, view=f"?at={move}")
        await asyncio.sleep(EVERY_S)
    await asyncio.sleep(1)
    for task in following:
        task.cancel()
    for each in opened:
        each.close()
    moves: dict[int, list[float]] = {}
    for frame, times in heard.items():
        if (said := json.loads(text_of(frame)))["type"] == "presents":
            moves.setdefault(int(said["view"][4:]), []).extend(times)
    assert {len(moves[move]) for move in range(MOVES)} == {READERS}
    return [(max(moves[move]) - sent) * 1000 for move, sent in enumerate(sent_s)]
