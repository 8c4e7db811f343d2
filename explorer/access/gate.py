"""The gate: what a request passes before anything of it is worked on, or even kept.

In this order: a host that is ours; a link, which has a door of its own (``explorer.sharing.door``); a page that is ours; the token; a body that is not too large, in bounded time; a
free place. Each refusal is one sentence. Only then Django begins, and with it threads, queries and the disk.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpResponse
from django.http.request import split_domain_port, validate_host

from explorer.access import answer_headers
from explorer.access.bodies import (
    ClientLeft,
    Incoming,
    Message,
    Receive,
    Streamed,
    TooSlow,
    content_length,
    too_large,
)
from explorer.access.clients import CLIENT, client_of
from explorer.access.keys import ADMITTED, OPEN, admits, cookie_for, is_token, shows_token
from explorer.access.peers import account_of
from explorer.access.places import (
    ANSWERS_AT_ONCE,
    PAGES_AT_ONCE,
    UPLOADS_AT_ONCE,
    Places,
    Send,
    a_place,
)
from explorer.access.refusals import refusal, without_token
from explorer.access.signing_in import EndingSockets, is_of_accounts, note_done, signed_in
from explorer.sharing.addresses import leads_here
from explorer.sharing.crowd import Crowd
from explorer.sharing.door import Door
from explorer.web.coalescing import CAME_S

OWN_FETCHES: Final = (b"", b"same-origin", b"none")
"""``Sec-Fetch-Site`` of what our own pages ask, of what a user types or opens from a bookmark, and of no browser."""

USUAL_PORTS: Final = {"http": 80, "https": 443}


def is_known(host: str) -> bool:
    """Whether a ``Host`` header names this server; any name could be made to lead to loopback."""
    name, _ = split_domain_port(host)
    return bool(name) and validate_host(name, settings.ALLOWED_HOSTS)


def is_own(origin: str, host: str) -> bool:
    """Whether a page's origin is the host that it asks, port included.

    >>> is_own("http://127.0.0.1:8000", "127.0.0.1:8000"), is_own("http://127.0.0.1:9000", "127.0.0.1:8000")
    (True, False)

    Behind a proxy that speaks TLS the page is ``https://rebalance.internal`` and the host ``rebalance.internal``.
    """
    try:
        page = urlsplit(origin)
        asked = urlsplit(f"{page.scheme}://{host}")
        usual = USUAL_PORTS[page.scheme]
        if settings.BEHIND_TLS and page.scheme != "https":
            return False  # anyone who is between a browser and the proxy can write such a page
        return (page.hostname, page.port or usual) == (asked.hostname, asked.port or usual)
    except (ValueError, KeyError):
        return False


def is_foreign(headers: Mapping[bytes, bytes], host: str) -> bool:
    """Whether a browser sends it for a page that is not ours."""
    origin = headers.get(b"origin")
    if origin is not None and not is_own(origin.decode("latin-1"), host):
        return True
    return headers.get(b"sec-fetch-site", b"") not in OWN_FETCHES


def is_followed_link(method: str, path: str, headers: Mapping[bytes, bytes]) -> bool:
    """Whether a user has followed a link to one of our pages, from wherever: the page that has it learns nothing."""
    return (
        method in ("GET", "HEAD")
        and not path.startswith("/api/")
        and b"origin" not in headers
        and headers.get(b"sec-fetch-mode") == b"navigate"
        and headers.get(b"sec-fetch-dest") == b"document"
    )


Scope = MutableMapping[str, Any]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

SINGLE_HEADERS: Final = (b"authorization", b"origin", b"sec-fetch-site", b"referer", b"content-length")
"""Headers that decide who is let in: of two, the one that is looked at may be the wrong one. ``Cookie`` may be cut up."""

NO_ACCOUNTS: Final = "This server has no accounts: the setting LOGIN gives it some."

FIELDS_BYTES: Final = 4096
"""What a file of an upload takes in addition to its content: its head, and a field with its path."""


LINGER_S: Final = 2.0
"""For how long the rest of a refused body is read: a client that has seen the answer closes the connection at once."""


class Handler(ASGIHandler):
    """Django's, on a body that the gate has read, or that comes while it is stored."""

    async def read_body(self, receive: Any) -> Any:
        return receive.body


