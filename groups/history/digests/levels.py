"""Digests put together, cut to a window, and made coarser.

What these give of a window is what all of its frames would give: a row's value in a column is that of all moments in the column,
merged (``values``), whatever parts and levels it was made of.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from typing import Final

from groups.history.digests import events
from groups.history.digests.part import Columns, Digest, Rows, Tracks
from groups.history.digests.values import (
    NOBODY,
    NOWHERE,
    Key,
    MemberValue,
    PartitionKey,
    PartitionValue,
    Value,
)
from groups.history.story.moment import Moment

LEVELS: Final = (16, 1)
"""Columns, at most, of each part at the coarser levels, next to the one that a chunk begins with: a timeline of a hundred chunks
fits a screen by the first, and one of a million entries by the second."""

BEFORE_ALL: Final = 0
"""Before a timeline's first entry there is a state, and no time: such a column has that of the next one."""


def joined(parts: Sequence[Digest]) -> Digest:
    """One digest of parts that follow each other; the first one begins a chunk.

    A later part that begins one, too, is taken on where the one before it ended: should its start differ from there (it was
    made without those before it), the difference shows in its first column.
    """
    first = parts[0]
    if not first.begins:
        raise ValueError("the first part of a digest begins with a state of its own")
    whole = Digest(begins=True)
    whole.members = Rows(start=dict(first.members.start or {}))
    whole.partitions = Rows(start=dict(first.partitions.start or {}))
    members: dict[str, MemberValue] = dict(first.members.start or {})
    partitions: dict[PartitionKey, PartitionValue] = dict(first.partitions.start or {})
    for part in parts:
        skip = 1 if part.begins and part is not first else 0
        border = len(whole.columns)
        offset = border - skip
        for held, more in zip(whole.columns.lists(), part.columns.lists(), strict=True):
            held.extend(more[skip:])
        _append(whole.members, part.members, border, skip, members, NOBODY)
        _append(whole.partitions, part.partitions, border, skip, partitions, NOWHERE)
        _append_tracks(whole.tracks, part.tracks, offset, skip)
        whole.facts.update(part.facts)
    whole.events = events.joined(part.events for part in parts)
    columns = whole.columns
    if columns.first[0] == BEFORE_ALL and len(columns) > 1:
        columns.from_ms[0] = columns.to_ms[0] = columns.from_ms[1]
    return whole


def _append(
    whole: Rows[Key, Value],
    part: Rows[Key, Value],
    border: int,
    skip: int,
    state: dict[Key, Value],
    nothing: Value,
) -> None:
    """``border``: the column of the whole at which the part's own, but for ``skip``, go on."""
    # What the part before left for the first column of this one holds there unless this one differs.
    left: dict[Key, Value] = {}
    while whole.changes and whole.changes[-1][0] >= border:
        _, key, value = whole.changes.pop()
        left.setdefault(key, value)
    if skip and part.start is not None and part.start != state:
        for key in sorted({**state, **part.start}):
            value = part.start.get(key, nothing)
            if state.get(key, nothing) != value:
                left[key] = state[key] = value
    for column, key, _ in part.changes:
        if column > skip:
            break
        left.pop(key, None)
    whole.changes += [(border, key, value) for key, value in left.items()]
    offset = border - skip
    whole.changes += [(offset + column, key, value) for column, key, value in part.changes]
    state.update({key: value for _, key, value in part.changes})


def levels(part: Digest, base: Base) -> list[Digest]:
    """The part itself, and the same at each of the coarser ``LEVELS``."""
    lead = 1 if part.begins else 0
    return [part, *(coarsened(part, most + lead, base=base) for most in LEVELS)]


def later(part: Digest, after: int, moments: Iterable[Moment]) -> Digest:
    """The columns of ``moments``, which are those after entry ``after``, as a part that goes on where another one ends."""
    skip = bisect_right(part.columns.first, after)
    left = Digest(begins=False, facts=part.facts)
    left.columns = Columns(*(held[skip:] for held in part.columns.lists()))
    left.members = Rows(
        changes=[(at - skip, key, value) for at, key, value in part.members.changes if at >= skip]
    )
    left.partitions = Rows(
        changes=[(at - skip, key, value) for at, key, value in part.partitions.changes if at >= skip]
    )
    tracks = part.tracks
    left.tracks = Tracks(
        states=[(at - skip, state) for at, state in tracks.states if at >= skip],
        epochs=[(at - skip, epoch) for at, epoch in tracks.epochs if at >= skip],
        coordinators=[(at - skip, name, until) for at, name, until in tracks.coordinators if at >= skip],
        violations=[(at - skip, text) for at, text in tracks.violations if at >= skip],
    )
    left.events = events.collapsed(moments)
    return left


