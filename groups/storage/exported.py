"""Entries as JSON Lines, back into a stored timeline: what ``timeline show``, ``simulate`` and ``conform`` write."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final, cast

import orjson

from groups import storage
from groups.history.entries import FIRST_SEQUENCE, Entry
from groups.history.passes.recorder import Recorder
from groups.history.state.group import Semantics
from groups.incidents.data import BadData, HandedNote, unpacked
from groups.models import ID_LENGTH_MOST, TITLE_LENGTH_MOST, Note, Timeline
from groups.note_models import NOTE_LENGTH_MOST, NOTES_MOST

TEXT_MOST: Final = 10 * NOTE_LENGTH_MOST
"""Of a note: pseudonyms may be longer than the names."""

ID: Final = re.compile(rf"[A-Za-z0-9_-]{{1,{ID_LENGTH_MOST}}}")


class BadExport(ValueError):
    """One line: where, what, and what would be right."""


def add(lines: Iterable[bytes], *, title: str, semantics: Semantics) -> Timeline:
    """Stores the entries as a new timeline; ``BadExport`` names the first line that is none, and stores nothing."""
    entries = [_entry(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if not entries:
        raise BadExport("no entries: a line for each was expected, as `timeline show ID` writes them")
    group = next((group for entry in entries if (group := _group(entry.payload))), None)
    if group is None:
        raise BadExport("no entry tells the group: neither a record nor a request is among them")
    return storage.replace_timeline(
        storage.new_id(),
        Recorder(group=group, semantics=semantics).batches(entries),
        title=title,
        source=Timeline.Source.IMPORT,
        semantics=semantics,
    )


def take_in(content: bytes, *, title: str | None = None, new_id: bool = False) -> Timeline:
    """Stores a file of ``timeline export --format data`` under the id in it, so that links to it hold here, too.

    A timeline that is here already, with the same entries, is that one. ``BadExport`` for a file that was changed, and for an
    id that something else has.
    """
    try:
        incident = unpacked(content)
    except BadData as error:
        raise BadExport(str(error)) from None
    facts = incident.facts
    entries = [_entry(number, line) for number, line in enumerate(incident.lines, 1)]
    if not entries:
        raise BadExport("no entries after the first line")
    if not ID.fullmatch(facts["id"]):
        raise BadExport(
            f"{facts['id'][:100]!r} is no id of a timeline: letters, digits, hyphens and underscores"
        )
    here = Timeline.objects.filter(pk=facts["id"]).first()
    if here is not None and not new_id:
        if here.last == len(entries) and all(
            mine == theirs.to_json() for mine, theirs in zip(storage.every_entry(here), entries, strict=True)
        ):
            return here
        raise BadExport(
            f"a timeline {facts['id']} with other entries is here already; --new-id stores this one beside it"
        )
    notes = _notes(incident.notes, len(entries))
    try:
        semantics = Semantics(facts["semantics"] or Semantics.KAFKA)
        source = Timeline.Source(facts["source"])
    except ValueError as error:
        raise BadExport(f"its first line tells something that this version does not know: {error}") from None
    timeline = storage.replace_timeline(
        storage.new_id() if new_id else facts["id"],
        Recorder(group=facts["group"], semantics=semantics, protocol=facts["protocol"]).batches(entries),
        title=title or facts["title"],
        # Case studies are the program's own, and are made again with every version.
        source=Timeline.Source.SIMULATION if source == Timeline.Source.CASE_STUDY else source,
        semantics=facts["semantics"],
        seed=facts["seed"],
        scenario=facts["scenario"],
        engine=facts["engine"],
    )
    if facts["topic_names"]:
        storage.set_topic_names(timeline.id, facts["topic_names"])
        timeline.refresh_from_db()
    for one in notes:
        note = _written(timeline, entries, one)
        for author, text in one["replies"]:
            _written(timeline, entries, {**one, "author": author, "text": text}, note)
    return timeline


def _written(
    timeline: Timeline, entries: Sequence[Entry], one: HandedNote, parent: Note | None = None
) -> Note:
    """A note with the name of its author before the text: accounts of elsewhere are nobody's here."""
    at = one["at"]
    return timeline.notes.create(
        id=storage.new_id(),
        parent=parent,
        sequence=at,
        at_ms=entries[at - 1].at_ms if at else None,
        kind=one["kind"],
        text=f"{one['author']}: {one['text']}" if one["author"] else one["text"],
    )


def _notes(given: object, last: int) -> list[HandedNote]:
    """The notes of a file; ``BadExport`` for those that are none."""
    try:
        notes = [
            HandedNote(
                at=range(last + 1).index(one["at"]),
                kind=Note.Kind(one["kind"]).value,
                author=_words(one["author"], TITLE_LENGTH_MOST),
                text=_words(one["text"], TEXT_MOST),
                replies=tuple(
                    (_words(author, TITLE_LENGTH_MOST), _words(text, TEXT_MOST))
                    for author, text in one["replies"]
                ),
            )
            for one in cast(list[HandedNote], given)
        ]
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise BadExport(f"its first line has a note that is none: {type(error).__name__}: {error}") from None
    if sum(1 + len(one["replies"]) for one in notes) > NOTES_MOST:
        raise BadExport(f"its first line has more than {NOTES_MOST} notes")
    return notes


def _words(text: str, most: int) -> str:
    if not isinstance(text, str) or len(text) > most:
        raise ValueError(f"text of up to {most:,} characters was expected")
    return text


def _entry(number: int, line: bytes) -> Entry:
    try:
        entry = Entry.from_json(orjson.loads(line))
    except orjson.JSONDecodeError as error:
        raise BadExport(f"line {number} is no JSON: {error}") from None
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise BadExport(f"line {number} is no entry: {type(error).__name__}: {error}") from None
    if entry.sequence != number - 1 + FIRST_SEQUENCE:
        raise BadExport(
            f"line {number} has sequence {entry.sequence}: entries are numbered from {FIRST_SEQUENCE} on, without gaps"
        )
    return entry


def _group(payload: Any) -> str | None:
    for part in (payload.get("key"), payload.get("body")):
        if isinstance(part, dict):
            group = part.get("groupId") or part.get("group")
            if isinstance(group, str):
                return group
    return None
