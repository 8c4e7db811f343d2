"""In team mode: who sends a request, what is answered to nobody in particular, and sockets that end with their session."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping
from enum import Enum, auto
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from channels.db import database_sync_to_async
from django.conf import settings
from django.contrib.auth.models import User
from django.db import DatabaseError
from django.http import HttpResponse
from django.urls import Resolver404, resolve

from explorer.access.bodies import Message, Receive
from explorer.access.clients import CLIENT, is_trusted, peer_of
from explorer.access.failures import meaning
from explorer.access.keys import ADMITTED, BEARER, OPEN, shows_token
from explorer.access.places import Send
from explorer.access.refusals import refusal
from explorer.accounts import audit, tokens
from explorer.accounts.guesses import Guesses
from explorer.accounts.models import Scope
from explorer.accounts.permissions import BY_ADDRESS, NOT_LOGGED, Action
from explorer.accounts.roles import RIGHTS, Rights, rights_of
from explorer.accounts.sessions import SIGNED_IN, key_of, user_named, user_of
from explorer.accounts.targets import OTHERS, subject_of, target_of
from groups import authors

log = logging.getLogger(__name__)

SIGN_IN: Final = "/sign-in"

BEFORE_SIGNED_IN: Final = (SIGN_IN, "/sign-in/start", "/sign-in/callback")

AUDIT: Final = ("/audit", "/api/audit")

ADDRESSES: Final = (SIGN_IN, "/sign-out", "/account", "/admin/", *AUDIT)
"""Addresses that only a server with accounts has."""

LOOK_EVERY_S: Final = 2.0
"""How long a socket may outlive its session, its account, or the account's rights."""

SIGNED_OUT: Final = 4401
"""A socket's close code, in the manner of HTTP's."""

NOBODY: Final = (
    "Nobody is signed in. Open this server in a browser and sign in; a program sends a token of an account "
    "as `Authorization: Bearer …`."
)

NOT_NAMED: Final = (
    "Nobody is signed in. People sign in at the proxy in front of this server, which names them to it; a program sends a token of "
    "an account as `Authorization: Bearer …`."
)

INVALID: Final = "This token is wrong, has expired or was revoked, or its account is not active."

REFUSALS_MOST: Final = 60
"""Refusals of one account within ``REFUSALS_WITHIN_S`` that leave an entry: a program that goes on asking fills no log."""

REFUSALS_WITHIN_S: Final = 600.0

refusals = Guesses(REFUSALS_MOST, REFUSALS_WITHIN_S)
"""Of this process, by account."""

TOKEN_WITHIN_S: Final = 60.0

requests_of_tokens = Guesses(settings.TOKEN_REQUESTS_A_MINUTE, TOKEN_WITHIN_S)
"""Of this process, by account and token: one program that asks without a pause leaves the server to the others."""

Application = Callable[[Any, Receive, Send], Awaitable[None]]

DOING: Final = "rebalance.doing"
"""In a request's scope: what it does, if that leaves an entry in the audit log."""


def has_sessions() -> bool:
    """Whether people sign in here with a browser, not at a proxy in front."""
    return "password" in settings.LOGIN or "oidc" in settings.LOGIN


def is_of_accounts(path: str) -> bool:
    return path == "/admin" or path.startswith(ADDRESSES)


class Kind(Enum):
    """What a request shows of its sender."""

    TOKEN = auto()
    SESSION = auto()
    PROXY = auto()
    """The name of the account that has signed in at a trusted proxy."""


class Credential(NamedTuple):
    """What a request shows of its sender: the text of a program's token, the key of a session, or a name."""

    text: str
    kind: Kind


class Sender(NamedTuple):
    """Who sends a request, and what the sender may do."""

    user: User
    rights: Rights
    by: str
    """``browser``, or ``token`` with its name."""


class Found(NamedTuple):
    """What an address and a method do, to what, and the status and sentence of why the sender may not."""

    action: Action | None
    subject: str
    refused: tuple[int, str] | None
    allow: str = ""
    """Of 405: the methods that the address takes."""


