"""What the incident was, by name, beside the verdict: its causes, where to look, and what the log cannot tell."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect


def test_causes_and_where_to_look_open_over_the_board_and_lead_to_the_proof(
    open_page: Callable[..., Page],
) -> None:
    page = open_page("/t/incident-zombie-member")
    expect(page.locator("#verdict")).to_contain_text("Zombie member: A sent")
    box = page.locator("#stage").bounding_box()
    page.get_by_text("Causes, and where to look").focus()
    page.keyboard.press("Enter")
    body = page.locator(".patterns-body")
    expect(body).to_contain_text("Usual causes: a pause longer than the session timeout")
    expect(body).to_contain_text("Where to look: what the application writes elsewhere")
    expect(body.locator(".severity").first).to_have_text("critical")
    assert page.locator("#stage").bounding_box() == box, "nothing moves"
    proof = body.locator("a.clause").first
    sequence = int(proof.get_attribute("data-at") or 0)
    proof.click()
    # The board rests where the exchange of the entry ends.
    within = "|".join(str(sequence + more) for more in range(5))
    expect(page).to_have_url(re.compile(rf"[?&]at=({within})\b"))


def test_on_a_phone_the_patterns_are_read_without_scrolling_aside(open_page: Callable[..., Page]) -> None:
    page = open_page("/t/incident-stuck-unrevoked", viewport={"width": 390, "height": 844})
    page.get_by_text("Causes, and where to look").click()
    expect(page.locator(".patterns-body")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_story_does_not_begin_with_its_end(open_page: Callable[..., Page]) -> None:
    page = open_page("/t/incident-zombie-member?at=1", view="reader")
    expect(page.locator("#story")).to_be_visible()
    expect(page.locator("#patterns")).to_be_hidden()
