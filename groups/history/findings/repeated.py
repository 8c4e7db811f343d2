"""What finders of repeated things share: the removals of each process, after the group had formed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from groups.history.evidence.lives import Going
from groups.history.findings.facts import Facts


def by_process(facts: Facts) -> dict[str, list[Going]]:
    """Lane → its removals, in order; those of the group's first seconds too, where it went more than once."""
    lanes: dict[str, list[Going]] = {}
    for going in facts.lives.goings:
        lanes.setdefault(going.lane, []).append(going)
    return lanes


def usual_ms(times_ms: Sequence[int]) -> int:
    """The median time between neighbours; 0 for fewer than two."""
    between = sorted(later - one for one, later in pairwise(times_ms))
    return between[len(between) // 2] if between else 0


def about(length_ms: int) -> str:
    """``7 s``, ``3 min``: a length that is only roughly so."""
    seconds = round(length_ms / 1000)
    return f"{seconds}\u202fs" if seconds < 120 else f"{round(seconds / 60)}\u202fmin"


def several(times: int) -> str:
    """``twice``, ``six times``."""
    words = {1: "once", 2: "twice"} | dict(
        enumerate(("three", "four", "five", "six", "seven", "eight", "nine", "ten"), 3)
    )
    said = words.get(times, f"{times:,}")
    return said if times in (1, 2) else f"{said} times"


def spans(sequences: Iterable[int]) -> list[int]:
    return sorted(set(sequences))
