"""Stops of a whole classic group: silences that an eager rebalance explains, since every member stops for it.

An eager member gives everything up, joins, and commits nothing until it is synced. So silences that go on across one generation
are the group's, from when the last of these members stopped. One that began earlier than the others is that member's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from groups.history.evidence.lives import Generation
from groups.history.evidence.paces import SILENCE_LEAST_MS, Silence

MEMBERS_LEAST: Final = 2
"""One silent member is silent by itself."""


class GroupStop(NamedTuple):
    """``silences`` are those that it explains; ``from_ms`` and ``to_ms`` are when nobody committed."""

    generation: Generation
    silences: tuple[Silence, ...]
    from_ms: int
    to_ms: int


def split(
    silences: Sequence[Silence], generations: Iterable[Generation]
) -> tuple[list[Silence], list[GroupStop]]:
    """Silences that are their members' own, and stops of the whole group."""
    stops, explained = [], set[int]()
    for generation in generations:
        across = [
            one
            for one in silences
            if id(one) not in explained and one.from_sequence < generation.sequence <= one.to_sequence
        ]
        # While another member commits, the group has not stopped.
        resumed = [one for one in across if one.ended == "resumed" and not one.others]
        if len({one.member for one in across}) < MEMBERS_LEAST or not resumed:
            continue
        from_ms = max(one.from_ms for one in resumed)
        together = tuple(one for one in resumed if one.from_ms >= from_ms - SILENCE_LEAST_MS)
        explained.update(map(id, together))
        stops.append(GroupStop(generation, together, from_ms, min(one.to_ms for one in together)))
    return [one for one in silences if id(one) not in explained], stops
