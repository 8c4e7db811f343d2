"""What is forgotten of live groups: timelines that ended long ago, and groups that are gone."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db.models import QuerySet, Sum
from django.db.models.functions import Length
from django.utils import timezone

from groups import storage
from groups.cluster_models import Cluster, WatchedGroup
from groups.history.polls.recording import Condition
from groups.models import Batch, Timeline
from groups.watching.alerts import deliveries

BYTES_MOST = 2 * 1024**3
"""Entries of one cluster's timelines; beyond, the oldest that ended go first. Folded, they are some times as much."""

AT_ONCE = 200
"""Timelines that one pass removes: a pass is short, and comes again."""


def forget(cluster: Cluster) -> int:
    """Remove what is too old or too much; how many timelines went. Those that grow stay."""
    before = timezone.now() - timedelta(days=settings.LIVE_KEEP_DAYS)
    ended = Timeline.objects.filter(cluster=cluster).exclude(status=Timeline.Status.RUNNING)
    gone = list(ended.filter(created__lt=before).order_by("created").values_list("pk", flat=True)[:AT_ONCE])
    if not gone:
        gone = _oldest(ended, bytes_of(cluster) - BYTES_MOST)
    WatchedGroup.objects.filter(
        cluster=cluster, condition=Condition.DELETED.value, changed__lt=before
    ).delete()
    deliveries.forget(cluster, settings.LIVE_KEEP_DAYS)
    return storage.delete_all(gone) if gone else 0


def _oldest(ended: QuerySet[Timeline], bytes_over: int) -> list[str]:
    """As many timelines as hold so many bytes, the oldest first, ``AT_ONCE`` at most."""
    sized = ended.order_by("created").annotate(held=Sum(Length("batches__entries")))
    gone = []
    for pk, held in sized.values_list("pk", "held")[:AT_ONCE] if bytes_over > 0 else ():
        if bytes_over <= 0:
            break
        gone.append(pk)
        bytes_over -= held or 0
    return gone


def bytes_of(cluster: Cluster) -> int:
    """Bytes of the entries that are stored of a cluster."""
    stored = Batch.objects.filter(timeline__cluster=cluster).aggregate(total=Sum(Length("entries")))
    return int(stored["total"] or 0)
