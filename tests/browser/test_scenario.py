"""The page of a scenario: its editor, and what is shown next to it."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.pictures.acts import pasted
from tests.browser.test_access import faults_of

TEXT = """topics: {orders: {partitions: 2}}
members:
  A: {subscribe: [orders]}
script:
  - {at: 0s, join: A}
"""


def test_keys_verbs_and_members_are_completed_and_a_mistake_is_mended_at_its_place(
    open_page: Callable[..., Page],
) -> None:
    page = open_page("/simulate/")
    editor = pasted(page, f"{TEXT}  - ")
    offered = page.get_by_role("listbox", name="Completions").get_by_role("option")
    page.keyboard.type("{at: 9s, po")
    expect(offered).to_contain_text(["poll_late"])
    page.keyboard.press("Escape")
    for key in ("Backspace", "Backspace", "k", "i"):
        page.keyboard.press(key)
    expect(offered).to_contain_text(["its process is gone"])
    page.wait_for_timeout(
        100
    )  # A list that has just opened takes no key, so that who types on is not surprised.
    page.keyboard.press("Tab")
    expect(editor).to_contain_text("{at: 9s, kill: }")
    page.keyboard.type("B")
    page.keyboard.press("Escape")
    said = page.locator("#checked")
    expect(said).to_contain_text("unknown member B; there are A")
    expect(page.locator(".cm-lintRange-error")).to_have_text("B")
    page.keyboard.press("Backspace")
    page.keyboard.type("A")
    expect(said).to_have_text("No mistake.")
    pasted(page, TEXT.replace("join", "joim"))
    page.get_by_role("button", name="Use join").click()
    expect(said).to_have_text("No mistake.")
    expect(editor).to_contain_text("join: A")


def test_tab_leaves_the_editor_and_a_fold_is_made_by_keys(open_page: Callable[..., Page], axe: str) -> None:
    page = open_page("/simulate/")
    editor = pasted(page, TEXT)
    expect(editor).to_have_attribute("aria-describedby", "checked")
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Control+Shift+BracketLeft")
    expect(page.locator(".cm-foldPlaceholder")).to_have_count(1)
    expect(editor).not_to_contain_text("subscribe")
    assert faults_of(page, axe) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(editor).not_to_be_focused()


def test_what_was_typed_is_there_when_the_reader_comes_back_and_without_the_editor(
    open_page: Callable[..., Page],
) -> None:
    page = open_page("/simulate/", cold=True)
    pasted(page, f"{TEXT}# mine\n")
    page.goto(page.url.replace("/simulate/", "/help/"))
    page.go_back()
    editor = page.get_by_role("textbox", name="Scenario", exact=True)
    expect(editor).to_contain_text("# mine")
    other = page.context.new_page()
    other.goto(page.url)
    expect(other.get_by_role("textbox", name="Scenario", exact=True)).not_to_contain_text("# mine")
    broken = "throw new Error('not today');"
    page.route(
        "**/scenario/editor*.js", lambda route: route.fulfill(body=broken, content_type="text/javascript")
    )
    page.reload()
    area = page.locator("textarea#scenario")
    expect(area).to_be_visible()
    expect(area).to_have_value(f"{TEXT}# mine\n")
    page.get_by_role("button", name="Back to the text at the beginning").click()
    expect(area).not_to_have_value(f"{TEXT}# mine\n")


def test_a_megabyte_is_pasted_typed_in_and_refused_with_its_bound(
    open_page: Callable[..., Page],
) -> None:
    page = open_page("/simulate/", viewport={"width": 390, "height": 844})
    editor = pasted(page, TEXT + "# a long line of text that says nothing\n" * 26_000)
    expect(page.locator("#checked")).to_contain_text("longer than 256 KB")
    page.keyboard.type("# and on")
    expect(editor).to_contain_text("# and on")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_first_run_of_ones_own_is_built_by_mouse_and_by_keys_without_yaml(
    open_page: Callable[..., Page], axe: str
) -> None:
    page = open_page("/simulate/")
    text = page.locator("textarea#scenario")
    builder = page.get_by_role("region", name="What happens")
    builder.get_by_role("button", name="New scenario").click()
    builder.get_by_role("button", name="+ Member").click()
    builder.get_by_role("button", name="+ Topic").click()
    name = builder.get_by_role("textbox", name="name", exact=True)
    name.fill("pay ments")
    name.press("Enter")
    expect(page.locator("#checked")).to_contain_text("pay ments")
    name.fill("payments")
    name.press("Enter")
    expect(text).to_have_value(re.compile(r"\n  payments: \{partitions: 6\}\n"))
    # By mouse: the lane of B at 20 s, then ten seconds further.
    builder.get_by_role("combobox", name="Event").select_option("kill")
    track = builder.get_by_role("group", name="Member B").locator(".track")
    room = track.bounding_box()
    assert room
    axis = room["width"] - 7 * 16
    track.click(position={"x": axis / 3, "y": room["height"] - 4})
    killed = builder.get_by_role("slider", name="kill B")
    expect(killed).to_have_attribute("aria-valuetext", "at 20 s")
    killed.drag_to(
        killed, source_position={"x": 5, "y": 5}, target_position={"x": 5 + axis / 6, "y": 5}, force=True
    )
    expect(text).to_have_value(re.compile(r"  - \{at: 30s, kill: B\}\n"))
    # By keys: a second back, a second on; another event is made and removed.
    killed.focus()
    killed.press("ArrowLeft")
    expect(killed).to_have_attribute("aria-valuetext", "at 29 s")
    expect(killed).to_be_focused()
    page.keyboard.press("ArrowRight")
    builder.get_by_role("button", name="Add", exact=True).press("Enter")
    builder.get_by_role("slider", name="kill A").press("Delete")
    assert "kill: A" not in text.input_value()
    assert faults_of(page, axe) == []
    # The text is the truth, also where it is no YAML for a while.
    written = text.input_value()
    pasted(page, "{")
    expect(builder).to_contain_text("no YAML now")
    pasted(page, written.replace("30s, kill: B", "31s, kill: B"))
    expect(killed).to_have_attribute("aria-valuetext", "at 31 s")
    expect(page.locator("#checked")).to_have_text("No mistake.")
    page.get_by_role("button", name="Run").click()
    page.wait_for_url("**/t/**")
