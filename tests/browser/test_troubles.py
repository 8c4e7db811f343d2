"""The page of what is wrong, in a browser: heights of rows, keys, two thousand groups."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.serving import ROOT, Served

Open = Callable[..., Page]


WORDS_BOTTOM = """heads => heads.map(head => {
  const words = document.createRange();
  words.selectNodeContents(head.querySelector('button') ?? head);
  return Math.round(words.getBoundingClientRect().bottom);
})"""


@pytest.fixture
def many_groups(server: Served) -> Iterator[None]:
    """Two thousand groups, removed at the end: other tests use the same server."""
    command = [sys.executable, "-m", "tests.browser.many_groups"]
    subprocess.run(command, cwd=ROOT, env=server.environment, check=True, capture_output=True)
    yield
    subprocess.run([*command, "remove"], cwd=ROOT, env=server.environment, check=True, capture_output=True)


def test_two_thousand_groups_are_rows_of_forty_pixels_that_keys_step_through(
    open_page: Open, many_groups: None
) -> None:
    page: Page = open_page("/groups", viewport={"width": 820, "height": 900})
    expect(page.locator("#troubles-says")).to_contain_text("groups are in trouble")
    rows = page.locator("#troubles-rows .tr")
    expect(page.locator("#troubles-figures dt")).to_have_text(
        ["Groups", "In trouble", "Rebalances", "Unread now"]
    )
    expect(page.locator("#troubles-rest")).to_contain_text("groups without trouble")
    heights: list[Any] = rows.evaluate_all("rows => rows.map(row => row.getBoundingClientRect().height)")
    assert heights
    assert max(heights) <= 40
    assert len(heights) < 100, "rows out of sight exist"
    rows.first.locator("a").focus()
    expect(page.locator(".thead .c")).to_be_hidden()
    first = page.evaluate("document.activeElement.dataset.key")
    assert re.search(
        r"\?at=[1-9]\d*&within=([6-9]\d|\d{3,})$", str(rows.first.locator("a").get_attribute("href"))
    )
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.key") not in (first, None)
    page.keyboard.press("/")
    expect(page.locator("#troubles-search")).to_be_focused()
    page.keyboard.type("group-0040")
    expect(rows).to_have_count(1)
    page.locator("#troubles-search").fill("no group is called so")
    page.get_by_role("button", name="Clear the filters").click()
    expect(page.locator("#troubles-all")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Per hour").click()
    expect(page.locator("[aria-sort=descending]")).to_have_text("Per hour")
    assert len(set(page.locator(".thead > :not(.ax)").evaluate_all(WORDS_BOTTOM))) == 1, (
        "headers on two lines"
    )
    for tab in ("#troubles-in", "#troubles-all"):
        page.get_by_role("button", name="Show the 20").click()
        expect(page.locator("#troubles-count")).to_contain_text("20 groups of")
        expect(page.locator(".thead .c")).to_be_visible()
        expect(page.get_by_role("button", name="Showing the 20", pressed=True)).to_be_focused()
        expect(page.locator(".two [aria-pressed=true]")).to_have_count(0)
        page.locator(tab).click()
        expect(page.locator(f"{tab}[aria-pressed=true]")).to_be_visible()
        expect(page.locator("#troubles-count")).not_to_contain_text(re.compile("^20 groups"))
    page.set_viewport_size({"width": 390, "height": 844})
    expect(rows.first).to_have_css("height", "68px")
    # A phone's first screen has six groups.
    expect(rows.nth(5)).to_be_in_viewport(ratio=1)
