from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.board import Fetch, at

Open = Callable[..., Page]
BASIC = "kip848-basic"


def test_the_metrics_are_those_of_the_moment_that_the_board_shows(open_page: Open, fetch: Fetch) -> None:
    page = open_page(at(BASIC, 9, fetch))
    panel = page.locator("#metrics-panel")
    expect(page.locator("#metrics")).to_be_empty()
    panel.locator("summary").click()
    row = page.get_by_role("row", name="consumer-group-rebalance-count")
    expect(row.get_by_role("cell").first).to_have_text("2")
    page.keyboard.press("End")
    expect(row.get_by_role("cell").first).to_have_text("3")
    shown = page.locator("#board").get_attribute("data-sequence")
    expect(page.locator("#metrics")).to_have_attribute("data-sequence", str(shown))
    columns = page.locator("#metrics tr", has=page.locator("th", has_text=re.compile("^rebalance-total$")))
    expect(columns.locator("td")).to_have_count(4)


def test_the_metrics_open_by_keyboard(open_page: Open) -> None:
    page = open_page(f"/t/{BASIC}?at=0")
    page.locator("#metrics-panel > summary").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("row", name="num-partitions, state=active")).to_be_visible()
