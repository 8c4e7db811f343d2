"""What many sockets are sent is framed and compressed once, each browser reads it, and sockets are not pinged all at once."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from hypothesis import given
from hypothesis import strategies as st
from websockets.extensions.permessage_deflate import ClientPerMessageDeflateFactory
from websockets.sync.client import ClientConnection, connect

from explorer.access.connections import FRAMES_MOST, BoundedConnection, RefusableSocket, SharedFrames, framed
from explorer.server.memory import ENDED_MOST, LOOK_EVERY_S, MORE_BLOCKS_MOST, Looks

PING_EVERY_S = 20.0
TEXTS = ["", "short", '{"type":"changes"}' * 5_000, "\N{GREEK SMALL LETTER EPSILON}" * 300]


async def application(scope: Any, receive: Any, send: Any) -> None:
    """Says all texts, and then the last one again, which refers to nothing that was said before."""
    await receive()
    await send({"type": "websocket.accept"})
    for text in [*TEXTS, TEXTS[-1]]:
        await send({"type": "websocket.send", "text": text})
    await send({"type": "websocket.send", "bytes": b"\0\1"})
    while (await receive())["type"] != "websocket.disconnect":
        pass


@pytest.fixture
def server() -> Iterator[uvicorn.Server]:
    config = uvicorn.Config(
        application, port=0, http=BoundedConnection, ws=RefusableSocket, lifespan="off", log_level="warning", log_config=None,
        interface="asgi3", ws_ping_interval=PING_EVERY_S,
    )  # fmt: skip
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    yield server
    server.should_exit = True
    thread.join(10)


def opened(server: uvicorn.Server, **more: Any) -> ClientConnection:
    port = server.servers[0].sockets[0].getsockname()[1]
    return connect(f"ws://127.0.0.1:{port}/", max_size=None, **more)


@pytest.mark.parametrize(
    "offer",
    [
        {"compression": None},
        {"compression": "deflate"},
        {
            "extensions": [
                ClientPerMessageDeflateFactory(server_max_window_bits=9, client_max_window_bits=True)
            ]
        },
        {"extensions": [ClientPerMessageDeflateFactory(client_max_window_bits=None)]},
    ],
)
def test_whatever_a_browser_agrees_on_it_reads_all_that_is_said(
    server: uvicorn.Server, offer: dict[str, Any]
) -> None:
    with opened(server, **offer) as socket:
        assert [socket.recv(timeout=30) for _ in range(len(TEXTS) + 2)] == [*TEXTS, TEXTS[-1], b"\0\1"]


def test_sockets_that_were_opened_together_are_not_pinged_together(server: uvicorn.Server) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(30):
            stack.enter_context(opened(server)).recv(timeout=30)
        due = [each.ping_timer for each in server.server_state.connections]  # type: ignore[union-attr]
        times = sorted(timer.when() for timer in due if timer is not None)
    assert len(times) == 30
    assert PING_EVERY_S / 4 < times[-1] - times[0] < PING_EVERY_S + 5


def test_a_text_is_framed_once_for_all_sockets_and_the_oldest_are_forgotten() -> None:
    frames = SharedFrames()
    texts = [f"{number} " * 50 for number in range(FRAMES_MOST)]
    first = frames.frame(texts[0], 15)
    assert all(frames.frame(texts[0], 15) is first for _ in range(3))
    # A browser that agreed on nothing has frames of its own.
    assert len({frames.frame(texts[0], bits) for bits in (0, 15)}) == 2
    for text in texts:
        frames.frame(text, 15)
    assert frames.frame(texts[-1], 15) is frames.frame(texts[-1], 15)
    assert frames.frame(texts[0], 15) is not first


@given(st.text(max_size=70_000), st.sampled_from([0, 9, 12, 15]))
def test_a_frame_is_read_back_as_the_text_that_it_was_made_of(text: str, window_bits: int) -> None:
    from websockets.extensions.permessage_deflate import PerMessageDeflate
    from websockets.frames import Frame
    from websockets.streams import StreamReader

    reader = StreamReader()
    reader.feed_data(framed(text.encode(), window_bits))
    extensions = [PerMessageDeflate(True, True, window_bits, 15)] if window_bits else []
    parsing = Frame.parse(reader.read_exact, mask=False, extensions=extensions)
    with pytest.raises(StopIteration) as done:
        next(parsing)
    assert bytes(done.value.value.data).decode() == text


def test_all_that_a_server_holds_is_looked_through_when_enough_sockets_ended_or_after_minutes() -> None:
    looks = Looks()
    assert looks.is_due(0, 1_000.0, 0)
    assert not looks.is_due(ENDED_MOST - 1, 1_010.0, 0)
    assert looks.is_due(ENDED_MOST, 1_020.0, 0)
    assert not looks.is_due(ENDED_MOST, 1_030.0, 0)
    assert looks.is_due(ENDED_MOST, 1_020.0 + LOOK_EVERY_S, 0)


def test_all_that_a_server_holds_is_looked_through_when_it_holds_so_much_more_than_the_last_look_left() -> (
    None
):
    looks = Looks()
    assert looks.is_due(0, 1_000.0, 700_000)
    looks.looked(690_000)
    assert not looks.is_due(0, 1_010.0, 690_000 + MORE_BLOCKS_MOST - 1)
    assert looks.is_due(0, 1_020.0, 690_000 + MORE_BLOCKS_MOST)
    looks.looked(720_000)
    # What lives on is not looked for again; what went by itself makes room that is counted anew.
    assert not looks.is_due(0, 1_030.0, 690_000 + MORE_BLOCKS_MOST)
    assert not looks.is_due(0, 1_040.0, 700_000)
    assert looks.is_due(0, 1_050.0, 700_000 + MORE_BLOCKS_MOST)
