"""Share links: made, listed, opened, withdrawn.

A link shows a page that was made when the link was: nothing behind it is asked for an address, a sequence or a name, so there is
nothing that its holder could ask otherwise. A link to a timeline that still grows shows it as it was then.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypedDict

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from explorer.accounts.permissions import Action
from explorer.accounts.roles import Rights
from explorer.accounts.targets import Target
from explorer.sharing import tokens
from explorer.sharing.card import card
from explorer.sharing.looks import Content, Look, looks
from explorer.sharing.models import TOKEN_SHOWN, Kind, Link, SharedPage
from explorer.sharing.one_file import TIMELINE, View, policy
from explorer.sharing.one_file import Link as ShownLink
from explorer.sharing.page import page_of, shown
from groups.exporting import Wanted, hidden_id
from groups.models import TITLE_LENGTH_MOST, Timeline
from groups.packs.listed_summary import headline_text
from groups.reserve import makes_room
from groups.storage import new_id
from groups.storage.handing_on import CannotHandOn, incident

DAYS_USUAL: Final = 7
DAYS_MOST: Final = 90
"""A link that nobody withdraws ends: an incident is talked about for weeks, not for years."""

LINKS_MOST: Final = 100
"""Open links of one timeline: each holds a page of some hundred kilobytes."""

PAGE_BYTES_MOST: Final = 16 * 1024 * 1024
"""Bytes of a shared page in gzip: it is one row of the database, and one answer."""

WHO: Final = ("anyone", "signed-in")
"""Who may open a link: anyone who has it, or accounts of this server."""

SENTENCE_LETTERS_MOST: Final = 300
"""Of the headline, on a card: chat tools cut after two lines or so."""


class LinkRow(TypedDict):
    """A link as its maker sees it. Times are ISO 8601; ``state`` is ``open``, ``ended``, ``withdrawn`` or ``deleted``; ``who`` is one of ``WHO``."""

    id: str
    token_end: str
    kind: str
    title: str
    view: str
    hides_names: bool
    who: str
    first: int
    last: int
    embed_origins: list[str]
    created: str
    until: str
    state: str
    opened: int
    last_opened: str | None
    author: str
    may_withdraw: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a link is to show, for how many days, and in whose frames."""

    wanted: Wanted
    days: int = DAYS_USUAL
    signed_in: bool = False
    embed_origins: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a link shows: its facts, and how its page is made once it is known until when it is open."""

    kind: Kind
    title: str
    sentence: str
    policy: str
    card: bytes
    page: Callable[[ShownLink], bytes]
    timeline: Timeline | None = None
    first: int = 0
    last: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How it is shown: as what, with names or without, for how many days from now, and in whose frames."""

    view: View
    hides_names: bool
    made: datetime
    days: int = DAYS_USUAL
    signed_in: bool = False
    embed_origins: Sequence[str] = ()


def make(timeline: Timeline, asked: Asked) -> tuple[Link, str]:
    """A new link to a timeline, or a stretch of it, and its token, which is not kept. ``CannotHandOn`` where there is too much, or too many."""
    _check_room(Link.objects.filter(timeline=timeline), f"Timeline {timeline.id}")
    wanted = asked.wanted
    found = incident(timeline, wanted.stretch, key=wanted.key)
    facts = shown(timeline, found, hidden_id(wanted.key) if wanted.key else "")
    subject = Subject(
        kind=Kind.TIMELINE,
        title=facts.title,
        sentence=headline_text(found.summary),
        policy=policy(TIMELINE, connects=True),
        card=card(found),
        page=lambda link: page_of(
            timeline, facts, found, view=wanted.view, made=wanted.made, link=link, notes=wanted.notes
        ),
        timeline=timeline,
        first=found.stretch.first,
        last=found.stretch.last,
    )
    terms = Terms(
        view=wanted.view,
        hides_names=wanted.key is not None,
        made=wanted.made,
        days=asked.days,
        signed_in=asked.signed_in,
        embed_origins=asked.embed_origins,
    )
    return _stored(subject, terms)


def make_of(subject: Subject, terms: Terms) -> tuple[Link, str]:
    """A new link to what is no timeline, and its token."""
    _check_room(Link.objects.filter(timeline=None).exclude(kind=Kind.TIMELINE), "The laboratory")
    return _stored(subject, terms)


def _check_room(links: QuerySet[Link], whose: str) -> None:
    clear_ended()
    if _open(links).count() >= LINKS_MOST:
        raise CannotHandOn(f"{whose} has {LINKS_MOST} open links; withdraw some first.")


