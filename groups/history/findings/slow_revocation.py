"""Slow revocation: members that others waited for.

Needs: records of targets and assignments (the consumer protocol). Claims: who waited for whom, for which partitions, how long,
and whether the holder released them or was removed. Each wait of a holder is a finding of its own.
Cannot know: why a holder was slow. A hand-over takes up to two heartbeats by design, so short waits are no incident.
"""

from __future__ import annotations

from typing import Final

from groups.history.findings.declaring import Declared, Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.words import duration, listed_partitions

SHOWN_MAX: Final = 20

HAND_OVER_MS: Final = 10_000
"""Two heartbeats of the default interval (5 s): what a hand-over may take by design."""


def found_waits(facts: Facts) -> list[Finding]:
    """``waited_for``: those that are not over first, then the longest; ``slow`` where it was longer than a hand-over."""
    own = facts.ownership
    found = []
    for holder, (key, wait) in list(own.still_waited().items())[:SHOWN_MAX]:
        length = max(facts.last_ms - wait.since_ms, 0)
        if wait.waiter not in facts.members or not length:
            continue
        name = facts.partition(*key)
        who, whom = facts.name(wait.waiter), facts.name(holder)
        found.append(
            finding(
                "waited_for",
                f"{who} has waited {duration(length)} for {whom} to release {name}",
                [wait.sequence],
                member=holder,
                name=whom,
                waiter=wait.waiter,
                waiter_name=who,
                partition=name,
                partitions=[name],
                length_ms=length,
                from_ms=wait.since_ms,
                to_ms=None,
                open=True,
                slow=length >= HAND_OVER_MS,
                forming=False,
            )
        )
    found.sort(key=lambda one: -(one["length_ms"] or 0))
    for one in own.longest_waits()[:SHOWN_MAX]:
        if not one.length_ms:
            continue
        places = facts.partitions(one.places)
        who, whom, what = facts.name(one.waiter), facts.name(one.holder), listed_partitions(places)
        text = f"{who} waited {duration(one.length_ms)} for {whom} to release {what}"
        if not one.given_up:
            text = f"{who} waited {duration(one.length_ms)} for {what}, until {whom} was removed"
        found.append(
            finding(
                "waited_for",
                text,
                [one.from_sequence, one.to_sequence],
                member=one.holder,
                name=whom,
                waiter=one.waiter,
                waiter_name=who,
                partition=places[0],
                partitions=places,
                length_ms=one.length_ms,
                from_ms=one.from_ms,
                to_ms=one.from_ms + one.length_ms,
                open=False,
                slow=one.length_ms >= HAND_OVER_MS,
                count=own.waited_count,
                forming=facts.lives.is_forming(one.to_sequence),
            )
        )
    return found


FINDER: Final = Declared(
    place=160,
    find=found_waits,
    rows=(Row(kinds=("waited_for",), needs="records"),),
)
