"""A timeline as it is handed on: its pieces, cut to a stretch, with names hidden where that is wished.

Names are hidden in entries, and everything else is folded from those again. Without that, what the fold made is read as it is stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from groups.history.digests import coarsened, joined, window
from groups.history.digests.digest_json import group_answer, member_answer, partition_answer
from groups.history.digests.packed import Packed
from groups.history.entries import ENTRY_FORMAT, Entry, EntryLine
from groups.history.passes.recorder import RecordedBatch, Recorder
from groups.history.state.group import Semantics
from groups.history.verdict import Size, verdict
from groups.incidents.data import Facts
from groups.incidents.pieces import Piece, Stretch, cut, members_most, pieces_of, widened
from groups.incidents.redaction import Redactor
from groups.models import Timeline
from groups.storage.digest_answers import COLUMNS_MOST, digest_answer
from groups.storage.errors import StorageError
from groups.storage.logs import log_of
from groups.storage.names import named
from groups.storage.refolding import protocol_at_start, summary_at
from groups.storage.timeline_reader import every_entry, summary

ENTRIES_MOST: Final = 50_000
"""Entries of one incident: as many play in a browser without a server behind it, and fold within half a minute."""

FOLDED_MOST: Final = 200_000
"""Entries up to the end of an incident whose names are hidden: all of them are folded again."""


ROWS_MEMBERS_MOST: Final = 60
ROWS_PARTITIONS_MOST: Final = 600
"""More members at once, or more partitions, are a crowd (``static/js/stage/size.js``)."""

DIGESTS: Final = ("members", "partitions", "group")


class CannotHandOn(StorageError):
    """One line: why a stretch cannot be handed on, and what could."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """A stretch of a timeline with all that a board needs of it; ``digests`` by what they are of, as the API answers."""

    group: str
    stretch: Stretch
    pieces: Sequence[Piece]
    summary: Mapping[str, Any]
    digests: Mapping[str, Mapping[str, Any]]
    redactor: Redactor | None


def incident(timeline: Timeline, stretch: Stretch | None = None, *, key: bytes | None = None) -> Incident:
    """All of a timeline, or a stretch of it, widened to whole moments; names are hidden under ``key``.

    ``CannotHandOn`` where nothing is there, or too much.
    """
    asked = checked(timeline, stretch)
    if key is None:
        return _as_stored(timeline, asked)
    return _redacted(timeline, asked, redactor_for(timeline, asked.last, key))


def incidents(timelines: Sequence[Timeline], *, key: bytes | None = None) -> list[Incident]:
    """All of several timelines; what is called the same in two of them has one pseudonym in both."""
    asked = [checked(timeline, None) for timeline in timelines]
    if key is None:
        return [_as_stored(timeline, all_of) for timeline, all_of in zip(timelines, asked, strict=True)]
    redactor = redactor_for_all(timelines, key)
    return [_redacted(timeline, all_of, redactor) for timeline, all_of in zip(timelines, asked, strict=True)]


def checked(timeline: Timeline, stretch: Stretch | None) -> Stretch:
    """The stretch, within the timeline and within bounds, and widened to whole moments. Whatever is made of it begins with this."""
    if timeline.entry_format != ENTRY_FORMAT:
        raise CannotHandOn(
            f"Timeline {timeline.id} stores entries of format {timeline.entry_format}, which this version cannot read."
        )
    if not timeline.last:
        raise CannotHandOn(f"Timeline {timeline.id} has no entries yet.")
    asked = stretch or Stretch(first=1, last=timeline.last)
    if not 1 <= asked.first <= asked.last <= timeline.last:
        raise CannotHandOn(
            f"Timeline {timeline.id} has entries 1 to {timeline.last}; {asked.first} to {asked.last} is no stretch of them."
        )
    if asked.last - asked.first >= ENTRIES_MOST:
        raise CannotHandOn(
            f"Entries {asked.first} to {asked.last} are more than the {ENTRIES_MOST:,} of one file: name a shorter stretch."
        )
    if stretch is None:
        return asked
    ends = {place.first: place for at in (asked.first, asked.last) for place in _stored_pieces(timeline, at)}
    return widened(list(ends.values()), asked)


def redactor_for(timeline: Timeline, last: int, key: bytes) -> Redactor:
    """A redactor that has met what names anybody up to entry ``last``, the timeline's own facts among it."""
    redactor = Redactor(key)
    _meet(redactor, timeline, last)
    return redactor


