"""Nothing leaves, nobody gets in: what our pages ask for, what pages of elsewhere get, and how a reader comes in.

``open_page`` fails each test whose page asks anything of another origin, or breaks the page's own policy, which the
console tells.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.serving import ROOT, Served

OpenPage = Callable[..., Page]

PAGES = (
    "/", "/t/kip848-basic", "/t/kip848-basic?at=9", "/import/", "/simulate/", "/simulate/?scenario=kip848-basic",
    "/laboratory", "/laboratory?g=60.1&t=10x60&e=join", "/laboratory?timeline=kip848-basic&at=9", "/inspect",
    "/lessons/", "/lessons/three-epochs", "/lessons/by-hand-range", "/lessons/three-epochs/handout", "/lessons/write",
    "/sweeps", "/help/", "/differences/told-to-give-up",
)  # fmt: skip

POLICY = {
    "default-src": "'self'", "script-src": "'self'", "object-src": "'none'", "base-uri": "'none'",
    "form-action": "'self'", "frame-ancestors": "'none'", "img-src": "'self' data: blob:",
}  # fmt: skip


@pytest.mark.parametrize("address", PAGES)
def test_a_page_asks_nothing_of_another_origin_and_keeps_its_policy(
    open_page: OpenPage, address: str
) -> None:
    answers: list[Any] = []
    page = open_page(
        address,
        before=lambda page: page.on("response", lambda answer: answers.append(answer)),
        reduced_motion="reduce",
    )
    # What is only asked for once it comes into sight.
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    page.wait_for_load_state("networkidle")
    headers = answers[0].headers
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy.items() >= POLICY.items()
    # Attributes of Plotly's heat maps, which no page of text needs: no style element, and no script.
    assert [name for name, allowed in policy.items() if "unsafe" in allowed] == ["style-src-attr"]
    assert headers["cache-control"] == "no-store"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert "camera=()" in headers["permissions-policy"]


def test_the_page_of_a_sweep_asks_nothing_of_another_origin(open_page: OpenPage, server: Served) -> None:
    seeded = subprocess.run(
        [sys.executable, "-m", "tests.browser.seed_sweep", "whole"],
        cwd=ROOT, env=server.environment, check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    page = open_page(f"/sweeps/{seeded}")
    page.wait_for_load_state("networkidle")
    expect(page.locator(".js-plotly-plot").first).to_be_visible()


def test_every_button_of_a_figure_stays_here_and_none_shares_it(open_page: OpenPage) -> None:
    page = open_page("/t/kip848-basic", accept_downloads=True)
    page.locator("#figure").scroll_into_view_if_needed()
    page.locator("#figure-zoom").click()
    page.locator("#figure[data-ready=plotly]").wait_for()
    page.locator("#figure").hover()
    titles = page.locator("#figure .modebar-btn").evaluate_all(
        "all => all.map(one => one.dataset.title ?? one.ariaLabel)"
    )
    assert len(titles) > 3
    assert not [title for title in titles if "share" in title.lower() or "cloud" in title.lower()]
    with page.expect_download() as picture:
        page.locator("#figure .modebar-btn").first.click()
    assert Path(picture.value.path()).read_bytes().startswith(b"\x89PNG")
    for number in range(1, len(titles)):
        page.locator("#figure").hover()
        page.locator("#figure .modebar-btn").nth(number).click()
    assert page.locator(".plotly-cloud-dialog").count() == 0


def test_a_script_that_came_with_a_name_is_not_run(context: BrowserContext, server: Served) -> None:
    """No name becomes markup; were one to, the policy would still stand."""
    page = context.new_page()
    page.goto(f"{server.url}/help/")
    page.evaluate(
        """() => document.body.insertAdjacentHTML('beforeend',
             '<img src="/nowhere" onerror="window.ran = 1"><a id="x" href="javascript:window.ran = 2">x</a>')"""
    )
    page.evaluate(
        "() => { const s = document.createElement('script'); s.text = 'window.ran = 3'; document.body.append(s); }"
    )
    page.locator("#x").click()
    page.wait_for_timeout(300)
    assert page.evaluate("window.ran") is None


# -- from elsewhere


class Elsewhere(BaseHTTPRequestHandler):
    """A page of another port, and so of another origin."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>elsewhere</title><body>")

    def log_message(self, *told: Any) -> None:
        """Nothing is told of what it answers."""


@pytest.fixture(scope="module")
def other_port() -> Iterator[int]:
    other = ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    threading.Thread(target=other.serve_forever, daemon=True).start()
    yield other.server_address[1]
    other.shutdown()
    other.server_close()


@pytest.fixture
def context(browser: Browser, cookie: Any) -> Iterator[BrowserContext]:
    """A browser that came in by the printed address, whose pages may complain."""
    context = browser.new_context()
    context.add_cookies([cookie])
    yield context
    context.close()


