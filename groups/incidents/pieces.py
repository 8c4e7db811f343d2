"""Chunks of a timeline as values, cut to a stretch of it: what a handed-on incident plays.

A stretch begins and ends with whole moments, since a board rests on nothing else: it is widened to those that hold its
first and last entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import orjson

from groups.history.entries import Entry, EntryLine
from groups.history.frames.changes import Change, apply
from groups.history.frames.shapes import Frame
from groups.history.metrics import Metrics
from groups.history.passes.recorder import RecordedBatch
from groups.history.state.plain import Plain, from_plain, to_plain
from groups.history.story.moment import Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Entries ``first`` to ``last`` of a timeline, with the frame before them; JSON values as in the API.

    ``metrics``: what was measured before them (``Metrics``).
    """

    first: int
    last: int
    frame: Frame
    metrics: Plain
    changes: list[Change]
    moments: list[Moment]
    entries: list[EntryLine]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Entries from ``first`` to ``last``, both among them, in whole moments."""

    first: int
    last: int


def pieces_of(batches: Iterable[RecordedBatch]) -> Iterator[Piece]:
    """A recorder's batches as pieces: one for each chunk that they begin."""
    held: list[RecordedBatch] = []
    for batch in batches:
        if batch.checkpoint is not None and held:
            yield _piece(held)
            held = []
        held.append(batch)
    if held:
        yield _piece(held)


def _piece(batches: Sequence[RecordedBatch]) -> Piece:
    checkpoint = batches[0].checkpoint
    assert checkpoint is not None
    parsed = orjson.loads(checkpoint)
    return Piece(
        first=batches[0].first,
        last=batches[-1].last,
        frame=parsed["frame"],
        metrics=parsed["metrics"],
        changes=[change for batch in batches for change in orjson.loads(batch.changes)],
        moments=[moment for batch in batches for moment in orjson.loads(batch.moments)],
        entries=[entry for batch in batches for entry in orjson.loads(batch.entries)],
    )


def widened(pieces: Sequence[Piece], stretch: Stretch) -> Stretch:
    """The stretch, moved outwards to the moments that its ends stand in; within the pieces."""
    first = max(stretch.first, pieces[0].first)
    last = min(stretch.last, pieces[-1].last)
    for piece in pieces:
        for moment in piece.moments:
            if moment["first"] <= first <= moment["sequence"]:
                first = moment["first"]
            if moment["first"] <= last <= moment["sequence"]:
                last = moment["sequence"]
    return Stretch(first=first, last=last)


def cut(pieces: Iterable[Piece], stretch: Stretch) -> list[Piece]:
    """The pieces within a (widened) stretch; the first one begins with the frame that was there then."""
    return [
        _cut_piece(piece, stretch)
        for piece in pieces
        if piece.last >= stretch.first and piece.first <= stretch.last
    ]


def _cut_piece(piece: Piece, stretch: Stretch) -> Piece:
    if stretch.first <= piece.first and piece.last <= stretch.last:
        return piece

    def within(sequence: int) -> bool:
        return stretch.first <= sequence <= stretch.last

    before = (change for change in piece.changes if change["sequence"] < stretch.first)
    metrics = from_plain(Metrics, piece.metrics)
    for entry in piece.entries:
        if entry["sequence"] < stretch.first:
            metrics.add(Entry.from_json(entry))
    return Piece(
        first=max(piece.first, stretch.first),
        last=min(piece.last, stretch.last),
        frame=apply(piece.frame, before),
        metrics=to_plain(metrics),
        changes=[change for change in piece.changes if within(change["sequence"])],
        moments=[moment for moment in piece.moments if within(moment["sequence"])],
        entries=[entry for entry in piece.entries if within(entry["sequence"])],
    )


def frames_at_moments(
    frame: Frame, changes: Sequence[Change], moments: Iterable[Moment]
) -> Iterator[tuple[Moment, Frame]]:
    """Each moment of a piece or a chunk with the frame that it leaves; ``frame`` is the one before its first entry."""
    applied = 0
    for moment in moments:
        upto = applied
        while upto < len(changes) and changes[upto]["sequence"] <= moment["sequence"]:
            upto += 1
        frame = apply(frame, changes[applied:upto])
        applied = upto
        yield moment, frame


def members_most(pieces: Iterable[Piece]) -> int:
    """As many members as were there at once, or a few more."""
    most = 0
    for piece in pieces:
        count = len(piece.frame.get("members") or {})
        most = max(most, count)
        for change in piece.changes:
            path = change["path"]
            if len(path) == 2 and path[0] == "members":
                count += ("new" in change) - ("old" in change)
                most = max(most, count)
    return most
