"""What a browser hears of a timeline, and what it does not need to hear."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import orjson
import pytest
from channels.db import database_sync_to_async

from explorer.access.keys import cookie_for
from explorer.push import hub as hub_module
from explorer.push.hub import hub
from explorer.push.sockets import NOT_FOUND, TimelineSocket
from groups import storage
from groups.history.frames.changes import apply
from groups.history.replay.fold import FOLD_VERSION
from groups.jobs import announce
from groups.models import Timeline
from groups.storage import Writer, writing
from tests.sockets.conftest import HEADERS, Socket
from tests.stories import a_day_of_three

Opens = Callable[..., Awaitable[Socket]]
BATCHES = a_day_of_three().batches()


async def append(writer: Writer, *places: int) -> None:
    for place in places:
        await database_sync_to_async(writer.append)(BATCHES[place])


async def frame_at(timeline: Timeline, sequence: int) -> dict[str, Any]:
    def read() -> dict[str, Any]:
        found = storage.frame_at(storage.get(timeline.id), sequence)
        assert found is not None
        return found

    return await database_sync_to_async(read)()


async def changes_after(timeline: Timeline, after: int) -> dict[str, Any]:
    def read() -> dict[str, Any]:
        answer: dict[str, Any] = orjson.loads(storage.changes_after(storage.get(timeline.id), after))
        return answer

    return await database_sync_to_async(read)()


async def test_a_socket_says_hello_with_the_last_sequence(
    timeline: Timeline, writer: Writer, opens: Opens
) -> None:
    await append(writer, 0)
    socket = await opens(f"/ws/timelines/{timeline.id}")
    assert await socket.hears() == {
        "type": "hello",
        "last": 5,
        "fold_version": FOLD_VERSION,
        "status": "running",
    }
    assert await socket.hears_nothing()


async def test_what_is_stored_is_heard_and_leads_to_the_fresh_frame(
    timeline: Timeline, writer: Writer, opens: Opens
) -> None:
    socket = await opens(f"/ws/timelines/{timeline.id}")
    await socket.hears()
    shown = await frame_at(timeline, 0)
    for place in range(4):
        await append(writer, place)
        message = await socket.hears()
        assert (message["type"], message["after"]) == ("changes", place * 5)
        assert message["moments"][0]["sequence"] == message["last"] == place * 5 + 5
        assert message["summary"]["last"] == message["last"]
        shown = apply(shown, message["changes"])
        assert shown == await frame_at(timeline, message["last"])


async def test_what_is_stored_while_a_socket_opens_is_in_its_hello_or_in_a_message(
    timeline: Timeline, writer: Writer, opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store happens after the socket joined and before it reads the tail, which is where one could be lost."""
    hello = TimelineSocket.hello

    def slow_hello(self: TimelineSocket, key: str) -> dict[str, Any] | None:
        writer.append(BATCHES[0])
        return hello(self, key)

    monkeypatch.setattr(TimelineSocket, "hello", slow_hello)
    socket = await opens(f"/ws/timelines/{timeline.id}")
    assert (await socket.hears())["last"] == 5
    assert (await socket.hears())["after"] == 0


async def test_batches_that_come_quickly_are_heard_as_one_message(
    timeline: Timeline, writer: Writer, opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "COALESCE_S", 1.0)
    socket = await opens(f"/ws/timelines/{timeline.id}")
    await socket.hears()
    await append(writer, 0, 1, 2, 3)
    first, second = await socket.hears(), await socket.hears()
    assert (first["after"], first["last"]) == (0, 5)
    assert (second["after"], second["last"]) == (5, 20)
    assert len(second["moments"]) == 3
    assert apply(await frame_at(timeline, 5), second["changes"]) == await frame_at(timeline, 20)


