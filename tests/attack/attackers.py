"""What is done to the server: by who has no token, by pages of elsewhere, and by who has it and means ill."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections.abc import Awaitable, Callable

from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from tests.attack.wire import Target

Attack = Callable[[Target, random.Random], Awaitable[None]]

LARGEST = "/api/laboratory?g=990.1&t=200x50&s=nested&e=join"
"""A group that takes the laboratory a second."""

HARD = "/api/laboratory?g=300.1&t=50x40&e=join"
JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "multipart/form-data; boundary=b"}


async def together(count: int, once: Callable[[], Awaitable[object]]) -> None:
    await asyncio.gather(*(once() for _ in range(count)))


# -- without the token


async def strangers(target: Target, draw: random.Random) -> None:
    paths = (
        "/",
        "/t/kip848-basic",
        "/api/timelines",
        "/laboratory",
        LARGEST,
        "/import/",
        "/nowhere",
        "/?token=guess",
    )
    await together(50, lambda: target.ask(draw.choice(paths), token=False))


async def pages_of_elsewhere(target: Target, draw: random.Random) -> None:
    """With the cookie's worth: what a browser sends for another port's page."""
    foreign = {"Origin": f"http://127.0.0.1:{target.port + 1}", "Sec-Fetch-Site": "same-site"}
    await together(20, lambda: target.ask(LARGEST, **foreign))
    await together(
        10, lambda: target.ask("/api/imports", method="POST", body=b"x" * 2_000_000, **foreign, **FORM)
    )


async def heads_without_end(target: Target, draw: random.Random) -> None:
    async def hang() -> None:
        async with target.connection() as (_, writer):
            writer.write(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
            for _ in range(10):
                if writer.is_closing():
                    return
                writer.write(f"X-{draw.random()}: {'y' * draw.choice((1, 1000, 30000))}\r\n".encode())
                await writer.drain()
                await asyncio.sleep(0.3)

    with contextlib.suppress(OSError):
        await together(100, hang)


async def noise(target: Target, draw: random.Random) -> None:
    async def one() -> None:
        async with target.connection() as (reader, writer):
            writer.write(draw.randbytes(draw.choice((1, 100, 5000))) + b"\r\n\r\n")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(reader.read(), 1)

    with contextlib.suppress(OSError):
        await together(30, one)


# -- with the token


async def laboratory(target: Target, draw: random.Random) -> None:
    await together(100, lambda: target.ask(draw.choice((LARGEST, HARD))))


async def laboratory_and_away(target: Target, draw: random.Random) -> None:
    await together(20, lambda: target.ask(LARGEST, leaves_after_s=draw.uniform(0.01, 1.5)))


async def lists(target: Target, draw: random.Random) -> None:
    await together(300, lambda: target.ask("/api/timelines"))


async def bodies_that_do_not_come(target: Target, draw: random.Random) -> None:
    async def one() -> None:
        async with target.connection() as (_, writer):
            path, headers = draw.choice((("/api/imports", FORM), ("/api/runs", JSON)))
            writer.write(target.head(path, method="POST", length=500_000, **headers))
            if headers is FORM:
                writer.write(b'--b\r\nContent-Disposition: form-data; name="files"; filename="0.log"\r\n\r\n')
            for _ in range(20):
                if writer.is_closing():
                    return
                writer.write(b"z" * 1000)
                await writer.drain()
                await asyncio.sleep(0.1)

    with contextlib.suppress(OSError):
        await together(20, one)


async def bodies_too_large(target: Target, draw: random.Random) -> None:
    await together(5, lambda: target.ask("/api/runs", method="POST", body=b"[" * 1_500_000, **JSON))
    await target.ask("/api/inspect", method="POST", body=b'{"text": "' + b"ff" * 400_000 + b'"}', **JSON)


async def nonsense(target: Target, draw: random.Random) -> None:
    bodies = (
        b"", b"[", b"[" * 100_000, b'{"scenario": 1}', b'{"scenario": "a: \\u0000"}', b'{"scenario": "&a [*a]"}',
        b'{"text": "zz"}', b'{"bytes": "%s"}' % (b"/" * 300_000), b'{"query": "g=999999999&t=1"}', b'{"shapes": [""]}',
        b'{"case": {"members": [{}], "topics": []}, "changes": []}', "{\"text\": \"\u5206\"}".encode(), b"\xff\xfe",
    )  # fmt: skip
    paths = (
        "/api/runs",
        "/api/inspect",
        "/api/inspect/compare",
        "/api/laboratory",
        "/api/sweeps",
        "/api/imports",
    )

    async def one() -> None:
        await target.ask(draw.choice(paths), method="POST", body=draw.choice(bodies), **JSON)

    await together(40, one)
    odd = ("/t/%00", "/t/" + "x" * 5000, "/t/kip848-basic?at=" + "9" * 400, "/api/timelines/kip848-basic/chunks/999999",
           "/api/timelines/kip848-basic/entries?from=-1&to=1e9", "/%ff%fe", "/static/../token", "/static/%2e%2e/token")  # fmt: skip
    for path in odd:
        await target.ask(path)


async def runs(target: Target, draw: random.Random) -> None:
    """More than may wait."""
    body = json.dumps({"scenario": "kip848-six-partitions", "seed": draw.randrange(1000)}).encode()
    await together(30, lambda: target.ask("/api/runs", method="POST", body=body, **JSON))


async def sockets(target: Target, draw: random.Random) -> None:
    async def one() -> None:
        address = (
            f"ws://{target.host}:{target.port}/ws/timelines/{draw.choice(('kip848-basic', 'nowhere', ''))}"
        )
        more = target.server.headers if draw.random() < 0.7 else {}
        with contextlib.suppress(WebSocketException, OSError):
            async with connect(address, additional_headers=more, open_timeout=30) as socket:
                await socket.send("x" * draw.choice((1, 4000)))
                await asyncio.sleep(draw.uniform(0, 1))

    await together(100, one)


ATTACKS: tuple[Attack, ...] = (
    strangers, pages_of_elsewhere, heads_without_end, noise, laboratory, laboratory_and_away, lists,
    bodies_that_do_not_come, bodies_too_large, nonsense, runs, sockets,
)  # fmt: skip
