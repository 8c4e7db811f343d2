"""Sockets that come to nothing: refused ones, and those whose browser has left, leave no line in the log and nothing behind."""

from __future__ import annotations

import base64
import logging
import os
import socket
import struct
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn
from django.db import OperationalError

from explorer.access.connections import BoundedConnection, RefusableSocket
from explorer.access.gate import is_own
from explorer.push import sockets
from explorer.push.hub import hub
from groups.models import Timeline
from tests.sockets.conftest import HEADERS, application

WAIT_S = 90.0
PATH = "/ws/timelines/kip848-basic"


class Served:
    """The gate, or another application, behind uvicorn, in a thread; ``ended`` counts the sockets that the application is through with."""

    def __init__(self, application: Any = application) -> None:
        self.ended = 0
        self.inner = application
        config = uvicorn.Config(
            self.application, port=0, http=BoundedConnection, ws=RefusableSocket, lifespan="off", log_level="warning",
            log_config=None, interface="asgi3",
        )  # fmt: skip
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, daemon=True)
        self.thread.start()
        wait_until(lambda: self.server.started)
        self.port = self.server.servers[0].sockets[0].getsockname()[1]

    async def application(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await self.inner(scope, receive, send)
        finally:
            self.ended += 1

    def opened(self, *headers: str, path: str = PATH) -> socket.socket:
        client = socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", "Upgrade: websocket", "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13", *headers, "", "",
        ]  # fmt: skip
        client.sendall("\r\n".join(lines).encode())
        return client


def wait_until(holds: Any) -> None:
    deadline = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def served() -> Iterator[Served]:
    server = Served()
    yield server
    server.server.should_exit = True
    server.thread.join(10)


def test_a_refused_socket_has_its_answer_and_writes_nothing_to_the_log(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    """A browser with the cookie of an earlier start tries for ever, and a page of another origin as often as it likes."""
    with caplog.at_level(logging.WARNING):
        for headers, status in [
            ([], b"401"),
            (["Authorization: Bearer guessed"], b"401"),
            (["Origin: http://elsewhere.example"], b"403"),
        ]:
            with served.opened(*headers) as client:
                assert client.recv(4096).startswith(b"HTTP/1.1 " + status)
        for _ in range(20):
            with served.opened() as client:
                # Gone without a word, while it is refused.
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        wait_until(lambda: served.ended >= 3 and not served.server.server_state.connections)
    assert caplog.messages == []


@pytest.mark.parametrize(
    "frames", [(b"\x81\x82\0\0\0\0\xff\xfe",), (b"\x01\x81\0\0\0\0x", b"\x80\x81\0\0\0\0\xff")]
)
def test_a_text_that_is_no_utf_8_ends_its_socket_and_writes_nothing_to_the_log(
    timeline: Timeline, served: Served, caplog: pytest.LogCaptureFixture, frames: tuple[bytes, ...]
) -> None:
    """As a frame, and as the last of several: any client could write a traceback to the log for each."""
    with (
        caplog.at_level(logging.WARNING),
        served.opened(*lines_of(HEADERS), path=f"/ws/timelines/{timeline.id}") as client,
    ):
        assert client.recv(12) == b"HTTP/1.1 101"
        client.sendall(b"".join(frames))
        received = b""
        while piece := client.recv(4096):
            received += piece
        # A closing frame with the code 1007.
        assert received.endswith(b"\x88\x02\x03\xef")
        wait_until(lambda: served.ended == 1)
    assert caplog.messages == []


def lines_of(headers: Any) -> list[str]:
    return [f"{name.decode()}: {value.decode()}" for name, value in headers if name != b"host"]


async def test_a_browser_that_leaves_while_its_socket_opens_leaves_nothing_behind(
    transactional_db: None, timeline: Timeline
) -> None:
    """So many as are open at once are bounded: what stays behind would use the bound up."""

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        raise ConnectionResetError("the client has left")

    with pytest.raises(ConnectionResetError):
        await application(scope_of(f"/ws/timelines/{timeline.id}"), receive, send)
    assert hub().sockets == 0
    assert hub().feeds == {}


async def test_a_database_that_fails_while_a_socket_opens_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, transactional_db: None, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(consumer: Any, key: str) -> Any:
        raise OperationalError("database is locked")

    async def receive() -> Any:
        return next(received)

    sent = []

    async def send(message: Any) -> None:
        sent.append((message["type"], message.get("code")))

    received = iter([{"type": "websocket.connect"}, {"type": "websocket.disconnect", "code": 1013}])
    monkeypatch.setattr(sockets.TimelineSocket, "hello", fails)
    await application(scope_of("/ws/timelines/any"), receive, send)
    assert sent == [("websocket.accept", None), ("websocket.close", 1013)]
    (line,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert line.getMessage() == "A socket of timeline.any could not be opened: database is locked"
    assert line.exc_info is None
    assert hub().sockets == 0
    assert hub().feeds == {}


def scope_of(path: str) -> dict[str, Any]:
    return {
        "type": "websocket",
        "path": path,
        "query_string": b"",
        "headers": HEADERS,
        "subprotocols": [],
    }


def test_behind_tls_a_page_without_tls_is_another_origin(settings: Any) -> None:
    """Somebody between a browser and the proxy can write a page of http://, and the socket's cookie goes to the same host."""
    assert is_own("http://rebalance.internal", "rebalance.internal")
    settings.BEHIND_TLS = True
    assert not is_own("http://rebalance.internal", "rebalance.internal")
    assert is_own("https://rebalance.internal", "rebalance.internal")
