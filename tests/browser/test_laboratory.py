from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.board import Fetch, at

Open = Callable[..., Page]
PHONE = {"width": 390, "height": 844}
LINK = "g=abcabc.a&t=12,6,3&s=same&from=range&e=join"


def drawn(page: Page, board: int, kind: str) -> int:
    return page.locator(f"#b{board} svg .{kind}").count()


def query_of(page: Page) -> str:
    return page.url.partition("?")[2].partition("#")[0]


def test_six_boards_answer_and_views_steps_and_keys_go_through_them(open_page: Open) -> None:
    page = open_page("/laboratory")
    expect(page.locator("#verdict")).to_contain_text("uniform move 3 partitions and end even")
    assert query_of(page) == LINK
    assert [drawn(page, 6, kind) for kind in ("keep", "go", "want", "teth")] == [18, 3, 3, 3]
    page.get_by_role("button", name="Before", exact=True).click()
    assert [drawn(page, 2, kind) for kind in ("own", "go", "want")] == [21, 0, 0]
    page.get_by_role("button", name="After", exact=True).click()
    assert [drawn(page, 2, kind) for kind in ("own", "keep")] == [19, 2]
    page.get_by_role("button", name="Moves", exact=True).click()
    page.locator("body").press("4")
    expect(page.locator("#b4")).to_have_attribute("aria-current", "true")
    expect(page.locator("#steps-title")).to_have_text("How cooperative-sticky got there")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    current = page.locator("#steps [aria-current]")
    expect(current).to_contain_text("Withheld: others may still hold orders-2, orders-3 and orders-5")
    # The columns that the step speaks of are framed: orders-2 and 3 together, orders-5.
    assert drawn(page, 4, "hl") == 2
    expect(page.get_by_role("button", name="Next step")).to_be_enabled()
    page.locator("#verdict .clause", has_text="roundrobin moves 19").click()
    expect(page.locator("#b2")).to_have_attribute("aria-current", "true")
    assert page.url.endswith("#2")
    best = page.locator("#scorecard tr", has_text="Members interrupted").locator(".best")
    assert best.count() == 2


@pytest.mark.quick
def test_a_group_is_built_by_clicking_and_stands_in_the_address(open_page: Open) -> None:
    page = open_page(f"/laboratory?{LINK}")
    histories = page.evaluate("history.length")
    page.get_by_role("button", name="Equal").click()
    page.wait_for_url("**t=7,7,7**")
    expect(page.get_by_role("button", name="Equal")).to_be_focused()
    page.get_by_role("button", name="One member more").click()
    page.wait_for_url("**g=abcabca.b&**")
    page.get_by_role("button", name="orders: one partition more").click()
    page.wait_for_url("**t=8,7,7**")
    page.get_by_role("button", name="Member C, rack c").click()
    card = page.get_by_role("dialog")
    card.get_by_role("button", name="None").click()
    card.get_by_label("payments").uncheck()
    card.get_by_label("Leaves in this event").check()
    card.get_by_role("button", name="Done").click()
    page.wait_for_url("**e=leave:2*")
    assert query_of(page) == "g=ab-abca&t=8,7,7&s=7,7,5,7,7,7,7&from=range&e=leave:2"
    expect(page.locator("#crumb")).to_have_text("Seven members, C leaves")
    assert page.evaluate("history.length") == histories
    again = open_page(f"/laboratory?{query_of(page)}#1")
    expect(again.locator("#verdict")).to_have_text(page.locator("#verdict").inner_text())
    expect(again.locator("#b1")).to_have_attribute("aria-current", "true")


def test_a_large_group_is_blocks_and_shows_only_who_changes(open_page: Open) -> None:
    page = open_page("/laboratory?g=60.1&t=10x60&e=join")
    assert drawn(page, 6, "nt") == 0
    expect(page.locator("#b6 .more")).to_have_text("51 keep all")
    expect(page.locator("#b2 .more")).to_contain_text("more change")
    assert page.locator("#boards svg *").count() < 2_500
    page.locator("#b6 svg path.want").hover()
    expect(page.locator("#b6 svg > title")).to_have_text(re.compile(r"clicks-\d+: m\d\d to m61"))
    expect(page.locator("#b6 svg .teth")).to_have_attribute("data-hue", "x")
    page.get_by_role("combobox", name="Presets").select_option("3,1,6")
    page.wait_for_url("**g=3.1&t=6&**")
    assert drawn(page, 6, "nt") > 0


def test_the_moment_on_the_board_is_taken_and_its_event_played(open_page: Open, fetch: Fetch) -> None:
    page = open_page(at("kip848-six-partitions", 4, fetch))
    page.get_by_role("link", name="Try assignors here").click()
    page.wait_for_url("**/laboratory?g=3.1&**")
    expect(page.locator("#group .mem")).to_have_count(4)
    page.get_by_role("button", name="Take from a timeline").click()
    page.get_by_label("Timeline", exact=True).select_option("kip848-basic")
    use = page.get_by_role("button", name="Use this moment")
    expect(use).to_be_enabled()
    use.click()
    expect(page.locator("#crumb")).to_contain_text("new-1 joins")
    expect(page.get_by_role("button", name="as recorded")).to_have_attribute("aria-pressed", "true")
    page.locator("body").press("2")
    page.get_by_role("button", name="Play on the board").click()
    expect(page.locator("#note")).to_contain_text("Open 5 (range) or 6 (uniform)")
    page.locator("body").press("6")
    page.get_by_role("button", name="Play on the board").click()
    page.wait_for_url("**/t/**")
    expect(page.locator("#verdict")).to_contain_text("new-1 joined")


@pytest.mark.parametrize(
    "options", [{"color_scheme": "light"}, {"color_scheme": "dark", "reduced_motion": "reduce"}]
)
def test_nothing_is_wider_than_a_phone_and_nothing_moves(open_page: Open, options: dict[str, Any]) -> None:
    for query in (LINK, "g=60abc&t=10x60&from=own&e=leave:15.45"):
        page = open_page(f"/laboratory?{query}", viewport=PHONE, **options)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        expect(page.locator("#presets")).to_be_hidden()
        page.get_by_text("Change the group or the event").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        assert page.evaluate("document.getAnimations().length") == 0
        cut = page.evaluate(
            """() => [...document.querySelectorAll('.lab .btn, .lab .seg button, .lab .mem, #scorecard td, .say')]
                 .filter((node) => node.offsetParent && node.scrollWidth > node.clientWidth + 1).map((node) => node.textContent)"""
        )
        assert cut == []


def test_its_buttons_stay_on_a_tablet(open_page: Open) -> None:
    page = open_page(f"/laboratory?{LINK}", viewport={"width": 820, "height": 1180})
    expect(page.locator("#b6 svg")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 820
    for name in ("Take the group of", "Share this group", "Run the event"):
        expect(page.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
