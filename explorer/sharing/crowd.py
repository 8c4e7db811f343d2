"""Many who open one link at once: one of them is answered by Django, which looks the link up; the others wait for that, and are
answered from memory, with neither a thread nor a query each.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import DatabaseError
from django.http import HttpResponse

from explorer.sharing import link_responses, links
from explorer.sharing.addresses import PAGE, token_of
from explorer.sharing.looks import Look, looks
from groups.one_line import one_line

NOTED_EVERY_S: Final = 1.0
"""How long openings are counted in memory before they are written: two hundred at once are one line of the database."""

log = logging.getLogger(__name__)

Note = Callable[[Mapping[str, int]], Awaitable[None]]


class Crowd:
    """Those who have a link now. ``note`` writes down how often links were opened."""

    def __init__(self, note: Note | None = None) -> None:
        self._note: Note = note or sync_to_async(links.note_opened)
        self._under_way: dict[str, asyncio.Event] = {}
        self._openings: Counter[str] = Counter()
        self._noting: asyncio.Task[None] | None = None

    @contextlib.asynccontextmanager
    async def turn(
        self, scope: Mapping[str, Any], headers: Mapping[bytes, bytes]
    ) -> AsyncIterator[HttpResponse | None]:
        """The answer from memory; null for the one whose turn it is to ask Django."""
        token = token_of(scope["path"], headers)
        if scope["method"] != "GET" or not token:
            yield None
            return
        response = self._answer(scope, headers, token)
        if response is None and (other := self._under_way.get(token)) is not None:
            await other.wait()
            response = self._answer(scope, headers, token)
        if response is not None or token in self._under_way:
            yield response
            return
        done = self._under_way[token] = asyncio.Event()
        try:
            yield None
        finally:
            del self._under_way[token]
            done.set()

    def _answer(
        self, scope: Mapping[str, Any], headers: Mapping[bytes, bytes], token: str
    ) -> HttpResponse | None:
        look = looks.fresh(token)
        return None if look is None else self._answer_of(look, scope, headers, token)

    def _answer_of(
        self, look: Look, scope: Mapping[str, Any], headers: Mapping[bytes, bytes], token: str
    ) -> HttpResponse | None:
        path = scope["path"]
        packed = b"gzip" in headers.get(b"accept-encoding", b"")
        if found := PAGE.fullmatch(path):
            shown = look if look.id == found["id"] else None
            if path.endswith("/state"):
                return link_responses.state(shown)
            # For a client without gzip it is unpacked in a thread.
            return link_responses.page(shown, packed=True) if packed else None
        if path.endswith("/embed/state"):
            return link_responses.state(look)
        if path.endswith("/embed/"):
            return link_responses.embed(look, packed=True) if packed else None
        if path.endswith("/card.png"):
            return link_responses.card(look)
        if look.content is not None:
            self._count(look.id)
        query = dict(parse_qsl(scope.get("query_string", b"").decode("latin-1")))
        scheme = headers.get(b"x-forwarded-proto", b"").decode("latin-1") if settings.BEHIND_TLS else ""
        origin = f"{'https' if scheme == 'https' else 'http'}://{headers.get(b'host', b'').decode('latin-1')}"
        return link_responses.door(look, token, query, origin)

    def _count(self, link_id: str) -> None:
        self._openings[link_id] += 1
        if self._noting is None or self._noting.done():
            self._noting = asyncio.create_task(self._note_soon(), name="openings of links")

    async def _note_soon(self) -> None:
        await asyncio.sleep(NOTED_EVERY_S)
        await self.note_now()

    async def note_now(self) -> None:
        """Write down what was counted."""
        openings, self._openings = self._openings, Counter()
        if not openings:
            return
        try:
            await self._note(openings)
        except DatabaseError as error:
            # They stand in the next line that is written.
            self._openings.update(openings)
            log.warning("Openings of links could not be written down yet: %s", one_line(error))
