"""The scorecard: a row for each figure, a column for each board, and which are the best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from simulations.laboratory.assignor_answers import Answer
from simulations.laboratory.shapes import ScorecardRow
from simulations.protocol.assignors.measures import Measures


@dataclass(frozen=True, slots=True)
class Figure:
    """``title`` is what is counted; ``best`` picks the best of several."""

    key: str
    label: str
    title: str
    of: Callable[[Measures], int | None]
    best: Callable[[Sequence[int]], int] = min


FIGURES: Final = (
    Figure("moved", "Moved", "partitions that change owner", lambda found: found.moved),
    Figure("revoked", "Revoked", "claims that the answer does not confirm", lambda found: found.revoked),
    Figure(
        "interrupted",
        "Members interrupted",
        "they stop reading at least one partition",
        lambda found: found.interrupted,
    ),
    Figure(
        "paused",
        "Partitions paused",
        "not read for a while, also those that come back",
        lambda found: found.paused,
    ),
    Figure("spread", "Most − fewest", "partitions of a member", lambda found: found.most - found.least),
    Figure(
        "local",
        "Read in the same rack",
        "a replica stands in the member's rack",
        lambda found: found.local,
        max,
    ),
    Figure(
        "rebalances", "Rebalances needed", "until everybody has what is meant", lambda found: found.rebalances
    ),
)


def scorecard(answered: Sequence[Answer]) -> list[ScorecardRow]:
    """``best`` are the boards with the best value, none where all are equal; a value is null where there is none."""
    rows: list[ScorecardRow] = []
    for figure in FIGURES:
        values = [None if each.measures is None else figure.of(each.measures) for each in answered]
        known = [value for value in values if value is not None]
        best = figure.best(known) if len(set(known)) > 1 else None
        rows.append(
            {
                "key": figure.key,
                "label": figure.label,
                "title": figure.title,
                "values": values,
                "best": [place for place, value in enumerate(values) if best is not None and value == best],
            }
        )
    return rows
