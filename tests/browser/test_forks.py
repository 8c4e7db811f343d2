"""Fork here: from a moment of a board to a branch that runs, and back through the tree."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.test_access import faults_of

AT = "/t/incident-slow-revocation?at=60&view=investigator"


def test_a_reader_forks_a_moment_with_a_fault_and_finds_the_branch_in_the_tree(
    open_page: Callable[..., Page],
    axe: str,
) -> None:
    page = open_page(AT)
    page.get_by_role("button", name="Fork here").click()
    panel = page.get_by_role("dialog", name="Fork here")
    expect(panel.get_by_role("button", name="Add branch")).to_be_visible(timeout=60_000)
    expect(panel.get_by_role("button", name="Close")).to_be_focused()
    assert faults_of(page, axe) == []
    panel.get_by_text("What the fork starts from").click()
    expect(panel.get_by_label("Session timeout, ms")).to_be_visible()
    panel.get_by_label("Fault", exact=True).select_option("kill")
    panel.get_by_label("Member", exact=True).select_option("B")
    panel.get_by_label("Seconds after the moment").fill("3")
    panel.get_by_role("button", name="Add fault").click()
    expect(panel.get_by_role("listitem")).to_contain_text(["Kill B, after 3 s"])
    panel.get_by_role("button", name="Add branch").click()
    expect(page).to_have_title("Fork: B is killed after 3 s · Rebalance Explorer", timeout=60_000)
    expect(page.locator("#headline")).to_contain_text("waited", timeout=60_000)
    page.get_by_role("button", name="Fork here").click()
    panel = page.get_by_role("dialog", name="Fork here")
    expect(panel.get_by_role("link", name="Compare with its parent")).to_be_visible(timeout=60_000)
    panel.get_by_role("link", name="Compare with its parent").click()
    page.wait_for_url("**/compare?runs=incident-slow-revocation,*", timeout=60_000)
    # The tree of the parent: a new title, a deletion that is taken back, and one that is not.
    page = open_page(AT)
    page.get_by_role("button", name="Fork here").click()
    panel = page.get_by_role("dialog", name="Fork here")
    panel.get_by_label("Preset").select_option("Rolling restart, 10 s apart")
    faults = panel.get_by_role("list", name="Faults of the branch").get_by_role("listitem")
    expect(faults).to_contain_text(["Restart A, after 1 s", "Restart B, after 11 s", "Restart C, after 21 s"])
    panel.get_by_role("button", name="Rename: Fork: B is killed after 3 s").click()
    title = panel.get_by_label("New title of Fork: B is killed after 3 s")
    title.fill("Without B")
    title.press("Enter")
    expect(panel.get_by_role("link", name="Without B")).to_be_visible()
    expect(panel.get_by_role("button", name="Undo")).to_be_visible()
    panel.get_by_role("button", name="Delete: Without B").click()
    panel.get_by_role("button", name="Undo").click()
    expect(panel.get_by_role("link", name="Without B")).to_be_visible()
    assert faults_of(page, axe) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert panel.evaluate("element => element.scrollWidth <= element.clientWidth")
    panel.get_by_role("button", name="Delete: Without B").click()
    expect(panel.get_by_role("link", name="Without B")).to_have_count(0)


def test_a_reader_finds_what_would_have_helped_and_opens_a_row_next_to_the_log(
    open_page: Callable[..., Page],
    axe: str,
) -> None:
    page = open_page("/t/incident-session-expiry?at=14&view=investigator")
    page.get_by_role("button", name="Fork here").click()
    page.get_by_role("button", name="What would have helped").click(timeout=60_000)
    page.wait_for_url("**/remedies/*", timeout=60_000)
    expect(page.get_by_role("heading", level=1)).to_contain_text("would have left", timeout=180_000)
    expect(page.get_by_role("row", name="Replay, nothing changed")).to_be_visible()
    expect(page.get_by_role("row", name="Longer session timeout")).to_contain_text("140")
    assert faults_of(page, axe) == []
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_role("button", name="Open next to the log: Shorter session timeout").click()
    page.wait_for_url("**/compare?runs=incident-session-expiry,*", timeout=60_000)


def test_the_table_of_rebalances_sorts_filters_and_opens_a_moment(
    open_page: Callable[..., Page], axe: str
) -> None:
    page = open_page("/t/incident-slow-revocation?view=investigator")
    link = page.get_by_role("link", name="Rebalances", exact=True)
    expect(link).to_be_visible()
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1280, "height": 900})
    link.click()
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(4)
    expect(rows.nth(1)).to_contain_text("C joined")
    assert faults_of(page, axe) == []
    page.get_by_role("button", name="Moved").click()
    page.get_by_role("button", name="Moved").click()
    expect(rows.first).to_contain_text("A was removed")
    page.get_by_role("button", name="Records waited").click()
    expect(rows.first).to_contain_text("not known")
    waited = rows.first.get_by_role("cell", name="not known").first
    expect(waited).to_have_attribute("title", re.compile("Nobody asked the brokers"))
    page.get_by_label("Filter").fill("rejoined")
    expect(page.locator("#count")).to_have_text("1 of 4 rebalances")
    for width in (820, 390):
        page.set_viewport_size({"width": width, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    rows.first.get_by_role("link").click()
    # The board puts the last entry of the step, which 159 begins, into the address as soon as it is drawn.
    page.wait_for_url(re.compile(r"/t/incident-slow-revocation\?at=1(59|64)"), timeout=60_000)
