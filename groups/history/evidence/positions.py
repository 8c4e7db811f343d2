"""Committed offsets that did not simply advance: that went back, were set while the group was empty, were deleted, or have no owner.

A consumer begins at the committed offset and commits what it has read, so an offset never goes back by itself. Who held the
partition at each commit, and whether its offset was deleted in between, distinguishes the cases. An incremental fold: ``Rhythm`` feeds it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from groups.history.state.declared import document, row

BACKS_KEPT_MAX: Final = 200
"""Steps back that are kept one by one, the first ones; all are counted."""

BURSTS_KEPT_MAX: Final = 100
"""Bursts of commits without a member, and of deletions, that are kept."""

BURST_PLACES_MAX: Final = 50
"""Partitions of a burst that are kept one by one; all are counted."""

BURST_PAUSE_MS: Final = 60_000
"""A longer pause ends a burst of commits without a member: a tool sets all partitions at once."""

DELETED_TOGETHER_MS: Final = 10_000
"""Deletions this close to each other are one: the coordinator looks through a group's offsets at once."""

PLACES_MAX: Final = 2_000
"""Partitions of which steps back, and commits without an owner, are summed up."""


@row
@dataclass(slots=True)
class Back:
    """A committed offset lower than the one before. ``why``: ``handover``, ``owner``, ``deleted``, ``unknown``."""

    topic: str
    partition: int
    at_ms: int
    sequence: int
    offset: int
    before: int
    before_ms: int
    before_sequence: int
    why: str
    holder: str | None
    """Who held the partition at this commit, and at the one before."""
    giver: str | None
    since: int
    """Where the new owner took it, or where the offset was deleted; 0 otherwise."""


@row
@dataclass(slots=True)
class Moved:
    """A partition's offset before a burst (None: not known) and after it."""

    topic: str
    partition: int
    before: int | None
    after: int | None


@document
@dataclass(slots=True)
class Burst:
    """Commits of an empty group, or deletions, close together: ``count`` records, the first ``places`` partitions."""

    at_ms: int
    to_ms: int
    sequence: int
    last_sequence: int
    is_empty: bool
    count: int = 0
    places: list[Moved] = field(default_factory=list)


@row
@dataclass(slots=True)
class Series:
    """Events of one partition: steps back with their lowest and highest offset, or commits without an owner."""

    topic: str
    partition: int
    count: int
    first_ms: int
    first_sequence: int
    last_ms: int
    last_sequence: int
    least: int
    most: int


@document
@dataclass(slots=True)
class Positions:
    """See the module."""

    backs: list[Back] = field(default_factory=list)
    backs_count: int = 0
    turns: list[Series] = field(default_factory=list)
    """Partitions that went back under one owner, or under any owner."""
    sets: list[Burst] = field(default_factory=list)
    deletions: list[Burst] = field(default_factory=list)
    unowned: list[Series] = field(default_factory=list)
    _series: dict[tuple[bool, str, int], Series] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        for is_turn, kept in ((True, self.turns), (False, self.unowned)):
            self._series |= {(is_turn, one.topic, one.partition): one for one in kept}

    def went_back(self, back: Back) -> None:
        self.backs_count += 1
        if len(self.backs) < BACKS_KEPT_MAX:
            self.backs.append(back)
        if back.why in ("owner", "unknown"):
            self._count(
                True, (back.topic, back.partition), back.at_ms, back.sequence, back.offset, back.before
            )

    def without_owner(self, place: tuple[str, int], at_ms: int, sequence: int, offset: int) -> None:
        """A commit of a partition that no member holds, in a group that has members."""
        self._count(False, place, at_ms, sequence, offset, offset)

    def _count(
        self, is_turn: bool, place: tuple[str, int], at_ms: int, sequence: int, least: int, most: int
    ) -> None:
        one = self._series.get((is_turn, *place))
        kept = self.turns if is_turn else self.unowned
        if one is None:
            if len(kept) < PLACES_MAX:
                one = Series(*place, 1, at_ms, sequence, at_ms, sequence, least, most)
                kept.append(one)
                self._series[is_turn, *place] = one
            return
        one.count += 1
        one.last_ms, one.last_sequence = at_ms, sequence
        one.least, one.most = min(one.least, least), max(one.most, most)

    def without_member(
        self, place: tuple[str, int], at_ms: int, sequence: int, before: int | None, offset: int
    ) -> None:
        """A commit to a group that has no member."""
        last = self.sets[-1] if self.sets else None
        if last is None or at_ms - last.to_ms > BURST_PAUSE_MS:
            if len(self.sets) >= BURSTS_KEPT_MAX:
                return
            last = Burst(at_ms, at_ms, sequence, sequence, is_empty=True)
            self.sets.append(last)
        self._add(last, place, at_ms, sequence, before, offset)

    def deleted(
        self, place: tuple[str, int], at_ms: int, sequence: int, before: int | None, *, is_empty: bool
    ) -> None:
        """An offset was deleted: it expired, its topic is gone, or somebody deleted it."""
        last = self.deletions[-1] if self.deletions else None
        if last is None or at_ms - last.to_ms > DELETED_TOGETHER_MS or last.is_empty is not is_empty:
            if len(self.deletions) >= BURSTS_KEPT_MAX:
                return
            last = Burst(at_ms, at_ms, sequence, sequence, is_empty=is_empty)
            self.deletions.append(last)
        self._add(last, place, at_ms, sequence, before, None)

    @staticmethod
    def _add(
        burst: Burst, place: tuple[str, int], at_ms: int, sequence: int, before: int | None, after: int | None
    ) -> None:
        burst.count += 1
        burst.to_ms, burst.last_sequence = at_ms, sequence
        known = next((one for one in burst.places if (one.topic, one.partition) == place), None)
        if known is not None:
            known.after = after
        elif len(burst.places) < BURST_PLACES_MAX:
            burst.places.append(Moved(*place, before, after))
