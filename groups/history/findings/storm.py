"""Rebalance storm: group epochs (or generations) that follow each other without a rest, because the same processes come and go.

Needs: records. Claims: from when to when, how many epochs, who went how often. A deployment that takes each process once, or a
scale-up, is no storm. Cannot know: the cause behind the causes (a deployment system, memory, a network).
"""

from __future__ import annotations

from typing import Final

from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.story.epochs import EpochStart
from groups.history.words import counted, duration

EPOCHS_LEAST: Final = 8
APART_MOST_MS: Final = 15_000
"""Several epochs a minute, as kafka-behaviour has the pattern."""

AGAIN_LEAST: Final = 2
"""Removals of processes that were removed before, within the stretch."""


def found_storms(facts: Facts) -> list[Finding]:
    """``storm``: each stretch; ``steps`` are where its epochs begin."""
    starts = facts.epochs.to_json()
    stretches: list[list[EpochStart]] = []
    for start in starts:
        if stretches and start["at_ms"] - stretches[-1][-1]["at_ms"] <= APART_MOST_MS:
            stretches[-1].append(start)
        else:
            stretches.append([start])
    found = []
    for stretch in stretches:
        first, last = stretch[0]["sequence"], stretch[-1]["sequence"]
        lanes = [going.lane for going in facts.lives.goings if first <= going.sequence <= last]
        if len(stretch) < EPOCHS_LEAST or len(lanes) - len(set(lanes)) < AGAIN_LEAST:
            continue
        names = sorted({facts.process(lane) for lane in lanes if lanes.count(lane) > 1})
        length = stretch[-1]["at_ms"] - stretch[0]["at_ms"]
        word = "generation" if stretch[-1].get("classic") else "group epoch"
        found.append(
            finding(
                "storm",
                f"The group stormed: {counted(len(stretch), word)} in {duration(length)}",
                [first, last],
                certain=False,
                names=names,
                from_ms=stretch[0]["at_ms"],
                to_ms=stretch[-1]["at_ms"],
                length_ms=length,
                count=len(stretch),
                steps=[start["sequence"] for start in stretch],
            )
        )
    return found