def redactor_for_all(timelines: Sequence[Timeline], key: bytes) -> Redactor:
    """A redactor that has met what names anybody in all of several timelines."""
    redactor = Redactor(key)
    for timeline in timelines:
        _meet(redactor, timeline, timeline.last)
    return redactor


def _meet(redactor: Redactor, timeline: Timeline, last: int) -> None:
    if last > FOLDED_MOST:
        raise CannotHandOn(
            f"Names can be hidden up to entry {FOLDED_MOST:,}; this stretch ends with entry {last}."
        )
    for entry in _entries_up_to(timeline, last):
        redactor.meet(entry)
    if timeline.group:
        redactor.meet_name("group", timeline.group)


def facts_of(timeline: Timeline, redactor: Redactor | None = None, hidden_id: str = "") -> Facts:
    """What the data file contains of a timeline; with names hidden, neither its id nor its scenario."""
    if redactor is None:
        return Facts(
            id=timeline.id, title=timeline.title, group=timeline.group, protocol=protocol_at_start(timeline),
            source=timeline.source, semantics=timeline.semantics, seed=timeline.seed, scenario=timeline.scenario,
            engine=timeline.engine, topic_names=timeline.topic_names, entry_format=timeline.entry_format,
        )  # fmt: skip
    group = redactor.name("group", timeline.group)
    return Facts(
        id=hidden_id, title=group, group=group, protocol=protocol_at_start(timeline), source=timeline.source,
        semantics=timeline.semantics, seed=None, scenario="", engine="", topic_names={},
        entry_format=timeline.entry_format,
    )  # fmt: skip


def entries_of(timeline: Timeline, last: int, redactor: Redactor | None = None) -> Iterator[EntryLine]:
    """Entries 1 to ``last``."""
    for entry in _entries_up_to(timeline, last):
        yield entry if redactor is None else redactor.redacted(entry)


def _as_stored(timeline: Timeline, stretch: Stretch) -> Incident:
    pieces = _stored_pieces(timeline, stretch.first, stretch.last)
    whole = stretch.last >= timeline.last
    known = named(summary(timeline) if whole else summary_at(timeline, stretch.last), timeline.topic_names)
    kept = cut(pieces, stretch)
    digests = {}
    if is_crowd(known, kept):
        digests = {
            of: orjson.loads(digest_answer(timeline, of, stretch.first, stretch.last, COLUMNS_MOST)[0])
            for of in DIGESTS
        }
    return Incident(
        group=timeline.group, stretch=stretch, pieces=kept, summary=_within(known, kept), digests=digests,
        redactor=None,
    )  # fmt: skip


def _stored_pieces(timeline: Timeline, *sequences: int) -> list[Piece]:
    """The chunks from the first of the sequences to the last."""
    log = log_of(timeline)
    pieces = []
    for chunk in log.chunks():
        if chunk.last < min(sequences) or chunk.first > max(sequences):
            continue
        found = log.opened(chunk.first)
        assert found is not None
        opened, place, _ = found
        pieces.append(
            Piece(
                first=place.first,
                last=place.last,
                frame=_named(timeline, opened.frame),
                metrics=orjson.loads(opened.metrics),
                changes=_named(timeline, opened.changes),
                moments=_named(timeline, opened.moments),
                entries=list(log.entries_between(place.first, place.last)),
            )
        )
    return pieces


def _redacted(timeline: Timeline, stretch: Stretch, redactor: Redactor) -> Incident:
    group = redactor.name("group", timeline.group)
    recorder = Recorder(
        group=group,
        semantics=timeline.semantics or Semantics.KAFKA,
        protocol=protocol_at_start(timeline),
    )
    batches = list(recorder.batches(map(Entry.from_json, entries_of(timeline, stretch.last, redactor))))
    pieces = list(pieces_of(batches))
    for piece in pieces:
        for moment in piece.moments:
            # A scenario's narration is hidden; the moment's own sentence describes what happened.
            moment.pop("narration", None)
    kept = cut(pieces, stretch)
    return Incident(
        group=group, stretch=stretch, pieces=kept, summary=_within(batches[-1].summary, kept),
        digests=_digests(batches, stretch) if is_crowd(batches[-1].summary, kept) else {}, redactor=redactor,
    )  # fmt: skip