def _append_tracks(whole: Tracks, part: Tracks, offset: int, skip: int) -> None:
    """``skip``: the first column is where the part before ended, so what holds there is no news."""
    for column, state in part.states:
        if not whole.states or whole.states[-1][1] != state:
            whole.states.append((offset + max(column, skip), state))
    for column, epoch in part.epochs:
        if not whole.epochs or whole.epochs[-1][1] != epoch:
            whole.epochs.append((offset + max(column, skip), epoch))
    for column, name, until in part.coordinators:
        if not skip or column > 0:
            whole.coordinators.append((offset + column, name, until))
    whole.violations += [(offset + column, text) for column, text in part.violations]


def window(digest: Digest, first: int, last: int) -> Digest:
    """The columns of a digest in which entries ``first`` to ``last`` lie, begun by the one that holds at ``first``."""
    columns = digest.columns
    begin = max(0, bisect_right(columns.first, first) - 1)
    end = max(begin + 1, bisect_right(columns.first, last))
    cut = Digest(begins=True)
    cut.columns = Columns(*(held[begin:end] for held in columns.lists()))
    cut.members = _cut(digest.members, begin, end, NOBODY)
    cut.partitions = _cut(digest.partitions, begin, end, NOWHERE)
    cut.facts = digest.facts
    tracks = digest.tracks
    cut.tracks = Tracks(
        states=_cut_track(tracks.states, begin, end),
        epochs=_cut_track(tracks.epochs, begin, end),
        coordinators=_cut_track(tracks.coordinators, begin, end),
        violations=[(column - begin, text) for column, text in tracks.violations if begin <= column < end],
    )
    cut.events = [
        event for event in digest.events if event.last >= cut.columns.first[0] and event.first <= last
    ]
    return cut


def _cut(rows: Rows[Key, Value], begin: int, end: int, nothing: Value) -> Rows[Key, Value]:
    at = bisect_right(rows.changes, begin, key=lambda change: change[0])
    if not begin and not at and (not rows.changes or rows.changes[-1][0] < end):
        return rows
    state = dict(rows.start or {})
    for _, key, value in rows.changes[:at]:
        if value == nothing:
            state.pop(key, None)
        else:
            state[key] = value
    upto = bisect_left(rows.changes, end, key=lambda change: change[0])
    return Rows(start=state, changes=[(c - begin, key, value) for c, key, value in rows.changes[at:upto]])


def _cut_track(track: Sequence[tuple], begin: int, end: int) -> list:  # type: ignore[type-arg]
    """What holds at the window's beginning is there."""
    at = bisect_right(track, begin, key=lambda each: each[0])
    held = [(0, *track[at - 1][1:])] if at else []
    return held + [(each[0] - begin, *each[1:]) for each in track[at:] if each[0] < end]


@dataclass(frozen=True, slots=True)
class Base:
    """The rows that a part goes on from."""

    members: Mapping[str, MemberValue]
    partitions: Mapping[PartitionKey, PartitionValue]


def coarsened(digest: Digest, columns_most: int, *, base: Base | None = None) -> Digest:
    """The same in at most ``columns_most`` columns (at least 2), as even in moments as rests let them be.

    The column that a part begins with stays by itself, and so does the one before a long rest: what is drawn over an axis of
    time shows it for as long as the rest lasts, and it shall say what was so then, not all that led there. A part that begins
    none needs ``base``.
    """
    lead = 1 if digest.begins else 0
    count = len(digest.columns) - lead
    most = max(1, columns_most - lead)
    if count <= most:
        return digest
    place = _places(digest.columns, lead, most)
    coarse = Digest(begins=digest.begins, facts=digest.facts, events=digest.events)
    coarse.columns = _coarse_columns(digest.columns, place)
    base = base or Base(digest.members.start or {}, digest.partitions.start or {})
    coarse.members = _coarse_rows(digest.members, base.members, place, NOBODY, MemberValue.merged)
    coarse.partitions = _coarse_rows(
        digest.partitions, base.partitions, place, NOWHERE, PartitionValue.merged
    )
    tracks = digest.tracks
    coarse.tracks = Tracks(
        states=_coarse_track(tracks.states, place),
        epochs=_coarse_track(tracks.epochs, place),
        coordinators=_coarse_track(tracks.coordinators, place),
        violations=_coarse_track(tracks.violations, place),
    )
    return coarse