class Gate:
    """Guards an ASGI application of pages and sockets."""

    def __init__(
        self, http: Any, sockets: Application, *, uploads: Collection[str] = (), door: Door | None = None
    ) -> None:
        self.http = http
        self.sockets = sockets
        self.ending_sockets = EndingSockets(sockets)
        self.uploads = uploads
        self.door = door
        self.crowd = Crowd()
        self.page_places = Places(PAGES_AT_ONCE)
        self.answer_places = Places(ANSWERS_AT_ONCE)
        self.upload_places = Places(UPLOADS_AT_ONCE, waiting_most=0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        scope[CLIENT] = client_of(scope, scope["headers"])
        if scope["type"] == "websocket":
            refused = self.refused(scope, headers, host, is_socket=True)
            refused = refused or await self.not_signed_in(scope, headers, is_socket=True)
            if refused is None:
                sockets = self.ending_sockets if settings.LOGIN else self.sockets
                await sockets(scope, receive, send)
            else:
                await refuse_socket(scope, refused, receive, send)
            return

        async def complete(message: Message) -> None:
            if message["type"] == "http.response.start":
                await note_done(scope, message)
                message["headers"] = answer_headers.completed(
                    message["status"],
                    [(bytes(name).lower(), bytes(value)) for name, value in message["headers"]],
                    host if is_known(host) else "127.0.0.1",
                )
            await send(message)

        refused = self.refused(scope, headers, host)
        refused = refused or await self.not_signed_in(scope, headers) or self.refused_body(scope, headers)
        if refused is None:
            has_body = bool(content_length(headers)) or b"transfer-encoding" in headers
            if self.door is None or has_body or not leads_here(scope["path"]):
                await self.let_in(scope, headers, receive, complete)
                return
            async with self.crowd.turn(scope, headers) as answered:
                if answered is None:
                    await self.let_in(scope, headers, receive, complete)
                else:
                    await answer(answered, scope, complete)
            return
        if content_length(headers) or b"transfer-encoding" in headers:
            await answer_unread(refused, scope, receive, complete)
        else:
            await answer(refused, scope, complete)

    def refused(
        self, scope: Scope, headers: dict[bytes, bytes], host: str, *, is_socket: bool = False
    ) -> HttpResponse | None:
        """Why a request is not let in, from its head alone; null if it is."""
        path = scope["path"]
        method = scope.get("method", "GET")
        names = [name for name, _ in scope["headers"]]
        single = (
            (*SINGLE_HEADERS, settings.PROXY_USER_HEADER) if settings.PROXY_USER_HEADER else SINGLE_HEADERS
        )
        if twice := next((name for name in single if names.count(name) > 1), None):
            return refusal(path, 400, f"The header {twice.decode()} comes twice; it may say one thing only.")
        if [name for name, _ in scope["headers"]].count(b"host") != 1 or not is_known(host):
            return refusal(
                path,
                400,
                f"This server does not answer to {host[:100]!r}; ALLOWED_HOSTS names what it answers to.",
            )
        if not is_socket and self.door is not None and leads_here(path):
            # A request with a link comes from anywhere, with no token of this server's, and may only read.
            return self.door.refused(method, path, headers, scope[CLIENT])
        if path in OPEN and method in ("GET", "HEAD") and not is_socket:
            shown = not settings.LOGIN and (not settings.REQUIRE_TOKEN or admits(scope, headers, host))
            scope[ADMITTED] = shown and not settings.LINKS_ONLY
            return None
        if settings.LINKS_ONLY:
            return refusal("", 404, "This server shows what links lead to, and nothing else.")
        if is_foreign(headers, host) and (is_socket or not is_followed_link(method, path, headers)):
            return refusal(
                path, 403, "A page of another origin asks, and may not: this server's own pages may."
            )
        if "\0" in path or b"%00" in scope.get("query_string", b""):
            return refusal(path, 400, "An address cannot have the character U+0000 in it.")
        if settings.LOGIN or path.startswith(settings.STATIC_URL):
            return None  # a signed-in account is looked for next
        nothing = refusal(path, 404, NO_ACCOUNTS) if is_of_accounts(path) else None
        if not settings.REQUIRE_TOKEN:
            return nothing
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = next((value for name, value in query if name == "token"), None)
        if given is not None and is_token(given) and method == "GET" and not is_socket:
            given_to = cookie_for(host, account_of(scope))
            return with_cookie(path, [pair for pair in query if pair[0] != "token"], given_to)
        if admits(scope, headers, host):
            return nothing
        return without_token(
            path,
            [pair for pair in query if pair[0] != "token"],
            wrong=given is not None or shows_token(headers),
            # A link that is followed from elsewhere comes without the cookie; asked again from here, with it.
            from_elsewhere=given is None and headers.get(b"sec-fetch-site") in (b"cross-site", b"same-site"),
        )

    async def not_signed_in(
        self, scope: Scope, headers: dict[bytes, bytes], *, is_socket: bool = False
    ) -> HttpResponse | None:
        """In team mode: why a request is not let in whose sender is not signed in; null if the sender is, or need not be."""
        path = scope["path"]
        is_open = path.startswith(settings.STATIC_URL) or (self.door is not None and leads_here(path))
        if not settings.LOGIN or settings.LINKS_ONLY or (is_open and not is_socket):
            return None
        return await signed_in(scope, headers, is_socket=is_socket)

    def bytes_most(self, scope: Scope, headers: dict[bytes, bytes]) -> int:
        """Bytes of a body that a request may have."""
        if self.is_upload(scope, headers):
            overhead = settings.DATA_UPLOAD_MAX_NUMBER_FILES * FIELDS_BYTES
            return int(settings.UPLOAD_BYTES_MOST + overhead)
        return int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)

    def is_upload(self, scope: Scope, headers: dict[bytes, bytes]) -> bool:
        is_form = headers.get(b"content-type", b"").lower().startswith(b"multipart/form-data")
        return is_form and scope["method"] == "POST" and scope["path"] in self.uploads

    def refused_body(self, scope: Scope, headers: dict[bytes, bytes]) -> HttpResponse | None:
        """Why a body is not read, by its headers."""
        path, most = scope["path"], self.bytes_most(scope, headers)
        if content_length(headers) > most:
            return refusal(path, 413, too_large(most))
        if self.is_upload(scope, headers) and self.upload_places.are_taken:
            return refusal(path, 429, f"{UPLOADS_AT_ONCE} uploads are under way. Try again when one is done.")
        return None

    async def let_in(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, send: Send) -> None:
        incoming: Any = Incoming(receive, self.bytes_most(scope, headers))
        scope["client_left"] = incoming.client_left
        scope[CAME_S] = time.monotonic()
        path = scope["path"]
        try:
            if self.is_upload(scope, headers):
                places = self.upload_places
                incoming.body = Streamed(incoming)
            else:
                places = self.answer_places if path.startswith("/api/") else self.page_places
                incoming.body = await incoming.whole()
            if places.are_taken:
                await answer(
                    refusal(path, 503, "The server has more to do than it can keep in mind."), scope, send
                )
                return

            held_end = False

            async def close_if_unread(message: Message) -> None:
                nonlocal held_end
                if not incoming.is_read:
                    if message["type"] == "http.response.start":
                        message["headers"] = [*message["headers"], (b"connection", b"close")]
                    elif not message.get("more_body", False):
                        message, held_end = {**message, "more_body": True}, True
                await send(message)

            async with a_place(places, close_if_unread) as sent:
                if not incoming.client_left.is_set():
                    await self.http(scope, incoming, sent)
            if held_end:
                await drained(receive)
                await send({"type": "http.response.body"})
        except ClientLeft:
            return
        except TooSlow as error:
            await answer(closing(refusal(path, 408, str(error))), scope, send)
        except RequestDataTooBig as error:
            await answer_unread(refusal(path, 413, str(error)), scope, receive, send)
        finally:
            incoming.close()


