"""The laboratory's work goes on in children, two at a time, and not for who has left."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from explorer.pages.laboratory import asking
from explorer.pages.lessons import asking as lessons
from groups.jobs.warm_children import AskerLeft, Busy, WarmChildren
from tests.access.conftest import GOES, Asks

pytestmark = pytest.mark.once

LINK = "g=abcabc.a&t=12,6,3&s=same&from=range&e=join"


class Slow(WarmChildren):
    """Answers nobody, until the asker has left."""

    def __init__(self) -> None:
        super().__init__("nothing", 1)
        self.asked = threading.Event()
        self.left = threading.Event()

    def ask(self, question: Any, left: Callable[[], bool] = lambda: False) -> bytes:
        self.asked.set()
        for _ in range(600):
            if left():
                self.left.set()
                raise AskerLeft
            threading.Event().wait(0.05)
        raise AssertionError("nobody left")


@pytest.mark.parametrize("path", [f"/api/laboratory?{LINK}", f"/laboratory?{LINK}"])
async def test_the_work_for_a_client_that_left_is_dropped(
    asks: Asks, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow()
    monkeypatch.setattr(asking, "children", slow)
    whole = {"type": "http.request", "body": b"", "more_body": False}
    await asyncio.wait_for(asks(path, body=[whole, slow.asked.wait, GOES]), 20)
    assert await asyncio.to_thread(slow.left.wait, 10)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", f"/api/laboratory?{LINK}", b""),
        ("GET", f"/laboratory?{LINK}", b""),
        ("POST", "/api/laboratory", b'{"query": "g=6&t=3"}'),
        ("POST", "/api/laboratory/runs", b'{"query": "g=6&t=3", "board": 6}'),
    ],
)
async def test_more_at_once_than_children_is_429_with_when_to_come_again(
    asks: Asks, method: str, path: str, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*told: Any, **facts: Any) -> bytes:
        raise Busy

    monkeypatch.setattr(asking.children, "ask", busy)
    answer = await asks(path, method=method, body=[body], headers={"Content-Type": "application/json"})
    assert (answer.status, answer.headers["retry-after"]) == (429, "1")
    assert b"2 groups are being answered" in answer.body


@pytest.mark.long
async def test_a_hundred_at_once_are_answered_or_told_to_come_again(asks: Asks) -> None:
    answers = await asyncio.gather(*(asks(f"/api/laboratory?{LINK}") for _ in range(100)))
    assert {answer.status for answer in answers} <= {200, 429}
    assert sum(answer.status == 200 for answer in answers) >= 2
    assert (await asks("/simulate/")).status == 200


LESSON = b'{"text": "title: a lesson"}'
RUN = b'{"lesson": "three-epochs", "at_ms": 1000}'


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/lessons/three-epochs", b""),
        ("GET", "/api/lessons/three-epochs", b""),
        ("POST", "/api/lessons/check", LESSON),
        ("POST", "/api/lessons/runs", RUN),
    ],
)
async def test_more_lessons_at_once_than_children_is_429_with_when_to_come_again(
    asks: Asks, method: str, path: str, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*told: Any, **facts: Any) -> bytes:
        raise Busy

    monkeypatch.setattr(lessons.children, "ask", busy)
    monkeypatch.setattr(lessons, "_sheets", {})
    answer = await asks(path, method=method, body=[body], headers={"Content-Type": "application/json"})
    assert (answer.status, answer.headers["retry-after"]) == (429, "1")
    assert b"2 lessons are being played" in answer.body


async def test_the_lesson_of_a_client_that_left_is_dropped(
    asks: Asks, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = Slow()
    monkeypatch.setattr(lessons, "children", slow)
    monkeypatch.setattr(lessons, "_sheets", {})
    whole = {"type": "http.request", "body": b"", "more_body": False}
    await asyncio.wait_for(asks("/api/lessons/three-epochs", body=[whole, slow.asked.wait, GOES]), 20)
    assert await asyncio.to_thread(slow.left.wait, 10)
