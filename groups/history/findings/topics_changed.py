"""Topics changed: topics of the group that grew; those that were deleted or made again are among the troubles.

Needs: notes about topics, from the cluster's metadata log. Claims: from how many to how many partitions, and when.
Cannot know: anything of topics from the records of groups alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.findings.declaring import Declared, Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.words import counted


def found_grown(facts: Facts) -> Iterator[Finding]:
    """``partitions_added``: each time."""
    for one in facts.notes.grown:
        text = f"{one['topic']} grew from {one['before']} to {counted(one['after'], 'partition')}"
        yield finding(
            "partitions_added",
            text,
            [one["sequence"]],
            needs=["notes"],
            topic=one["topic"],
            before=one["before"],
            after=one["after"],
            at_ms=one["at_ms"],
        )


FINDER: Final = Declared(
    place=190,
    find=found_grown,
    rows=(
        Row(
            kinds=("partitions_added", "topics_deleted", "topics_remade"),
            needs="the metadata log",
            incident=True,
        ),
    ),
)