def credential_of(scope: Any, headers: Mapping[bytes, bytes]) -> Credential:
    """A token comes first, right or wrong, then a trusted proxy's header, then a cookie; the text is empty where there is none."""
    if shows_token(headers):
        text = headers[b"authorization"].decode("latin-1")[len(BEARER) :].strip()
        return Credential(text, Kind.TOKEN)
    if settings.PROXY_USER_HEADER and is_trusted(peer_of(scope)):
        name = headers.get(settings.PROXY_USER_HEADER, b"").decode("latin-1")
        if name or not has_sessions():
            return Credential(name, Kind.PROXY)
    if not has_sessions():
        return Credential("", Kind.SESSION)
    return Credential(key_of(headers.get(b"cookie", b"")), Kind.SESSION)


async def signed_in(scope: Any, headers: Mapping[bytes, bytes], *, is_socket: bool) -> HttpResponse | None:
    """Notes in the scope who sends a request; the answer to one that nobody sends who is signed in, and to one that the sender's role or token does not allow."""
    path = scope["path"]
    reads = is_socket or scope["method"] in ("GET", "HEAD")
    is_health = path in OPEN and not is_socket and reads
    credential = credential_of(scope, headers)
    method = "" if is_socket else scope["method"].upper()
    try:
        sender, found = await database_sync_to_async(_looked_up)(credential, method, path)
    except DatabaseError as error:
        if is_health:
            return None
        return refusal(path, *meaning(error))
    if is_health:
        scope[ADMITTED] = sender is not None
        return None
    authors.current.set(sender and sender.user.pk)
    by = "" if sender is None else sender.by
    audit.current.set(audit.Source(sender and sender.user, by, scope[CLIENT]))
    if sender is not None:
        scope[SIGNED_IN], scope[RIGHTS], _ = sender
    if credential.kind is Kind.TOKEN and (response := refused_token(path, sender, "" if reads else method)):
        await _note_refused(sender, method, path, response.status_code)
        return response
    if sender is not None:
        if found is not None and found.refused:
            await _note_refused(sender, method, path, found.refused[0])
            response = refusal(path, *found.refused)
            if found.allow:
                response["Allow"] = found.allow
            return response
        if found is not None and not reads and found.action not in NOT_LOGGED:
            scope[DOING] = found
        return None
    if not has_sessions():
        return refusal(path, 401, NOT_NAMED, heading="Nobody is signed in")
    if path in BEFORE_SIGNED_IN and not is_socket:
        return None
    if is_socket or path.startswith("/api/") or not reads:
        return refusal(path, 401, NOBODY)
    query = scope["query_string"].decode("latin-1")
    asked = f"{path}?{query}" if query else path
    response = HttpResponse(status=303)
    response["Location"] = SIGN_IN if asked == "/" else f"{SIGN_IN}?{urlencode({'next': asked})}"
    response["Cache-Control"] = "no-store"
    return response


async def _note_refused(sender: Sender | None, method: str, path: str, status: int) -> None:
    """Adds to the audit log what an account may not do and asked for all the same."""
    if sender is not None and status == 403 and not refusals.are_too_many(str(sender.user.pk)):
        await database_sync_to_async(audit.note)(audit.FORBIDDEN, f"{method[:20]} {path}")


def refused_token(path: str, sender: Sender | None, writes_by: str) -> HttpResponse | None:
    """Why a request with a token is refused; null if it is not. ``writes_by`` is its method unless it only reads."""
    if sender is None:
        response = refusal(path, 401, INVALID, heading="This is not a valid token")
        response["WWW-Authenticate"] = 'Bearer realm="Rebalance Explorer", error="invalid_token"'
        return response
    if is_of_accounts(path) and not path.startswith(AUDIT):
        return refusal(path, 403, "A token manages no accounts and no tokens: sign in with a browser.")
    if requests_of_tokens.are_too_many(f"{sender.user.pk} {sender.by}"):
        response = refusal(
            path,
            429,
            f"This token may send {requests_of_tokens.most:,} requests a minute: wait for the next one.",
        )
        response["Retry-After"] = str(round(TOKEN_WITHIN_S))
        return response
    if writes_by and not sender.rights.may_write:
        return refusal(
            path, 403, f"This token may only read: {writes_by[:20]} needs one with the scope `write`."
        )
    return None


