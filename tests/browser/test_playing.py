from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.board import Fetch, at, at_step, becomes, equals_the_fresh_frame, frame_of, step_of

Open = Callable[..., Page]
BASIC = "kip848-basic"
STEPS = 16


def test_every_step_forwards_and_back_equals_the_frame_fetched_fresh(open_page: Open, fetch: Fetch) -> None:
    page = open_page(f"/t/{BASIC}", reduced_motion="reduce")
    for step in [*range(1, STEPS + 1), *range(STEPS - 1, -1, -1)]:
        page.keyboard.press("ArrowRight" if step > step_of(page) else "ArrowLeft")
        at_step(page, step)
        equals_the_fresh_frame(page, BASIC, fetch)


def test_it_plays_by_itself_to_the_end_and_begins_again(open_page: Open, fetch: Fetch) -> None:
    page = open_page(f"/t/{BASIC}?at=0")
    page.get_by_role("button", name="4×").click()
    page.get_by_role("button", name="Play").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    expect(page.locator("#step")).to_have_text(str(STEPS), timeout=90_000)
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    equals_the_fresh_frame(page, BASIC, fetch)
    page.keyboard.press("Space")
    at_step(page, 1)


def test_a_case_study_waits_for_its_reader_and_a_key_plays_it(open_page: Open) -> None:
    """How soon it opens is `make bench`'s affair."""
    page = open_page("/")
    page.locator(f'a.card[href^="/t/{BASIC}"]').click()
    page.wait_for_selector("html[data-alive]")
    expect(page.locator("#play")).to_be_focused()
    expect(page.locator("#step")).to_have_text("0")
    page.keyboard.press("Space")
    becomes(page, "document.getElementById('step')?.textContent === '2'")


def test_chips_travel_and_land_where_the_frame_has_them(open_page: Open, fetch: Fetch) -> None:
    page = open_page(at(BASIC, 7, fetch))
    before = page.locator('.chip[data-key="foo-2"]').bounding_box()
    page.evaluate(
        """() => { const chip = document.querySelector('.chip[data-key="foo-2"]');
             new MutationObserver(() => { if (chip.classList.contains('moving') && !window.flight) {
               const [{ effect }] = chip.getAnimations().filter((way) => way.effect.getKeyframes()[0].transform);
               window.flight = effect.getKeyframes()[0].transform; } }).observe(chip, { attributes: true }); }"""
    )
    page.keyboard.press("ArrowRight")
    becomes(page, "window.flight && !document.querySelector('.chip.moving')")
    after = page.locator('.chip[data-key="foo-2"]').bounding_box()
    assert before
    assert after
    assert after["y"] < before["y"]
    assert abs(before["x"] - after["x"]) < 1, "a partition never leaves its column"
    assert page.evaluate("flight").startswith("translate(0px, "), (
        "it begins where it was and comes down its column"
    )
    expect(page.locator('.lane[data-lane="A"] .foot')).to_have_text("just left")
    equals_the_fresh_frame(page, BASIC, fetch)


@pytest.mark.quick
def test_an_epoch_step_goes_to_the_starts_of_epochs(open_page: Open) -> None:
    page = open_page(f"/t/{BASIC}?at=0")
    seen = []
    for _ in range(4):
        page.get_by_role("button", name="Epoch forward").click()
        page.wait_for_timeout(50)
        seen.append(step_of(page))
    assert seen == [1, 4, 10, STEPS]
    page.get_by_role("button", name="Epoch back").click()
    at_step(page, 10)


@pytest.mark.quick
def test_a_reload_and_a_copied_link_open_at_the_moment(open_page: Open, fetch: Fetch) -> None:
    page = open_page(f"/t/{BASIC}?at=0", permissions=["clipboard-read", "clipboard-write"])
    for _ in range(8):
        page.keyboard.press("ArrowRight")
    at_step(page, 8)
    shown = frame_of(page)
    becomes(page, f"location.search === '?at={shown['sequence']}'")
    page.reload()
    page.wait_for_selector("html[data-alive]")
    at_step(page, 8)
    assert frame_of(page) == shown
    equals_the_fresh_frame(page, BASIC, fetch)
    page.keyboard.press("c")
    expect(page.locator("#toast")).to_contain_text("step 8")
    assert page.evaluate("navigator.clipboard.readText()") == f"{page.url}&view=investigator"


def test_a_clause_of_the_verdict_leads_to_what_proves_it(open_page: Open) -> None:
    page = open_page(f"/t/{BASIC}?at=0")
    page.locator("#whole summary").click()
    page.locator("#verdict").get_by_role("button", name="more").click()
    page.get_by_role("link", name="foo-1 was unassigned").click()
    assert step_of(page) in (15, 16)
    assert page.url.count("/t/") == 1


def test_the_event_list_and_the_inspector_show_the_moment(open_page: Open) -> None:
    page = open_page(f"/t/{BASIC}?at=0")
    page.locator("#log").evaluate("log => { log.scrollTop = log.scrollHeight; }")
    page.locator("#log .ev", has_text="A is asked to revoke foo-1").click()
    at_step(page, 14)
    expect(page.locator("#chain")).to_contain_text("C joins")
    details = page.locator("#details")
    expect(details).to_contain_text("ConsumerGroupHeartbeat request")
    expect(details.get_by_role("row", name="memberEpoch").first).to_be_visible()
    details.get_by_role("link", name="Target computed").click()
    at_step(page, 11)
    page.get_by_role("button", name="Records").click()
    expect(details).to_contain_text("ConsumerGroupTargetAssignmentMetadata")
    expect(details).not_to_contain_text("ConsumerGroupHeartbeat request")
    page.get_by_role("button", name="State", exact=True).click()
    changed = details.get_by_role("row").filter(has=page.get_by_role("rowheader", name="assignment_epoch"))
    expect(changed.first).to_contain_text("before: ")
    details.locator("summary", has_text="A").last.click()
    expect(details.get_by_role("rowheader", name="client_id").last).to_be_visible()


def test_entries_that_come_late_do_not_take_the_place_of_the_state(open_page: Open) -> None:
    page = open_page(f"/t/{BASIC}?at=0")
    held: list[Route] = []
    page.route(re.compile("/entries"), lambda route: held.append(route))
    with page.expect_request(re.compile("/entries")):
        page.locator("#log .ev", has_text="Target computed: foo-1 goes to C").click()
    page.get_by_role("button", name="State", exact=True).click()
    state = page.locator("#details").get_by_role("rowheader", name="assignment_epoch").first
    expect(state).to_be_visible()
    with page.expect_response(re.compile("/entries")):
        held[0].continue_()
    page.wait_for_timeout(200)
    expect(state).to_be_visible(timeout=1)


def test_a_chosen_partition_tells_its_owners(open_page: Open, fetch: Fetch) -> None:
    page = open_page(at(BASIC, 14, fetch))
    page.locator('.chip[data-key="foo-1"]').click()
    owners = page.locator("#partition li")
    expect(owners).to_have_count(5)
    expect(owners.nth(2)).to_contain_text("A is revoking it")
    page.keyboard.press("Escape")
    expect(page.locator("#partition")).to_be_hidden()
