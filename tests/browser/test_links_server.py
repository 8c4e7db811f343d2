"""A server for links alone, behind Debian's nginx as the docs configure it: TLS, no token in a log, nothing else to be had."""

from __future__ import annotations

import contextlib
import json
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.proxied import WAIT_S, nginx
from tests.serving import ROOT, Served, end, served

STUDY = "incident-slow-revocation"
PAGE = ROOT / "docs" / "how-to" / "share-an-incident.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Links:
    """The server for links: its address by nginx, and the folder of nginx's logs."""

    url: str
    logs: Path


@pytest.fixture(scope="module")
def main_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("shared")) as running:
        yield running


@pytest.fixture(scope="module")
def links(main_server: Served, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Links]:
    folder = tmp_path_factory.mktemp("nginx")
    place = folder / "links.sock"
    with contextlib.ExitStack() as stack:
        command = ["python", "manage.py", "serve", "--links-only", "--unix-socket", str(place)]
        program = subprocess.Popen(
            [str(ROOT / ".venv" / "bin" / "python"), *command[1:]],
            cwd=ROOT,
            env={**main_server.environment, "ALLOWED_HOSTS": "localhost", "BEHIND_TLS": "1"},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        stack.callback(end, program)
        assert program.stdout is not None
        stack.enter_context(program.stdout)
        assert "shows what share links lead to" in program.stdout.readline()
        places = {"/run/rebalance-explorer/links.sock": str(place)}
        port = stack.enter_context(nginx(PAGE, folder, "links.example", places))
        yield Links(url=f"https://localhost:{port}", logs=folder)


def made(server: Served, **asked: object) -> dict[str, str]:
    with server.open(f"/api/timelines/{STUDY}/links", json.dumps(asked).encode()) as answer:
        told: dict[str, str] = json.load(answer)
        return told


def status_of(url: str) -> tuple[int, dict[str, str]]:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with urllib.request.urlopen(url, timeout=WAIT_S, context=context) as answer:
            return answer.status, lowered(answer.headers.items())
    except urllib.error.HTTPError as error:
        return error.code, lowered(error.headers.items())


def lowered(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers}


def test_a_link_plays_through_nginx_and_ends_politely_when_it_is_withdrawn(
    main_server: Served, links: Links, browser: Browser
) -> None:
    told = made(main_server, view="reader", hide_names=True)
    context = browser.new_context(ignore_https_errors=True)
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{links.url}{told['url']}?at=60")
    page.wait_for_selector("html[data-alive]")
    page.keyboard.press("Space")
    assert [url for url in asked if not url.startswith((f"{links.url}/s/", "data:"))] == []
    (cookie,) = context.cookies()
    assert (cookie["secure"], cookie["httpOnly"]) == (True, True)
    request = urllib.request.Request(
        f"{main_server.url}/api/links/{told['id']}", method="DELETE", headers=main_server.headers
    )
    urllib.request.urlopen(request, timeout=WAIT_S).close()
    expect(page.get_by_role("alert")).to_contain_text("This link has ended")
    context.close()


@pytest.mark.parametrize("path", ["/", "/api/timelines", f"/t/{STUDY}", "/static/css/base.css", "/s/", "/s/open/x/", "/s/guess"])  # fmt: skip
def test_everything_else_is_404_whatever_token_is_shown(main_server: Served, links: Links, path: str) -> None:
    assert status_of(f"{links.url}{path}")[0] == 404
    assert status_of(f"{links.url}{path}?token={main_server.token}")[0] == 404


def test_no_log_holds_a_token(main_server: Served, links: Links) -> None:
    token = made(main_server, view="reader")["url"].removeprefix("/s/")
    for behind in ("", "?at=3", "/card.png", "/embed/"):
        status, headers = status_of(f"{links.url}/s/{token}{behind}")
        assert status in (200, 404)
        assert headers["referrer-policy"] == "no-referrer"
    assert "max-age" in headers["strict-transport-security"]
    until_s = time.monotonic() + WAIT_S
    while "/s/token/card.png" not in (links.logs / "links.log").read_text():
        assert time.monotonic() < until_s
        time.sleep(0.05)
    written = "".join(path.read_text(errors="replace") for path in links.logs.glob("*.log"))
    written += main_server.log.read_text(errors="replace")
    assert token not in written
    assert token[:40] not in written


def test_a_flood_of_guesses_is_bounded_and_who_has_a_link_is_let_in(
    main_server: Served, links: Links
) -> None:
    statuses = [status_of(f"{links.url}/s/{number:051}")[0] for number in range(120)]
    assert statuses[0] == 404
    assert statuses[-1] == 429
    assert status_of(f"{links.url}{made(main_server, view='reader')['url']}")[0] in (200, 429)