def _stored(subject: Subject, terms: Terms) -> tuple[Link, str]:
    until = terms.made + timedelta(days=terms.days)
    token = tokens.draw()
    link = Link(
        id=new_id(),
        token_hash=tokens.hashed(token),
        token_end=token[-TOKEN_SHOWN:],
        kind=subject.kind,
        timeline=subject.timeline,
        title=subject.title[:TITLE_LENGTH_MOST],
        sentence=_shortened(subject.sentence),
        view=terms.view,
        hides_names=terms.hides_names,
        signed_in=terms.signed_in,
        first=subject.first,
        last=subject.last,
        embed_origins=list(terms.embed_origins),
        until=until,
    )
    author = "" if terms.hides_names else _author(link)
    page = subject.page(ShownLink(state_url="state", until=f"{until:%Y-%m-%d %H:%M} UTC", author=author))
    content = gzip.compress(page, compresslevel=6, mtime=0)
    if len(content) > PAGE_BYTES_MOST:
        raise CannotHandOn(
            f"The page would have {len(content) / 1e6:.0f} MB, more than {PAGE_BYTES_MOST // 1024**2} MB: name a shorter stretch."
        )
    with transaction.atomic():
        link.save(force_insert=True)
        SharedPage.objects.create(
            link=link, timeline=subject.timeline, content=content, policy=subject.policy, card=subject.card
        )
    return link, token


def of_laboratory() -> QuerySet[Link]:
    """Links to groups of the laboratory and to cells of sweeps."""
    return Link.objects.exclude(kind=Kind.TIMELINE)


def _open(links: QuerySet[Link]) -> QuerySet[Link]:
    return links.filter(withdrawn=None, until__gt=timezone.now())


def found_by(token: str) -> Look | None:
    """What a token shows, if its link is open or its timeline was deleted; null for one that is unknown, ended or withdrawn."""
    if not tokens.is_ours(token):
        return None
    if (look := looks.fresh(token)) is not None:
        return look
    hashed = tokens.hashed(token)
    link = _open(Link.objects.filter(token_hash=hashed, signed_in=False)).first()
    if link is None:
        return None
    look = _look(link)
    looks.keep(token, look)
    return look


def found_for_account(link_id: str) -> Look | None:
    """What a link shows that is for people who sign in; null for one that is unknown, ended or withdrawn."""
    link = _open(Link.objects.filter(pk=link_id, signed_in=True)).first()
    return None if link is None else _look(link)


def _look(link: Link) -> Look:
    content = looks.content_of(link.id)
    page = SharedPage.objects.filter(link=link)
    if content is None and (row := page.values_list("content", "policy", "card").first()) is not None:
        content = Content(bytes(row[0]), row[1], bytes(row[2]))
    elif content is not None and not page.exists():
        content = None
    return Look(
        id=link.id,
        title=link.title,
        sentence=link.sentence,
        embed_origins=tuple(link.embed_origins),
        until=link.until,
        content=content,
    )


def note_opened(openings: Mapping[str, int]) -> None:
    """Count how often each link was opened, up to now."""
    now = timezone.now()
    for link_id, times in openings.items():
        Link.objects.filter(pk=link_id).update(opened=F("opened") + times, last_opened=now)


@makes_room
def withdraw(link_id: str) -> bool:
    """End a link at once; false if there is none. What it showed is deleted."""
    looks.forget(link_id)
    with transaction.atomic():
        SharedPage.objects.filter(link_id=link_id).delete()
        Link.objects.filter(pk=link_id, withdrawn=None).update(withdrawn=timezone.now())
    return Link.objects.filter(pk=link_id).exists()


@makes_room
def clear_ended() -> None:
    """Delete what links showed that have ended."""
    SharedPage.objects.filter(link__until__lte=timezone.now()).delete()


def link_row(link: Link, rights: Rights | None) -> LinkRow:
    target = Target(link.author_id, link.timeline.cluster_id if link.timeline else None)
    return LinkRow(
        id=link.id,
        token_end=link.token_end,
        kind=link.kind,
        title=link.title,
        view=link.view,
        hides_names=link.hides_names,
        who=WHO[link.signed_in],
        first=link.first,
        last=link.last,
        embed_origins=link.embed_origins,
        created=link.created.isoformat(),
        until=link.until.isoformat(),
        state=_state(link, timezone.now()),
        opened=link.opened,
        last_opened=None if link.last_opened is None else link.last_opened.isoformat(),
        author=_author(link),
        may_withdraw=rights is None or not rights.refused(Action.WITHDRAW, target),
    )


def _author(link: Link) -> str:
    """Empty in local mode, and once the account was deleted."""
    return link.author.get_username() if link.author else ""


def _state(link: Link, now: datetime) -> str:
    if link.withdrawn is not None:
        return "withdrawn"
    if link.until <= now:
        return "ended"
    return "deleted" if link.kind == Kind.TIMELINE and link.timeline_id is None else "open"


def _shortened(text: str) -> str:
    if len(text) <= SENTENCE_LETTERS_MOST:
        return text
    return text[: SENTENCE_LETTERS_MOST - 1].rsplit(" ", 1)[0] + "…"
