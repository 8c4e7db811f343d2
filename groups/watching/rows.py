"""The rows of a cluster's groups, as lists show them."""

from __future__ import annotations

from typing import Final, cast

from groups.cluster_models import WatchedGroup
from groups.watching.group_row import GroupRow, ShownFacts

ROWS_AT_ONCE: Final = 200
"""Rows in one statement."""


def row_of(row: WatchedGroup) -> GroupRow:
    """A group as lists show it: the API's form, and what is pushed."""
    named = {
        "group": row.group,
        "type": row.kind or None,
        "state": row.state or None,
        "condition": row.condition or None,
        "timeline": row.timeline_id,
    }
    facts = {"rebalancing": False, "rebalanced_ms": []} | row.facts
    return cast(GroupRow, named | {name: facts.get(name) for name in ShownFacts.__annotations__})
