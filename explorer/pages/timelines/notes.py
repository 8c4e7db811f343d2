"""Notes and questions at moments of a timeline, and replies to them: written, edited, deleted, and as they are handed on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple, TypedDict

import orjson
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone

from explorer.accounts import audit
from explorer.accounts.guesses import Guesses
from explorer.accounts.permissions import Action
from explorer.accounts.roles import Rights, rights_in
from explorer.accounts.targets import Target
from explorer.web.endpoint import BadRequest, choice, json_body, json_response, listed_page, no_such_entry
from groups import authors, storage
from groups.exporting import fresh_key
from groups.history.words import time_words
from groups.incidents.data import HandedNote
from groups.incidents.pieces import Stretch
from groups.incidents.redaction import Redactor, in_text
from groups.jobs.announce import announce, together_group
from groups.models import Note, Timeline
from groups.note_models import NOTE_LENGTH_MOST, NOTES_MOST
from groups.reserve import makes_room
from groups.storage.handing_on import CannotHandOn, redactor_for

VERSIONS_MOST: Final = 10
MENTIONS_MOST: Final = 20
MENTION: Final = re.compile(r"(?<!\w)@([\w.@+-]*\w)")

PERSON: Final = "person-"
"""What an account's name becomes where names are hidden, with a number."""

DELETED: Final = "(deleted)"
"""The text of a note that has replies still."""

MENTIONED_FOR: Final = timedelta(days=30)
MENTIONED_MOST: Final = 10

WRITTEN_MOST: Final = 60

written = Guesses(WRITTEN_MOST, 60.0)
"""Notes of one account a minute, of this process."""


class Version(TypedDict):
    """An earlier text. ``until`` is ISO 8601, ``by`` the account that replaced it."""

    text: str
    until: str
    by: str


class NoteRow(TypedDict):
    """A note, a question or a reply. ``at`` is the entry; ``parent`` the note that it replies to; ``mentions`` are accounts; ``edited`` is null where it never was.
    ``text`` is empty where it was deleted and has replies."""

    id: str
    at: int
    at_ms: int | None
    kind: str
    parent: str | None
    author: str
    text: str
    mentions: list[str]
    created: str
    edited: str | None
    versions: list[Version]
    may_change: bool


class NoSuchNote(BadRequest):
    def __init__(self, note_id: str) -> None:
        super().__init__(f"There is no note {note_id!r}.", status=404)


def listed(request: HttpRequest, timeline_id: str) -> HttpResponse:
    """In the order of their moments; a reply follows later than what it replies to."""
    timeline = storage.get(timeline_id)
    rights = rights_in(request)
    notes = _all(timeline)
    return listed_page(request, notes, NOTES_MOST, lambda note: row_of(note, timeline, rights), by="text")


def write(request: HttpRequest, timeline_id: str) -> HttpResponse:
    """``{"text", "at", "kind"}``, or ``{"text", "parent"}`` for a reply."""
    timeline, body = storage.get(timeline_id), json_body(request)
    _check_rate()
    text = _text_of(body)
    kind = choice(body.get("kind", Note.Kind.NOTE), "kind", Note.Kind.values)
    parent = None
    if (wanted := body.get("parent")) is not None:
        parent = timeline.notes.filter(pk=str(wanted), parent=None).first()
        if parent is None:
            raise BadRequest("`parent` must be a note of this timeline, and not a reply.", field="parent")
    at = parent.sequence if parent else body.get("at")
    if type(at) is not int or at < 0:
        raise BadRequest("`at` must be a whole number from 0.", field="at")
    if at > timeline.last:
        raise no_such_entry(timeline, at)
    at_ms = storage.entries_between(timeline, at, at)[0]["at_ms"] if at else None
    with transaction.atomic():
        note = Note.objects.create(
            id=storage.new_id(),
            timeline=timeline,
            parent=parent,
            sequence=at,
            at_ms=at_ms,
            kind=kind,
            text=text,
        )
        note.mentions.set(_named_in(text))
        if timeline.notes.count() > NOTES_MOST:
            raise BadRequest(f"A timeline can have {NOTES_MOST} notes; delete some first.", status=409)
    audit.detail(request, note=note.pk)
    _announce(timeline)
    response = json_response(row_of(note, timeline, rights_in(request)), status=201)
    response["Location"] = reverse("api-note", args=[note.pk])
    return response


