"""Lessons: from the click to a board that answers, a beat, a revealed answer, and the first step after taking over."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from simulations import courses
from simulations.lessons.sheets import sheet_of
from tests.benchmarks.figures import Figure, middle
from tests.benchmarks.pages import CHROMIUM
from tests.browser.board import becomes
from tests.serving import Served, served

TIMES = 5
LESSON = "/lessons/released-is-not-assigned"


def run() -> Iterator[Figure]:
    yield playing()
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM)
        yield first_click(browser, server)
        yield from answers(browser, server)
        browser.close()


def playing() -> Figure:
    """To play and fill in one lesson, in processor time."""
    times = []
    for name in courses.names():
        began = time.process_time()
        sheet_of(courses.load(name), courses.Bundled())
        times.append((time.process_time() - began) * 1000)
    return Figure(
        what="a bundled lesson played and filled in, the longest, processor time",
        value=max(times),
        unit="ms",
        goal=100,
    )


def opened(browser: Browser, server: Served, address: str) -> Page:
    context = browser.new_context()
    context.add_cookies([server.cookie()])  # type: ignore[list-item]
    page = context.new_page()
    page.goto(server.url + address, wait_until="load")
    return page


def first_click(browser: Browser, server: Served) -> Figure:
    """The very first lesson of a server that has just started, from the first page."""
    page = opened(browser, server, "/")
    page.wait_for_load_state("networkidle")
    began = time.monotonic()
    page.locator(".path a").first.click()
    becomes(
        page,
        "document.documentElement.dataset.alive === 'true' && !!document.querySelector('#board .chip')",
        every_ms=10,
    )
    return Figure(
        what="first lesson, click to a board that answers", value=time.monotonic() - began, unit="s", goal=1
    )


def answers(browser: Browser, server: Served) -> Iterator[Figure]:
    beats, reveals, first_steps = [], [], []
    for _ in range(TIMES):
        page = opened(browser, server, LESSON)
        becomes(page, "document.documentElement.dataset.alive === 'true'")
        beats.append(in_page(page, "#next", "document.querySelector('#place').textContent === 'beat 2 of 5'"))
        page.locator("#next").click()
        page.locator('#ask [data-key="A"]').click()
        reveals.append(in_page(page, "#check", "!!document.querySelector('#answer .ok')"))
        began = time.monotonic()
        page.locator("#over").click()
        becomes(page, "!!document.querySelector('#on')", every_ms=10)
        first_steps.append(time.monotonic() - began)
        page.context.close()
    yield Figure(what="a beat, click to its board, median", value=middle(beats), unit="ms", goal=100)
    yield Figure(
        what="an answer, click to its explanation, median", value=middle(reveals), unit="ms", goal=100
    )
    yield Figure(what="taking over to the first step, median", value=middle(first_steps), unit="s", goal=1)


def in_page(page: Page, button: str, expression: str) -> float:
    """Milliseconds of the click's own task, in which the page is changed; what is drawn follows with the next frame."""
    return float(
        page.evaluate(
            f"() => {{ const began = performance.now(); document.querySelector('{button}').click();"
            f" if (!({expression})) throw new Error('not yet'); return performance.now() - began; }}"
        )
    )
