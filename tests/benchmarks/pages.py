"""Pages: weight over the wire, from click to the first animated step, and answers while a long run simulates."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from tests.benchmarks.delaying import delayed
from tests.benchmarks.figures import Figure, middle, percentile
from tests.browser.board import becomes
from tests.serving import Served, served

CHROMIUM = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
CLICKS = 5
LINE_S = 0.05
PAGES_ASKED = 60
BUSY_SCENARIO = """
name: a long run
protocol: consumer
semantics: kafka
topics: {{foo: {{partitions: 200}}}}
config: {{session_timeout_ms: 6000, heartbeat_interval_ms: 1000}}
members: {{{members}}}
script:
{script}
seed: 1
until: 1200s
"""


def run() -> Iterator[Figure]:
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM)
        yield weight(browser, server)
        yield click_to_step(browser, server)
        yield first_board_far_away(browser, server)
        browser.close()
        yield from answers_while_busy(server)


def weight(browser: Browser, server: Served) -> Figure:
    """Bytes as they cross the wire, headers too, without Plotly."""
    page = browser.new_page()
    page.context.add_cookies([server.cookie()])  # type: ignore[list-item]
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    names: dict[str, str] = {}
    sizes: dict[str, float] = {}
    session.on("Network.requestWillBeSent", lambda e: names.update({e["requestId"]: e["request"]["url"]}))
    session.on("Network.loadingFinished", lambda e: sizes.update({e["requestId"]: e["encodedDataLength"]}))
    page.goto(server.url + "/t/kip848-basic", wait_until="networkidle")
    page.wait_for_timeout(1000)
    total = sum(size for request, size in sizes.items() if "plotly" not in names.get(request, ""))
    page.close()
    return Figure(
        what="page of a case study over the wire, without Plotly", value=total / 1000, unit="KB", goal=270
    )


def click_to_step(browser: Browser, server: Served) -> Figure:
    times = []
    for _ in range(CLICKS):
        context = browser.new_context()
        context.add_cookies([server.cookie()])  # type: ignore[list-item]
        page = context.new_page()
        page.goto(server.url + "/", wait_until="load")
        times.append(first_step_after_click(page))
        context.close()
    return Figure(
        what="click on a case study, and Space, to its first animated step, median",
        value=middle(times),
        unit="s",
        goal=1,
    )


def first_board_far_away(browser: Browser, server: Served) -> Figure:
    """From the address to the drawn board, in a browser without a cache, each answer ``LINE_S`` later."""
    times = []
    with delayed(int(server.url.rpartition(":")[2]), LINE_S) as port:
        for _ in range(CLICKS):
            context = browser.new_context(extra_http_headers=server.headers)
            page = context.new_page()
            began = time.monotonic()
            page.goto(f"http://127.0.0.1:{port}/t/kip848-basic", wait_until="commit")
            becomes(page, "document.querySelector('#board[data-sequence]') !== null", every_ms=10)
            times.append(time.monotonic() - began)
            context.close()
    return Figure(
        what="first board through a line that delays each answer by 50 ms, median",
        value=middle(times),
        unit="s",
        goal=2,
    )


def first_step_after_click(page: Page) -> float:
    """A fresh browser without a cache: the click, Space as soon as the page is alive, the first chip or lane that is animated."""
    page.add_init_script(
        """
        const animate = Element.prototype.animate;
        Element.prototype.animate = function (...a) { window.__animated = true; return animate.apply(this, a); };
        document.addEventListener("animationstart", () => { window.__animated = true; });
        """
    )
    link = page.locator('a[href*="/t/kip848-six-partitions"]').first
    began = time.monotonic()
    link.click()
    page.wait_for_url("**/t/kip848-six-partitions*")
    # Nothing moves before the reader presses the button that has the focus.
    page.wait_for_selector("html[data-alive]")
    page.keyboard.press("Space")
    becomes(page, "window.__animated === true", every_ms=10)
    return time.monotonic() - began


def answers_while_busy(server: Served) -> Iterator[Figure]:
    quiet = page_times(server)
    members = ", ".join(f"M{n}: {{subscribe: [foo]}}" for n in range(40))
    script = "\n".join(f"  - {{at: {n * 10}s, join: M{n}}}" for n in range(40))
    text = BUSY_SCENARIO.format(members=members, script=script)
    asked = json.dumps({"scenario": text, "semantics": "kafka", "seed": 1}).encode()
    timeline = json.load(server.open("/api/runs", asked))["timeline"]
    time.sleep(1)
    busy = page_times(server)
    state = json.load(server.open(f"/api/timelines/{timeline}"))
    still = (
        " (the run went on all the while)"
        if state["status"] == "running"
        else f" (the run was {state['status']})"
    )
    yield Figure(what="page while nothing runs, median", value=middle(quiet), unit="ms")
    yield Figure(
        what="page while a long run simulates, median" + still, value=middle(busy), unit="ms", goal=50
    )
    yield Figure(
        what="page while a long run simulates, 95th percentile", value=percentile(busy, 0.95), unit="ms"
    )


def page_times(server: Served) -> list[float]:
    times = []
    for n in range(PAGES_ASKED):
        path = ("/", "/t/kip848-basic", "/api/timelines/kip848-basic")[n % 3]
        began = time.monotonic()
        server.open(path).read()
        times.append((time.monotonic() - began) * 1000)
        time.sleep(0.02)
    return times
