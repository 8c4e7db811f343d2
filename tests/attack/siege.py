"""A server under attack: a reader beside it, its memory before and after, and whether anything was lost."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.attack.attackers import ATTACKS, HARD, JSON, LARGEST, Attack, sockets
from tests.attack.wire import Target
from tests.serving import served

PAGES = ("/", "/t/kip848-basic", "/simulate/", "/help/")
"""What a reader looks at meanwhile."""

AT_ONCE = 3
"""Attacks that go on together. Each is dozens to hundreds of requests."""

REQUESTS_MOST = 400_000
"""Requests of one siege, however fast they are answered."""

SETTLE_S = 90.0
"""What a server may take to give its memory back: what was begun goes on to its end, and housekeeping comes every 10 s."""

BEFORE_TRACEBACK, TRACEBACK_MOST = 300, 6_000
"""Characters of the server's log around its first traceback: what it was about stands before it."""

RUN_S = 300
"""What a run that was begun amid it may take: it waits for what was begun before it, on a machine that may be shared."""

MEMORY_AGAIN = 1.2
"""Of what the server had before."""

KEPT_OPEN_MOST = 45
"""Files that a server may have open more than before: three pipes of each child that is kept warm, of which there may be nine, and
what each thread has open of the database."""


@dataclass(slots=True, kw_only=True)
class Siege:
    """What was measured."""

    seconds: float = 0.0
    pages_ms: list[float] = field(default_factory=list)
    statuses: dict[int, int] = field(default_factory=dict)
    before_mb: float = 0.0
    most_mb: float = 0.0
    after_mb: float = 0.0
    problems: list[str] = field(default_factory=list)

    def page_ms(self, share: float) -> float:
        ordered = sorted(self.pages_ms)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

    def told(self) -> str:
        statuses = ", ".join(
            f"{count:,} × {status or 'left'}" for status, count in sorted(self.statuses.items())
        )
        return (
            f"{sum(self.statuses.values()):,} requests in {self.seconds:.0f} s: {statuses}.\n"
            f"{len(self.pages_ms)} pages: median {self.page_ms(0.5):.0f} ms, 95 % within {self.page_ms(0.95):.0f} ms, "
            f"the slowest {self.page_ms(1):.0f} ms.\n"
            f"Memory of the server: {self.before_mb:.0f} MB before, {self.most_mb:.0f} MB at most, "
            f"{self.after_mb:.0f} MB after."
        )


def besiege(folder: Path, *, minutes: float, seed: int, say: Callable[[str], None]) -> Siege:
    """Attack a fresh server for so long; ``seed`` draws which attack follows which."""
    with served(folder) as server:
        siege = asyncio.run(_besiege(Target(server), minutes * 60, random.Random(seed), say))
        siege.problems += _left_behind(folder)
        log = server.log.read_text(errors="replace")
        if (begins := log.find("Traceback")) >= 0:
            told = log[max(begins - BEFORE_TRACEBACK, 0) : begins + TRACEBACK_MOST]
            siege.problems.append(f"the server's log has a traceback: …{told}…")
    return siege