def edit(request: HttpRequest, note_id: str) -> HttpResponse:
    """``{"text"}``; the text that it replaces is kept, the last ones of them."""
    text = _text_of(json_body(request))
    _check_rate()
    with transaction.atomic():
        note = _note(note_id, Note.objects.select_for_update(of=("self",)))
        is_changed = text != note.text
        if is_changed:
            user = (audit.current.get() or audit.Source()).user
            by = user.get_username() if user else ""
            before = {"text": note.text, "until": timezone.now().isoformat(), "by": by}
            note.text, note.versions = text, [*note.versions, before][-VERSIONS_MOST:]
            note.save(update_fields=["text", "versions", "changed"])
            note.mentions.set(_named_in(text))
    if is_changed:
        _announce(note.timeline)
    return json_response(row_of(note, note.timeline, rights_in(request)))


def delete(request: HttpRequest, note_id: str) -> HttpResponse:
    """One with replies loses its text alone, until they are deleted, too."""
    _announce(makes_room(_deleted)(note_id).timeline)
    return HttpResponse(status=204)


@transaction.atomic
def _deleted(note_id: str) -> Note:
    note = _note(note_id, Note.objects.select_for_update(of=("self",)))
    if note.replies.exists():
        note.text, note.versions = "", []
        note.save(update_fields=["text", "versions", "changed"])
        note.mentions.clear()
        return note
    note.delete()
    Note.objects.filter(pk=note.parent_id, text="", replies=None).delete()
    return note


def row_of(note: Note, timeline: Timeline, rights: Rights | None) -> NoteRow:
    target = Target(note.author_id, timeline.cluster_id)
    return NoteRow(
        id=note.pk,
        at=note.sequence,
        at_ms=note.at_ms,
        kind=note.kind,
        parent=note.parent_id,
        author=_name(note),
        text=note.text,
        mentions=sorted(each.get_username() for each in note.mentions.all()),
        created=note.created.isoformat(),
        edited=note.changed.isoformat() if note.versions else None,
        versions=note.versions,  # type: ignore[typeddict-item]
        may_change=rights is None or not rights.refused(Action.CHANGE_NOTE, target),
    )


def stamps(keys: Sequence[str]) -> dict[str, str]:
    """Of each timeline a text that is another one once a note of it was written, edited or deleted."""
    rows = Note.objects.filter(timeline__in=keys).order_by().values("timeline")
    known = {
        row["timeline"]: f"{row['count']} {row['last'].isoformat()}"
        for row in rows.annotate(count=Count("pk"), last=Max("changed"))
    }
    return {key: known.get(key, "0") for key in keys}


def mentions_of(rights: Rights | None) -> list[Note]:
    """The last notes that name an account, and that it has not replied to since."""
    if rights is None:
        return []
    thread = Q(parent=OuterRef("parent")) | Q(parent=OuterRef("pk"))
    replies = Note.objects.filter(thread, author=rights.account, created__gt=OuterRef("created"))
    found = Note.objects.filter(mentions=rights.account, created__gt=timezone.now() - MENTIONED_FOR)
    found = found.exclude(author=rights.account).filter(~Exists(replies))
    return list(
        found.select_related("author", "timeline")
        .defer("timeline__summary", "timeline__scenario")
        .order_by("-created")[:MENTIONED_MOST]
    )


class ShownNote(NamedTuple):
    """As it is handed on."""

    at: int
    when: str
    kind: str
    author: str
    text: str
    replies: tuple[tuple[str, str], ...]
    """Authors and texts."""


def handed_notes(timeline: Timeline, stretch: Stretch, redactor: Redactor | None) -> list[HandedNote]:
    """As a data file has them."""
    return [
        HandedNote(at=one.at, kind=one.kind, author=one.author, text=one.text, replies=one.replies)
        for one in shown_notes(timeline, stretch, redactor)
    ]


