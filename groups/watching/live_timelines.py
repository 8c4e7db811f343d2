"""Timelines of live groups, as they begin and end."""

from __future__ import annotations

from groups import storage
from groups.cluster_models import Cluster, WatchedGroup
from groups.history.entries import Provenance
from groups.models import Timeline
from groups.shown import shown_name


def end_timeline(timeline_id: str, problem: str) -> None:
    """End a timeline that cannot be gone on with, and say why."""
    Timeline.objects.filter(pk=timeline_id).update(
        status=Timeline.Status.INTERRUPTED, problem=problem, lease_owner="", lease_until=None
    )


def begin_timeline(cluster: Cluster, owner: str, row: WatchedGroup, provenance: Provenance) -> storage.Writer:
    """A timeline that grows, of a group of this cluster; all of its records have one provenance."""
    timeline = storage.create_timeline(
        title=f"{shown_name(row.group)} on {cluster.name}",
        source=Timeline.Source.LIVE,
        group=row.group,
        semantics="kafka",
        cluster_id=cluster.pk,
        provenance=provenance.value,
    )
    row.timeline = timeline
    return storage.open_writer(timeline.pk, owner)
