"""In team mode: who sends a request, what is answered to nobody in particular, and sockets that end with their session."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final
from urllib.parse import urlencode

from channels.db import database_sync_to_async
from django.contrib.auth.models import User
from django.db import DatabaseError
from django.http import HttpResponse

from explorer.access.bodies import Message, Receive
from explorer.access.failures import meaning
from explorer.access.keys import ADMITTED, OPEN
from explorer.access.places import Send
from explorer.access.refusals import refusal
from explorer.accounts.sessions import SIGNED_IN, key_of, user_of

log = logging.getLogger(__name__)

SIGN_IN: Final = "/sign-in"

ADDRESSES: Final = (SIGN_IN, "/sign-out", "/account", "/admin/")
"""Addresses that only a server with accounts has."""

LOOK_EVERY_S: Final = 2.0
"""How long a socket may outlive its session, its account, or the account's rights."""

SIGNED_OUT: Final = 4401
"""A socket's close code, in the manner of HTTP's."""

Application = Callable[[Any, Receive, Send], Awaitable[None]]


def is_of_accounts(path: str) -> bool:
    return path == "/admin" or path.startswith(ADDRESSES)


async def signed_in(scope: Any, headers: Mapping[bytes, bytes], *, is_socket: bool) -> HttpResponse | None:
    """Notes in the scope who sends a request; the answer to one that nobody sends who is signed in."""
    path = scope["path"]
    is_health = path in OPEN and not is_socket and scope["method"] in ("GET", "HEAD")
    key = key_of(headers.get(b"cookie", b""))
    try:
        user = await find_user(key, is_request=not is_socket) if key else None
    except DatabaseError as error:
        if is_health:
            return None
        return refusal(path, *meaning(error))
    if is_health:
        scope[ADMITTED] = user is not None
        return None
    scope[SIGNED_IN] = user
    if user is not None or (path == SIGN_IN and not is_socket):
        return None
    if is_socket or path.startswith("/api/") or scope["method"] not in ("GET", "HEAD"):
        return refusal(path, 401, "Nobody is signed in. Open this server in a browser and sign in.")
    query = scope["query_string"].decode("latin-1")
    asked = f"{path}?{query}" if query else path
    response = HttpResponse(status=303)
    response["Location"] = SIGN_IN if asked == "/" else f"{SIGN_IN}?{urlencode({'next': asked})}"
    response["Cache-Control"] = "no-store"
    return response


async def find_user(key: str, *, is_request: bool) -> User | None:
    found: User | None = await database_sync_to_async(user_of)(key, is_request=is_request)
    return found


class EndingSockets:
    """Sockets that are closed when the session that opened them has ended, or its account is another than it was."""

    def __init__(self, sockets: Application) -> None:
        self.sockets = sockets
        self._open: dict[str, list[tuple[object, asyncio.Event]]] = {}
        self._watching: asyncio.Task[None] | None = None

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        key = key_of(dict(scope["headers"]).get(b"cookie", b""))
        ended = asyncio.Event()
        mine = (rights_of(scope[SIGNED_IN]), ended)
        self._open.setdefault(key, []).append(mine)
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch(), name="sessions of sockets")

        async def received() -> Message:
            """The next message of the client, or that its session has ended."""
            message = asyncio.ensure_future(receive())
            end = asyncio.ensure_future(ended.wait())
            try:
                await asyncio.wait((message, end), return_when=asyncio.FIRST_COMPLETED)
                if not ended.is_set():
                    return message.result()
                with contextlib.suppress(Exception):  # the client has left meanwhile
                    await send({"type": "websocket.close", "code": SIGNED_OUT})
                return {"type": "websocket.disconnect", "code": SIGNED_OUT}
            finally:
                message.cancel()
                end.cancel()

        async def forwarded(message: Message) -> None:
            if not ended.is_set():
                await send(message)

        try:
            await self.sockets(scope, received, forwarded)
        finally:
            self._open[key].remove(mine)
            if not self._open[key]:
                del self._open[key]
            if not self._open and self._watching is not None:
                self._watching.cancel()
                self._watching = None

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            for key in list(self._open):
                try:
                    rights = rights_of(await find_user(key, is_request=False))
                except DatabaseError as error:
                    log.warning("The sessions of open sockets could not be read: %s", error)
                    break
                for opened_with, ended in self._open.get(key, []):
                    if rights is None or rights != opened_with:
                        ended.set()


def rights_of(user: User | None) -> object:
    """What an account may do, to be compared with what it might do before; null for nobody."""
    return None if user is None else (user.pk, user.is_staff, user.is_superuser)
