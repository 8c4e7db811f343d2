"""The table of what is wrong: 2,000 groups of a day, from the address to its rows, and each sort and filter."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.benchmarks.figures import Figure, middle
from tests.benchmarks.pages import CHROMIUM
from tests.serving import ROOT, served

VISITS = 7
TURNS = 15

ACT = """
([id, event, value]) => {
  const node = document.querySelector(id);
  const began = performance.now();
  if (value !== null) node.value = value;
  node.dispatchEvent(new Event(event, { bubbles: true }));
  document.querySelector('#troubles-rows').getBoundingClientRect();
  return performance.now() - began;
}
"""
"""What a press or a letter costs until its rows are laid out."""

ACTS = {
    "sort by rate": ("[data-sort=rate]", "click", None),
    "sort by name": ("[data-sort=group]", "click", None),
    "search": ("#troubles-search", "input", "group-1"),
    "search for what no group has": ("#troubles-search", "input", "nothing is called so"),
    "clear the search": ("#troubles-search", "input", ""),
    "filter by pattern": ("#troubles-pattern", "change", "Rebalance storm"),
}


def run() -> Iterator[Figure]:
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder)) as server,
        sync_playwright() as playwright,
    ):
        command = [sys.executable, "-m", "tests.browser.many_groups"]
        subprocess.run(command, cwd=ROOT, env=server.environment, check=True, capture_output=True)
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=CHROMIUM)
        times = []
        for _ in range(VISITS):
            context = browser.new_context()
            context.add_cookies([server.cookie()])  # type: ignore[list-item]
            page = context.new_page()
            began = time.monotonic()
            page.goto(f"{server.url}/groups", wait_until="commit")
            page.locator("#troubles-rows .tr").first.wait_for()
            times.append(time.monotonic() - began)
            if len(times) < VISITS:
                context.close()
        yield Figure(
            what="*What is wrong* with 2,000 groups of a day, from the address to its rows, a browser without a cache, median",
            value=middle(times),
            unit="s",
            goal=1,
        )
        slowest = {name: act(page, *ACTS[name]) for name in ACTS}
        name = max(slowest, key=lambda name: slowest[name])
        yield Figure(
            what=f"the same: sort and filter, median of the slowest ({name})",
            value=slowest[name],
            unit="ms",
            goal=100,
        )
        browser.close()


def act(page: Page, place: str, event: str, value: str | None) -> float:
    """The median of some turns, among all groups."""
    page.locator("#troubles-all").click()
    page.evaluate(ACT, ["#troubles-pattern", "change", ""])
    return middle([page.evaluate(ACT, [place, event, value]) for _ in range(TURNS)])
