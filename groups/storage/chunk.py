"""A chunk's place in its timeline."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Entries ``first`` to ``last``, which one checkpoint begins. ``number`` counts from 0.

    ``moments``: how many it has, ``None`` where nobody has opened it yet.
    """

    number: int
    first: int
    last: int
    moments: int | None = None
