from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.board import Fetch, at_step, equals_the_fresh_frame

Open = Callable[..., Page]
BASIC = "kip848-basic"


def place_of(page: Page, step: int) -> tuple[float, float]:
    box = page.locator("#tracks .event").nth(step - 1).bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_the_playhead_follows_the_mouse_both_ways(open_page: Open, fetch: Fetch) -> None:
    page = open_page(f"/t/{BASIC}?at=0")
    page.mouse.move(*place_of(page, 1))
    page.mouse.down()
    for step in (3, 9, 15, 16, 12, 7, 2, 14):
        page.mouse.move(*place_of(page, step), steps=3)
        at_step(page, step)
        equals_the_fresh_frame(page, BASIC, fetch)
    page.mouse.up()
    page.mouse.move(*place_of(page, 4))
    at_step(page, 14)


def test_the_playhead_follows_a_finger(open_page: Open, fetch: Fetch) -> None:
    page = open_page(
        f"/t/{BASIC}?at=0", viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    # Over the transport, which stays at the foot of a small screen.
    page.locator("#tracks").evaluate("tracks => tracks.scrollIntoView({block: 'center'})")
    for step in (12, 5):
        page.touchscreen.tap(*place_of(page, step))
        at_step(page, step)
        equals_the_fresh_frame(page, BASIC, fetch)


def test_the_time_axis_has_the_same_steps(open_page: Open) -> None:
    page = open_page(f"/t/{BASIC}?at=0")
    page.get_by_role("button", name="Time", exact=True).click()
    page.mouse.click(*place_of(page, 10))
    expect(page.locator("#tracks")).to_have_attribute("aria-valuenow", re.compile(r"^1[01]$"))
    at_step(page, int(page.locator("#tracks").get_attribute("aria-valuenow") or 0))


def test_on_the_time_axis_the_playhead_is_where_the_clock_is_between_two_steps_too(open_page: Open) -> None:
    page = open_page(f"/t/{BASIC}?at=0")
    page.get_by_role("button", name="Time", exact=True).click()
    page.evaluate("rebalanceExplorer.go(rebalanceExplorer.timeline.steps[9].sequence)")
    at_step(page, 10)
    place, time = page.locator("#tracks .head").get_attribute("x1"), page.locator("#time").inner_text()
    page.evaluate(
        """() => {
          const { timeline, stage } = rebalanceExplorer;
          timeline.restOn((moment) => moment.sequence !== timeline.rest.sequence);
          stage.show(timeline.rest, { animate: false, forward: false });
        }"""
    )
    assert page.locator("#time").inner_text() == time
    assert page.locator("#tracks .head").get_attribute("x1") == place
    at_step(page, 10)
