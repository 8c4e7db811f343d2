"""Offsets over time: where partitions' logs end and start, and what groups have committed, in blocks of columns.

A block grows for an hour. Looks are 5 s apart for a day; of older days one a minute is left, and a day is one block.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from itertools import groupby
from typing import Final, NamedTuple

from django.db import transaction
from django.db.models import Q, QuerySet, Sum
from django.db.models.functions import Length

from groups.cluster_models import Cluster
from groups.history.lag.samples import OffsetColumns, thinned, unpacked
from groups.models import Import, OffsetBlock

BLOCK_MS_MOST: Final = 3_600_000
BLOCK_OFFSETS_MOST: Final = 100_000
"""A block ends after an hour, or sooner if it has so many offsets: it is read and written again each time that it grows."""

FULL_FOR: Final = timedelta(days=1)
THINNED_EVERY_MS: Final = 60_000
"""Looks that are older than a day are thinned to one a minute, a whole day (UTC) at a time."""

THINNED_AT_ONCE: Final = 500
"""Series whose day one pass thins, some milliseconds each."""

BYTES_MOST: Final = 1024**3
"""Offsets of one cluster; beyond, the oldest go. 40,000 partitions fill about that in the two days that are not thinned yet."""

REMOVED_AT_ONCE: Final = 1_000

DAY_MS: Final = 86_400_000


class Series(NamedTuple):
    """What a block is about. ``watched`` is the key of the group of which offsets were committed, null of ends and starts."""

    kind: str
    watched: int | None
    topic: str


def store(cluster: Cluster, some: Iterable[tuple[Series, OffsetColumns, int | None]]) -> list[int]:
    """Append looks to series, each to the block of this key or, if that is null or full, to a new one; the keys, in order."""
    given = list(some)
    blocks = OffsetBlock.objects.in_bulk([key for _, _, key in given if key is not None])
    rows = []
    for series, columns, key in given:
        row = blocks.get(key) if key is not None else None
        begun = unpacked(bytes(row.columns)) if row is not None else OffsetColumns()
        if row is None or _is_full(begun, columns):
            kind, watched, topic = series
            row = OffsetBlock(cluster=cluster, kind=kind, watched_id=watched, topic=topic)
            begun = OffsetColumns()
        begun.extend(columns)
        row.first_ms, row.last_ms, row.columns = begun.times_ms[0], begun.times_ms[-1], begun.packed()
        rows.append(row)
    with transaction.atomic():
        # One by one they would be updated in as many statements.
        OffsetBlock.objects.bulk_create(
            [row for row in rows if row.pk is not None],
            update_conflicts=True,
            unique_fields=["id"],
            update_fields=["last_ms", "columns"],
        )
        OffsetBlock.objects.bulk_create([row for row in rows if row.pk is None])
    return [row.pk for row in rows]


def store_imported(
    found: Import, ends: Mapping[str, OffsetColumns], starts: Mapping[str, OffsetColumns]
) -> None:
    """Store what a file that came with an import contains."""
    rows = []
    for kind, some in ((OffsetBlock.Kind.END, ends), (OffsetBlock.Kind.START, starts)):
        for topic, whole in some.items():
            looks = max(1, BLOCK_OFFSETS_MOST // len(whole.offsets))
            for first in range(0, len(whole), looks):
                part = whole.only(range(first, min(first + looks, len(whole))))
                first_ms, last_ms = part.times_ms[0], part.times_ms[-1]
                row = OffsetBlock(imported=found, kind=kind, topic=topic, first_ms=first_ms, last_ms=last_ms)
                row.columns = part.packed()
                rows.append(row)
    OffsetBlock.objects.bulk_create(rows)


def _is_full(begun: OffsetColumns, more: OffsetColumns) -> bool:
    return (
        more.times_ms[-1] - begun.times_ms[0] > BLOCK_MS_MOST
        or (len(begun) + len(more)) * len(begun.offsets) > BLOCK_OFFSETS_MOST
    )


def blocks_of(
    of: Q, kind: OffsetBlock.Kind, topics: Collection[str], from_ms: int, to_ms: int
) -> dict[str, OffsetColumns]:
    """By topic the looks from ``from_ms`` to ``to_ms``, and those of the blocks in which these are."""
    found: dict[str, OffsetColumns] = {}
    rows = OffsetBlock.objects.filter(
        of, kind=kind, topic__in=list(topics), last_ms__gte=from_ms, first_ms__lte=to_ms
    )
    for topic, columns in rows.order_by("first_ms").values_list("topic", "columns"):
        found.setdefault(topic, OffsetColumns()).extend(unpacked(bytes(columns)))
    return found


def forget(cluster: Cluster, now_ms: int, keep: timedelta) -> None:
    """Thin what is older than a day, remove what is older than ``keep``, and what is too much."""
    stored = OffsetBlock.objects.filter(cluster=cluster)
    stored.filter(last_ms__lt=now_ms - keep // timedelta(milliseconds=1)).delete()
    full_from = datetime.fromtimestamp(now_ms / 1000, UTC) - FULL_FOR
    day = datetime.combine(full_from.date(), time(), UTC)
    _thin(stored, int(day.timestamp() * 1000))
    while (stored.aggregate(total=Sum(Length("columns")))["total"] or 0) > BYTES_MOST:
        oldest = stored.order_by("last_ms").values_list("pk", flat=True)[:REMOVED_AT_ONCE]
        OffsetBlock.objects.filter(pk__in=list(oldest)).delete()


def _thin(stored: QuerySet[OffsetBlock], before_ms: int) -> None:
    """Make one thinned block of all blocks of a series that began on the same day and ended before ``before_ms``."""
    old = stored.filter(thinned=False, last_ms__lt=before_ms).order_by("kind", "watched", "topic", "first_ms")
    keys = old.values_list("pk", "kind", "watched", "topic", "first_ms")
    days = groupby(keys.iterator(), key=lambda row: (row[1:4], row[4] // DAY_MS))
    for number, (_, rows) in enumerate(days):
        if number == THINNED_AT_ONCE:
            return
        _thin_one([row[0] for row in rows])


def _thin_one(keys: Sequence[int]) -> None:
    blocks = list(OffsetBlock.objects.filter(pk__in=keys).order_by("first_ms"))
    whole = OffsetColumns()
    for block in blocks:
        whole.extend(unpacked(bytes(block.columns)))
    left = thinned(whole, THINNED_EVERY_MS)
    first = blocks[0]
    first.first_ms, first.last_ms = left.times_ms[0], left.times_ms[-1]
    first.columns, first.thinned = left.packed(), True
    with transaction.atomic():
        OffsetBlock.objects.filter(pk__in=keys[1:]).delete()
        first.save(update_fields=["first_ms", "last_ms", "columns", "thinned"])
