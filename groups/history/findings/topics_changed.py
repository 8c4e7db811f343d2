"""Topics changed: topics of the group that grew; those that were deleted or made anew stand with the troubles.

Needs: notes about topics, from the cluster's metadata log. Claims: from how many to how many partitions, and when.
Cannot know: anything of topics from the records of groups alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from groups.history.findings.finding import Finding, finding
from groups.history.words import counted


def found_grown(grown: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """``partitions_added``: each time."""
    found = []
    for one in grown:
        says = f"{one['topic']} grew from {one['before']} to {counted(one['after'], 'partition')}"
        facts = {key: one[key] for key in ("topic", "before", "after", "at_ms")}
        found.append(finding("partitions_added", says, [one["sequence"]], needs=["notes"], **facts))
    return found
