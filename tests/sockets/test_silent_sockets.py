"""Sockets whose clients read nothing, or send without end: what is kept for each has a bound, and so has its life."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from explorer.access import connections
from explorer.access.connections import FRAGMENTS_MOST
from tests.sockets.test_refused_sockets import Served, wait_until

PING = b"\x89\xfd\0\0\0\0" + b"p" * 125
PINGS_AT_ONCE = 1_000
KEPT_BYTES_MOST = 1024 * 1024
SENT_BYTES = 24 * 1024 * 1024
"""More than two systems keep of a connection: some megabytes each."""


async def endless(scope: Any, receive: Any, send: Any) -> None:
    """Sends text after text."""
    await receive()
    await send({"type": "websocket.accept"})
    for number in itertools.count():
        await send({"type": "websocket.send", "text": f"{number}" * 10_000})


async def listening(scope: Any, receive: Any, send: Any) -> None:
    await receive()
    await send({"type": "websocket.accept"})
    while (await receive())["type"] != "websocket.disconnect":
        pass


@pytest.fixture
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    server = Served(request.param)
    yield server
    server.server.should_exit = True
    server.thread.join(10)


@pytest.mark.parametrize("served", [endless], indirect=True)
def test_a_socket_that_reads_nothing_is_ended(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "READ_S", 0.5)
    with served.opened():
        wait_until(lambda: served.ended == 1 and not served.server.server_state.connections)


@pytest.mark.parametrize("served", [listening], indirect=True)
def test_pongs_are_not_kept_for_a_client_that_does_not_read_them(served: Served) -> None:
    kept = 0
    with served.opened() as client:
        answered = client.recv(4096)
        client.sendall(PING)
        while not answered.endswith(PING[-125:]):
            answered += client.recv(4096) or pytest.fail("the socket was closed")
        for _ in range(SENT_BYTES // (PINGS_AT_ONCE * len(PING))):
            client.sendall(PING * PINGS_AT_ONCE)
            kept = max(kept, *(each.transport.get_write_buffer_size() for each in list(served.server.server_state.connections)))  # fmt: skip
    assert 0 < kept < KEPT_BYTES_MOST


@pytest.mark.parametrize("served", [listening], indirect=True)
def test_a_message_of_frames_without_end_ends_its_socket(served: Served) -> None:
    with served.opened() as client:
        assert client.recv(12) == b"HTTP/1.1 101"
        client.sendall(b"\x01\x80\0\0\0\0" + b"\x00\x80\0\0\0\0" * FRAGMENTS_MOST)
        received = b""
        while piece := client.recv(4096):
            received += piece
        # A closing frame with the code 1009.
        assert received.endswith(b"\x88\x02\x03\xf1")
        wait_until(lambda: served.ended == 1)
