"""A cluster as the pages and the API show it: never with a secret."""

from __future__ import annotations

from typing import Any, Final, TypedDict

from django.db.models import QuerySet
from django.urls import reverse

from groups.cluster_models import Cluster, WatchedGroup
from groups.clusters.allowed import ALLOWED
from groups.models import Timeline
from groups.watching import registry
from groups.watching.group_row import GroupRow
from groups.watching.rows import row_of

CLUSTERS_SHOWN_MOST: Final = 200

GROUPS_SHOWN_MOST: Final = 2_000
"""Rows of a cluster's page, and of one answer of the API."""

TIMELINES_SHOWN_MOST: Final = 200
"""Timelines of one group, the newest: a timeline has a day of a followed group."""


class GroupTimeline(TypedDict):
    """``first_ms`` and ``last_ms`` are the span of its entries, null where it has none."""

    id: str
    url: str
    status: str
    provenance: str
    entries: int
    first_ms: int | None
    last_ms: int | None
    problem: str


class ClusterDetail(TypedDict):
    """``seen`` is what the last round saw: brokers, groups, period, silent brokers, requests by name."""

    id: str
    type: str
    name: str
    url: str
    origin: str
    watched: bool
    status: str
    problem: str
    bootstrap: str
    seen: dict[str, Any]


def detail(cluster: Cluster) -> ClusterDetail:
    return {
        "id": cluster.pk,
        "type": "cluster",
        "name": cluster.name,
        "url": reverse("cluster", args=[cluster.pk]),
        "origin": cluster.origin,
        "watched": cluster.watched,
        "status": cluster.status,
        "problem": cluster.problem,
        "bootstrap": registry.shown(cluster).get("bootstrap.servers", ""),
        "seen": cluster.seen,
    }


def groups_of(cluster: Cluster) -> list[GroupRow]:
    """The groups by name, those that are gone left out."""
    return [row_of(row) for row in rows_of(cluster)[:GROUPS_SHOWN_MOST]]


def rows_of(cluster: Cluster) -> QuerySet[WatchedGroup]:
    return WatchedGroup.objects.filter(cluster=cluster).exclude(condition="deleted")


def sent() -> list[str]:
    """The names of all requests that are ever sent."""
    return sorted(allowed.api.name for allowed in ALLOWED.values())


def timelines_of(cluster: Cluster, group: str) -> list[GroupTimeline]:
    """The timelines of a group in this cluster, the newest first."""
    stored = Timeline.objects.filter(cluster=cluster, group=group).defer("scenario")
    return [
        {
            "id": each.pk,
            "url": reverse("board", args=[each.pk]),
            "status": each.status,
            "provenance": each.provenance,
            "entries": each.last,
            "first_ms": each.summary.get("first_ms"),
            "last_ms": each.summary.get("last_ms"),
            "problem": each.problem,
        }
        for each in stored[:TIMELINES_SHOWN_MOST]
    ]
