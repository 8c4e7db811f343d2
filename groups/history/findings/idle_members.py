"""Idle members: members that hold nothing while the group is at rest, as where there are more members than partitions.

Needs: records of assignments. Claims: who, since when, at the log's end. Cannot know: whether they are meant to stand by.
"""

from __future__ import annotations

from typing import Final

from groups.history.findings.declaring import Declared, Row, Section
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.state.group import Protocol
from groups.history.words import duration, is_or_are, listed

IDLE_LEAST_MS: Final = 20_000
"""A joiner holds nothing for some heartbeats, until others have released what it is to get."""


def found_idle(facts: Facts) -> list[Finding]:
    """``idle_members``: all of them as one; a streams group's members may hold copies of tasks, so of those nothing is said."""
    if facts.frame["protocol"] == Protocol.STREAMS or facts.frame["state"] != "Stable":
        return []
    idle = {
        member_id: since
        for member_id, since in facts.lives.idle.items()
        if facts.last_ms - since[0] >= IDLE_LEAST_MS and member_id in facts.members
    }
    if not idle or len(idle) == len(facts.members):
        return []
    names = sorted(facts.name(member_id) for member_id in idle)
    latest = max(since for since, _ in idle.values())
    says = f"{listed(names)} {is_or_are(names)} idle: no partition for {duration(facts.last_ms - latest)}"
    return [
        finding(
            "idle_members",
            says,
            sorted({sequence for _, sequence in idle.values()}),
            members=sorted(idle),
            names=names,
            from_ms=latest,
            to_ms=None,
            length_ms=facts.last_ms - latest,
            count=len(idle),
            steps=sorted({sequence for _, sequence in idle.values()}),
        )
    ]


FINDER: Final = Declared(
    place=180,
    find=found_idle,
    rows=(
        Row(
            kinds=("idle_members",),
            says="members without a partition for 20 s while the group is stable",
            incident=True,
            section=Section.PATTERNS,
        ),
    ),
)
