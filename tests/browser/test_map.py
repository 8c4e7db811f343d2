"""The board beyond sixty members: a map of all of them, in which one is found, pinned and understood by key alone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import large
from tests.browser.board import becomes
from tests.serving import Served

Open = Callable[..., Page]
PHONE = {"width": 390, "height": 844}
LOOKED_FOR = large.name_of(large.JOINS_LAST)
ROWS_MOST = 120
"""Rows that are in the page at once, however many there are."""


@pytest.fixture(scope="module")
def thousand(server: Served) -> str:
    return large.store(server, large.scenario(1_000))


@pytest.fixture(scope="module")
def waiting(server: Served, thousand: str) -> str:
    """The address of a moment at which the member that is looked for waits for others."""
    return large.waiting_at(server, thousand)


def map_of(page: Page) -> Locator:
    expect(page.locator(".map .mfound")).to_have_text(re.compile(r"\d members"))
    expect(page.locator(".mrow").first).to_be_attached()
    return page.locator(".map")


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement?.closest('.mrow')?.dataset.key ?? ''"))


def test_member_873_of_1_000_is_found_pinned_and_said_to_be_blocked_by_whom_by_key_alone(
    open_page: Open, waiting: str
) -> None:
    page = open_page(waiting)
    here = map_of(page)
    page.keyboard.press("/")
    page.keyboard.type(LOOKED_FOR)
    expect(here.locator(".mfound")).to_have_text("1 of 1,000 members")
    page.keyboard.press("Enter")
    assert focused(page) == LOOKED_FOR
    page.keyboard.press("p")
    expect(here.locator(".mpins .mrow")).to_have_count(1)
    expect(here.locator("[aria-live]")).to_have_text(f"{LOOKED_FOR} pinned. 1 pinned.")
    page.keyboard.press("Enter")
    lane = here.get_by_role("region", name=f"{LOOKED_FOR} at the playhead")
    says = re.compile(r"waits for (consumer-\d-\d\d) to release orders-\d+", re.IGNORECASE)
    expect(lane.locator(".hard")).to_have_text(says)
    found = says.search(lane.locator(".hard").inner_text())
    assert found is not None
    row = here.locator(f'.mrow[data-key="{LOOKED_FOR}"]').first
    expect(row).to_have_attribute("aria-expanded", "true")
    expect(row.get_by_role("gridcell").first).to_contain_text(f"waits for {found[1]}")
    # On to whoever blocks it, whom the search had hidden.
    go = lane.get_by_role("button", name=f"Go to {found[1]}")
    for _ in range(30):
        page.keyboard.press("Tab")
        if go.evaluate("button => button === document.activeElement"):
            break
    page.keyboard.press("Enter")
    assert focused(page) == found[1]
    blocking = here.get_by_role("region", name=f"{found[1]} at the playhead")
    expect(blocking.locator(".hard")).to_contain_text(f"locks {LOOKED_FOR} on orders-")
    page.keyboard.press("Escape")
    expect(blocking).to_be_hidden()
    assert focused(page) == found[1]


def test_only_rows_in_sight_are_in_the_page_and_the_focus_reaches_all_of_them(
    open_page: Open, waiting: str
) -> None:
    page = open_page(waiting)
    here = map_of(page)
    grid = here.get_by_role("treegrid", name="Members over time")
    expect(grid).to_have_attribute("aria-rowcount", "1000")
    assert grid.get_by_role("row").count() < ROWS_MOST
    here.locator('.mrow[tabindex="0"]').focus()
    page.keyboard.press("End")
    row = here.locator(".mrow:focus")
    expect(row).to_have_attribute("aria-rowindex", "1000")
    page.keyboard.press("ArrowUp")
    expect(row).to_have_attribute("aria-rowindex", "999")
    for _ in range(5):
        page.keyboard.press("+")
    expect(row).to_have_attribute("aria-rowindex", "999")
    page.keyboard.press("Home")
    page.keyboard.press("PageDown")
    expect(row).not_to_have_attribute("aria-rowindex", "1")
    assert grid.get_by_role("row").count() < ROWS_MOST
    page.keyboard.press("f")
    expect(here.locator(".mhere-says")).to_contain_text("1,000 rows")


def test_whoever_matters_has_a_lane_above_the_map_that_leads_to_its_row_and_so_has_who_is_pinned(
    open_page: Open, waiting: str
) -> None:
    page = open_page(waiting)
    here = map_of(page)
    lanes = page.locator("#board .lane[data-member]")
    waits = page.locator(f'#board .lane[data-member="{LOOKED_FOR}"]')
    expect(waits.locator(".note")).to_contain_text("to release orders-")
    expect(lanes.filter(has_text="Process killed")).to_have_count(1)
    expect(lanes.filter(has_text="Blocks")).not_to_have_count(0)
    expect(page.locator("#board .lane.rest")).to_contain_text(re.compile(r"99\d members"))
    # Nearly all of 3,000 columns are folded.
    expect(page.locator("#board .ch.fold").first).to_be_visible()
    assert page.locator("#board .ch").count() < ROWS_MOST
    waits.locator(".lead .id").click()
    row = here.locator(".mrow:focus")
    expect(row).to_have_attribute("data-key", LOOKED_FOR)
    page.keyboard.press("ArrowUp")
    expect(row).not_to_have_attribute("data-key", LOOKED_FOR)
    other = row.get_attribute("data-key") or ""
    page.keyboard.press("p")
    expect(page.locator(f'#board .lane[data-member="{other}"]')).to_have_count(1)


def test_groups_by_host_begin_closed_and_say_how_many_are_in_trouble(open_page: Open, waiting: str) -> None:
    page = open_page(waiting)
    here = map_of(page)
    here.get_by_label("Group rows").select_option("host")
    grid = here.get_by_role("treegrid", name="Members over time")
    expect(grid).to_have_attribute("aria-rowcount", "25")
    troubled = grid.get_by_role("row", name=re.compile("in trouble")).first
    expect(troubled).to_have_attribute("aria-expanded", "false")
    here.locator('.mrow[tabindex="0"]').focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(grid).to_have_attribute("aria-rowcount", "65")
    page.keyboard.press("ArrowLeft")
    expect(grid).to_have_attribute("aria-rowcount", "25")


def test_the_map_selects_a_range_and_its_link_opens_with_range_zoom_and_pins(
    open_page: Open, waiting: str
) -> None:
    page = open_page(waiting)
    rows = page.locator(".mscroll")
    # The map's module has come, and the lanes above it have their height.
    map_of(page)
    rows.scroll_into_view_if_needed()
    box = rows.bounding_box()
    assert box
    page.mouse.move(box["x"] + 400, box["y"] + 60)
    page.keyboard.press("w")
    becomes(page, "location.search.includes('zoom=')")
    page.keyboard.down("Shift")
    page.mouse.down()
    page.mouse.move(box["x"] + 600, box["y"] + 80, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    panel = page.get_by_role("region", name="Selected range")
    expect(panel.get_by_role("definition")).to_have_count(6)
    expect(page.locator(".mframe > .rband")).to_be_visible()
    page.get_by_label("Group rows").select_option("client")
    expect(page.locator(".mrow.group").first).to_be_visible()
    page.get_by_label("Group rows").select_option("none")
    page.keyboard.press("Escape")
    page.evaluate("rebalanceExplorer.stage.map.pin(rebalanceExplorer.stage.map.roster.entities[3].key)")
    becomes(page, "location.search.includes('pins=')")
    page.evaluate("rebalanceExplorer.stage.map.onRange({from: 20, to: 60})")
    becomes(page, "location.search.includes('range=20-60')")
    again = open_page(page.evaluate("location.pathname + location.search"))
    expect(again.get_by_role("region", name="Selected range")).to_contain_text("entries 20 to 60")
    expect(again.locator(".mpins [role=row]")).to_have_count(1)
    assert again.evaluate("rebalanceExplorer.stage.map.plot.zoomed")


@pytest.mark.quick
def test_partitions_have_rows_too_and_say_who_owns_them(open_page: Open, waiting: str) -> None:
    page = open_page(waiting)
    here = map_of(page)
    here.get_by_role("button", name="Partitions", exact=True).click()
    expect(here.locator(".mfound")).to_have_text("3,000 partitions")
    page.keyboard.press("/")
    page.keyboard.type("orders-873")
    page.keyboard.press("Enter")
    assert focused(page) == "orders-873"
    expect(here.locator(".mrow:focus").get_by_role("gridcell").first).to_contain_text("owned by consumer-")


def test_the_playhead_moves_over_the_map_and_rows_say_what_is_so_there(open_page: Open, waiting: str) -> None:
    page = open_page(waiting)
    here = map_of(page)
    before = here.locator(".mflag").inner_text()
    page.keyboard.press("End")
    expect(here.locator(".mflag")).not_to_have_text(before)
    becomes(page, "document.querySelector('.mveil').getBoundingClientRect().width < 30")
    strip = here.locator(".mstrip").bounding_box()
    assert strip is not None
    page.mouse.click(strip["x"] + strip["width"] * 0.4, strip["y"] + 50)
    becomes(page, "document.querySelector('.mveil').getBoundingClientRect().width > 200")


def test_a_map_fits_a_phone_and_200_percent_text(open_page: Open, waiting: str) -> None:
    for size in (PHONE, {"width": 720, "height": 450}):
        page = open_page(waiting, viewport=size)
        here = map_of(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        for part in (".mtools", ".mframe", ".mfoot", ".mstrip"):
            box = here.locator(part).bounding_box()
            assert box is not None
            assert 0 <= box["x"] < box["x"] + box["width"] <= size["width"]


def test_names_of_249_characters_from_right_to_left_and_of_emoji_keep_their_ends(
    open_page: Open, server: Served
) -> None:
    names = {
        "consumer-0-10": "k" * 241 + "-the-end",
        "consumer-0-20": "צרכן-תשלומים-" + "א" * 40 + "-7",
        "consumer-0-30": "👩‍👩‍👧‍👦" * 12 + "-9",
    }
    page = open_page(f"/t/{large.store(server, large.scenario(62), renamed=names)}?at=0")
    here = map_of(page)
    for name, end in zip(names.values(), ("the-end", "א-7", "-9"), strict=True):
        here.get_by_role("searchbox").fill(name)
        row = here.locator(".mrow.row").first
        expect(row).to_have_attribute("data-key", name)
        assert (row.locator(".mback").inner_text()).endswith(end)
        box, gutter = (
            row.locator(".mname").bounding_box(),
            row.get_by_role("rowheader").bounding_box(),
        )
        assert box is not None
        assert gutter is not None
        assert box["x"] + box["width"] <= gutter["x"] + gutter["width"] + 1
        here.get_by_role("searchbox").fill("")


def test_one_member_with_10_000_partitions_opens_with_the_chips_that_are_in_sight(
    open_page: Open, server: Served
) -> None:
    timeline = large.store(server, large.few(topics={"orders": 10_000}))
    page = open_page(f"/t/{timeline}?at=0")
    here = map_of(page)
    page.keyboard.press("ArrowRight")
    here.locator('.mrow[tabindex="0"]').focus()
    page.keyboard.press("Enter")
    lane = here.get_by_role("region", name="a at the playhead")
    expect(lane).to_contain_text("Owns 10,000 partitions")
    expect(lane.get_by_role("group", name="10000 partitions")).to_be_visible()
    assert lane.locator(".chip").count() < ROWS_MOST
    lane.locator(".mchips").evaluate("node => { node.scrollTop = node.scrollHeight; }")
    expect(lane.get_by_role("button", name=re.compile("^orders-9999: "))).to_be_visible()
    assert lane.locator(".chip").count() < ROWS_MOST


def test_thousands_of_topics_of_one_partition_have_a_row_each(open_page: Open, server: Served) -> None:
    timeline = large.store(server, large.few(topics={f"topic-{number}": 1 for number in range(2_000)}))
    page = open_page(f"/t/{timeline}?at=0")
    here = map_of(page)
    here.get_by_role("button", name="Partitions", exact=True).click()
    expect(here.locator(".mfound")).to_have_text("2,000 partitions")
    here.get_by_role("searchbox").fill("topic-1987-0")
    expect(here.locator(".mfound")).to_have_text("1 of 2,000 partitions")
    here.get_by_role("searchbox").fill("")
    here.get_by_label("Group rows").select_option("topic")
    grid = here.get_by_role("treegrid", name="Partitions over time")
    expect(grid).to_have_attribute("aria-rowcount", "2000")
    assert grid.get_by_role("row").count() < ROWS_MOST


def test_a_group_that_grows_from_nobody_to_hundreds_and_back_is_a_map_all_along(
    open_page: Open, server: Served
) -> None:
    page = open_page(f"/t/{large.store(server, large.grows(200))}?at=0")
    here = map_of(page)
    expect(here.locator(".mfound")).to_have_text("200 members")
    here.locator('.mrow[tabindex="0"]').focus()
    row = here.locator(".mrow:focus").get_by_role("gridcell").first
    expect(row).to_have_text("not in the group")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("End")
    expect(page.locator("#state")).to_have_text("Empty")
    expect(here.locator(".mrow").first).to_be_attached()
