"""What each seed draws of the values that no log has: when exactly each member's events happen, and its heartbeats' phase."""

from __future__ import annotations

import random
from typing import Final

from simulations.fork.values import Assumption, Document, Mark
from simulations.remedies.lines import at_of, member_of, moved, until_of, with_script

SHIFT_MS: Final = 1_500
"""A member's events come this much earlier or later at most: what two runs of the same deploy differ by."""

DRAWN: Final[tuple[Assumption, ...]] = (
    {
        "key": "times",
        "name": "Times of members' events",
        "mark": str(Mark.ASSUMED),
        "value": f"as recorded ± {SHIFT_MS / 1000:g} s",
        "reason": "drawn by each seed but the first",
        "can_change": False,
        "choices": [],
    },
    {
        "key": "phase",
        "name": "Phase of each member's heartbeats, network delay",
        "mark": str(Mark.ASSUMED),
        "value": None,
        "reason": "drawn by each seed",
        "can_change": False,
        "choices": [],
    },
)


def drawn(document: Document, seed: int, number: int) -> Document:
    """The document as the search's seed ``number`` has it; 0 changes nothing. Each member draws the same for every remedy."""
    if number == 0:
        return document
    script = []
    for line in document["script"]:
        who = member_of(line)
        by_ms = 0 if who is None else _of(seed, number, who).randint(-SHIFT_MS, SHIFT_MS)
        script.append(moved(line, min(at_of(line) + by_ms, until_of(document))) if by_ms else line)
    changed = with_script(document, script)
    start = changed.get("start") or {}
    if "group_epoch" in start:
        interval_ms = (changed.get("config") or {}).get("heartbeat_interval_ms", 5_000)
        members = {
            name: member | {"heartbeat_at": f"{_of(seed, number, name).randrange(1, interval_ms)}ms"}
            for name, member in start["members"].items()
        }
        changed["start"] = {**start, "members": members}
    return changed


def _of(seed: int, number: int, name: str) -> random.Random:
    return random.Random(f"{seed}/{number}/{name}")
