"""Bodies of requests: counted as they come, in bounded time, and never kept twice.

Django would write each whole body into a temporary file before anything looks at the request, so that any page could
fill the disk. Here a body is read after the gate has let the request in: a small one into memory, an upload piece by
piece, by the thread that stores it.
"""

from __future__ import annotations

import asyncio
import io
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, Final

from django.core.exceptions import BadRequest, RequestDataTooBig

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

PIECE_S: Final = 20.0
"""Silence within a body: a client on a bad line comes back within seconds, a hostile one never."""

GRACE_S: Final = 60.0
RATE_BYTES_PER_S: Final = 8 * 1024
"""A body may take a minute, and longer the more has come: slower than this is nobody's line."""


class TooSlow(BadRequest):
    """The body does not come, or hardly."""


class ClientLeft(BadRequest):
    """Nobody waits for the answer any more."""


class Incoming:
    """What a client sends: its body, then perhaps that it left.

    Django is given it in the place of the server's ``receive``: it asks for nothing but whether the client left.
    """

    def __init__(self, receive: Receive, bytes_most: int) -> None:
        self.receive = receive
        self.bytes_most = bytes_most
        self.client_left = threading.Event()
        """Set once the client is gone: work that it asked for need not go on."""
        self.read = 0
        self._begun_s = time.monotonic()
        self._ended = asyncio.Event()
        self._departure: asyncio.Task[None] | None = None

    @property
    def is_read(self) -> bool:
        return self._ended.is_set()

    async def piece(self) -> bytes | None:
        """The next bytes of the body; null at its end."""
        if self._ended.is_set():
            return None
        left_s = GRACE_S + self.read / RATE_BYTES_PER_S - (time.monotonic() - self._begun_s)
        try:
            message = await asyncio.wait_for(self.receive(), max(0.0, min(PIECE_S, left_s)))
        except TimeoutError as error:
            raise TooSlow(
                f"The request's body came too slowly: {self.read:,} bytes in "
                f"{time.monotonic() - self._begun_s:.0f} s."
            ) from error
        if message["type"] == "http.disconnect":
            self.client_left.set()
            raise ClientLeft("The client left before its request was complete.")
        body: bytes = message.get("body", b"")
        self.read += len(body)
        if self.read > self.bytes_most:
            raise RequestDataTooBig(too_large(self.bytes_most))
        if not message.get("more_body", False):
            self._ended.set()
            self._departure = asyncio.create_task(self._watch(), name="client leaves")
        return body

    async def whole(self) -> io.BytesIO:
        """All of the body, in memory."""
        pieces = []
        while (piece := await self.piece()) is not None:
            pieces.append(piece)
        return io.BytesIO(b"".join(pieces))

    async def __call__(self) -> Message:
        """What Django hears: that the client left, once it has."""
        await self._ended.wait()
        assert self._departure is not None
        await asyncio.shield(self._departure)
        return {"type": "http.disconnect"}

    async def _watch(self) -> None:
        while (await self.receive())["type"] != "http.disconnect":
            pass
        self.client_left.set()

    def close(self) -> None:
        if self._departure is not None:
            self._departure.cancel()


class Streamed(io.RawIOBase):
    """A body as a file that a thread reads while it comes; the client waits for the thread."""

    def __init__(self, incoming: Incoming) -> None:
        super().__init__()
        self._incoming = incoming
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._rest = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        """``size`` bytes at most, and all that is left where it is negative."""
        if size is None or size < 0:
            pieces = [self._rest]
            while (piece := self._next()) is not None:
                pieces.append(piece)
            self._rest = b""
            return b"".join(pieces)
        while len(self._rest) < size and (piece := self._next()) is not None:
            self._rest += piece
        given, self._rest = self._rest[:size], self._rest[size:]
        return given

    def _next(self) -> bytes | None:
        assert threading.get_ident() != self._thread, "the loop would wait for itself"
        return asyncio.run_coroutine_threadsafe(self._incoming.piece(), self._loop).result()


def content_length(headers: Mapping[bytes, bytes]) -> int:
    """The Content-Length header as a number; 0 if it is missing or malformed."""
    length = headers.get(b"content-length", b"")
    return int(length) if length.isdigit() and len(length) <= 18 else 0


def too_large(bytes_most: int) -> str:
    return f"The request is larger than this server takes here, which is {bytes_most:,} bytes."
