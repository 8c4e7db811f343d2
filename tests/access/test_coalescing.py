"""Of many who ask for one list at once, all are told what was read after they asked, and few have it read for them."""

from __future__ import annotations

import asyncio
import time
from itertools import count
from typing import Any

import pytest
from django.test import RequestFactory

from explorer.pages.timelines import timeline_api
from explorer.web.coalescing import CAME_S, Coalesced
from groups import storage
from tests.access.conftest import Asks


def asked(came_s: float | None) -> Any:
    request: Any = RequestFactory().get("/api/timelines")
    request.scope = {} if came_s is None else {CAME_S: came_s}
    return request


@pytest.fixture
def numbered() -> Coalesced:
    """Answers 1, 2, 3…, each time that it is read anew."""
    numbers = count(1)
    return Coalesced(lambda: b"%d" % next(numbers))


def test_who_came_before_an_answer_was_begun_shares_it(numbered: Coalesced) -> None:
    came_s = time.monotonic()
    assert [numbered.body(asked(came_s)) for _ in range(3)] == [b"1", b"1", b"1"]


def test_who_came_after_it_was_begun_is_told_what_is_true_now(numbered: Coalesced) -> None:
    assert numbered.body(asked(time.monotonic())) == b"1"
    assert numbered.body(asked(time.monotonic() + 1)) == b"2"


def test_who_came_past_the_gate_shares_nothing(numbered: Coalesced) -> None:
    assert [numbered.body(asked(None)) for _ in range(2)] == [b"1", b"2"]


def test_an_answer_that_failed_is_nobody_elses() -> None:
    outcomes = iter([ValueError("the database is locked"), None])

    def make() -> bytes:
        if (error := next(outcomes)) is not None:
            raise error
        return b"read"

    answer, came_s = Coalesced(make), time.monotonic()
    with pytest.raises(ValueError, match="locked"):
        answer.body(asked(came_s))
    assert answer.body(asked(came_s)) == b"read"


async def test_a_hundred_lists_at_once_are_read_a_few_times(
    asks: Asks, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []

    def described(most: int) -> list[dict[str, Any]]:
        read.append(most)
        time.sleep(0.2)
        return [{"id": f"read-{len(read)}"}]

    monkeypatch.setattr(storage, "described", described)
    told = await asyncio.gather(*(asks("/api/timelines") for _ in range(100)))
    assert {answer.status for answer in told if answer} == {200}
    assert read == [timeline_api.LISTED_MOST] * len(read)
    assert len(read) <= 10, "each was read for itself"
