"""A cluster as the pages and the API show it: never with a secret."""

from __future__ import annotations

from typing import Any, Final, TypedDict

from django.urls import reverse

from groups.cluster_models import Cluster, WatchedGroup
from groups.clusters.allowed import ALLOWED
from groups.watching import registry
from groups.watching.rows import row_of

GROUPS_SHOWN_MOST: Final = 2_000
"""Rows of a cluster's page; the API and ``manage.py groups`` list more."""


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


def groups_of(cluster: Cluster) -> list[dict[str, Any]]:
    """The groups by name, those that are gone left out."""
    rows = WatchedGroup.objects.filter(cluster=cluster).exclude(condition="deleted")
    return [row_of(row) for row in rows[:GROUPS_SHOWN_MOST]]


def sent() -> list[str]:
    """The names of all requests that are ever sent."""
    return sorted(allowed.api.name for allowed in ALLOWED.values())
