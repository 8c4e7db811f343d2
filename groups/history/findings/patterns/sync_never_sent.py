"""Sync never sent: the leader of a classic group joined and sends no assignment, so that everybody waits until the rebalance timeout.

Needs: requests and the coordinator's timers. Claims: who led, how long the others waited, who was dropped.
Cannot know: whether the leader died, hangs in its assignor, or throws each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding
from groups.history.findings.patterns.classic_waits import ClassicWaits
from groups.history.findings.patterns.pattern import REQUESTS, TIMERS, Pattern, Severity
from groups.history.words import counted, duration

PATTERN: Final = Pattern(
    kind="sync_never_sent",
    title="SyncGroup never sent",
    severity=Severity.CRITICAL,
    rank=50,
    sources=((REQUESTS, TIMERS),),
    look_for="a classic group is CompletingRebalance until the rebalance timeout; the SyncGroup of its leader is missing",
    causes=(
        "a leader that dies between join and sync",
        "an assignor that hangs, or throws each time (KAFKA-13406)",
    ),
    look_at=(
        "the log and a thread dump of the leader",
        "partition.assignment.strategy",
        "max.poll.interval.ms",
    ),
    differs=(
        "KIP-429 checks in the leader's client that nothing is given away before it is revoked; released clients skip the check for "
        "cooperative-sticky (KAFKA-13406), whose leader would throw for ever."
    ),
)


def found_unsynced(facts: Facts) -> Iterator[Finding]:
    """``sync_never_sent``: each wait."""
    for one in facts.watch(ClassicWaits).unsynced:
        name, length = facts.name(one.leader or ""), duration(one.to_ms - one.from_ms)
        # The leader is dropped, so it is not among those that still wait.
        end = (
            f"{counted(one.present, 'member')} waited {length}, then {name}"
            if one.present
            else f"after {length} it"
        )
        yield PATTERN.found(
            f"{name} led and sent no assignment; {end} was dropped",
            [one.from_sequence, one.to_sequence],
            needs=[REQUESTS, TIMERS],
            member=one.leader,
            name=name,
            members=one.missing,
            from_ms=one.from_ms,
            to_ms=one.to_ms,
            length_ms=one.to_ms - one.from_ms,
            steps=[one.from_sequence, one.to_sequence],
        )


FINDER: Final = PATTERN.finder(410, found_unsynced)
