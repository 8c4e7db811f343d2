"""Looking together: who is on a timeline, and what its presenter announces."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import orjson
import pytest
from channels.db import database_sync_to_async

from explorer.accounts.guesses import Guesses
from explorer.pages.timelines import together as say
from explorer.push import together
from explorer.push.hub import hub, tails_of
from explorer.push.sockets import NOT_FOUND
from groups.models import Timeline
from tests.access.conftest import Asks
from tests.sockets.conftest import Socket

Opens = Callable[..., Awaitable[Socket]]


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "WITHIN_S", 0.0)


async def people(socket: Socket, count: int) -> set[str]:
    """Those on the timeline, once they are so many."""
    while True:
        message = await socket.hears()
        if message["type"] == "here" and len(message["people"]) == count:
            return {one["who"] for one in message["people"]}


async def test_who_comes_and_goes_is_announced_and_repeated_for_those_who_missed_it(
    timeline: Timeline, opens: Opens
) -> None:
    first = await opens(f"/ws/together/{timeline.id}", query="who=window01")
    assert await first.hears() == {"type": "hello", "notes": "0"}
    assert await people(first, 1) == {"window01"}
    second = await opens(f"/ws/together/{timeline.id}", query="who=window02")
    assert await people(first, 2) == {"window01", "window02"}
    await second.closes()
    assert await people(first, 1) == {"window01"}
    tail = {f"together.{timeline.id}": {"type": "tail", "notes": "0"}}
    assert await database_sync_to_async(tails_of)(list(hub().feeds)) == tail
    assert await people(first, 1) == {"window01"}


async def sent(path: str, body: Any) -> int:
    answer = await Asks()(path, method="POST", body=(orjson.dumps(body),))
    assert answer is not None
    return answer.status


async def test_what_a_presenter_sends_reaches_every_window_and_wrong_messages_none(
    timeline: Timeline, opens: Opens
) -> None:
    sockets = [await opens(f"/ws/together/{timeline.id}", query=f"who=window0{at}") for at in range(3)]
    address = f"/api/timelines/{timeline.id}/together"
    right: dict[str, Any] = {"who": "window00", "does": "presents", "turn": 1, "view": "?at=5"}
    for wrong in (
        {"who": "x"}, {"does": "shouts"}, {"turn": -1}, {"turn": True}, {"turn": 10**15}, {"view": "?" * 2001}, {"does": "hands"}, {"who": None},
        {"to": {"any": "thing"}}, {"to": "x" * 100_000},
    ):  # fmt: skip
        assert (await sent(address, right | wrong), wrong) == (400, wrong)
    assert await sent("/api/timelines/gone/together", right) == 404
    assert await sent(address, right) == 204
    for socket in sockets:
        heard = [await socket.hears() for _ in range(2)]
        while heard[-1]["type"] in ("hello", "here"):
            heard.append(await socket.hears())
        assert {key: heard[-1][key] for key in ("type", "who", "view", "turn", "name")} == {
            "type": "presents", "who": "window00", "view": "?at=5", "turn": 1, "name": "",
        }  # fmt: skip


async def test_nobody_looks_together_at_what_is_not_there(opens: Opens, transactional_db: None) -> None:
    socket = await opens("/ws/together/gone", query="who=window01")
    assert await socket.is_closed_with() == NOT_FOUND


async def test_a_sender_of_too_many_messages_waits_and_is_heard_again(
    timeline: Timeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr(say, "announced", Guesses(2, 60.0, clock=lambda: now[0]))
    address = f"/api/timelines/{timeline.id}/together"
    right = {"who": "window00", "does": "presents", "turn": 1, "view": "?at=5"}
    assert [await sent(address, right) for _ in range(3)] == [204, 204, 429]
    now[0] = 61.0
    assert await sent(address, right) == 204


async def test_a_note_that_is_written_edited_or_deleted_reaches_every_window_also_one_that_missed_it(
    timeline: Timeline, opens: Opens
) -> None:
    address = f"/api/timelines/{timeline.id}/notes"
    window = await opens(f"/ws/together/{timeline.id}", query="who=window01")
    stamps = {(await window.hears())["notes"]}

    async def stamp_changes() -> None:
        while (message := await window.hears()).get("notes", next(iter(stamps))) in stamps:
            pass
        stamps.add(message["notes"])

    assert await sent(address, {"text": "why?", "at": 0, "kind": "question"}) == 201
    await stamp_changes()
    note = await database_sync_to_async(timeline.notes.get)()
    for method, status in (("PATCH", 200), ("DELETE", 204)):
        answer = await Asks()(f"/api/notes/{note.pk}", method=method, body=(b'{"text": "how?"}',))
        assert answer is not None
        assert answer.status == status
        late = await opens(f"/ws/together/{timeline.id}", query="who=window02")
        if method == "PATCH":
            assert (await late.hears())["notes"] not in stamps
            await stamp_changes()
        else:
            assert (await late.hears())["notes"] == "0"
        await late.closes()