async def _besiege(target: Target, seconds: float, draw: random.Random, say: Callable[[str], None]) -> Siege:
    siege = Siege()
    server = target.server
    # All that is loaded at its first use is loaded before: modules, templates, declarations, threads, children.
    for path in (*PAGES, "/laboratory", "/inspect", "/sweeps", "/import/", "/api/timelines", HARD, LARGEST):
        await target.ask(path)
    await target.ask("/api/inspect", method="POST", body=b'{"text": "00ff"}', **JSON)
    await _status_of(target, await _begin_run(target))
    await sockets(target, random.Random(0))
    await asyncio.sleep(15)
    studies = await _studies(target)
    stored = await _stored(target, studies)
    siege.before_mb, opened = memory_mb(server.pid), open_files(server.pid)
    begun_s = time.monotonic()
    until_s = begun_s + seconds
    attacks = enumerate(_drawn(draw))
    attackers = [asyncio.create_task(_attack(target, draw, attacks, until_s)) for _ in range(AT_ONCE)]
    reading = asyncio.create_task(_read(target, siege, attackers))
    run = await _begin_run(target)
    while time.monotonic() < until_s:
        await asyncio.sleep(min(60.0, max(0.1, until_s - time.monotonic())))
        say(f"{time.monotonic() - begun_s:.0f} s: {sum(target.statuses.values()):,} requests")
    await asyncio.gather(*attackers)
    await reading
    siege.seconds = time.monotonic() - begun_s
    settled_s = time.monotonic() + SETTLE_S
    while True:
        siege.after_mb = memory_mb(server.pid)
        more = open_files(server.pid) - opened
        is_calm = siege.after_mb <= siege.before_mb * MEMORY_AGAIN and more <= KEPT_OPEN_MOST
        if is_calm or time.monotonic() > settled_s:
            break
        await asyncio.sleep(2)
    siege.statuses = dict(target.statuses)
    if siege.after_mb > siege.before_mb * MEMORY_AGAIN:
        siege.problems.append(f"memory stayed at {siege.after_mb:.0f} MB, {siege.before_mb:.0f} MB before")
    if more > KEPT_OPEN_MOST:
        siege.problems.append(f"{more} files stayed open")
    after = await _stored(target, studies)
    if lost := [timeline for timeline in studies if after[timeline] != stored[timeline]]:
        siege.problems.append(f"timelines were lost or changed: {', '.join(lost)}")
    if (status := await _status_of(target, run)) != "complete":
        siege.problems.append(f"a run that was begun amid it is {status}")
    if server_errors := {status: count for status, count in siege.statuses.items() if status == 500}:
        siege.problems.append(f"{server_errors[500]} answers were 500")
    return siege


def _drawn(draw: random.Random) -> Iterator[Attack]:
    """Round after round all attacks, each round in another order."""
    while True:
        yield from draw.sample(ATTACKS, len(ATTACKS))


async def _attack(
    target: Target, draw: random.Random, attacks: Iterator[tuple[int, Attack]], until_s: float
) -> None:
    """Takes the next attack until the time is over and each was made once, however slow the machine is."""
    for number, attack in attacks:
        is_over = time.monotonic() >= until_s or sum(target.statuses.values()) >= REQUESTS_MOST
        if is_over and number >= len(ATTACKS):
            break
        await attack(target, draw)


async def _read(target: Target, siege: Siege, attackers: Sequence[asyncio.Task[None]]) -> None:
    """A reader: page after page, a fifth of a second between them."""
    number = 0
    while not all(attacker.done() for attacker in attackers):
        number += 1
        try:
            siege.pages_ms.append(await target.page_ms(PAGES[number % len(PAGES)]))
        except AssertionError as error:
            siege.problems.append(str(error))
        siege.most_mb = max(siege.most_mb, memory_mb(target.server.pid))
        await asyncio.sleep(0.2)


async def _studies(target: Target) -> list[str]:
    _, body = await target.ask("/api/timelines")
    return [timeline["id"] for timeline in json.loads(body) if timeline["source"] == "case-study"]


async def _stored(target: Target, timelines: list[str]) -> dict[str, Any]:
    """Each with its last sequence and status. Asked one by one: a list is of the newest, and a siege makes hundreds."""
    facts: dict[str, Any] = {}
    for timeline in timelines:
        _, body = await target.ask(f"/api/timelines/{timeline}")
        told = json.loads(body)
        facts[timeline] = told.get("last"), told.get("status")
    return facts


async def _begin_run(target: Target) -> str:
    for _ in range(200):
        status, body = await target.ask(
            "/api/runs",
            method="POST",
            body=b'{"scenario": "kip848-basic"}',
            **JSON,
        )
        if status == 201:
            return str(json.loads(body)["timeline"])
        await asyncio.sleep(1)
    raise AssertionError("no run could be begun for minutes")


async def _status_of(target: Target, run: str) -> str:
    status = "nowhere"
    for _ in range(RUN_S):
        answered, body = await target.ask(f"/api/timelines/{run}")
        status = json.loads(body)["status"] if answered == 200 else f"answered {answered}"
        if status != "running":
            break
        await asyncio.sleep(1)
    return status


def _left_behind(folder: Path) -> list[str]:
    """Uploads that were cut short must leave nothing."""
    uploads = folder / "imports"
    left = [path.name for path in uploads.iterdir()] if uploads.is_dir() else []
    return [f"uploads left {', '.join(left)} behind"] if left else []


def memory_mb(pid: int) -> float:
    """Resident memory of the server's own process; its children come and go."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise AssertionError(f"process {pid} is gone")


def open_files(pid: int) -> int:
    with contextlib.suppress(OSError):
        return sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    return 0
