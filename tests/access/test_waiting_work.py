"""Requests that only wait for another process hold no place of the server's, and there are so many of them."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import orjson
import pytest

from explorer.access import places
from explorer.pages.clusters import testing
from explorer.pages.lessons import asking as lessons
from explorer.pages.rehearsal import asking as rehearsals
from groups.jobs.warm_children import WarmChildren
from tests.access.conftest import GOES, Answer, Asks

pytestmark = pytest.mark.once

WHOLE = {"type": "http.request", "body": b"", "more_body": False}
JSON = {"Content-Type": "application/json"}


class Slow(WarmChildren):
    """Real children, which take a minute to answer."""

    def __init__(self) -> None:
        super().__init__("tests.tasks.answering_child", 2)

    def ask(self, question: Any, left: Callable[[], bool] = lambda: False) -> bytes:
        return super().ask({"sleep_s": 60}, left)


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of what accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@contextlib.asynccontextmanager
async def under_way(asks: Asks, *requests: tuple[str, str, bytes]) -> AsyncIterator[None]:
    """The requests, asked and not answered until the end of this, when their clients go."""
    ended = threading.Event()
    tasks = [
        asyncio.create_task(
            asks(path, method=method, headers=JSON, body=[{**WHOLE, "body": body}, ended.wait, GOES])
        )
        for method, path, body in requests
    ]
    try:
        yield
    finally:
        ended.set()
        await asyncio.gather(*tasks)


async def answered_soon(asks: Asks, path: str = "/api/timelines") -> Answer:
    async with asyncio.timeout(10):
        answer = await asks(path)
    assert answer is not None
    return answer


async def until_free(asks: Asks, kind: str, count: int) -> None:
    found = getattr(asks.gate, kind)
    end_s = time.monotonic() + 20
    while found.without < count:
        assert time.monotonic() < end_s, "the requests hold their places"
        await asyncio.sleep(0.02)


@pytest.mark.long
async def test_four_tests_of_a_silent_cluster_leave_the_api_free_and_a_fifth_is_429(
    asks: Asks, silent: str
) -> None:
    body = orjson.dumps({"properties": {"bootstrap.servers": silent, "request.timeout.ms": "60000"}})
    test = ("POST", "/api/clusters/check", body)
    async with under_way(asks, *[test] * testing.TESTS_AT_ONCE):
        await until_free(asks, "answer_places", testing.TESTS_AT_ONCE)
        assert (await answered_soon(asks)).status == 200
        fifth = await asks("/api/clusters/check", method="POST", headers=JSON, body=[body])
        assert fifth is not None
        assert (fifth.status, fifth.headers["retry-after"]) == (429, "1")
        assert "4 clusters are being tested" in fifth.message
    again = await asks(
        "/api/clusters/check",
        method="POST",
        headers=JSON,
        body=[orjson.dumps({"properties": {"bootstrap.servers": silent, "request.timeout.ms": "100"}})],
    )
    assert again is not None
    assert again.json["steps"][-1]["says"] == f"{silent} accepts connections but does not answer."


async def test_slow_lessons_and_rehearsals_leave_the_api_and_the_pages_free(
    asks: Asks, monkeypatch: pytest.MonkeyPatch
) -> None:
    for room in (lessons, rehearsals):
        monkeypatch.setattr(room, "children", Slow())
    monkeypatch.setattr(lessons, "_sheets", {})
    lesson = ("POST", "/api/lessons/check", b'{"text": "title: a lesson"}')
    rehearsal = ("POST", "/api/rehearsal", b'{"query": "members=3&topics=orders:6"}')
    async with under_way(asks, lesson, lesson, rehearsal, rehearsal):
        await until_free(asks, "answer_places", 4)
        assert (await answered_soon(asks)).status == 200
        pages = [("GET", "/lessons/three-epochs", b""), ("GET", "/rehearsal", b"")]
        # None of these finds a child: more than twice as many as there are children are refused at once.
        refused = await asyncio.gather(*(asks(path) for _, path, _ in pages * 10))
        assert {answer.status for answer in refused if answer} == {429}
        assert (await answered_soon(asks, "/simulate/")).status == 200


async def test_so_many_requests_are_without_a_place_and_a_further_one_keeps_its_own() -> None:
    async def send(message: Any) -> None:
        pass

    few = places.Places(2)
    async with contextlib.AsyncExitStack() as stack:
        for _ in range(places.WITHOUT_PLACE_MOST):
            await stack.enter_async_context(places.a_place(few, send))
            await asyncio.to_thread(places.waiting.begins)
            await asyncio.sleep(0)
        for _ in range(2):
            await stack.enter_async_context(places.a_place(few, send))
            await asyncio.to_thread(places.waiting.begins)
            await asyncio.sleep(0)
        assert few.without == places.WITHOUT_PLACE_MOST
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await few.take()
    assert few.without == 0
    await few.take()
