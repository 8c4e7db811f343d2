"""A team's server behind Debian's nginx as the docs configure it: login, token, sockets, and no token in a log."""

from __future__ import annotations

import base64
import contextlib
import os
import re
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from pathlib import Path

import orjson
import pytest
from websockets.sync.client import connect

from groups.places import ROOT
from tests.proxied import WAIT_S, block_of, nginx
from tests.services.servers import end
from tests.serving import prepare

HOW_TO = ROOT / "docs" / "how-to"
PAGE = HOW_TO / "run-for-a-team.md"
TOKEN = "the token of a team behind nginx"
LOGIN = "Basic " + base64.b64encode(b"emil:correct horse").decode()

pytestmark = [pytest.mark.services, pytest.mark.once, pytest.mark.long]

TLS = ssl.create_default_context()
TLS.check_hostname, TLS.verify_mode = False, ssl.CERT_NONE


class NotFollowed(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *told: object, **facts: object) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Proxy:
    port: int
    logs: Path

    def ask(self, path: str, **headers: str) -> tuple[int, Message, bytes]:
        opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=TLS), NotFollowed())
        request = urllib.request.Request(f"https://localhost:{self.port}{path}", headers=headers)
        try:
            with opener.open(request, timeout=WAIT_S) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def logged(self, last: str) -> str:
        """What the logs hold, as soon as ``last`` is there: nginx writes a request down after it has answered it."""
        until_s = time.monotonic() + WAIT_S
        while True:
            written = "\n".join(path.read_text() for path in self.logs.glob("*.log"))
            if last in written or time.monotonic() > until_s:
                return written
            time.sleep(0.02)


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    folder = tmp_path_factory.mktemp("nginx")
    place, users = folder / "web.sock", folder / "rebalance.users"
    hashed = subprocess.run(
        ["openssl", "passwd", "-6", "correct horse"], check=True, capture_output=True, text=True
    ).stdout
    users.write_text(f"emil:{hashed}")
    prepare(folder / "var")
    environment = {**os.environ, "REBALANCE_VAR": str(folder / "var"), "DATABASE_URL": "", "REDIS_URL": ""}
    environment |= {"ACCESS_TOKEN": TOKEN, "BEHIND_TLS": "1", "DEBUG": "1", "ALLOWED_HOSTS": "localhost"}
    with contextlib.ExitStack() as stack:
        server = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--unix-socket", str(place)],
            cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        stack.callback(end, server)
        assert server.stdout is not None
        stack.enter_context(server.stdout)
        assert any("plays at the Unix socket" in line for line in server.stdout)
        places = {"/run/rebalance-explorer/web.sock": str(place), "/etc/nginx/rebalance.users": str(users)}
        port = stack.enter_context(nginx(PAGE, folder, "rebalance.internal", places))
        yield Proxy(port=port, logs=folder)


def test_a_team_reaches_its_server_through_the_docs_nginx_and_no_token_is_in_a_log(proxy: Proxy) -> None:
    assert proxy.ask("/")[0] == 401, "without a login nginx answers"
    status, headers, body = proxy.ask("/", Authorization=LOGIN)
    assert (status, headers["WWW-Authenticate"].split()[0]) == (401, "Bearer"), (
        "then the server asks for its token"
    )
    assert b"is not the one of this server" not in body, "nginx's login is no wrong token"
    status, headers, _ = proxy.ask(f"/?token={urllib.parse.quote(TOKEN)}", Authorization=LOGIN)
    assert (status, headers["Location"]) == (303, "/")
    cookie = headers["Set-Cookie"].partition(";")[0]
    assert "; Secure" in headers["Set-Cookie"]
    status, headers, body = proxy.ask("/api/timelines/kip848-basic", Authorization=LOGIN, Cookie=cookie)
    assert (status, orjson.loads(body)["status"]) == (200, "complete")
    assert "Strict-Transport-Security" in headers
    with connect(
        f"wss://localhost:{proxy.port}/ws/timelines/kip848-basic",
        ssl=TLS,
        origin=f"https://localhost:{proxy.port}",  # type: ignore[arg-type]
        additional_headers={"Cookie": cookie, "Authorization": LOGIN},
    ) as opened:
        assert orjson.loads(opened.recv(timeout=WAIT_S))["type"] == "hello"
    link = "/s/" + "x" * 51 + "/t"
    proxy.ask(link, Authorization=LOGIN)
    written = proxy.logged('"GET /s/')
    assert '"GET /api/timelines/kip848-basic"' in written
    assert '"GET /s/token/t"' in written
    assert urllib.parse.quote(TOKEN) not in written
    assert "x" * 51 not in written


def test_every_nginx_file_of_the_docs_is_run_by_a_test() -> None:
    pages = {page.name for page in (ROOT / "docs").rglob("*.md") if "```nginx" in page.read_text()}
    run = {
        name
        for test in (ROOT / "tests").rglob("test_*.py")
        for name in re.findall(r'"([\w-]+\.md)"', test.read_text())
        if "from tests.proxied import" in test.read_text()
    }
    assert pages
    assert pages <= run


def test_why_a_large_body_is_refused_arrives_through_nginx(proxy: Proxy) -> None:
    """nginx passes the body on as it comes, and answers 502 where the server closes while it does."""
    cookie = proxy.ask(f"/?token={urllib.parse.quote(TOKEN)}", Authorization=LOGIN)[1]["Set-Cookie"]
    for _ in range(40):
        with (
            socket.create_connection(("127.0.0.1", proxy.port), timeout=WAIT_S) as plain,
            TLS.wrap_socket(plain, server_hostname="localhost") as connection,
        ):
            head = (
                f"POST /api/runs HTTP/1.1\r\nHost: localhost:{proxy.port}\r\nAuthorization: {LOGIN}\r\nConnection: close\r\n"
                f"Cookie: {cookie.partition(';')[0]}\r\nContent-Length: 3000000\r\n\r\n"
            )
            with contextlib.suppress(OSError):  # it may be refused before all of it is sent
                connection.sendall(head.encode() + b"x" * 3_000_000)
            assert connection.recv(12) == b"HTTP/1.1 413"


def test_the_nginx_files_of_the_docs_can_be_used_by_one_nginx() -> None:
    """A log format and a zone are of all files together, and nginx refuses to start where one comes twice."""
    named = [
        name
        for page in (ROOT / "docs").rglob("*.md")
        if "```nginx" in page.read_text()
        for name in re.findall(r"^(?:log_format (\w+)|.* zone=(\w+):)", block_of(page), re.MULTILINE)
    ]
    assert named
    assert len(named) == len(set(named))
