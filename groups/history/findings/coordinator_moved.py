"""Coordinator moved: another broker, or the same one after a restart, became the group's coordinator.

Needs: the leader epoch of the offsets topic's partition, which record batches carry (a note ``coordinator``), or a simulation's
fault. Claims: when its first record was written under the new leader. Cannot know: how long the group had no coordinator; from a
log whose batches carry no leader epoch, anything.
"""

from __future__ import annotations

from typing import Final

from groups.history.findings.declaring import Declared, Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.findings.repeated import spans


def found_coordinator_moved(facts: Facts) -> list[Finding]:
    """``coordinator_moved``: each; ``steps`` are all of them."""
    kept = facts.troubles.kept["coordinators"]
    return [
        finding(
            "coordinator_moved",
            f"The coordinator moved (leader epoch {one['leader_epoch']} of the group's partition of __consumer_offsets)",
            [one["sequence"]],
            needs=["notes"],
            at_ms=one["at_ms"],
            leader_epoch=one["leader_epoch"],
            count=facts.troubles.counts["coordinators"],
            steps=spans(each["sequence"] for each in kept),
        )
        for one in kept
    ]


FINDER: Final = Declared(
    place=90,
    find=found_coordinator_moved,
    rows=(Row(kinds=("coordinator_moved",), needs="batch headers", incident=True),),
)