RESTS_SHARE: Final = 4
"""One in so many coarse columns may be that of a rest: the others share out the moments between them."""


def _places(fine: Columns, lead: int, most: int) -> list[int]:
    """Which coarse column each finer one goes to, ``lead`` columns being left by themselves."""
    count = len(fine) - lead
    rests = [(fine.from_ms[at + 1] - fine.to_ms[at], at) for at in range(lead, len(fine) - 1)]
    # What is no longer than a column of an even axis of time is not seen on it.
    seen_ms = (max(fine.to_ms[lead:], default=0) - min(fine.from_ms[lead:], default=0)) / most
    longest = nlargest(most // RESTS_SHARE, (rest for rest in rests if rest[0] > seen_ms))
    # Each rest begins two columns, one of which may fall together with an even one. After the last moment there is a rest, too,
    # or another part, which may begin with one.
    alone = {begin for _, at in longest for begin in (at, at + 1)}
    if most >= RESTS_SHARE:
        alone.add(len(fine) - 1)
    even = most - len(alone)
    place, column = list(range(lead)), lead - 1
    for index in range(count):
        if not index or lead + index in alone or index * even // count != (index - 1) * even // count:
            column += 1
        place.append(column)
    return place


def _coarse_columns(fine: Columns, place: Sequence[int]) -> Columns:
    coarse = Columns()
    for at, to in enumerate(place):
        if to == len(coarse):
            for held, value in zip(coarse.lists(), fine.lists(), strict=True):
                held.append(value[at])
            continue
        coarse.last[to] = fine.last[at]
        coarse.to_ms[to] = max(coarse.to_ms[to], fine.to_ms[at])
        coarse.from_ms[to] = min(coarse.from_ms[to], fine.from_ms[at])
        coarse.moments[to] += fine.moments[at]
        coarse.unassigned[to] = max(coarse.unassigned[to], fine.unassigned[at])
        coarse.members[to] = fine.members[at]
        coarse.unknown[to] |= fine.unknown[at]
    return coarse


def _coarse_track(track: Sequence[tuple], place: Sequence[int]) -> list:  # type: ignore[type-arg]
    return [(place[each[0]], *each[1:]) for each in track]


def _coarse_rows(
    fine: Rows[Key, Value],
    base: Mapping[Key, Value],
    place: Sequence[int],
    nothing: Value,
    merged: Callable[[Value, Value], Value],
) -> Rows[Key, Value]:
    """Runs through the changes column by column.

    A row's value in a coarse column merges its values in all finer ones there: the one that it came with counts unless the row
    changed in the very first of them. Where the merged value is not the last one, the next column contains the last one.
    """
    state: dict[Key, Value] = dict(base)
    changes: list[tuple[int, Key, Value]] = []
    lagging: dict[Key, Value] = {}
    """Rows whose merged value, in the coarse column before ``now``, is not what holds at its end."""
    merging: dict[Key, Value] = {}
    now = -1

    def leave(to: int) -> None:
        """Writes the coarse column ``now``, and goes on to ``to``."""
        nonlocal lagging, merging
        shown = {key: state.get(key, nothing) for key in lagging if key not in merging} | merging
        changes.extend((now, key, value) for key, value in shown.items())
        lagging = {key: value for key, value in merging.items() if state.get(key, nothing) != value}
        merging = {}
        if to > now + 1:
            changes.extend((now + 1, key, state.get(key, nothing)) for key in lagging)
            lagging = {}

    begins = [at == 0 or place[at - 1] != to for at, to in enumerate(place)]
    beyond = place[-1] + 1 if place else 0
    for column, key, value in fine.changes:
        inside = column < len(place)
        to = place[column] if inside else beyond
        if to != now:
            leave(to)
            now = to
        if not inside or begins[column]:
            merging[key] = value
        else:
            merging[key] = merged(merging[key] if key in merging else state.get(key, nothing), value)
        state[key] = value
    leave(beyond + 1)
    return Rows(start=fine.start, changes=changes)
