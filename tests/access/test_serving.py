"""How a server listens: heads in bounded time and size, a Unix socket that its owner and group may use, a token."""

from __future__ import annotations

import contextlib
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from django.conf import settings
from django.core.management.base import CommandError

from explorer.access import connections
from explorer.access.connections import BoundedConnection
from explorer.management.commands import serve
from explorer.management.commands.serve import free_socket, unix_socket
from tests.serving import ROOT, end, environment_for, prepare, served

pytestmark = pytest.mark.once

REQUEST = b"GET / HTTP/1.1\r\nHost: a\r\n"
WAIT_S = 90.0


LARGE_BYTES = 64 * 1024 * 1024
"""More than the system's buffers of a connection take."""


async def says_yes(scope: Any, receive: Any, send: Any) -> None:
    if scope["path"] == "/headers":
        while (await receive()).get("more_body"):
            pass
        names = b",".join(name for name, _ in scope["headers"])
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"content-length", b"%d" % len(names))],
            }
        )
        await send({"type": "http.response.body", "body": names})
        return
    if scope["path"] == "/two-pieces":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": bytes(LARGE_BYTES), "more_body": True})
        try:
            await send({"type": "http.response.body", "body": b"more"})
            scope["state"]["ended"].append((await receive())["type"])
        except RuntimeError as error:
            scope["state"]["ended"].append(str(error))
        return
    if scope["path"] == "/large":
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"content-length", b"%d" % LARGE_BYTES)],
            }
        )
        await send({"type": "http.response.body", "body": bytes(LARGE_BYTES)})
        return
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"3")]})
    await send({"type": "http.response.body", "body": b"yes"})


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A server whose heads must come within a moment."""
    monkeypatch.setattr(connections, "HEAD_S", 0.3)
    config = uvicorn.Config(
        says_yes, port=0, http=BoundedConnection, lifespan="off", log_level="critical", ws="none"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join(10)


@contextlib.contextmanager
def connected(port: int) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", port), timeout=WAIT_S) as client:
        yield client


def is_closed(client: socket.socket) -> bool:
    """Whether the server closes the connection, now or soon."""
    try:
        return client.recv(1) == b""
    except ConnectionError:
        return True


@pytest.mark.parametrize("begun", [b"", b"GET", REQUEST, REQUEST + b"X: "])
def test_a_head_that_does_not_end_ends_the_connection(port: int, begun: bytes) -> None:
    with connected(port) as client:
        client.sendall(begun)
        assert is_closed(client)


def test_a_head_that_drips_ends_the_connection(port: int) -> None:
    with connected(port) as client, contextlib.suppress(ConnectionError):
        for letter in REQUEST * 1000:
            client.sendall(bytes([letter]))
            time.sleep(0.02)
        raise AssertionError("it went on dripping")


def test_a_head_without_bound_ends_the_connection(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_S", 60.0)
    with connected(port) as client, contextlib.suppress(ConnectionError):
        client.sendall(REQUEST)
        for number in range(10_000):
            client.sendall(f"X-{number}: {'x' * 1000}\r\n".encode())
        raise AssertionError("ten megabytes of a head were taken")


def test_a_single_large_head_ends_the_connection(port: int) -> None:
    with connected(port) as client:
        with contextlib.suppress(ConnectionError):
            client.sendall(REQUEST + b"X: " + b"x" * 100_000 + b"\r\n\r\n")
        assert is_closed(client)


CHUNKED = b"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"


@pytest.mark.parametrize("piece", [b"Y: b\r\n", b"y"])
def test_trailers_without_bound_end_the_connection(port: int, piece: bytes) -> None:
    with connected(port) as client, contextlib.suppress(ConnectionError):
        client.sendall(CHUNKED)
        for _ in range(2_000):
            client.sendall(piece * 10_000)
        raise AssertionError("megabytes of trailers were taken")


def test_a_trailer_is_no_header(port: int) -> None:
    with connected(port) as client:
        client.sendall(CHUNKED.replace(b" / ", b" /headers ") + b"Authorization: Bearer x\r\n\r\n")
        assert client.recv(4096).endswith(b"host,transfer-encoding")


def test_pipelined_requests_have_their_headers(port: int) -> None:
    with connected(port) as client:
        client.sendall((REQUEST.replace(b" / ", b" /headers ") + b"X: y\r\n\r\n") * 3)
        answered = b""
        while answered.count(b"host,x") < 3:
            answered += client.recv(4096)


def test_the_second_request_of_a_connection_is_bounded_as_the_first(port: int) -> None:
    with connected(port) as client:
        for _ in range(3):
            client.sendall(REQUEST + b"\r\n")
            assert b"yes" in client.recv(4096)
        client.sendall(REQUEST)
        assert is_closed(client)


def test_an_answer_that_nobody_reads_ends_the_connection(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "READ_S", 0.3)
    with connected(port) as client:
        client.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
        time.sleep(1.5)
        assert received(client) < LARGE_BYTES


def test_an_answer_that_is_read_slowly_comes_whole(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "READ_S", 5.0)
    with connected(port) as client:
        client.sendall(b"GET /large HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        assert received(client, pause_s=0.001) > LARGE_BYTES


def test_who_leaves_with_more_requests_on_the_way_is_answered_no_further(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[str] = []
    asked = BoundedConnection.__init__

    def made(self: BoundedConnection, *arguments: Any, **more: Any) -> None:
        asked(self, *arguments, **more)
        self.app_state = {"ended": ended}

    monkeypatch.setattr(BoundedConnection, "__init__", made)
    with connected(port) as client:
        client.sendall(b"GET /two-pieces HTTP/1.1\r\nHost: a\r\n\r\n" * 3)
        client.recv(1024)
    give_up = time.monotonic() + 60
    while not ended and time.monotonic() < give_up:
        time.sleep(0.05)
    assert ended == ["http.disconnect"]


def received(client: socket.socket, pause_s: float = 0.0) -> int:
    """Bytes that come until the connection ends."""
    count = 0
    with contextlib.suppress(ConnectionError):
        while piece := client.recv(1024 * 1024):
            count += len(piece)
            time.sleep(pause_s)
    return count


def asked(path: Path, *lines: str) -> bytes:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(WAIT_S)
        client.connect(str(path))
        client.sendall(
            "\r\n".join(["GET /api/timelines HTTP/1.1", *lines, "Connection: close", "", ""]).encode()
        )
        answer = b""
        while piece := client.recv(65536):
            answer += piece
    return answer


def test_a_port_in_use_leaves_the_next_one_and_what_cannot_be_listened_at_is_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with free_socket("127.0.0.1", 0) as held:
        port = held.getsockname()[1]
        with free_socket("127.0.0.1", port) as following:
            assert port < following.getsockname()[1] <= port + serve.PORTS_TRIED
        monkeypatch.setattr(serve, "PORTS_TRIED", 0)
        says = f"^No port from {port} to {port} is free on 127.0.0.1; choose one with --port.$"
        with pytest.raises(CommandError, match=says):
            free_socket("127.0.0.1", port)
    # An address for documentation (RFC 5737), which no machine has.
    with pytest.raises(CommandError, match=r"^192\.0\.2\.1, port 8000, cannot be listened at: .*\.$"):
        free_socket("192.0.2.1", 8000)


@pytest.mark.long
def test_a_unix_socket_is_its_owners_and_groups_alone_and_asks_for_the_token(tmp_path: Path) -> None:
    place = tmp_path / "web.sock"
    prepare(tmp_path / "var")
    environment = environment_for(tmp_path / "var", ACCESS_TOKEN="a token of twenty letters or more")
    process = subprocess.Popen(
        [sys.executable, "manage.py", "serve", "--unix-socket", str(place)],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True, umask=0,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        while line := process.stdout.readline():
            if str(place) in line:
                break
        assert stat.S_IMODE(place.stat().st_mode) == 0o660
        assert asked(place, "Host: localhost").startswith(b"HTTP/1.1 401")
        bearer = "Authorization: Bearer a token of twenty letters or more"
        assert asked(place, "Host: localhost", bearer).startswith(b"HTTP/1.1 200")
        assert asked(place, "Host: example.org", bearer).startswith(b"HTTP/1.1 400")
    finally:
        end(process)
        process.stdout.close()


def test_a_socket_that_a_server_left_behind_is_taken_and_nothing_else_is(tmp_path: Path) -> None:
    place = tmp_path / "web.sock"
    unix_socket(str(place)).close()
    assert place.is_socket()
    with unix_socket(str(place)), pytest.raises(Exception, match="cannot be listened at"):
        unix_socket(str(place))
    file = tmp_path / "precious"
    file.write_text("data")
    with pytest.raises(Exception, match="cannot be listened at"):
        unix_socket(str(file))
    assert file.read_text() == "data"


@pytest.mark.long
def test_the_printed_address_has_the_token_and_without_one_there_is_none(tmp_path: Path) -> None:
    with served(tmp_path, fresh=True) as server:
        assert server.token == (tmp_path / "token").read_text()
        assert server.open("/api/timelines").status == 200
        first = server.cookie()
    with served(tmp_path, [sys.executable, "manage.py", "serve", "--port", "0", "--no-token"]) as server:
        assert server.token == ""
        assert server.open("/api/timelines").status == 200
        own = [path for path in tmp_path.rglob("*") if path.lstat().st_mode & 0o077 and path.is_file()]
        assert own == []
    with served(tmp_path) as server:
        assert server.cookie()["value"] != first["value"], "a cookie is of its start"


def test_settings_of_a_proxy_that_speaks_tls(tmp_path: Path) -> None:
    told = "import json; from django.conf import settings as s; print([s.CSRF_COOKIE_SECURE, s.SECURE_PROXY_SSL_HEADER, s.HSTS_S])"
    environment = environment_for(tmp_path, BEHIND_TLS="1", HSTS_S="60")
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", told],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "[True, ('HTTP_X_FORWARDED_PROTO', 'https'), 60]"
    assert not settings.CSRF_COOKIE_SECURE
    assert settings.SECURE_PROXY_SSL_HEADER is None