def is_crowd(document: Mapping[str, Any], pieces: Sequence[Piece]) -> bool:
    """Whether a board draws a map of it, for which it needs digests."""
    return members_most(pieces) > ROWS_MEMBERS_MOST or partitions_most(document) > ROWS_PARTITIONS_MOST


def partitions_most(summary: Mapping[str, Any]) -> int:
    """Columns that a board has, by its summary."""
    known = sum(topic.get("partitions") or 0 for topic in (summary.get("topics") or {}).values())
    return max(known, summary.get("partitions_most") or 0)


def _digests(batches: Sequence[RecordedBatch], stretch: Stretch) -> dict[str, dict[str, Any]]:
    finest: list[Packed] = [batch.digests[0] for batch in batches]
    found = window(joined([packed.unpack() for packed in finest]), stretch.first, stretch.last)
    shown = coarsened(found, COLUMNS_MOST)
    exact = all(moments <= 1 for moments in found.columns.moments) and len(shown.columns) == len(
        found.columns
    )
    head = {"from": stretch.first, "to": stretch.last, "exact": exact}
    return {
        "members": head | orjson.loads(orjson.dumps(member_answer(shown))),
        "partitions": head | orjson.loads(orjson.dumps(partition_answer(shown, None))),
        "group": head | orjson.loads(orjson.dumps(group_answer(shown))),
    }


def _within(known: Mapping[str, Any], pieces: Sequence[Piece]) -> dict[str, Any]:
    """The summary of a stretch: of what was found, what happened in it. Who was there before keeps its name and colour."""
    first, last = pieces[0].first, pieces[-1].last
    if first <= 1:
        return dict(known)
    entries = [entry for piece in (pieces[0], pieces[-1]) for entry in piece.entries]
    first_ms, last_ms = entries[0]["at_ms"], entries[-1]["at_ms"]
    findings = [
        found
        for found in known.get("findings") or ()
        if found["sequences"] and all(first <= sequence <= last for sequence in found["sequences"])
    ]
    return {
        **known,
        "cast": _cast_within(known.get("cast") or (), pieces),
        "first_ms": first_ms,
        "last_ms": last_ms,
        "entries": last - first + 1,
        "epochs": [epoch for epoch in known.get("epochs") or () if first <= epoch["sequence"] <= last],
        "gaps": [gap for gap in known.get("gaps") or () if first <= (gap.get("sequence") or 0) <= last],
        "findings": findings,
        "silences": [],
        "verdict": verdict(
            findings,
            first_ms=first_ms,
            last_ms=last_ms,
            size=Size(partitions=partitions_most(known) or None),
            releases=_one_release(known),
        ),
    }


def _one_release(known: Mapping[str, Any]) -> list[str]:
    """The brokers' release, where all records are of one: of several the stretch may have any."""
    headline = (known.get("verdict") or {}).get("headline") or {}
    releases = (headline.get("figures") or {}).get("releases") or []
    return releases if len(releases) == 1 else []


def _cast_within(cast: Sequence[Mapping[str, Any]], pieces: Sequence[Piece]) -> list[Mapping[str, Any]]:
    """Who was there in a stretch, and whose lanes they stand in."""
    there = {member for piece in pieces for member in piece.frame.get("members") or {}}
    for piece in pieces:
        there.update(
            change["path"][1]
            for change in piece.changes
            if len(change["path"]) > 1 and change["path"][0] == "members"
        )
    there |= {member["lane"] for member in cast if member["id"] in there}
    return [member for member in cast if member["id"] in there]


def _entries_up_to(timeline: Timeline, last: int) -> Iterator[EntryLine]:
    for entry in every_entry(timeline):
        if entry["sequence"] > last:
            return
        yield entry


def _named(timeline: Timeline, text: bytes) -> Any:
    return named(orjson.loads(text), timeline.topic_names)
