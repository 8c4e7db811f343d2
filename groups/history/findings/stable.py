"""Stable: a time in which nothing in the group changed. A quiet hour is news, too.

Needs: records. Claims: since when the group is stable at the log's end, whether that is all that happened, how many commits there were.
Cannot know: that nothing was wrong with the clients, beyond that none of them is silent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.findings.declaring import Declared, Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.words import duration

STABLE_LEAST_MS: Final = 20_000
"""A shorter time is what members take to settle; four of Kafka's default heartbeat intervals of the consumer protocol."""


def found_stable(facts: Facts) -> Iterator[Finding]:
    """``stable``: at the end; ``throughout`` where nothing else happened after the group had formed."""
    lives = facts.lives
    if facts.frame["state"] != "Stable" or not facts.members or lives.changed_ms is None:
        return
    since_ms = lives.changed_ms
    length = facts.last_ms - since_ms
    if length < STABLE_LEAST_MS or any(one.ended == "open" for one in facts.silences):
        return
    nothing = lives.is_forming(lives.changed_sequence) and not lives.goings and not facts.silences
    nothing = nothing and not facts.notes.aborted and not facts.notes.transactions
    text = f"Stable for {duration(length)}{', nothing changed' if nothing else ', to the end of the log'}"
    yield finding(
        "stable",
        text,
        [lives.changed_sequence],
        from_ms=since_ms,
        to_ms=facts.last_ms,
        length_ms=length,
        throughout=nothing,
    )


FINDER: Final = Declared(
    place=200,
    find=found_stable,
    rows=(Row(kinds=("stable",), needs="records"),),
)
