"""Brokers that are rolled, and a feature that is lowered: read off the board, simulated from the page, and rehearsed."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from groups.releases import NEWEST
from tests.browser.board import Fetch
from tests.browser.pictures.acts import pasted

Open = Callable[..., Page]

SCENARIO = """
topics: {foo: {partitions: 2}}
members: {A: {subscribe: [foo]}}
script:
  - {at: 0s, join: A}
  - {at: 9s, downgrade_feature: {group.version: 0}}
  - {at: 12s, roll: broker-1, release: '3.9', for: 2s}
until: 20s
"""


def at(fetch: Fetch, study: str, says: str) -> str:
    """The address of the first moment that says this."""
    moments = fetch(f"/api/timelines/{study}/chunks/1")["moments"]
    return f"/t/{study}?at={next(each['sequence'] for each in moments if says in each['says'])}"


def test_the_case_of_a_lowered_feature_is_on_the_first_page_and_tells_who_is_refused(
    open_page: Open, fetch: Fetch
) -> None:
    page = open_page("/")
    expect(page.locator("a[href*='released-feature-lowered']").first).to_be_attached()
    expect(page.locator("a[href*='released-brokers-roll']").first).to_be_attached()
    page.goto(page.url.rstrip("/") + at(fetch, "released-feature-lowered", "A is refused"))
    page.wait_for_selector("html[data-alive]")
    expect(page.locator("#now")).to_contain_text("The broker answers UNSUPPORTED_VERSION")
    expect(page.locator("#log")).to_contain_text(
        "A is refused: the broker does not serve the consumer protocol (UNSUPPORTED_VERSION)"
    )
    expect(page.locator("#verdict")).to_contain_text(
        "from then on brokers did not serve the consumer protocol, and A, B and C were refused"
    )


def test_a_roll_names_the_broker_its_release_and_what_it_skips(open_page: Open, fetch: Fetch) -> None:
    page = open_page(at(fetch, "released-feature-lowered", "(3.9)"))
    expect(page.locator("#now")).to_contain_text("broker-1 (3.9), which loads the log")
    expect(page.locator("#now")).to_contain_text("of types that it does not know")
    expect(page.locator("#coordinator")).to_contain_text("broker-1")


def test_a_scenario_about_brokers_is_simulated_from_the_page(
    open_page: Open,
) -> None:
    page = open_page("/simulate")
    pasted(page, SCENARIO)
    page.get_by_role("button", name="Run").click()
    page.wait_for_url("**/t/**")
    expect(page.locator("#verdict")).to_contain_text("A was refused", timeout=90_000)


def test_a_rehearsal_with_old_brokers_rolls_them_first_and_plays_the_roll_on_the_board(
    open_page: Open,
) -> None:
    page = open_page(
        "/rehearsal?group=orders&members=2&topics=foo:4&client=3.8&assignors=range&static=on&brokers=3.9"
    )
    heads = page.locator("#planned table.ladder thead th")
    expect(heads).to_have_text(
        ["Now", f"Roll the brokers to {NEWEST}", "Raise group.version to 1", "Bounce 1", "Bounce 2"]
    )
    expect(page.locator("#hasty .outcome")).to_have_text("Refused")
    expect(page.locator("#back table.ladder thead th").last).to_contain_text("Roll the brokers to 3.9")
    page.locator("#planned").get_by_role("button", name="Raise group.version to 1").press("Enter")
    page.wait_for_url("**/t/**")
    page.wait_for_selector("html[data-alive]")
    expect(page.locator("#log")).to_contain_text("group.version is upgraded from 0 to 1")
