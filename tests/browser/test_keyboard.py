from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.board import Fetch, at, at_step, becomes, step_of
from tests.browser.test_access import faults_of

Open = Callable[..., Page]
BASIC = "kip848-basic"


@pytest.mark.quick
def test_everything_can_be_done_by_key(open_page: Open) -> None:
    page = open_page(f"/t/{BASIC}?at=0")
    for key, step in [("End", 16), ("Home", 0), ("ArrowRight", 1), ("Shift+ArrowRight", 4), ("ArrowLeft", 3)]:
        page.keyboard.press(key)
        at_step(page, step)
    page.keyboard.press("]")
    expect(page.get_by_role("button", name="2×")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("ArrowRight")
    at_step(page, 3)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.keyboard.press("Space")
    becomes(page, "Number(document.getElementById('step').textContent) > 3")
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_tab_reaches_chips_transport_timeline_and_events_and_the_focus_is_seen(
    open_page: Open, fetch: Fetch
) -> None:
    page = open_page(at(BASIC, 16, fetch))
    reached = []
    for _ in range(90):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(
                """() => { const node = document.activeElement, style = getComputedStyle(node);
                  return [node.id || node.className, style.outlineStyle !== 'none' && style.outlineWidth !== '0px']; }"""
            )
        )
    names = " ".join(str(name) for name, _ in reached)
    for part in (
        "skip",
        "copy",
        "clause",
        "chip own",
        "epoch-back",
        "play",
        "tracks",
        "who-filter",
        "ev",
        "details",
    ):
        assert part in names, part
    unseen = [name for name, seen in reached if not seen and name]
    assert unseen == []


def test_every_action_is_in_the_palette_and_in_the_list_of_keys_and_no_key_acts_while_one_types(
    open_page: Open, axe: str
) -> None:
    page = open_page(f"/t/{BASIC}?at=0", bypass_csp=True, reduced_motion="reduce")
    palette = page.get_by_role("dialog", name="All commands")
    page.keyboard.press("Control+k")
    expect(palette.get_by_role("option", name="One epoch forward")).to_contain_text("⇧ →")
    assert faults_of(page, axe) == []
    page.keyboard.type("epoch forw")
    expect(palette.get_by_role("option")).to_have_count(1)
    # Space, T and L were typed, and nothing was played.
    at_step(page, 0)
    page.keyboard.press("Enter")
    expect(palette).to_be_hidden()
    at_step(page, 1)
    page.keyboard.press("/")
    page.keyboard.type("foo-2")
    palette.get_by_role("group", name="Partitions").get_by_role("option", name="foo-2", exact=True).click()
    expect(page.locator("#partition")).to_contain_text("foo-2")
    page.goto(f"{page.url.split('/t/')[0]}/t/incident-rebalance-storm?at=0")
    page.keyboard.press("Control+k")
    page.keyboard.type("motif leaves")
    palette.get_by_role("group", name="Motifs").get_by_role("option", name="C leaves 4 times").click()
    at_step(page, 40)
    page.keyboard.press("Control+k")
    page.keyboard.type("no such thing")
    expect(palette).to_contain_text("Nothing here matches “no such thing”.")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys.locator("dt", has_text="Ctrl K")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="All commands").click()
    expect(palette).to_be_visible()


def test_it_plays_without_long_pauses_and_begins_again(open_page: Open) -> None:
    page = open_page(f"/t/{BASIC}?at=0")
    page.keyboard.press("t")
    page.keyboard.press("t")
    page.keyboard.press("l")
    expect(page.get_by_label("Pace")).to_have_value("compressed")
    page.keyboard.press("End")
    at_step(page, 16)
    for _ in range(3):
        page.keyboard.press("]")
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    becomes(page, "document.getElementById('step').textContent === '16'")
    becomes(page, "Number(document.getElementById('step').textContent) < 16")
    expect(page.locator("#play")).to_contain_text("Pause")
    page.keyboard.press("Space")


def test_space_on_a_focused_button_presses_that_button(open_page: Open) -> None:
    page = open_page(f"/t/{BASIC}?at=0")
    page.get_by_role("button", name="Event forward").focus()
    page.keyboard.press("Space")
    at_step(page, 1)
    page.wait_for_timeout(300)
    assert step_of(page) == 1


def test_keys_are_left_to_who_chooses_from_a_list(open_page: Open) -> None:
    page = open_page(f"/t/{BASIC}?at=0")
    page.locator("#who-filter").focus()
    page.keyboard.press("c")
    page.keyboard.press("End")
    at_step(page, 0)


def test_the_board_is_a_grid_with_a_name_on_each_chip(open_page: Open, fetch: Fetch) -> None:
    page = open_page(at(BASIC, 14, fetch))
    grid = page.get_by_role("grid", name="Members and partitions")
    expect(grid.get_by_role("button", name="foo-1: A is revoking it for C")).to_be_visible()
    expect(grid.get_by_role("button", name="foo-0: owned by A")).to_be_visible()
    expect(page.locator("#now")).to_have_attribute("aria-live", "polite")
    expect(page.locator("#now")).to_contain_text("revoke foo-1")
    expect(page.locator("#tracks")).to_have_attribute("aria-valuetext", "step 14: A is asked to revoke foo-1")
