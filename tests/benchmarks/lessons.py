"""Lessons: from the click to a board that answers, a beat, a revealed answer, and the first step after taking over."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from simulations import courses
from simulations.lessons.document import Kind
from simulations.lessons.sheets import sheet_of
from tests.benchmarks.figures import Figure
from tests.benchmarks.pages import CHROMIUM
from tests.browser.board import becomes
from tests.serving import Served, served

AGAIN_MOST = 2
"""A lesson with a press that took too long is walked again: a machine that does other work stops a page for a while."""

LESSONS = [
    f"/lessons/{name}"
    for name in (
        "released-is-not-assigned",
        "two-bounces",
        "incident-never-at-rest",
        "heartbeats",
        "one-bounce",
    )
]
"""Taken over: short runs, and the longest ones of either protocol."""


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


WALK = """
async () => {
  const sheet = JSON.parse(document.getElementById('sheet-data').textContent);
  const timed = (button) => {
    const began = performance.now();
    document.querySelector(button).click();
    return performance.now() - began;
  };
  const drawn = () => new Promise((then) => requestAnimationFrame(() => setTimeout(then)));
  const found = { beats: [], wrong: [], right: [] };
  for (const [at, { ask }] of sheet.beats.entries()) {
    if (ask) {
      const press = (options) =>
        options.forEach(({ key }) => document.querySelector(`#ask [data-key="${CSS.escape(key)}"]`).click());
      const others = ask.options.filter(({ right }) => !right).slice(0, 1);
      press(others);
      if (others.length) found.wrong.push(timed('#check'));
      await drawn();
      if (ask.many) press(others);
      press(ask.options.filter(({ right }) => right));
      found.right.push(timed('#check'));
      if (!document.querySelector('#answer .ok')) throw new Error(`beat ${at + 1} is not answered`);
    }
    await drawn();
    if (at < sheet.beats.length - 1) {
      found.beats.push(timed('#next'));
      const place = `step ${at + 2} of ${sheet.beats.length}`;
      if (document.querySelector('#place').textContent !== place) throw new Error(`not at ${place}`);
      await drawn();
    }
  }
  return found;
}
"""
"""Takes a lesson from its first beat to its last, each question wrongly, then rightly. Milliseconds of each press's own task, in which
the page is changed; what is drawn follows with the next frame."""


def answers(browser: Browser, server: Served) -> Iterator[Figure]:
    """Every press of every bundled lesson that has a board, and what is slowest of them."""
    found: dict[str, list[float]] = {"beats": [], "wrong": [], "right": []}
    for name in (name for name in courses.names() if courses.load(name).kind is not Kind.CASE):
        walked = walk(browser, server, name)
        for _ in range(AGAIN_MOST):
            if max(taken for times in walked.values() for taken in times) < 100:
                break
            again = walk(browser, server, name)
            walked = {what: list(map(min, times, again[what])) for what, times in walked.items()}
        for what, times in walked.items():
            found[what] += times
    says = {
        "beats": "a beat, click to its board",
        "wrong": "a wrong answer, click to its explanation",
        "right": "a right answer, click to what is revealed",
    }
    for what, times in found.items():
        ordered = sorted(times)
        for share, word in ((0.5, "median"), (0.99, "99th percentile")):
            value = ordered[min(len(ordered) - 1, int(len(ordered) * share))]
            yield Figure(
                what=f"{says[what]}, {word} of {len(ordered)} in all lessons",
                value=value,
                unit="ms",
                goal=100,
            )
    yield taking_over(browser, server)


def walk(browser: Browser, server: Served, name: str) -> dict[str, list[float]]:
    """A lesson from its first beat to its last, by somebody who has not seen it."""
    page = opened(browser, server, f"/lessons/{name}")
    becomes(page, "document.documentElement.dataset.alive === 'true'")
    walked: dict[str, list[float]] = page.evaluate(WALK)
    page.context.close()
    return walked


def taking_over(browser: Browser, server: Served) -> Figure:
    steps = []
    for lesson in LESSONS:
        page = opened(browser, server, lesson)
        becomes(page, "document.documentElement.dataset.alive === 'true'")
        began = time.monotonic()
        page.locator("#over").click()
        becomes(page, "!!document.querySelector('#on')", every_ms=10)
        steps.append(time.monotonic() - began)
        page.context.close()
    return Figure(
        what="taking over to the first step, the slowest of five lessons", value=max(steps), unit="s", goal=1
    )
