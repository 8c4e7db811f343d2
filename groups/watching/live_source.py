"""What a live timeline comes from, and how that is now: its cluster, whether somebody looks, and what the coordinator described last.

A board shows the end of a log. Whether that is still so depends on its source: one that is dead, paused or not asked any more
shows an end that may be long over.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TypedDict

from django.utils import timezone

from groups.cluster_models import WatchedGroup
from groups.models import Timeline


class LiveSource(TypedDict):
    """Times are the watcher's clock, but for ``now_ms``, the server's.

    ``is_watched``: whether a process holds the cluster's lease. ``looked_ms``: the last round that brokers answered. ``state`` to
    ``members`` are from the group's row, whose source is the coordinator's newest description. ``skew_ms``: how far the broker's clock
    is ahead, where that is a second or more.
    """

    now_ms: int
    looked_ms: int | None
    every_s: float | None
    mode: str
    status: str
    problem: str
    is_watched: bool
    condition: str
    state: str | None
    state_since_ms: int | None
    rebalancing: bool
    since_ms: int | None
    members: int | None
    skew_ms: int | None


def live_sources(timelines: Iterable[str]) -> dict[str, LiveSource]:
    """The sources of those timelines that still grow, by the timeline's id."""
    rows = WatchedGroup.objects.filter(
        timeline__in=list(timelines),
        timeline__source=Timeline.Source.LIVE,
        timeline__status=Timeline.Status.RUNNING,
    )
    rows = rows.select_related("cluster").defer("polled", "checkpoint")
    return {str(row.timeline_id): _source_of(row) for row in rows}


def _source_of(row: WatchedGroup) -> LiveSource:
    cluster, facts = row.cluster, row.facts
    seen = cluster.seen
    follow = seen.get("follow") or {}
    skews = follow.get("skews_ms") or {}
    return {
        "now_ms": time.time_ns() // 1_000_000,
        "looked_ms": seen.get("at_ms"),
        "every_s": seen.get("every_s"),
        "mode": follow.get("mode") or "polling",
        "status": cluster.status,
        "problem": cluster.problem,
        "is_watched": bool(cluster.lease_owner) and (cluster.lease_until or timezone.now()) > timezone.now(),
        "condition": row.condition,
        "state": row.state or None,
        "state_since_ms": facts.get("state_since_ms"),
        "rebalancing": bool(facts.get("rebalancing")),
        "since_ms": facts.get("since_ms"),
        "members": facts.get("members"),
        "skew_ms": skews.get(str(row.followed.get("partition"))),
    }
