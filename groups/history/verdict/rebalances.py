"""The rebalances of a timeline as a table: when, why, who, what moved, who stopped, who held it up; from a summary alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypedDict

from groups.history.story.epochs import EpochStart

CAUSES: Final = (
    "began", "joined", "removed", "replaced", "away", "twin_instance", "partitions_added", "topics_deleted", "topics_remade",
    "matched", "migrated", "group_type", "strategy_changed",
)  # fmt: skip
"""Findings that ask for a new assignment."""

NAMES_MOST: Final = 20
"""Members of one row that are named; all are counted."""


Found = TypedDict(
    "Found",
    {
        "kind": str,
        "says": str,
        "sequences": list[int],
        "steps": list[int],
        "name": str,
        "partition": str,
        "from": str,
        "length_ms": int,
    },
    total=False,
)
"""What the table reads of a finding, of whichever kind."""


class RebalanceRow(TypedDict):
    """From the epoch ``sequence`` on until the next one. ``causes``: sentences of findings, empty where none is known.

    ``moved``: partitions that changed owners; ``interrupted``: members that lost some, or every one where ``stops_all``; ``blocked``:
    sentences about who was waited for, the longest first, each with the entries that prove it in ``proof``.
    """

    sequence: int
    epoch: int | None
    at_ms: int
    until_ms: int
    causes: list[str]
    who: list[str]
    moved: int
    stops_all: bool
    interrupted: list[str]
    blocked: list[str]
    proof: list[int]


def rebalances_of(
    epochs: Sequence[EpochStart], findings: Sequence[Found], last_sequence: int, last_ms: int
) -> list[RebalanceRow]:
    """A row for each epoch or generation that began, in order."""
    rows: list[RebalanceRow] = []
    for number, epoch in enumerate(epochs):
        first = epoch["sequence"]
        following = epochs[number + 1] if number + 1 < len(epochs) else None
        before = epochs[number - 1]["sequence"] if number else 0
        last = following["sequence"] - 1 if following else max(last_sequence, first)
        causes = [
            one
            for one in findings
            if one["kind"] in CAUSES and one["sequences"] and before < one["sequences"][0] <= first
        ]
        moved = [one for one in findings if one["kind"] == "moved" and first <= one["sequences"][-1] <= last]
        waits = sorted(
            (one for one in findings if one["kind"] == "waited_for" and first <= one["sequences"][0] <= last),
            key=lambda one: -one["length_ms"],
        )
        stops_all = any(one["kind"] == "eager_rebalance" and first in one["steps"] for one in findings)
        shown = [*causes, *waits]
        rows.append(
            {
                "sequence": first,
                "epoch": epoch["epoch"],
                "at_ms": epoch["at_ms"],
                "until_ms": following["at_ms"] if following else max(last_ms, epoch["at_ms"]),
                "causes": _once(one["says"] for one in causes),
                "who": _once(one["name"] for one in causes if one.get("name")),
                "moved": len({one["partition"] for one in moved}),
                "stops_all": stops_all,
                "interrupted": _once(one["from"] for one in moved if one.get("from")),
                "blocked": _once(one["says"] for one in waits),
                "proof": sorted({sequence for one in shown for sequence in one["sequences"]})[:NAMES_MOST],
            }
        )
    return rows


def _once(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))[:NAMES_MOST]
