"""Many who open one link at once: one looks it up, all are told the same, and who comes late is told that it ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import DatabaseError
from django.utils import timezone

from explorer.access.gate import Handler
from explorer.sharing import looks as looks_module
from explorer.sharing import tokens
from explorer.sharing.crowd import Crowd
from explorer.sharing.looks import FRESH_S, Content, Look, Looks, looks
from explorer.sharing.models import Link, SharedPage
from groups.models import Timeline
from tests.access.conftest import Asks
from tests.sharing.test_links import asks as asks
from tests.sharing.test_links import cookie_of, link_to
from tests.stories import a_day_of_three

Stored = Callable[..., Timeline]
READERS = 40


class Counted(Handler):
    """Django's handler, which knows how often it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked.append(scope["path"])
        await super().__call__(scope, receive, send)


def look_of(number: int = 1, *, size: int = 10, for_s: float = 60) -> Look:
    until = timezone.now() + timedelta(seconds=for_s)
    content = Content(bytes(size), "policy", b"card")
    return Look(id=f"link{number}", title="", sentence="", embed_origins=(), until=until, content=content)


async def test_of_many_readers_at_once_one_is_looked_up_and_all_are_shown_the_same(
    asks: Asks, stored: Stored
) -> None:
    timeline = await sync_to_async(stored)(a_day_of_three())
    link, token = await sync_to_async(link_to)(timeline, embed=("https://wiki.example",))
    gzip = {"Accept-Encoding": "gzip"}
    for path, headers in (
        (f"/s/open/{link.id}/", cookie_of(link, token)),
        (f"/s/open/{link.id}/state", cookie_of(link, token)),
        (f"/s/{token}/embed/", {}),
        (f"/s/{token}/embed/state", {}),
        (f"/s/{token}/card.png", {}),
    ):
        looks.forget(link.id)
        asks.gate.http = django = Counted()
        answers = await asyncio.gather(
            *(asks(path, token=False, headers=headers | gzip) for _ in range(READERS))
        )
        assert django.asked == [path]
        assert {answer.status for answer in answers} == {200}
        assert len({answer.body for answer in answers}) == 1
        # What a browser is told of the page is the same from memory, but that Django says what it varies by.
        told = [
            {name: value for name, value in answer.headers.items() if name != "vary"} for answer in answers
        ]
        assert all(one == told[0] for one in told)


async def test_each_that_comes_through_the_door_is_counted_and_has_a_cookie(
    asks: Asks, stored: Stored
) -> None:
    link, token = await sync_to_async(link_to)(await sync_to_async(stored)(a_day_of_three()))
    answers = await asyncio.gather(*(asks(f"/s/{token}?at=7", token=False) for _ in range(READERS)))
    assert len({answer.body for answer in answers}) == 1
    assert all(token in answer.cookies[0] for answer in answers)
    await asks.gate.crowd.note_now()
    assert (await Link.objects.aget(pk=link.id)).opened == READERS


async def test_what_could_not_be_written_down_is_counted_with_the_next(asks: Asks, stored: Stored) -> None:
    link, token = await sync_to_async(link_to)(await sync_to_async(stored)(a_day_of_three()))
    fails = [True, False]
    written: list[dict[str, int]] = []

    async def note(openings: Any) -> None:
        if fails.pop(0):
            raise DatabaseError("locked")
        written.append(dict(openings))

    asks.gate.crowd = Crowd(note)
    for _ in range(3):
        await asks(f"/s/{token}", token=False)
    await asks.gate.crowd.note_now()
    await asks.gate.crowd.note_now()
    # The first one was counted by Django.
    assert written == [{link.id: 2}]


async def test_a_link_that_another_process_withdrew_ends_within_a_second(
    asks: Asks, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(looks, "_clock", lambda: now[0])
    link, token = await sync_to_async(link_to)(await sync_to_async(stored)(a_day_of_three()))
    state = f"/s/open/{link.id}/state"
    assert (await asks(state, token=False, headers=cookie_of(link, token))).status == 200
    await SharedPage.objects.all().adelete()
    await Link.objects.aupdate(withdrawn=timezone.now())
    now[0] += FRESH_S
    assert (await asks(state, token=False, headers=cookie_of(link, token))).status == 410
    assert FRESH_S <= 1


def test_a_look_ends_with_its_link() -> None:
    kept, token = Looks(), tokens.draw()
    kept.keep(token, look_of(for_s=-1))
    assert kept.fresh(token) is None


def test_the_pages_in_memory_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks_module, "KEPT_BYTES", 2_000)
    monkeypatch.setattr(looks_module, "KEPT_MOST", 5)
    kept = Looks()
    drawn = [tokens.draw() for _ in range(20)]
    for number, token in enumerate(drawn):
        kept.keep(token, look_of(number, size=900 if number < 10 else 1))
        assert sum(one.bytes_held for _, one in kept._kept.values()) <= 2_000
        assert len(kept._kept) == len(kept._tokens) <= 5
    assert kept.fresh(drawn[0]) is None
    assert kept.fresh(drawn[-1]) is not None
    kept.forget("link19")
    assert kept.fresh(drawn[-1]) is None
    assert kept.content_of("link18") is not None
