"""What is forgotten of live groups: commits and offsets that are old, timelines that ended long ago, and groups that are gone."""

from __future__ import annotations

import time
from datetime import timedelta
from itertools import islice
from typing import Final

from django.conf import settings
from django.db.models import F, QuerySet, Sum
from django.db.models.functions import Length
from django.utils import timezone

from groups import storage
from groups.cluster_models import Cluster, WatchedGroup
from groups.history.polls.recording import Condition
from groups.models import Batch, Timeline
from groups.storage import offset_blocks
from groups.storage.thinning import BLOCK_MS_LEAST
from groups.watching.alerts import deliveries

BYTES_MOST = 2 * 1024**3
"""Entries of one cluster's timelines; beyond, the oldest that ended go first. Folded, they are some times as much."""

THINNED_AFTER_MS: Final = 3_600_000
"""Commits of the last hour are all kept: by then somebody has looked at what happened."""

BLOCKS_AT_ONCE: Final = 500
"""Blocks that one pass thins, some 10 ms each: 2,000 groups have about as many in two passes."""

AT_ONCE = 200
"""Timelines that one pass removes: a pass is short, and comes again."""


def forget(cluster: Cluster) -> int:
    """Remove what is too old or too much; how many timelines were removed. Those that grow stay, but are thinned;
    so do old ones with notes, up to ``BYTES_MOST``.

    Commits are thinned after an hour; at once where more is stored than is kept, before any timeline is removed.
    """
    kept = timedelta(days=settings.LIVE_KEEP_DAYS)
    before = timezone.now() - kept
    ended = Timeline.objects.filter(cluster=cluster).exclude(status=Timeline.Status.RUNNING)
    old = ended.filter(created__lt=before, notes=None).order_by("created")
    gone = list(old.values_list("pk", flat=True)[:AT_ONCE])
    thin(cluster, _now_ms() - THINNED_AFTER_MS)
    if not gone and (over := bytes_of(cluster) - BYTES_MOST) > 0:
        over -= thin(cluster, _now_ms(), least_ms=0)
        gone = _oldest(ended, over)
    WatchedGroup.objects.filter(
        cluster=cluster, condition=Condition.DELETED.value, changed__lt=before
    ).delete()
    offset_blocks.forget(cluster, _now_ms(), kept)
    deliveries.forget(cluster, settings.LIVE_KEEP_DAYS)
    return storage.delete_all(gone) if gone else 0


def thin(cluster: Cluster, before_ms: int, *, least_ms: int = BLOCK_MS_LEAST) -> int:
    """Thin commits that are older than ``before_ms``, of ``BLOCKS_AT_ONCE`` blocks at most; the bytes that were freed."""
    growing = Timeline.objects.filter(cluster=cluster, thinned__lt=F("last")).defer("summary", "scenario")
    timelines = list(growing.order_by("?"))
    blocks = (freed for each in timelines for freed in storage.thin(each, before_ms, least_ms=least_ms))
    return sum(islice(blocks, BLOCKS_AT_ONCE))


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


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
