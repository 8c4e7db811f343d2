"""Digests as they are stored with the rows of a timeline, and as its log gives them for a window.

A window is answered from the coarsest level that still has about as many columns as are wanted, so that what an answer
costs follows what it shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import cramjam

from groups.history.digests.coarse import read_coarse, worst_of
from groups.history.digests.levels import LEVELS
from groups.history.digests.packed import Packed
from groups.history.digests.part import Columns, Digest, Rows, Tracks
from groups.history.replay.fold import FOLD_VERSION
from groups.models import Digested

FINEST: Final = 0

COARSE_ENOUGH: Final = 2
"""A level with this part of the wanted columns still answers: a finer one would cost many times as much to show a little more."""


class Stretch(NamedTuple):
    """One stored part, before its texts are read."""

    level: int
    first: int
    last: int
    begins: bool
    columns: int
    moments: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which texts of a digest are read."""

    members: bool
    partitions: bool


def store(timeline_id: str, first: int, last: int, levels: Iterable[Packed]) -> None:
    """Rows next to the ``Folded`` of these entries, one for each level."""
    Digested.objects.bulk_create(
        Digested(
            timeline_id=timeline_id,
            fold_version=FOLD_VERSION,
            level=level,
            first=first,
            last=last,
            begins=packed.begins,
            columns=packed.columns,
            moments=packed.moments,
            members_most=packed.members_most,
            group=_pressed(packed.group),
            members=_pressed(packed.members or b""),
            partitions=_pressed(packed.partitions or b""),
            members_start=None if packed.members_start is None else _pressed(packed.members_start),
            partitions_start=None if packed.partitions_start is None else _pressed(packed.partitions_start),
        )
        for level, packed in enumerate(levels)
    )


def level_for(stretches: Iterable[Stretch], columns: int) -> int:
    """The coarsest level that has enough columns for a window that these parts cover."""
    sums = [0] * (1 + len(LEVELS))
    for stretch in stretches:
        sums[stretch.level] += stretch.columns
    return next(
        (level for level in reversed(range(len(sums))) if sums[level] * COARSE_ENOUGH >= columns), FINEST
    )


def covering(stretches: Sequence[Stretch], first: int, last: int) -> list[Stretch]:
    """Of one level's parts in order: those from the chunk's beginning before ``first`` to ``last``."""
    begin = 0
    for at, stretch in enumerate(stretches):
        if stretch.begins and stretch.first <= first:
            begin = at
    return [stretch for stretch in stretches[begin:] if stretch.first <= last or stretch is stretches[begin]]


def read_row(row: Digested, wanted: Wanted, *, start: bool) -> Packed:
    """``start``: with the rows that it begins with; one in the middle goes on from the part before."""
    return Packed(
        begins=row.begins,
        columns=row.columns,
        moments=row.moments,
        members_most=row.members_most,
        group=_unpressed(row.group),
        members=_unpressed(row.members) if wanted.members else None,
        partitions=_unpressed(row.partitions) if wanted.partitions else None,
        members_start=_unpressed(row.members_start)
        if wanted.members and start and row.members_start
        else None,
        partitions_start=_unpressed(row.partitions_start)
        if wanted.partitions and start and row.partitions_start
        else None,
    )


def only(packed: Packed, wanted: Wanted) -> Packed:
    """Without the texts that are not read."""
    members = {} if wanted.members else {"members": None, "members_start": None}
    partitions = {} if wanted.partitions else {"partitions": None, "partitions_start": None}
    return replace(packed, **members, **partitions)  # type: ignore[arg-type]


def unknown(first: int, last: int, counts: Mapping[str, Any], before: Mapping[str, Any] | None) -> Digest:
    """A chunk that nobody has opened: one column, with what the index contains of it, and of the one before it (``ChunkDigest``)."""
    rows_before, rows_after = (
        read_coarse(chunk.get("rows") if chunk else None) for chunk in (before, counts)
    )
    worst = worst_of(rows_before, rows_after)
    from_ms, to_ms = counts["first_ms"] or 0, counts["last_ms"] or 0
    return Digest(
        begins=True,
        columns=Columns(
            first=[first - 1, first],
            last=[first - 1, last],
            from_ms=[from_ms, from_ms],
            to_ms=[from_ms, to_ms],
            moments=[0, 0],
            unassigned=[counts["unassigned"]] * 2,
            members=[counts["members"]] * 2,
            unknown=[0, 1],
        ),
        tracks=Tracks(epochs=[(0, counts["first_epoch"]), (1, counts["last_epoch"])]),
        members=Rows(
            start=dict(rows_before), changes=[(1, member_id, worst[member_id]) for member_id in sorted(worst)]
        ),
        partitions=Rows(start={}),
    )


def _pressed(text: bytes) -> bytes:
    return bytes(cramjam.zstd.compress(text))


def _unpressed(packed: bytes | memoryview[int]) -> bytes:
    return bytes(cramjam.zstd.decompress(bytes(packed)))
