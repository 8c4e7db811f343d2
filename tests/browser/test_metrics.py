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


def test_a_watched_value_follows_the_playhead_and_is_in_the_link(open_page: Open, fetch: Fetch) -> None:
    page = open_page(at(BASIC, 9, fetch))
    page.locator("#watch-panel > summary").click()
    field = page.get_by_role("textbox", name="Watch expression")
    field.fill("group epoch")
    page.keyboard.press("Enter")
    value = page.locator(".watches b")
    expect(value).to_have_text("2")
    field.blur()
    page.keyboard.press("End")
    expect(value).to_have_text("3")
    expect(page).to_have_url(re.compile(r"watch=group\+epoch.*at=1\d\d|at=1\d\d.*watch=group\+epoch"))
    page.reload()
    expect(page.locator(".watches b")).to_have_text("3")
    page.locator(".watches summary").click()
    page.locator(".watches td button").first.click()
    expect(value).not_to_have_text("3")
    page.get_by_role("button", name="Stop watching group epoch").click()
    expect(page.locator(".watches li")).to_have_count(0)
    assert "watch=" not in page.url
