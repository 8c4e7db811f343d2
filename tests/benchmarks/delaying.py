"""A proxy on loopback that delays each answer, as a long line does: what many small requests cost a reader far away."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Iterator

START_S = 10


@contextlib.contextmanager
def delayed(port: int, by_s: float) -> Iterator[int]:
    """The port of a proxy in front of ``port``: every byte from there arrives ``by_s`` seconds later."""
    ports: queue.Queue[int] = queue.Queue()
    ended = threading.Event()

    async def serve() -> None:
        server = await asyncio.start_server(
            lambda reader, writer: _connection(reader, writer, port, by_s), "127.0.0.1", 0
        )
        async with server:
            ports.put(server.sockets[0].getsockname()[1])
            await asyncio.to_thread(ended.wait)

    # Playwright's own loop runs in the caller's thread.
    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    try:
        yield ports.get(timeout=START_S)
    finally:
        ended.set()
        thread.join()


async def _connection(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int, by_s: float
) -> None:
    theirs, ours = await asyncio.open_connection("127.0.0.1", port)
    with contextlib.suppress(ConnectionError, asyncio.CancelledError):
        await asyncio.gather(_copy(reader, ours, 0), _copy(theirs, writer, by_s))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, by_s: float) -> None:
    """Copies until the end, each piece ``by_s`` after it came; pieces wait next to each other, as on a line."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

    async def write() -> None:
        while True:
            due, data = await waiting.get()
            await asyncio.sleep(due - loop.time())
            if not data:
                writer.close()
                return
            writer.write(data)

    writing = asyncio.ensure_future(write())
    while True:
        data = await reader.read(65_536)
        waiting.put_nowait((loop.time() + by_s, data))
        if not data:
            await writing
            return
