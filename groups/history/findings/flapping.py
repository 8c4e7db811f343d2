"""Flapping: partitions that go back and forth between the same processes.

Needs: records of assignments. Claims: which partitions, how often they came back to a process that had them before. Read from the
moves that are kept one by one (the first 200). Cannot know: what it cost beyond the time without an owner.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.findings.declaring import Declared, Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.findings.repeated import spans
from groups.history.words import listed_partitions

BACK_LEAST: Final = 2
"""A→B→A is one deployment; A→B→A→B is flapping."""


def found_flapping(facts: Facts) -> Iterator[Finding]:
    """``flapping``: all such partitions as one; ``steps`` are their moves."""
    owners: dict[tuple[str, int], list[str]] = {}
    back: dict[tuple[str, int], int] = {}
    steps: dict[tuple[str, int], list[int]] = {}
    times: dict[tuple[str, int], list[int]] = {}
    for topic, partition, before, to, _, taken, at_ms in facts.ownership.moves:
        if facts.lives.is_forming(taken):
            continue
        key = (facts.topic_names.get(topic, topic), partition)
        had = owners.setdefault(key, [facts.cast.lane(before)])
        lane = facts.cast.lane(to)
        if lane == had[-1]:
            # A process took over from itself, under a new member id.
            continue
        back[key] = back.get(key, 0) + (lane in had)
        had.append(lane)
        steps.setdefault(key, []).append(taken)
        times.setdefault(key, []).append(at_ms)
    flapping = sorted(key for key, times in back.items() if times >= BACK_LEAST)
    if not flapping:
        return
    places = facts.partitions(flapping)
    moves = sum(len(steps[key]) for key in flapping)
    moved_at = spans(sequence for key in flapping for sequence in steps[key])
    text = f"{listed_partitions(places)} moved back and forth, {moves:,} moves"
    yield finding(
        "flapping",
        text,
        moved_at,
        partitions=places,
        count=len(places),
        moves=moves,
        from_ms=min(times[key][0] for key in flapping),
        to_ms=max(times[key][-1] for key in flapping),
        steps=moved_at,
    )


FINDER: Final = Declared(
    place=70,
    find=found_flapping,
    rows=(Row(kinds=("flapping",), incident=True),),
)
