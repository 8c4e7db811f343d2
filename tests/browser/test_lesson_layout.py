"""Lessons on phones and tablets, and read by axe: nothing is wider than the window, and nothing is lost when it is turned."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.test_access import faults_of
from tests.browser.test_lessons import PHONE, Open, beat, choose, lesson


def test_a_phone_turned_or_reloaded_in_the_middle_of_a_lesson_loses_nothing(open_page: Open) -> None:
    page = lesson(open_page, "who-waits-for-whom", viewport=PHONE)
    page.get_by_role("button", name="Next", exact=True).click()
    choose(page, "A", "B")
    page.get_by_role("button", name="Check").click()
    page.set_viewport_size({"width": PHONE["height"], "height": PHONE["width"]})
    expect(page.locator("#answer")).to_contain_text("C waits for A and B.")
    beat(page, 2, 4)
    page.set_viewport_size(PHONE)
    page.get_by_role("button", name="Next", exact=True).click()
    choose(page, "A")
    page.reload()
    # A prediction that was not checked is the reader's to make again; what was answered is kept.
    beat(page, 3, 4)
    page.get_by_role("button", name="Back", exact=True).click()
    expect(page.locator("#answer")).to_contain_text("C waits for A and B.")


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_questions_answers_and_what_is_taken_over_have_no_fault_that_axe_finds(
    open_page: Open, axe: str, width: int, scheme: str
) -> None:
    options = {"viewport": {"width": width, "height": 844}, "color_scheme": scheme, "bypass_csp": True}
    page = lesson(open_page, "who-waits-for-whom", reduced_motion="reduce", **options)
    page.get_by_role("button", name="Next", exact=True).click()
    choose(page, "A")
    page.get_by_role("button", name="Check").click()
    assert faults_of(page, axe) == []
    choose(page, "B")
    page.get_by_role("button", name="Check").click()
    assert faults_of(page, axe) == []
    page.locator("#over").click()
    expect(page.locator("#on")).to_be_visible()
    assert faults_of(page, axe) == []
    by_hand = lesson(open_page, "by-hand-sticky", reduced_motion="reduce", **options)
    by_hand.locator("#check").click()
    assert faults_of(by_hand, axe) == []


@pytest.mark.parametrize("name", ["released-is-not-assigned", "eager-everybody-stops"])
def test_on_a_tablet_it_stands_beside_each_member_what_it_does(open_page: Open, name: str) -> None:
    page = lesson(open_page, name, viewport={"width": 820, "height": 1180})
    page.get_by_role("button", name="Next", exact=True).click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 820
    # As wide as some words, and not a letter a line.
    widths = page.evaluate(
        "[...document.querySelectorAll('#board .lane[data-lane] .lead .st')].map(one => one.getBoundingClientRect().width)"
    )
    assert len(widths) >= 3
    assert min(widths) > 80


def test_the_list_of_lessons_is_no_wider_than_a_phone(open_page: Open) -> None:
    for address in ("/lessons/", "/lessons/write?from=heartbeats", "/lessons/heartbeats/handout"):
        page = open_page(address, viewport=PHONE)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], address


@pytest.mark.parametrize(
    "name", ["the-basic-case", "eager-everybody-stops", "by-hand-round-robin", "recorded-one-gone"]
)
@pytest.mark.parametrize(
    "options", [{"color_scheme": "light"}, {"color_scheme": "dark", "reduced_motion": "reduce"}]
)
def test_nothing_is_wider_than_a_phone(open_page: Open, name: str, options: dict[str, Any]) -> None:
    page = lesson(open_page, name, viewport=PHONE, **options)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    if options.get("reduced_motion"):
        page.get_by_role("button", name="Next", exact=True).click(force=True)
        assert page.evaluate("document.getAnimations().length") == 0
