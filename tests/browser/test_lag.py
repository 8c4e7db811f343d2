"""The panel of lag and rebalances: values under the pointer and by keys, what each rebalance cost, and why it is not known."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.serving import ROOT, Served

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def timeline(server: Served) -> str:
    command = [sys.executable, "-m", "tests.browser.seed", "lag"]
    return subprocess.run(
        command, cwd=ROOT, env=server.environment, check=True, capture_output=True, text=True
    ).stdout


def opened(page: Page) -> Any:
    panel = page.locator("#lag-panel")
    panel.locator("summary").first.click()
    return panel


def test_lag_is_read_under_the_pointer_and_by_keys_and_moves_the_board(
    open_page: Open, timeline: str
) -> None:
    page = open_page(f"/t/{timeline}")
    panel = opened(page)
    plot = panel.get_by_role("slider", name="Lag over time")
    expect(plot).to_have_attribute("data-ready", "true")
    expect(plot).to_have_attribute("aria-valuemax", "15")
    plot.focus()
    page.keyboard.press("Home")
    says = panel.get_by_role("status").first
    expect(says).to_contain_text("0 records")
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    expect(says).to_contain_text("30 records")
    expect(plot).to_have_attribute("aria-valuenow", "8")
    page.keyboard.press("Enter")
    expect(page.locator("#board")).to_have_attribute("data-sequence", "17")
    panel.get_by_role("button", name="Seconds").click()
    expect(plot).to_have_attribute("aria-valuetext", re.compile("15.0.s"))
    box = plot.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] - 30, box["y"] + 100)
    expect(plot).to_have_attribute("aria-valuenow", "15")
    panel.get_by_role("button", name="Partition").click()
    expect(panel.get_by_role("columnheader", name="orders-1", include_hidden=True)).to_be_attached()


def test_each_rebalance_has_its_cost_and_leads_to_its_moment(open_page: Open, timeline: str) -> None:
    page = open_page(f"/t/{timeline}")
    panel = opened(page)
    rows = panel.get_by_role("region", name="What each rebalance cost").get_by_role("row")
    expect(rows).to_have_count(4)
    expect(rows.nth(2).get_by_role("cell")).to_have_text(
        ["5", "1", "15.0", "15.0–20.0", "30", re.compile("30.0.s"), "0"]
    )
    rows.nth(2).get_by_role("link").click()
    expect(page.locator("#board")).to_have_attribute("data-sequence", "15")


def test_where_no_lag_is_known_the_panel_says_why_and_what_would_make_it_known(open_page: Open) -> None:
    page = open_page("/t/kip848-basic")
    panel = opened(page)
    expect(panel.get_by_role("status").first).to_contain_text("End offsets are known of watched groups alone")
    expect(panel.get_by_role("slider")).to_be_hidden()
    expect(
        panel.get_by_role("region", name="What each rebalance cost").get_by_role("row").nth(1)
    ).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_panel_fits_a_phone(open_page: Open, timeline: str, scheme: str) -> None:
    page = open_page(f"/t/{timeline}")
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    page.set_viewport_size({"width": 390, "height": 800})
    panel = opened(page)
    expect(panel.get_by_role("slider")).to_have_attribute("data-ready", "true")
    panel.scroll_into_view_if_needed()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