def with_cookie(path: str, query: list[tuple[str, str]], cookie: str) -> HttpResponse:
    """Change an address's token for the cookie, and the address for one without it, which would stay in history and links."""
    # One slash: with two, the path would be another host's name.
    response = HttpResponse(status=303)
    response["Location"] = "/" + quote(path.lstrip("/\\")) + (f"?{urlencode(query)}" if query else "")
    response["Set-Cookie"] = cookie
    response["Cache-Control"] = "no-store"
    return response


def closing(response: HttpResponse) -> HttpResponse:
    response["Connection"] = "close"
    return response


async def answer_unread(response: HttpResponse, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request whose body has not been read to its end, and close the connection."""
    await answer(closing(response), scope, send, is_end=False)
    await drained(receive)
    await send({"type": "http.response.body"})


async def drained(receive: Receive) -> None:
    """Read what still comes of a body, for ``LINGER_S`` at most, and keep nothing of it.

    A connection that is closed while its client still sends is reset, and the client (nginx answers 502) never sees why it was refused.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LINGER_S):
            while (message := await receive())["type"] == "http.request" and message.get("more_body", False):
                pass


async def answer(response: HttpResponse, scope: Scope, send: Send, *, is_end: bool = True) -> None:
    body = b"" if scope.get("method") == "HEAD" else response.content
    response["Content-Length"] = str(len(response.content))
    headers = [(name.encode(), value.encode("latin-1")) for name, value in response.items()]
    headers += [
        (b"Set-Cookie", cookie.output(header="").strip().encode()) for cookie in response.cookies.values()
    ]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": not is_end})


async def refuse_socket(scope: Scope, response: HttpResponse, receive: Receive, send: Send) -> None:
    """Refused before it is opened: with the answer where the server can give one, else with its 403."""
    await receive()
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close"})
        return

    async def as_socket(message: Message) -> None:
        await send({**message, "type": f"websocket.{message['type']}"})

    await answer(response, scope, as_socket)
