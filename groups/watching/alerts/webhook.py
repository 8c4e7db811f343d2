"""One POST to one webhook: resolved, looked at, connected to what was looked at; bounded in time and bytes, no redirects.

Nothing here has to do with a cluster: this is the one place of the program that asks an address of the world, and only
because somebody wrote it into a rule.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

from groups.watching.alerts.addresses import Network, is_allowed

URL_LENGTH_MOST: Final = 2_000
WHOLE_S: Final = 10.0
"""From the name's resolution to the answer's headers. Chat tools answer within a second."""

HEAD_BYTES_MOST: Final = 16 * 1024
"""Of an answer: its status line and headers. Its body is of no interest and is not read."""

GIVEN_UP: Final = frozenset({400, 401, 403, 404, 405, 410, 411, 413, 414, 415, 422})
"""Answers that another try will not change."""

RETRY_AFTER_MOST_S: Final = 3600


class BadUrl(Exception):
    """A URL that is no webhook's; one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a try came to. ``again``: whether another one may do better; ``after_s``: when the receiver wants it."""

    ok: bool
    text: str
    again: bool = True
    after_s: int | None = None


def checked(url: str) -> SplitResult:
    """The parts of a webhook's URL; ``BadUrl`` contains what is wrong with it."""
    if len(url) > URL_LENGTH_MOST:
        raise BadUrl(f"A webhook has {URL_LENGTH_MOST:,} characters at most.")
    if not re.fullmatch(r"[\x21-\x7e]+", url):
        raise BadUrl("A webhook is written in printable ASCII, without spaces.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise BadUrl("The webhook has a port that is none: https://host:443/path.") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise BadUrl("A webhook begins with https:// (or http://) and a host.")
    if parts.username is not None or parts.password is not None:
        raise BadUrl("A webhook has no user or password before its host; put the secret into the path.")
    try:
        parts.hostname.encode("idna")
    except UnicodeError:
        raise BadUrl(
            "The webhook's host is no name: 63 characters at most between two dots, and at least one."
        ) from None
    return parts


def shown(url: str) -> str:
    """A webhook without what is secret in it: its path and query."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/…"


async def resolved(host: str, port: int) -> list[str]:
    """The addresses of a name, in the resolver's order."""
    loop = asyncio.get_running_loop()
    rows = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(row[4][0]) for row in rows))


async def post(
    url: str,
    body: bytes,
    *,
    token: str = "",
    also: Sequence[Network] = (),
    whole_s: float = WHOLE_S,
    trust: str | None = None,
) -> Answer:
    """Send ``body`` (JSON), with ``token`` as the bearer's where one is given. ``also``: networks that are reached besides public addresses; ``trust``: a CA, PEM, for tests."""
    try:
        parts = checked(url)
    except BadUrl as error:
        return Answer(ok=False, text=str(error), again=False)
    try:
        async with asyncio.timeout(whole_s):
            return await _post(parts, _request(parts, body, token), also, trust)
    except TimeoutError:
        return Answer(ok=False, text=f"No answer within {whole_s:g} s")
    except socket.gaierror:
        return Answer(ok=False, text=f"The name {parts.hostname} is not known")
    except ssl.SSLCertVerificationError as error:
        return Answer(ok=False, text=f"The certificate is not accepted: {error.verify_message}"[:300])
    except (OSError, EOFError, ValueError) as error:
        problem = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
        return Answer(ok=False, text=f"The connection failed: {problem}"[:300])


async def _post(parts: SplitResult, request: bytes, also: Sequence[Network], trust: str | None) -> Answer:
    host, tls = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if tls else 80)
    addresses = await resolved(host, port)
    allowed = [each for each in addresses if is_allowed(each, also)]
    if not allowed:
        where = addresses[0] if addresses else host
        problem = f"{where} is no public address; WEBHOOK_NETWORKS names the others that may be reached"
        return Answer(ok=False, text=problem, again=False)
    context = ssl.create_default_context(cadata=trust) if tls else None
    reader, writer = await asyncio.open_connection(
        allowed[0], port, ssl=context, server_hostname=host if tls else None, limit=HEAD_BYTES_MOST
    )
    try:
        writer.write(request)
        await writer.drain()
        return _answer(await reader.readuntil(b"\r\n\r\n"))
    except asyncio.LimitOverrunError:
        return Answer(ok=False, text="The answer's headers are too long")
    except asyncio.IncompleteReadError as error:
        problem = (
            "The connection was closed without an answer" if not error.partial else "The answer is no HTTP"
        )
        return Answer(ok=False, text=problem)
    finally:
        writer.close()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(1):
                await writer.wait_closed()


def _request(parts: SplitResult, body: bytes, token: str) -> bytes:
    target = parts.path or "/"
    if parts.query:
        target += f"?{parts.query}"
    shown = f"Authorization: Bearer {token}\r\n" if token else ""
    head = (
        f"POST {target} HTTP/1.1\r\nHost: {parts.netloc}\r\nUser-Agent: rebalance-explorer\r\n"
        f"{shown}Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode("ascii") + body


def _answer(head: bytes) -> Answer:
    lines = head.decode("latin-1").split("\r\n")
    status = re.fullmatch(r"HTTP/1\.[01] (\d{3})(?: (.*))?", lines[0])
    if status is None:
        return Answer(ok=False, text="The answer is no HTTP")
    code = int(status[1])
    said = f"{code} {status[2] or ''}".strip()[:100]
    if 200 <= code < 300:
        return Answer(ok=True, text=said)
    if 300 <= code < 400:
        return Answer(ok=False, text=f"{said}: redirects are not followed; give the final URL", again=False)
    return Answer(ok=False, text=said, again=code not in GIVEN_UP, after_s=_retry_after(lines))


def _retry_after(lines: Sequence[str]) -> int | None:
    for line in lines[1:]:
        name, _, value = line.partition(":")
        if name.strip().lower() == "retry-after" and re.fullmatch(r"\d{1,9}", value.strip()):
            return min(int(value), RETRY_AFTER_MOST_S)
    return None