def shown_notes(
    timeline: Timeline, stretch: Stretch | None = None, redactor: Redactor | None = None
) -> list[ShownNote]:
    """Those of a timeline, or of a stretch that is handed on. Where names are hidden they are in notes, too, and people are numbered.

    Other words of a text stay. ``CannotHandOn`` where the names of a timeline are too many to look for.
    """
    notes = list(_all(timeline))
    if stretch is not None:
        notes = [one for one in notes if stretch.first <= max(1, one.sequence) <= stretch.last]
    hidden: Callable[[str], str] = str
    if redactor is not None and notes:
        # A note may name what comes after the stretch.
        try:
            everything = redactor_for(timeline, timeline.last, fresh_key()).pseudonyms()
        except CannotHandOn as error:
            raise CannotHandOn(
                "Names cannot be hidden in the notes of a log so long; leave the notes out."
            ) from error
        given = (
            *timeline.topic_names.values(),
            timeline.title,
            timeline.cluster.name if timeline.cluster else "",
        )
        names = dict.fromkeys((*given, *(one.here for one in everything)), "(hidden)")
        names |= {one.here: one.there for one in redactor.pseudonyms()}
        people = dict.fromkeys(
            name
            for one in notes
            for name in (_name(one), *(each.get_username() for each in one.mentions.all()))
        )
        names |= {name: f"{PERSON}{number}" for number, name in enumerate(filter(None, people), 1)}
        names |= {name.lstrip("/"): there for name, there in names.items()}
        hidden = _hiding(names)
    replies: dict[str, list[tuple[str, str]]] = {}
    for one in notes:
        if one.parent_id:
            replies.setdefault(one.parent_id, []).append((hidden(_name(one)), hidden(one.text)))
    return [
        ShownNote(
            at=one.sequence,
            when=_when(one.at_ms),
            kind=one.kind,
            author=hidden(_name(one)),
            text=hidden(one.text) or DELETED,
            replies=tuple(replies.get(one.pk, ())),
        )
        for one in notes
        if one.parent_id is None
    ]


def _hiding(names: dict[str, str]) -> Callable[[str], str]:
    """With the accounts that a text names, whoever they are: some were deleted since."""
    replaced = in_text(names)
    return lambda text: MENTION.sub(
        lambda found: found[0] if found[1].startswith(PERSON) else "@person", replaced(text)
    )


def _when(at_ms: int | None) -> str:
    return "the beginning" if at_ms is None else time_words(at_ms, dated=True)


def _all(timeline: Timeline) -> QuerySet[Note]:
    return timeline.notes.select_related("author").prefetch_related("mentions")


def _name(note: Note) -> str:
    """Of the author; empty in local mode, and once the account was deleted."""
    return note.author.get_username() if note.author else ""


def _note(note_id: str, notes: QuerySet[Note] | None = None) -> Note:
    notes = Note.objects.all() if notes is None else notes
    note = notes.select_related("timeline", "author").filter(pk=note_id).first()
    if note is None:
        raise NoSuchNote(note_id)
    return note


def _check_rate() -> None:
    if written.are_too_many(str(authors.author_now() or "")):
        raise BadRequest(f"An account can write {WRITTEN_MOST} notes a minute.", status=429)


def _text_of(body: dict[str, Any]) -> str:
    text = body.get("text")
    if not isinstance(text, str) or not 0 < len(text := text.strip()) <= NOTE_LENGTH_MOST:
        expected = f"text of 1 to {NOTE_LENGTH_MOST:,} characters"
        raise BadRequest(f"`text` must be {expected}.", field="text", expected=expected)
    return text


def _named_in(text: str) -> Iterable[User]:
    names = dict.fromkeys(MENTION.findall(text))
    return User.objects.filter(username__in=list(names)[:MENTIONS_MOST], is_active=True)


def _announce(timeline: Timeline) -> None:
    text = orjson.dumps({"type": "notes", "notes": stamps([timeline.pk])[timeline.pk]}).decode()
    announce(together_group(timeline.pk), {"type": "together", "text": text})