async def find_sender(credential: Credential, *, is_request: bool) -> Sender | None:
    """Null for a credential that is empty or not valid. ``is_request`` is false for an open socket."""
    found: Sender | None = await database_sync_to_async(_sender_of)(credential, is_request=is_request)
    return found


def _looked_up(credential: Credential, method: str, path: str) -> tuple[Sender | None, Found | None]:
    """The sender of a request, and what it asks. ``method`` is empty for a socket, which only pushes."""
    sender = _sender_of(credential, is_request=bool(method))
    return sender, found_at(sender.rights, method, path) if sender and method else None


def found_at(rights: Rights, method: str, path: str) -> Found | None:
    """Null for an address that is not there."""
    try:
        match = resolve(path)
    except Resolver404:
        return None
    name = match.namespaces[0] if match.namespaces else str(match.url_name)
    action = BY_ADDRESS.get(("GET" if method == "HEAD" else method, name))
    if action is None:
        allow = ", ".join(sorted(other for other, address in BY_ADDRESS if address == name))
        return Found(None, "", (405, f"{method[:20]} is not for this address."), allow)
    why = rights.refused(action, OTHERS) and rights.refused(action, target_of(match.kwargs))
    is_logged = not why and action not in NOT_LOGGED and method not in ("GET", "HEAD")
    subject = (subject_of(match.kwargs) or path) if is_logged else ""
    return Found(action, subject, (403, why) if why else None)


async def note_done(scope: Any, message: Message) -> None:
    """Adds to the audit log what a request has done, before its sender has the answer that begins with ``message``."""
    found: Found | None = scope.pop(DOING, None)
    # Django's admin answers 200 to a form that it does not take.
    least = 300 if found is not None and found.action is Action.ADMINISTER else 200
    if found is None or found.action is None or not least <= message["status"] < 400:
        return
    headers = {bytes(name).lower(): bytes(value).decode("latin-1") for name, value in message["headers"]}
    made = {"made": headers[b"location"]} if b"location" in headers else {}
    details = made | scope.get(audit.DETAILS, {})
    await database_sync_to_async(audit.note)(found.action, found.subject, **details)


def _sender_of(credential: Credential, *, is_request: bool) -> Sender | None:
    user, scope, by = None, Scope.WRITE.value, "browser"
    if credential.kind is Kind.TOKEN:
        if token := tokens.found_by(credential.text):
            user, scope, by = token.owner, token.scope, f"token {token.name}"
    elif credential.kind is Kind.PROXY:
        user, by = user_named(credential.text.encode("latin-1")), audit.BY_PROXY
    else:
        user = user_of(credential.text, is_request=is_request)
    rights = rights_of(user, scope)
    return None if user is None or rights is None else Sender(user, rights, by)


class EndingSockets:
    """Sockets that are closed when the session or token that opened them has ended, or its account is another than it was."""

    def __init__(self, sockets: Application) -> None:
        self.sockets = sockets
        self._open: dict[Credential, list[tuple[Rights, asyncio.Event]]] = {}
        self._watching: asyncio.Task[None] | None = None

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        shown = credential_of(scope, dict(scope["headers"]))
        ended = asyncio.Event()
        mine = (scope[RIGHTS], ended)
        self._open.setdefault(shown, []).append(mine)
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch(), name="sessions of sockets")

        async def received() -> Message:
            """The next message of the client, or that its session or token has ended."""
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
            self._open[shown].remove(mine)
            if not self._open[shown]:
                del self._open[shown]
            if not self._open and self._watching is not None:
                self._watching.cancel()
                self._watching = None

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            for shown in list(self._open):
                try:
                    sender = await find_sender(shown, is_request=False)
                except DatabaseError as error:
                    log.warning("The sessions of open sockets could not be read: %s", error)
                    break
                for opened_with, ended in self._open.get(shown, []):
                    if sender is None or sender.rights != opened_with:
                        ended.set()
