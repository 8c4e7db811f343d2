"""The rows of a cluster's groups: as lists show them, and with what changes in nearly all of them at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

from django.utils import timezone

from groups.cluster_models import WatchedGroup

ROWS_AT_ONCE: Final = 200
"""Rows in one statement."""


class HasLag(Protocol):
    """A group under way, polled or followed."""

    row: WatchedGroup
    facts: dict[str, Any]


def store_lags(groups: Mapping[str, HasLag], lag: Mapping[str, int | None]) -> list[dict[str, Any]]:
    """Store the lags that are new, many rows at once: in a living cluster nearly all of them change. The rows in which they are."""
    changed = []
    for name, value in lag.items():
        each = groups.get(name)
        if each is not None and each.facts.get("lag") != value:
            each.facts = each.facts | {"lag": value}
            each.row.facts, each.row.changed = each.facts, timezone.now()
            changed.append(each.row)
    WatchedGroup.objects.bulk_update(changed, ["facts", "changed"], batch_size=ROWS_AT_ONCE)
    return [row_of(row) for row in changed]


def row_of(row: WatchedGroup) -> dict[str, Any]:
    """A group as lists show it: the API's form, and what is pushed."""
    return {
        "group": row.group,
        "type": row.kind or None,
        "state": row.state or None,
        "state_since_ms": row.facts.get("state_since_ms"),
        "condition": row.condition or None,
        "timeline": row.timeline_id,
        "group_epoch": row.facts.get("group_epoch"),
        "assignment_epoch": row.facts.get("assignment_epoch"),
        "members": row.facts.get("members"),
        "behind": row.facts.get("behind"),
        "lag": row.facts.get("lag"),
        "rebalancing": bool(row.facts.get("rebalancing")),
        "since_ms": row.facts.get("since_ms"),
        "rebalanced_ms": row.facts.get("rebalanced_ms", []),
    }
