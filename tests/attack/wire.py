"""HTTP by hand, so that it can be wrong: heads that do not end, bodies that do not come, clients that leave."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tests.serving import Served

ANSWER_S = 60.0
"""A client of ours that waits longer takes the server for hung."""


@dataclass(slots=True)
class Target:
    """A server on loopback, and what became of all that it was asked."""

    server: Served
    statuses: dict[int, int] = field(default_factory=dict)
    """How many answers of each status; 0 is none at all."""
    host: str = field(init=False)
    port: int = field(init=False)

    def __post_init__(self) -> None:
        address = urlsplit(self.server.url)
        if address.hostname not in ("127.0.0.1", "::1", "localhost"):
            raise ValueError(f"{self.server.url} is not loopback: nobody else's server is attacked.")
        self.host, self.port = address.hostname, address.port or 80

    @contextlib.asynccontextmanager
    async def connection(self) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
        reader, writer = await asyncio.open_connection(self.host, self.port)
        try:
            yield reader, writer
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def ask(
        self,
        path: str,
        *,
        method: str = "GET",
        body: bytes = b"",
        leaves_after_s: float | None = None,
        token: bool = True,
        **headers: str,
    ) -> tuple[int, bytes]:
        """Status and body; 0 where there was no answer."""
        status, answered = 0, b""
        try:
            async with self.connection() as (reader, writer):
                writer.write(self.head(path, method=method, length=len(body), token=token, **headers) + body)
                reading = asyncio.wait_for(reader.read(), leaves_after_s or ANSWER_S)
                with contextlib.suppress(TimeoutError):
                    head, _, answered = (await reading).partition(b"\r\n\r\n")
                    status = int(head.split(None, 2)[1]) if head.startswith(b"HTTP/") else 0
        except OSError:
            pass
        self.statuses[status] = self.statuses.get(status, 0) + 1
        return status, answered

    def head(
        self, path: str, *, method: str = "GET", length: int = 0, token: bool = True, **headers: str
    ) -> bytes:
        given = {"Host": f"{self.host}:{self.port}", "Connection": "close"} | headers
        if token:
            given |= self.server.headers
        if length:
            given["Content-Length"] = str(length)
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items())]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    async def page_ms(self, path: str) -> float:
        """How long a reader waits for a page."""
        begun_s = time.perf_counter()
        status, _ = await self.ask(path)
        if status != 200:
            raise AssertionError(f"{path} was answered {status} while others attacked")
        return (time.perf_counter() - begun_s) * 1000
