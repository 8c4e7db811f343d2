"""The rows of a cluster's groups: as lists show them, and with what changes in nearly all of them at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol, cast

from django.utils import timezone

from groups.cluster_models import WatchedGroup
from groups.watching.columns import GroupRow, ShownFacts

ROWS_AT_ONCE: Final = 200
"""Rows in one statement."""


class HasLag(Protocol):
    """A group under way, polled or followed."""

    row: WatchedGroup
    facts: dict[str, Any]


def store_lags(groups: Mapping[str, HasLag], lag: Mapping[str, int | None]) -> list[GroupRow]:
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
