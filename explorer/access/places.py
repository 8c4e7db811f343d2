"""Places: how many requests the server works on at once. The others wait for their turn."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from explorer.access.bodies import Message
from groups.jobs import waiting

Send = Callable[[Message], Awaitable[None]]

PAGES_AT_ONCE: Final = 8
ANSWERS_AT_ONCE: Final = 4
"""Requests that are worked on at once: each has a thread, and more of them only take the processor from each other.
Pages have places of their own, so that a hundred programs that ask for lists do not hold up a reader."""

UPLOADS_AT_ONCE: Final = 4
"""Uploads that come at once: each is slow by nature, and has a thread as long as it lasts."""

WAITING_MOST: Final = 1000
"""Requests that wait for a place: a coroutine each, which is some kilobytes."""

WITHOUT_PLACE_MOST: Final = 32
"""Requests that gave their place back while they wait for another process. Each keeps its thread; a further one keeps its place too."""


@dataclass(slots=True)
class Places:
    """So many at once; others wait for their turn."""

    count: int
    waiting_most: int = WAITING_MOST
    waiting: int = 0
    without: int = 0
    """Requests that gave their place back before their answer began."""

    _free: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self._free = asyncio.Semaphore(self.count)

    @property
    def are_taken(self) -> bool:
        return self._free.locked() and self.waiting >= self.waiting_most

    async def take(self) -> None:
        self.waiting += 1
        try:
            await self._free.acquire()
        finally:
            self.waiting -= 1

    def leave(self) -> None:
        self._free.release()


class _Place:
    """The place of one request. All methods run in the event loop."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.is_held = True
        self.is_without = False

    def give_back(self) -> None:
        """The request waits for another process now, and needs the place no longer."""
        if self.is_held and self.places.without < WITHOUT_PLACE_MOST:
            self.places.without += 1
            self.is_without = True
            self.leave()

    def leave(self) -> None:
        if self.is_held:
            self.is_held = False
            self.places.leave()

    def end(self) -> None:
        self.leave()
        if self.is_without:
            self.is_without = False
            self.places.without -= 1


@contextlib.asynccontextmanager
async def a_place(places: Places, send: Send) -> AsyncIterator[Send]:
    """Hold a place until the answer begins, or until the request waits for another process (``groups.jobs.waiting``).
    A client that reads its answer slowly holds none."""
    await places.take()
    place = _Place(places)
    loop = asyncio.get_running_loop()

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            place.end()
        await send(message)

    try:
        with waiting.noticed_by(lambda: loop.call_soon_threadsafe(place.give_back)):
            yield sent
    finally:
        place.end()
