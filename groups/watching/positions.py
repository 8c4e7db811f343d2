"""The offsets of each round, kept over time: they wait here, a minute at most, and are appended to stored blocks.

A small cluster's are stored with each round. Of one with thousands of topics some are, those that waited longest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from django.db import transaction

from groups.cluster_models import Cluster, WatchedGroup
from groups.history.lag.samples import NEW_LOG, OffsetColumns
from groups.models import TOPIC_LENGTH_MOST, OffsetBlock
from groups.storage import offset_blocks
from groups.storage.offset_blocks import Series
from groups.watching import registry
from groups.watching.pulling import Place, Positions

SERIES_AT_ONCE: Final = 400
"""Series that are stored with one round, about a millisecond each: 4,000 are within a minute."""


@dataclass(slots=True)
class PositionKeeper:
    """The offsets of one cluster; one process has it."""

    cluster: Cluster
    owner: str
    _waiting: dict[Series, OffsetColumns] = field(default_factory=dict)
    """Those that wait longest first."""

    _blocks: dict[Series, int] = field(default_factory=dict)
    """The key of the block that grows."""

    _groups: dict[str, int] = field(default_factory=dict)

    def take(self, positions: Positions) -> None:
        """Keep what a round saw, and store what waited longest."""
        for topic, ends in positions.ends.items():
            if topic in positions.made_again:
                self._add(
                    Series(OffsetBlock.Kind.END, None, topic),
                    positions.ends_ms - 1,
                    dict.fromkeys(ends, NEW_LOG),
                )
            self._add(Series(OffsetBlock.Kind.END, None, topic), positions.ends_ms, ends)
        for topic, starts in positions.starts.items():
            self._add(Series(OffsetBlock.Kind.START, None, topic), positions.ends_ms, starts)
        self._add_committed(positions)
        self._store(SERIES_AT_ONCE)

    def flush(self) -> None:
        """Store all that waits: nothing more comes."""
        while self._waiting:
            self._store(SERIES_AT_ONCE)

    def _add_committed(self, positions: Positions) -> None:
        new = [name for name in positions.committed if name not in self._groups]
        if new:
            rows = WatchedGroup.objects.filter(cluster=self.cluster).values_list("group", "pk")
            self._groups = dict(rows)
        for name, places in positions.committed.items():
            if (key := self._groups.get(name)) is None:
                continue
            for topic, offsets in _by_topic(places).items():
                self._add(Series(OffsetBlock.Kind.COMMITTED, key, topic), positions.committed_ms, offsets)

    def _add(self, series: Series, at_ms: int, offsets: Mapping[int, int]) -> None:
        if len(series.topic) > TOPIC_LENGTH_MOST or not offsets:
            return
        self._waiting.setdefault(series, OffsetColumns()).add(at_ms, offsets)

    def _store(self, most: int) -> None:
        due = list(self._waiting)[:most]
        if not due:
            return
        with transaction.atomic():
            registry.fence(self.cluster.pk, self.owner)
            keys = offset_blocks.store(
                self.cluster,
                [(series, self._waiting[series], self._blocks.get(series)) for series in due],
            )
        self._blocks |= dict(zip(due, keys, strict=True))
        for series in due:
            del self._waiting[series]


def _by_topic(places: Iterable[Place]) -> dict[str, dict[int, int]]:
    found: dict[str, dict[int, int]] = {}
    for topic, partition, offset in places:
        found.setdefault(topic, {})[partition] = offset
    return found
