"""The tracks under a board: each gesture zooms, pans or selects, and the address keeps what is looked at."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.board import Fetch, becomes
from tests.browser.test_access import faults_of

Open = Callable[..., Page]
STORM = "incident-rebalance-storm"
EVENTS = "document.querySelectorAll('#tracks .event').length"


@pytest.fixture
def tracks(open_page: Open) -> Page:
    """43 steps, all in sight, on the axis of events."""
    page = open_page(f"/t/{STORM}?at=62&view=investigator", bypass_csp=True)
    page.locator("#tracks").scroll_into_view_if_needed()
    page.mouse.move(*middle(page))
    becomes(page, "rebalanceExplorer.stage.view.zooming !== null")
    assert page.evaluate(EVENTS) == 43
    return page


def middle(page: Page, share: float = 0.5) -> tuple[float, float]:
    box = page.locator("#tracks").bounding_box()
    assert box
    return box["x"] + share * box["width"], box["y"] + 60


def sight(page: Page) -> tuple[int, int]:
    shown = page.evaluate("rebalanceExplorer.stage.view.shown")
    return shown["from"], shown["to"]


def test_wheel_keys_and_buttons_zoom_and_pan_and_fit_shows_all_again(tracks: Page) -> None:
    tracks.keyboard.down("Control")
    tracks.mouse.wheel(0, -400)
    tracks.keyboard.up("Control")
    becomes(tracks, f"{EVENTS} < 30")
    first, last = sight(tracks)
    tracks.keyboard.press("d")
    becomes(tracks, f"rebalanceExplorer.stage.view.shown.from > {first}")
    tracks.keyboard.press("a")
    becomes(tracks, f"rebalanceExplorer.stage.view.shown.from === {first}")
    tracks.keyboard.down("Shift")
    tracks.mouse.wheel(0, 200)
    tracks.keyboard.up("Shift")
    becomes(tracks, f"rebalanceExplorer.stage.view.shown.from > {first}")
    # The window in the whole is above the tracks, and the address has it.
    expect(tracks.locator("#tracks .overview")).to_have_count(1)
    becomes(tracks, "location.search.includes('zoom=')")
    tracks.get_by_role("button", name="Zoom in on time").click()
    becomes(tracks, f"{EVENTS} < {last - first}")
    tracks.get_by_role("button", name="Fit", exact=True).click()
    becomes(tracks, f"{EVENTS} === 43")
    expect(tracks.locator("#tracks .overview")).to_have_count(0)
    # The playhead takes the window with it.
    for _ in range(4):
        tracks.keyboard.press("w")
    becomes(tracks, f"{EVENTS} < 10")
    tracks.keyboard.press("End")
    becomes(tracks, "rebalanceExplorer.stage.view.shown.to === 43")


def test_a_pinch_zooms_and_a_second_finger_moves_no_playhead(tracks: Page) -> None:
    x, y = middle(tracks)
    session = tracks.context.new_cdp_session(tracks)

    def touch(kind: str, *places: float) -> None:
        points = [{"x": place, "y": y, "id": number} for number, place in enumerate(places)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", x - 40)
    becomes(tracks, "document.getElementById('step').textContent !== '6'")
    step = tracks.locator("#step").inner_text()
    touch("touchStart", x - 40, x + 40)
    for apart in (80, 120, 160):
        touch("touchMove", x - 40, x + apart)
    touch("touchEnd")
    becomes(tracks, f"{EVENTS} < 30")
    expect(tracks.locator("#step")).to_have_text(step)


def test_a_range_reports_what_it_cost_and_a_link_opens_with_it(
    tracks: Page, fetch: Fetch, axe: str, open_page: Open
) -> None:
    tracks.keyboard.down("Shift")
    tracks.mouse.move(*middle(tracks, 0.4))
    tracks.mouse.down()
    tracks.mouse.move(*middle(tracks, 0.7), steps=4)
    tracks.mouse.up()
    tracks.keyboard.up("Shift")
    panel = tracks.get_by_role("region", name="Selected range")
    expect(panel.get_by_role("definition")).to_have_count(6)
    becomes(tracks, "location.search.includes('range=')")
    first, last = tracks.evaluate("new URLSearchParams(location.search).get('range')").split("-")
    cost = fetch(f"/api/timelines/{STORM}/range?from={first}&to={last}")
    assert cost["unassigned_partition_ms"] > 0
    assert cost["interrupted"]
    seconds = f"{cost['unassigned_partition_ms'] / 1000:,.1f}"
    for name, value in (("Unassigned", seconds), ("Partitions moved", str(cost["moved"]))):
        group = panel.locator("div", has=tracks.locator("dt", has_text=name)).last
        expect(group.locator("b")).to_have_text(value)
    assert faults_of(tracks, axe) == []
    # Fit shows the range, and the playhead was not moved by the drag.
    expect(tracks.locator("#step")).to_have_text("6")
    tracks.keyboard.press("f")
    becomes(tracks, f"{EVENTS} < 25")
    becomes(tracks, "location.search.includes('zoom=')")
    again = open_page(tracks.evaluate("location.pathname + location.search"))
    expect(again.get_by_role("region", name="Selected range")).to_contain_text(f"{seconds}partition-seconds")
    becomes(again, f"{EVENTS} < 25")
    expect(again.locator("#step")).to_have_text("6")
    # Escape clears it, and two presses of M at playheads make another one.
    again.keyboard.press("Escape")
    expect(again.locator("#range-panel")).to_be_hidden()
    again.keyboard.press("m")
    again.keyboard.press("ArrowRight")
    expect(again.locator("#step")).to_have_text("7")
    again.keyboard.press("m")
    expect(again.locator("#range-panel")).to_be_visible()
