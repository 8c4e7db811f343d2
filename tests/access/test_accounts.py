"""A cookie is of the account whose browser it was given to: what another account's server on another port receives, is of no use to it."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from explorer.access.gate import Gate, Handler
from explorer.access.keys import cookie_for
from explorer.access.peers import UNKNOWN, account_of
from tests.access.conftest import Asks
from tests.serving import Served, served

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(sys.platform != "linux", reason="another system does not tell whose a connection is"),
]

OTHER_ACCOUNT = 65534
"""Nobody's."""

ASKS_AS = """
import encodings.idna, http.client, os, sys
account, port, cookie, method, address, *more = sys.argv[1:]
if account:
    os.setgroups([])
    os.setgid(int(account))
    os.setuid(int(account))
connection = http.client.HTTPConnection("127.0.0.1", int(port), timeout=60)
connection.request(method, address, headers={"Cookie": cookie} | dict(zip(more[::2], more[1::2])))
print(connection.getresponse().status)
"""


@contextlib.contextmanager
def connected(host: str = "127.0.0.1") -> Iterator[tuple[socket.socket, dict[str, Any]]]:
    """A client's socket, and the connection as a server has it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as listening:
        listening.bind((host, 0))
        listening.listen()
        with socket.create_connection(listening.getsockname()[:2]) as client:
            accepted, _ = listening.accept()
            with accepted:
                yield client, {"client": accepted.getpeername()[:2], "server": accepted.getsockname()[:2]}


def asked_as(account: int | None, server: Served, cookie: str, method: str, address: str, *more: str) -> int:
    """The status of an answer to a process of an account; null is ours."""
    given = "" if account is None else str(account)
    port = server.url.rpartition(":")[2]
    command = [sys.executable, "-c", ASKS_AS, given, port, cookie, method, address, *more]
    return int(subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_the_system_tells_whose_process_has_the_other_end(host: str) -> None:
    with connected(host) as (_, scope):
        assert account_of(scope) == str(os.getuid())


def test_of_an_end_that_was_closed_nobody_tells() -> None:
    """It would be the account 0 otherwise, which is somebody's."""
    with connected() as (client, scope):
        client.close()
        assert account_of(scope) == UNKNOWN


@pytest.mark.parametrize(
    ("client", "server"),
    [
        (None, None),
        (None, ("/run/socket", None)),
        (("192.0.2.1", 40_000), ("127.0.0.1", 8_000)),
        (("::1", 40_000), ("127.0.0.1", 8_000)),
        (("no address", 40_000), ("127.0.0.1", 8_000)),
        (("127.0.0.1", 70_000), ("127.0.0.1", 8_000)),
    ],
)
def test_of_a_proxys_socket_and_of_another_machine_nobody_tells(client: Any, server: Any) -> None:
    assert account_of({"client": client, "server": server}) == UNKNOWN


async def test_the_gate_takes_a_cookie_from_its_account_alone(transactional_db: None) -> None:
    asks = Asks()
    with connected() as (_, scope):
        asks.connection = scope
        for account, status in ((str(os.getuid()), 200), ("12345", 401), (UNKNOWN, 401)):
            cookie = cookie_for("127.0.0.1:8000", account).partition(";")[0]
            answer = await asks("/api/timelines", token=False, headers={"Cookie": cookie})
            assert answer.status == status, account
        (given,) = (await asks(f"/?token={settings.ACCESS_TOKEN}", token=False)).cookies
        shown = {"Cookie": given.partition(";")[0]}
        assert (await asks("/api/timelines", token=False, headers=shown)).status == 200


async def test_a_socket_is_not_opened_with_another_accounts_cookie() -> None:
    reached = []

    async def sockets(scope: Any, receive: Any, send: Any) -> None:
        reached.append(scope["path"])

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        assert message["type"] == "websocket.close"

    with connected() as (_, scope):
        for account in ("12345", str(os.getuid())):
            cookie = cookie_for("127.0.0.1:8000", account).partition(";")[0].encode()
            headers = [(b"host", b"127.0.0.1:8000"), (b"cookie", cookie)]
            about = {"type": "websocket", "path": f"/ws/{account}", "query_string": b"", "headers": headers}
            await Gate(Handler(), sockets)({**scope, **about}, receive, send)
    assert reached == [f"/ws/{os.getuid()}"]


@pytest.mark.skipif(os.getuid() != 0, reason="to be another account takes the rights of root")
@pytest.mark.long
def test_another_account_that_learns_the_cookie_is_told_nothing_and_changes_nothing(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        given = server.cookie()
        cookie = f"{given['name']}={given['value']}"
        csrf = ["X-CSRFToken", "a" * 32, "Origin", server.url]
        both = f"{cookie}; csrftoken={'a' * 32}"
        # 404: let in, and there is no such timeline.
        for account, read, removed in ((OTHER_ACCOUNT, 401, 401), (None, 200, 404)):
            for address in ("/", "/api/timelines", "/t/kip848-basic"):
                assert asked_as(account, server, cookie, "GET", address) == read, (account, address)
            assert asked_as(account, server, both, "DELETE", "/api/timelines/none", *csrf) == removed
