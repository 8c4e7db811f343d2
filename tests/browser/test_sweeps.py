from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.seeded import sweep_in
from tests.serving import Served

Open = Callable[..., Page]
Fetch = Callable[[str], Any]
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def whole(server: Served) -> str:
    """The id of a sweep of six assignors, three shapes and three events that is done."""
    return sweep_in(server, "whole")


def opened(open_page: Open, address: str, **options: Any) -> Page:
    page = open_page(address, **options)
    page.wait_for_selector("html[data-alive]")
    return page


def test_a_cell_shows_its_seeds_and_the_worst_of_them_opens_in_the_laboratory_with_its_numbers(
    open_page: Open, fetch: Fetch, whole: str
) -> None:
    page = opened(open_page, f"/sweeps/{whole}?cell=13")
    expect(page.locator("#says")).to_contain_text("When one joins, ")
    expect(page.locator("#cell .ttl")).to_have_text(
        "classic roundrobin, 20 members, 200 partitions, one joins"
    )
    page.wait_for_selector("#maps[data-ready]")
    expect(page.locator(".hm.drawn")).to_have_count(6)
    expect(page.locator("#cell .strip .scatterlayer .trace")).not_to_have_count(0)

    page.locator('[data-cell="13"]').focus()
    page.keyboard.press("]")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#cell .ttl")).to_have_text("classic sticky, 6 members, 21 partitions, one joins")
    assert "cell=19" in page.url
    page.locator('[data-cell="46"]').hover()
    expect(page.locator("#cell .ttl")).to_have_text("consumer uniform, 6 members, 21 partitions, one joins")
    page.get_by_role("button", name="Play it").wait_for()

    cell = fetch(f"/api/sweeps/{whole}/cells/46")
    figures = fetch(f"/api/sweeps/{whole}/cells/46/seeds/{cell['worst']}")["figures"]
    page.get_by_role("link", name=f"Open seed {cell['worst']} in the laboratory").click()
    page.wait_for_url("**/laboratory?*")
    row = page.get_by_role("row").filter(has_text="Moved").first
    expect(row.get_by_role("cell").last).to_contain_text(str(figures["moved"]))


def test_measure_and_worst_are_in_the_address_and_a_clause_leads_to_its_cell(
    open_page: Open, whole: str
) -> None:
    page = opened(open_page, f"/sweeps/{whole}")
    page.get_by_role("button", name="Interrupted").click()
    page.get_by_role("button", name="Worst").click()
    expect(page.locator("#what")).to_have_text("% of members that stop reading something")
    expect(
        page.get_by_role("gridcell", name="classic range, 6 members, 21 partitions, One joins: 100 %")
    ).to_be_visible()
    assert "measure=interrupted" in page.url
    assert "aggregate=worst" in page.url
    page.reload()
    expect(page.get_by_role("button", name="Interrupted")).to_have_attribute("aria-pressed", "true")

    page.locator("#says .clause", has_text="Range leaves").click()
    expect(page.get_by_role("button", name="Most − fewest")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#cell .ttl")).to_contain_text("range")


def test_a_sweep_that_runs_shows_what_is_in_and_cancel_keeps_it(open_page: Open, server: Served) -> None:
    page = opened(
        open_page, f"/sweeps/{sweep_in(server, 'begun')}", color_scheme="dark", reduced_motion="reduce"
    )
    expect(page.locator("#count")).to_have_text("180 of 432 cases")
    assert page.locator(".hm .part").count() == 30
    assert page.locator(".hm .non").count() == 24
    expect(
        page.get_by_role("gridcell", name="consumer uniform, 6 members, 21 partitions, Stable: nothing yet")
    ).to_be_attached()
    page.locator('[data-cell="50"]').click()
    expect(page.locator("#cell")).to_contain_text("No results yet for this square.")

    page.get_by_role("button", name="Cancel, keep what is there").click()
    expect(page.locator(".banner")).to_contain_text("Stopped. 180 of 432 cases are kept.")
    expect(page.get_by_role("button", name="Go on with the rest")).to_be_visible()
    expect(page.locator("#run")).to_be_hidden()


def test_on_a_phone_the_maps_stand_below_each_other_and_the_cell_is_one_tap_away(
    open_page: Open, whole: str
) -> None:
    page = opened(open_page, f"/sweeps/{whole}", viewport=PHONE, has_touch=True)
    page.locator('[data-cell="4"]').tap()
    expect(page.locator("#to-cell")).to_contain_text("classic range, 20 members, 200 partitions, one joins")
    page.locator("#to-cell").click()
    expect(page.locator("#cell .ttl")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@pytest.mark.quick
def test_the_form_counts_the_cases_that_it_asks_for(open_page: Open) -> None:
    page = opened(open_page, "/sweeps")
    expect(page.locator("#cases")).to_have_text("2,880 cases")
    page.get_by_label("Seeds per cell").fill("42")
    expect(page.locator("#cases")).to_have_text("10,080 cases")
    page.get_by_label("And your own").fill("9x3x30 12x3x30-racks")
    expect(page.locator("#cases")).to_have_text("12,600 cases")
