"""Unassigned: partitions that had an owner and then none, or that wait for their first one (``first``).

Needs: records of assignments. Claims: how long, from the record that released a partition to the one that assigned it; for the
first owner from the change that asked for a target (a join, a subscription, a topic that grew). Nothing is measured over a gap,
while the group is empty, or where no target holds the partition (its topic is gone).
Cannot know: when the consumer itself stopped or began.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.findings.declaring import Declared, Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.words import duration, lasting

SHOWN_MAX: Final = 20
"""Intervals that stand among the findings, the longest first."""


def found_unassigned(facts: Facts) -> Iterator[Finding]:
    """``no_owner``: those that are over, the longest first, then those that are not; an empty group needs no owners."""
    own, noun = facts.ownership, facts.wording.noun
    for one in own.longest_first()[:SHOWN_MAX]:
        if not one.length_ms:
            # Released and taken in one moment of the clock: that is a move, and no time without an owner.
            continue
        name = facts.partition(one.topic, one.partition)
        until = ", until its first owner" if one.before is None else ""
        yield finding(
            "no_owner",
            f"{name} was unassigned for {duration(one.length_ms)}{until}",
            [one.from_sequence, one.to_sequence],
            partition=name,
            length_ms=one.length_ms,
            from_ms=one.from_ms,
            to_ms=one.from_ms + one.length_ms,
            before=one.before,
            after=one.after,
            first=one.before is None,
            open=False,
            count=own.ownerless_count,
            noun=noun,
            forming=facts.lives.is_forming(one.from_sequence),
        )
    still = sorted(own.free.items(), key=lambda item: item[1].since_ms) if facts.members else []
    for (topic, partition), free in still[:SHOWN_MAX]:
        name = facts.partition(topic, partition)
        length = max(facts.last_ms - free.since_ms, 0)
        yield finding(
            "no_owner",
            f"{name} has been unassigned{lasting(length)}" if length else f"{name} is unassigned at the end",
            [free.sequence],
            partition=name,
            length_ms=length,
            from_ms=free.since_ms,
            to_ms=None,
            before=free.owner,
            after=None,
            first=free.owner is None,
            open=True,
            count=len(own.free),
            noun=noun,
            forming=False,
        )


FINDER: Final = Declared(
    place=140,
    find=found_unassigned,
    rows=(Row(kinds=("no_owner",), needs="records"),),
)
