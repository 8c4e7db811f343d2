"""Unread: partitions that nobody read, since the process that should was killed or paused.

Needs: faults and callbacks, which only a simulated run has. Claims: how long, from the fault to the end of the next
``on_partitions_assigned`` that names the partition, or to the end of the pause. In this time the partition is first assigned, and
the group may be Stable; only its last part, between two owners, is *unassigned*.
Cannot know: when the consumer fetched its first record.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.evidence.steps import keys
from groups.history.findings.declaring import Declared, Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.words import lasting, partition_name

SHOWN_MAX: Final = 20

NEEDS: Final = ["callbacks", "faults"]


def found_unread(facts: Facts) -> Iterator[Finding]:
    """``unread``: those that are over, the longest first, then those that are not, where somebody is meant to read them."""
    reading = facts.reading
    for one in reading.longest_first()[:SHOWN_MAX]:
        name = partition_name((one.topic, one.partition), facts.wording)
        yield finding(
            "unread",
            f"{name} was read by nobody{lasting(one.length_ms)}, since {facts.name(one.member)} was {one.why}",
            [one.from_sequence, one.to_sequence],
            needs=NEEDS,
            member=one.member,
            name=facts.name(one.member),
            partition=name,
            length_ms=one.length_ms,
            from_ms=one.from_ms,
            to_ms=one.from_ms + one.length_ms,
            why=one.why,
            after=one.to_member,
            open=False,
            count=reading.unread_count,
        )
    meant = {key for target in (facts.frame.get("target") or {}).values() for key in keys(target)}
    still = [(place, stop) for place, stop in reading.stopped.items() if place in meant]
    for place, stop in sorted(still, key=lambda one: one[1].since_ms)[:SHOWN_MAX]:
        name = partition_name(place, facts.wording)
        length_ms = max(facts.last_ms - stop.since_ms, 0)
        yield finding(
            "unread",
            f"{name} has been read by nobody{lasting(length_ms)}, since {facts.name(stop.member)} was {stop.why}",
            [stop.sequence],
            needs=NEEDS,
            member=stop.member,
            name=facts.name(stop.member),
            partition=name,
            length_ms=length_ms,
            from_ms=stop.since_ms,
            to_ms=None,
            why=stop.why,
            after=None,
            open=True,
            count=len(still),
        )


FINDER: Final = Declared(
    place=150,
    find=found_unread,
    rows=(Row(kinds=("unread",), needs="faults and callbacks, so simulated runs alone"),),
)
