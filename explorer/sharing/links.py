"""Share links: made, listed, opened, withdrawn.

A link shows a page that was made when the link was: nothing behind it is asked for an address, a sequence or a name, so there is
nothing that its holder could ask otherwise. A link to a timeline that still grows shows it as it was then.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, TypedDict

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from explorer.sharing import tokens
from explorer.sharing.bundle import script, styles
from explorer.sharing.card import card
from explorer.sharing.looks import Content, Look, looks
from explorer.sharing.models import TOKEN_SHOWN, Link, SharedPage
from explorer.sharing.page import Link as ShownLink
from explorer.sharing.page import blocks_of, page_of, policy, shown
from groups.exporting import Wanted, hidden_id
from groups.models import TITLE_LENGTH_MOST, Timeline
from groups.storage import new_id
from groups.storage.handing_on import CannotHandOn, incident

DAYS_USUAL: Final = 7
DAYS_MOST: Final = 90
"""A link that nobody withdraws ends: an incident is talked about for weeks, not for years."""

LINKS_MOST: Final = 100
"""Open links of one timeline: each holds a page of some hundred kilobytes."""

PAGE_BYTES_MOST: Final = 16 * 1024 * 1024
"""Bytes of a shared page in gzip: it is one row of the database, and one answer."""

SENTENCE_LETTERS_MOST: Final = 300
"""Of the verdict, on a card: chat tools cut after two lines or so."""


class Told(TypedDict):
    """A link as its maker is told of it. Times are ISO 8601; ``state`` is ``open``, ``ended``, ``withdrawn`` or ``deleted``."""

    id: str
    token_end: str
    view: str
    hides_names: bool
    first: int
    last: int
    embed_origins: list[str]
    created: str
    until: str
    state: str
    opened: int
    last_opened: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a link is to show, for how many days, and in whose frames."""

    wanted: Wanted
    days: int = DAYS_USUAL
    embed_origins: Sequence[str] = ()


def make(timeline: Timeline, asked: Asked) -> tuple[Link, str]:
    """A new link and its token, which is not kept. ``CannotHandOn`` where there is too much, or too many."""
    clear_ended()
    if open_links(timeline).count() >= LINKS_MOST:
        raise CannotHandOn(f"Timeline {timeline.id} has {LINKS_MOST} open links; withdraw some first.")
    wanted = asked.wanted
    found = incident(timeline, wanted.stretch, key=wanted.key)
    facts = shown(timeline, found, hidden_id(wanted.key) if wanted.key else "")
    until = wanted.made + timedelta(days=asked.days)
    view: Literal["reader", "investigator"] = wanted.view
    page = page_of(
        facts,
        found,
        blocks_of(timeline, facts, found, view),
        view=view,
        made=wanted.made,
        link=ShownLink(state_url="state", until=f"{until:%Y-%m-%d %H:%M} UTC"),
    )
    content = gzip.compress(page, compresslevel=6, mtime=0)
    if len(content) > PAGE_BYTES_MOST:
        raise CannotHandOn(
            f"The page would have {len(content) / 1e6:.0f} MB, more than {PAGE_BYTES_MOST // 1024**2} MB: name a shorter stretch."
        )
    token = tokens.draw()
    with transaction.atomic():
        link = Link.objects.create(
            id=new_id(),
            token_hash=tokens.hashed(token),
            token_end=token[-TOKEN_SHOWN:],
            timeline=timeline,
            title=facts.title[:TITLE_LENGTH_MOST],
            sentence=_shortened((found.summary.get("verdict") or {}).get("text") or ""),
            view=view,
            hides_names=wanted.key is not None,
            first=found.stretch.first,
            last=found.stretch.last,
            embed_origins=list(asked.embed_origins),
            until=until,
        )
        SharedPage.objects.create(
            link=link,
            timeline=timeline,
            content=content,
            policy=policy(script(), styles(), connects=True),
            card=card(found),
        )
    return link, token


def open_links(timeline: Timeline) -> QuerySet[Link]:
    return Link.objects.filter(timeline=timeline, withdrawn=None, until__gt=timezone.now())


def found_by(token: str) -> Look | None:
    """What a token shows, if its link is open or its timeline was deleted; null for one that is unknown, ended or withdrawn."""
    if not tokens.is_ours(token):
        return None
    if (look := looks.fresh(token)) is not None:
        return look
    hashed = tokens.hashed(token)
    open_ones = Link.objects.filter(withdrawn=None, until__gt=timezone.now())
    link = open_ones.filter(token_hash=hashed).first()
    if link is None:
        return None
    content = looks.content_of(link.id)
    page = SharedPage.objects.filter(link=link)
    if content is None and (row := page.values_list("content", "policy", "card").first()) is not None:
        content = Content(bytes(row[0]), row[1], bytes(row[2]))
    elif content is not None and not page.exists():
        content = None
    look = Look(
        id=link.id,
        title=link.title,
        sentence=link.sentence,
        embed_origins=tuple(link.embed_origins),
        until=link.until,
        content=content,
    )
    looks.keep(token, look)
    return look


def note_opened(openings: Mapping[str, int]) -> None:
    """Count how often each link was opened, up to now."""
    now = timezone.now()
    for link_id, times in openings.items():
        Link.objects.filter(pk=link_id).update(opened=F("opened") + times, last_opened=now)


def withdraw(link_id: str) -> bool:
    """End a link at once; false if there is none. What it showed is deleted."""
    looks.forget(link_id)
    with transaction.atomic():
        SharedPage.objects.filter(link_id=link_id).delete()
        Link.objects.filter(pk=link_id, withdrawn=None).update(withdrawn=timezone.now())
    return Link.objects.filter(pk=link_id).exists()


def clear_ended() -> None:
    """Delete what links showed that have ended."""
    SharedPage.objects.filter(link__until__lte=timezone.now()).delete()


def told(link: Link) -> Told:
    return Told(
        id=link.id,
        token_end=link.token_end,
        view=link.view,
        hides_names=link.hides_names,
        first=link.first,
        last=link.last,
        embed_origins=link.embed_origins,
        created=link.created.isoformat(),
        until=link.until.isoformat(),
        state=_state(link, timezone.now()),
        opened=link.opened,
        last_opened=None if link.last_opened is None else link.last_opened.isoformat(),
    )


def _state(link: Link, now: datetime) -> str:
    if link.withdrawn is not None:
        return "withdrawn"
    if link.until <= now:
        return "ended"
    return "deleted" if link.timeline_id is None else "open"


def _shortened(text: str) -> str:
    if len(text) <= SENTENCE_LETTERS_MOST:
        return text
    return text[: SENTENCE_LETTERS_MOST - 1].rsplit(" ", 1)[0] + "…"
