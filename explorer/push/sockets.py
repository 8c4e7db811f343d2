"""The sockets: ``/ws/timelines/<id>``, ``/ws/together/<id>`` of a timeline, ``/ws/imports/<id>``, ``/ws/sweeps/<id>`` and ``/ws/clusters/<id>``.

A socket joins the feed first, then reads the tail, then sends ``hello`` with it: whatever is stored in between is
both in the feed and after the tail that was read, never in neither. Then it only forwards text. It does not ask
the database again, and it has nothing to say to the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging

import orjson
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import DatabaseError
from django.urls import path, re_path

from explorer.push import together
from explorer.push.hub import Listener, hub
from explorer.push.messages import (
    ClusterMessages,
    ImportMessages,
    Messages,
    SweepMessages,
    TimelineMessages,
    TogetherMessages,
)
from groups.one_line import one_line

log = logging.getLogger(__name__)

SOCKETS_MOST = 5000
"""Open sockets of one process: each is a few kilobytes here and a file of the operating system."""

KEY_LETTERS_MOST = 64
"""An id of ours has 36 at most; a name of the channel layer's has room for 100."""

TRY_AGAIN_LATER = 1013
"""RFC 6455's registry of close codes."""

NOT_FOUND = 4404
TOO_MANY = 4429
"""Close codes of our own (4000 to 4999 are free for it), in the manner of HTTP's."""


class FeedSocket(Messages, AsyncWebsocketConsumer):  # type: ignore[misc]
    """A socket that joins a feed, sends ``hello``, and forwards."""

    # The hub has the subscription; Channels would make one for each socket.
    channel_layer_alias = "none"

    listener: Listener | None = None
    forwarding: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        key = self.scope["url_route"]["kwargs"]["key"]
        if len(key) > KEY_LETTERS_MOST:
            await self.refuse(NOT_FOUND)
            return
        if hub().sockets >= SOCKETS_MOST:
            await self.refuse(TOO_MANY)
            return
        self.feed = f"{self.kind}.{key}"
        self.listener = await hub().join(self.feed)
        try:
            hello = await database_sync_to_async(self.hello)(key)
            if hello is None:
                await self.refuse(NOT_FOUND)
                return
            await self.accept()
            await self.send(text_data=orjson.dumps(hello).decode())
        except DatabaseError as error:
            log.warning("A socket of %s could not be opened: %s", self.feed, one_line(error))
            await self.refuse(TRY_AGAIN_LATER)
            return
        except BaseException:
            # A socket that was never open sends no close: its client has left.
            await self.leave()
            raise
        self.forwarding = asyncio.create_task(self.forward(self.listener), name=f"socket {self.feed}")

    async def refuse(self, code: int) -> None:
        await self.leave()
        # Accepted first: a browser receives the code of an open socket only.
        await self.accept()
        await self.close(code=code)

    async def forward(self, listener: Listener) -> None:
        while True:
            await self.send(text_data=await listener.get())

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """A browser's messages are ignored; commands are HTTP requests."""

    async def disconnect(self, code: int) -> None:
        if self.forwarding is not None:
            self.forwarding.cancel()
            # A send into a socket that is going down fails in the server's own ways.
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await self.forwarding
        await self.leave()

    async def leave(self) -> None:
        listener, self.listener = self.listener, None
        if listener is not None:
            await hub().leave(self.feed, listener)


class TimelineSocket(TimelineMessages, FeedSocket): ...


class TogetherSocket(TogetherMessages, FeedSocket):
    """Its window is on the timeline as long as the socket is open."""

    async def connect(self) -> None:
        await super().connect()
        if self.forwarding is not None:
            together.enter(self.scope["url_route"]["kwargs"]["key"], self, self.scope)

    async def disconnect(self, code: int) -> None:
        together.leave(self.scope["url_route"]["kwargs"]["key"], self)
        await super().disconnect(code)


class ImportSocket(ImportMessages, FeedSocket): ...


class SweepSocket(SweepMessages, FeedSocket): ...


class ClusterSocket(ClusterMessages, FeedSocket): ...


class Nowhere(AsyncWebsocketConsumer):  # type: ignore[misc]
    """Any other address: closed with a code, where Channels would raise."""

    channel_layer_alias = "none"

    async def connect(self) -> None:
        await self.accept()
        await self.close(code=NOT_FOUND)


KEY = "<slug:key>"
routes = [
    path(f"ws/timelines/{KEY}", TimelineSocket.as_asgi()),
    path(f"ws/together/{KEY}", TogetherSocket.as_asgi()),
    path(f"ws/imports/{KEY}", ImportSocket.as_asgi()),
    path(f"ws/sweeps/{KEY}", SweepSocket.as_asgi()),
    path(f"ws/clusters/{KEY}", ClusterSocket.as_asgi()),
    re_path(r"", Nowhere.as_asgi()),
]