async def test_a_message_that_was_lost_shows_as_a_gap_that_http_fills(
    timeline: Timeline, writer: Writer, opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    socket = await opens(f"/ws/timelines/{timeline.id}")
    await socket.hears()
    await append(writer, 0)
    shown = apply(await frame_at(timeline, 0), (await socket.hears())["changes"])

    with monkeypatch.context() as patch:
        patch.setattr(writing, "announce", lambda group, message: None)
        await append(writer, 1)
    await append(writer, 2)
    message = await socket.hears()
    assert message["after"] == 10 > 5

    answer = await changes_after(timeline, 5)
    assert apply(shown, answer["changes"]) == await frame_at(timeline, 15)


async def test_the_last_message_lost_is_known_by_the_next_tail(
    timeline: Timeline, writer: Writer, opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "TAIL_EVERY_S", 0.1)
    monkeypatch.setattr(writing, "announce", lambda group, message: None)
    socket = await opens(f"/ws/timelines/{timeline.id}")
    await socket.hears()
    await append(writer, 0)
    while (message := await socket.hears())["last"] == 0:
        assert message == {"type": "tail", "last": 0, "status": "running"}
    assert message == {"type": "tail", "last": 5, "status": "running"}


async def test_the_end_is_told_with_the_summary_and_the_tails_end_with_it(
    timeline: Timeline, writer: Writer, opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    await append(writer, 0, 1, 2, 3)
    socket = await opens(f"/ws/timelines/{timeline.id}")
    await socket.hears()
    await database_sync_to_async(writer.finish)("complete")
    message = await socket.hears()
    assert (message["type"], message["status"], message["last"]) == ("status", "complete", 20)
    assert message["summary"]["verdict"]["text"].startswith("A, B and C joined")

    monkeypatch.setattr(hub_module, "TAIL_EVERY_S", 0.05)
    again = await opens(f"/ws/timelines/{timeline.id}")
    assert (await again.hears())["status"] == "complete"


async def test_a_batch_too_large_for_the_layer_is_announced_without_its_changes(
    timeline: Timeline, writer: Writer, opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writing, "MESSAGE_BYTES_MOST", 100)
    socket = await opens(f"/ws/timelines/{timeline.id}")
    await socket.hears()
    await append(writer, 0)
    assert await socket.hears() == {"type": "tail", "last": 5, "status": "running"}


async def test_many_sockets_share_one_subscription_and_none_asks_the_database_again(
    timeline: Timeline, writer: Writer, opens: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    hellos = 0
    hello = TimelineSocket.hello

    def counted(self: TimelineSocket, key: str) -> dict[str, Any] | None:
        nonlocal hellos
        hellos += 1
        return hello(self, key)

    monkeypatch.setattr(TimelineSocket, "hello", counted)
    sockets = [await opens(f"/ws/timelines/{timeline.id}") for _ in range(20)]
    for socket in sockets:
        await socket.hears()
    assert list(hub().feeds) == [announce.timeline_group(timeline.id)]
    assert hub().sockets == 20

    await append(writer, 0, 1, 2)
    texts = []
    for socket in sockets:
        last = 0
        while last < 15:
            text = await socket.hears_text()
            last = orjson.loads(text)["last"]
            texts.append(text)
    # Each text reached everyone, letter for letter.
    assert {texts.count(text) for text in texts} == {20}
    assert hellos == 20

    for socket in sockets:
        await socket.closes()
    assert hub().feeds == {}
    assert hub().sockets == 0


async def test_a_socket_that_reads_slowly_does_not_hold_up_another(
    timeline: Timeline, writer: Writer, opens: Opens
) -> None:
    listener = await hub().join(announce.timeline_group(timeline.id))
    for number in range(hub_module.BACKLOG_MOST + 10):
        listener.offer(str(number))
    socket = await opens(f"/ws/timelines/{timeline.id}")
    await socket.hears()
    await append(writer, 0)
    assert (await socket.hears())["last"] == 5
    kept = [await listener.get() for _ in range(hub_module.BACKLOG_MOST)]
    assert kept == [str(number) for number in range(hub_module.BACKLOG_MOST)]
    await hub().leave(announce.timeline_group(timeline.id), listener)


@pytest.mark.parametrize(
    "path",
    ["/ws/timelines/nowhere", "/ws/imports/nowhere", "/ws/elsewhere", "/", f"/ws/timelines/{'a' * 101}"],
)
async def test_a_socket_to_nothing_is_closed_with_a_code(
    transactional_db: None, opens: Opens, path: str
) -> None:
    socket = await opens(path)
    assert await socket.is_closed_with() == NOT_FOUND
    assert hub().feeds == {}


@pytest.mark.parametrize(
    ("origin", "opened"),
    [
        (None, True),
        (b"http://127.0.0.1:8000", True),
        (b"https://127.0.0.1:8000", True),
        # Another port's page is another's page, and so is another name of this machine.
        (b"http://127.0.0.1:9000", False),
        (b"http://127.0.0.1", False),
        (b"http://localhost:8000", False),
        (b"http://[::1]:8000", False),
        (b"http://127.0.0.1.example.org", False),
        (b"https://example.org", False),
        (b"null", False),
    ],
)
async def test_only_our_own_pages_and_programs_open_sockets(
    timeline: Timeline, origin: bytes | None, opened: bool
) -> None:
    more = [(b"origin", origin)] if origin is not None else []
    socket = Socket(f"/ws/timelines/{timeline.id}", [*HEADERS, *more])
    assert await socket.opens() is opened
    await socket.closes()


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [(b"authorization", b"Bearer guessed")],
        [(b"cookie", b"rebalance-explorer-8000=guessed")],
        # The cookie of this start, for another port.
        [(b"cookie", cookie_for("127.0.0.1:9000").partition(";")[0].encode())],
        [
            (
                b"cookie",
                b"rebalance-explorer-8000="
                + cookie_for("127.0.0.1:9000").partition(";")[0].partition("=")[2].encode(),
            )
        ],
    ],
)
async def test_a_socket_without_the_token_is_refused(
    timeline: Timeline, headers: list[tuple[bytes, bytes]]
) -> None:
    socket = Socket(f"/ws/timelines/{timeline.id}", [HEADERS[0], *headers])
    assert not await socket.opens()
    await socket.closes()


async def test_a_browser_opens_a_socket_with_its_cookie(timeline: Timeline) -> None:
    cookie = cookie_for("127.0.0.1:8000").partition(";")[0].encode()
    headers = [HEADERS[0], (b"cookie", cookie), (b"origin", b"http://127.0.0.1:8000")]
    socket = Socket(f"/ws/timelines/{timeline.id}", headers)
    assert await socket.opens()
    await socket.closes()