ATTEMPTS = """async (url) => {
  const got = {};
  const attempt = async (name, run) => { try { got[name] = await run(); } catch { got[name] = null; } };
  const socket = (path) => new Promise((done) => {
    const opened = new WebSocket(url.replace('http', 'ws') + path);
    opened.onmessage = (event) => done(event.data);
    opened.onclose = opened.onerror = () => done(null);
  });
  const element = (tag, facts) => new Promise((done) => {
    const node = Object.assign(document.createElement(tag), facts);
    node.onload = () => done('loaded');
    node.onerror = () => done(null);
    document.body.append(node);
  });
  const simple = { method: 'POST', credentials: 'include', headers: { 'Content-Type': 'text/plain' } };
  await attempt('read', async () => (await fetch(`${url}/api/timelines`, { credentials: 'include' })).text());
  await attempt('blind', async () => (await fetch(`${url}/api/timelines`, { mode: 'no-cors', credentials: 'include' })).text() || null);
  await attempt('start', async () => (await fetch(`${url}/api/runs`, { ...simple, mode: 'no-cors', body: '{"scenario": "kip848-basic"}' })).text() || null);
  await attempt('sample', async () => (await fetch(`${url}/api/imports`, { ...simple, mode: 'no-cors', body: '{"sample": true}' })).text() || null);
  await attempt('socket', () => socket('/ws/timelines/kip848-basic'));
  await attempt('script', () => element('script', { src: `${url}/api/timelines` }));
  await attempt('module', () => element('script', { type: 'module', src: `${url}/static/js/frame/words.js` }));
  await attempt('picture', () => element('img', { src: `${url}/static/img/mark.svg` }));
  await attempt('frame', async () => {
    const frame = document.createElement('iframe');
    frame.src = `${url}/`;
    document.body.append(frame);
    await new Promise((done) => { frame.onload = done; setTimeout(done, 2000); });
    try { return frame.contentDocument?.body.innerText || null; } catch { return null; }
  });
  const form = Object.assign(document.createElement('form'), { method: 'post', action: `${url}/simulate/`, target: 'other' });
  form.append(Object.assign(document.createElement('input'), { name: 'scenario', value: 'kip848-basic' }));
  document.body.append(Object.assign(document.createElement('iframe'), { name: 'other' }), form);
  form.submit();
  await new Promise((done) => setTimeout(done, 500));
  return got;
}"""


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_page_of_another_origin_or_port_reads_nothing_and_starts_nothing(
    context: BrowserContext, server: Served, other_port: int, fetch: Callable[[str], Any], name: str
) -> None:
    """From 127.0.0.1 the browser even sends our cookie along: a port is no other site to it."""
    before = [len(fetch(f"/api/{what}")) for what in ("timelines", "imports", "sweeps")]
    page = context.new_page()
    page.goto(f"http://{name}:{other_port}/")
    got = page.evaluate(ATTEMPTS, server.url)
    assert {what: gained for what, gained in got.items() if gained is not None} == {}
    assert [len(fetch(f"/api/{what}")) for what in ("timelines", "imports", "sweeps")] == before


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost"])
def test_a_link_from_elsewhere_opens_for_who_is_in(
    context: BrowserContext, server: Served, other_port: int, name: str
) -> None:
    page = context.new_page()
    page.goto(f"http://{name}:{other_port}/")
    page.evaluate(
        """url => { const a = document.createElement('a'); a.id = 'link'; a.href = url; a.textContent = 'the incident';
                    document.body.append(a); }""",
        f"{server.url}/t/kip848-basic?at=9",
    )
    page.locator("#link").click()
    page.wait_for_selector("html[data-alive]")
    assert "at=9" in page.url


# -- how a reader comes in


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.quick
def test_a_reader_without_a_token_comes_in_by_keyboard_and_sees_no_path_of_the_server(
    browser: Browser, server: Served, scheme: Any, width: int, tmp_path: Path
) -> None:
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 844})
    page = context.new_page()
    answer = page.goto(f"{server.url}/t/kip848-basic?at=9")
    assert answer is not None
    assert answer.status == 401
    expect(page.get_by_text("paste the token here")).to_be_visible()
    assert server.environment["REBALANCE_VAR"] not in page.content(), "no path of the server is shown"
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    expect(page.get_by_label("Token")).to_be_focused()
    page.keyboard.type("guessed")
    page.keyboard.press("Enter")
    expect(page.get_by_text("not the one of this server")).to_be_visible()
    page.keyboard.type(server.token)
    page.keyboard.press("Enter")
    page.wait_for_selector("html[data-alive]")
    assert page.url == f"{server.url}/t/kip848-basic?at=9"
    context.close()


def test_the_printed_address_leads_in_and_the_token_does_not_stay_in_the_address(
    browser: Browser, server: Served
) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.entrance)
    page.wait_for_selector("html[data-alive]")
    assert page.url == f"{server.url}/"
    assert page.evaluate("document.cookie").find("rebalance-explorer") == -1, "no script sees it"
    assert json.loads(page.evaluate("fetch('/api/timelines').then(answer => answer.text())"))
    context.close()
