"""A server's end of HTTP, without a server: what a request is answered, byte by byte if need be."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest
from django.conf import settings

from explorer.access import gate
from explorer.access.gate import Gate, Handler
from explorer.asgi import UPLOADS

HOST = "127.0.0.1:8000"
GOES = {"type": "http.disconnect"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: int
    headers: dict[str, str]
    cookies: list[str] = field(default_factory=list)
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)

    @property
    def message(self) -> str:
        """The sentence of a refusal."""
        message: str = self.json["error"]["message"]
        return message


class Asks:
    """Asks the gate, with the token unless ``token`` is false."""

    def __init__(self) -> None:
        self.gate = Gate(Handler(), _no_sockets, uploads=UPLOADS)
        self.connection: Mapping[str, Any] = {"server": ("127.0.0.1", 8000), "client": ("127.0.0.1", 50000)}

    async def __call__(
        self,
        path: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: Sequence[Any] = (b"",),
        token: bool = True,
        content_length: int | None = None,
        twice: tuple[str, str] | None = None,
    ) -> Answer | None:
        """The answer; null if there was none. ``twice`` is a header that comes two times more. ``body`` comes in pieces: bytes, whole messages, and functions that are waited for."""
        sent: list[Any] = []
        messages = self._messages(body)
        given = {"host": HOST} | {name.lower(): value for name, value in (headers or {}).items()}
        if token:
            given |= {"authorization": f"Bearer {settings.ACCESS_TOKEN}"}
        length = sum(len(piece) for piece in body if isinstance(piece, bytes))
        if content_length is not None or length:
            given |= {"content-length": str(length if content_length is None else content_length)}
        lines = [(name.encode(), value.encode()) for name, value in given.items()]
        if twice is not None:
            lines += [(twice[0].lower().encode(), twice[1].encode())] * 2
        path, _, query = path.partition("?")
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": lines,
            "scheme": "http",
            **self.connection,
        }
        left = self.pieces_left = len(body)

        async def receive() -> Any:
            return await anext(messages)

        async def send(message: Any) -> None:
            nonlocal left
            if message["type"] == "http.response.start":
                left = self.pieces_left
            sent.append(message)

        await self.gate(scope, receive, send)
        self.pieces_left_when_answered = left
        if not sent:
            return None
        return Answer(
            status=sent[0]["status"],
            headers={name.decode(): value.decode("latin-1") for name, value in sent[0]["headers"]},
            cookies=[value.decode() for name, value in sent[0]["headers"] if name == b"set-cookie"],
            body=b"".join(message.get("body", b"") for message in sent[1:]),
        )

    async def _messages(self, body: Sequence[Any]) -> AsyncIterator[dict[str, Any]]:
        for number, piece in enumerate(body):
            self.pieces_left = len(body) - number - 1
            more = number < len(body) - 1
            if callable(piece):
                await asyncio.to_thread(piece)
                continue
            yield (
                piece
                if isinstance(piece, dict)
                else {"type": "http.request", "body": piece, "more_body": more}
            )
        await asyncio.Event().wait()


async def _no_sockets(scope: Any, receive: Any, send: Any) -> None:
    raise AssertionError("no socket is opened here")


@pytest.fixture
def asks(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Asks:
    # A client of these tests does not leave once it has its answer.
    monkeypatch.setattr(gate, "LINGER_S", 0.05)
    return Asks()


Ask = Callable[..., Any]
