"""Reader and Investigator, words that explain themselves, and where a board opens."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.board import becomes
from tests.house import ROOT
from tests.serving import Served

Open = Callable[..., Page]


def test_a_case_study_opens_for_a_reader_and_tells_its_step_in_the_large_line(open_page: Open) -> None:
    page = open_page("/t/kip848-basic?at=59", view=None)
    expect(page.locator("#story")).to_be_visible()
    expect(page.locator("#story")).to_have_text(page.locator("#now").text_content() or "")
    for hidden in (
        "#headline",
        "#figures",
        "#whole",
        "#verdict",
        "#details",
        "#lag-panel",
        "#metrics-panel",
        "#figure-panel",
    ):
        expect(page.locator(hidden)).to_be_hidden()
    expect(page.locator("#legend")).to_contain_text("Unassigned")


def test_at_the_end_of_a_case_stand_the_verdict_and_what_comes_next(open_page: Open) -> None:
    page = open_page("/t/kip848-basic", view=None)
    expect(page.locator("#next")).to_be_hidden()
    page.keyboard.press("End")
    expect(page.locator("#headline")).to_be_visible()
    expect(page.locator("#story")).to_be_hidden()
    expect(page.locator("#verdict")).to_be_hidden()
    page.locator("#next").click()
    page.wait_for_url("**/t/kip848-member-failure*")


def test_the_story_is_folded_beneath_the_headline_and_begins_with_what_happened(open_page: Open) -> None:
    page = open_page("/t/incident-rebalance-storm?view=investigator")
    told = page.evaluate("JSON.parse(document.getElementById('timeline-data').textContent).summary.verdict")
    headline = page.locator("#headline")
    assert headline.text_content() == told["headline"]["text"]
    expect(page.locator("#badge .severity")).to_contain_text("Rebalance storm")
    expect(headline.locator(".clause").first).to_have_attribute("data-at", re.compile(r"\d+"))
    assert page.locator("#figures dt").all_inner_texts() == ["From", "Unread", "Longest wait", "Still so"]
    story = page.locator("#verdict")
    expect(story).to_be_hidden()
    page.locator("#whole summary").click()
    expect(story).to_be_visible()
    brief = story.inner_text()
    assert len(brief.split()) <= 91
    assert "joined one after another" not in brief
    assert "moves of" not in brief
    story.get_by_role("button", name="more").click()
    assert story.inner_text().split() == told["text"].split()


def test_the_first_page_goes_on_where_its_reader_has_stopped(open_page: Open) -> None:
    page = open_page("/")
    expect(page.locator("#start")).to_contain_text("Start here")
    page.evaluate(
        "localStorage.setItem('lessons', JSON.stringify({'a-group-shares-partitions': {beat: 3, reached: 3, done: true, answers: {}}}))"
    )
    page.reload()
    expect(page.locator("#start")).to_have_text("Go on: Heartbeats")
    expect(page.locator(".path li.done")).to_contain_text("A group shares partitions")
    page.locator("#start").click()
    page.wait_for_url("**/lessons/heartbeats*")


def test_the_path_of_the_first_page_ends_with_a_log_of_a_real_broker(open_page: Open) -> None:
    page = open_page("/t/incident-slow-revocation", view=None)
    page.keyboard.press("End")
    expect(page.locator("#next")).to_have_text("Next: A log of a real broker")
    page.goto(page.url.split("/t/")[0] + "/t/kip848-six-partitions")
    page.keyboard.press("End")
    expect(page.locator("#next")).not_to_have_text("Next: A member dies")


def test_a_story_begins_with_what_it_is_about_pauses_at_its_key_steps_and_goes_on(open_page: Open) -> None:
    page = open_page("/t/kip848-basic?play=1", view=None)
    expect(page.locator("#story")).to_contain_text("Three consumers join one after the other")
    page.keyboard.press("Space")
    expect(page.locator("#continue")).to_have_text("Paused to read: continue")
    expect(page.locator("#play-word")).to_have_text("Continue")
    paused = page.locator("#step").inner_text()
    page.locator("#continue").click()
    expect(page.locator("#continue")).to_be_hidden()
    becomes(page, f"document.getElementById('step').textContent !== '{paused}'")
    expect(page.locator("#continue")).to_have_text("Paused to read: continue")
    page.keyboard.press("Space")
    expect(page.locator("#continue")).to_be_hidden()


def test_what_nobody_reads_is_said_where_the_group_is_stable(open_page: Open) -> None:
    page = open_page("/t/kip848-member-failure?at=26")
    expect(page.locator("#state")).to_have_text("Stable")
    expect(page.locator("#gap")).to_have_text("Not read: foo-0, foo-1 (A was killed)")
    expect(page.locator("#board .chip.unread")).to_have_count(2)
    expect(page.locator('.lane[data-lane="A"] .note')).to_have_text("Its session expires in 9.5\u202fs")


def test_a_state_and_an_error_in_a_sentence_explain_themselves(open_page: Open) -> None:
    page = open_page("/t/incident-stuck-unrevoked?at=143")
    page.locator("#state").focus()
    expect(page.get_by_role("tooltip")).to_be_visible()
    page.locator("#log .ev[aria-current]").hover()
    page.locator("#now [data-term]").first.hover()
    expect(page.get_by_role("tooltip")).to_be_visible()


def test_problems_are_a_list_of_links_and_the_one_at_hand_is_marked(open_page: Open, server: Served) -> None:
    with server.open("/api/timelines/incident-stuck-unrevoked") as answer:
        troubles = json.load(answer)["troubles"]
    page = open_page("/t/incident-stuck-unrevoked?at=0")
    page.locator("#problems summary").click()
    links = page.locator("#problems a")
    expect(links).to_have_count(len(troubles))
    links.nth(1).click()
    expect(links.nth(1)).to_have_attribute("aria-current", "step")
    quiet = open_page("/t/kip848-basic?at=0")
    expect(quiet.locator("#problems")).to_be_hidden()


def test_the_owners_of_a_partition_come_into_sight(open_page: Open) -> None:
    page = open_page("/t/kip848-basic?at=121", viewport={"width": 1440, "height": 700})
    page.locator('.chip[data-key="foo-1"]').click()
    expect(page.locator("#partition")).to_be_in_viewport()


def test_the_investigators_view_is_remembered_and_a_link_keeps_it(open_page: Open) -> None:
    page = open_page("/t/kip848-basic?at=59", view=None)
    page.get_by_role("button", name="Investigator").click()
    expect(page.locator("#details")).to_be_visible()
    assert "view=investigator" in page.url
    page.goto(page.url.split("/t/")[0] + "/t/kip848-six-partitions")
    expect(page.locator("body")).to_have_attribute("data-view", "investigator")
    page.goto(page.url.split("/t/")[0] + "/t/kip848-six-partitions?view=reader")
    expect(page.locator("body")).to_have_attribute("data-view", "reader")


def test_a_word_explains_itself_on_focus_and_leaves_with_escape(open_page: Open) -> None:
    page = open_page("/t/kip848-basic?at=59")
    page.locator("#epochs [data-term='assignment epoch']").focus()
    tip = page.get_by_role("tooltip")
    expect(tip).to_contain_text("The group epoch for which the target assignment was computed.")
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()


def test_every_page_is_a_press_away_from_a_board(open_page: Open) -> None:
    page = open_page("/t/kip848-basic")
    page.locator(".menu summary").press("Enter")
    page.get_by_role("navigation", name="Main").get_by_role("link", name="Laboratory").click()
    page.wait_for_url("**/laboratory*")


def test_the_pages_are_three_lists_that_close_by_escape_and_by_a_press_elsewhere(open_page: Open) -> None:
    page = open_page("/help/")
    main = page.get_by_role("navigation", name="Main")
    for group, link in (("Look", "Timelines"), ("Try", "Sweeps"), ("Learn", "Lessons")):
        main.get_by_text(group, exact=True).click()
        expect(main.get_by_role("link")).to_have_count({"Look": 5, "Try": 5, "Learn": 4}[group])
        expect(main.get_by_role("link", name=link)).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(main.get_by_role("link")).to_have_count(0)
    main.get_by_text("Look", exact=True).click()
    page.get_by_role("heading", level=1).click()
    expect(main.get_by_role("link")).to_have_count(0)


@pytest.mark.quick
def test_the_first_page_leads_step_by_step(open_page: Open) -> None:
    page = open_page("/")
    links = page.locator(".path a")
    expect(links).to_have_count(8)
    links.nth(2).click()
    page.wait_for_url("**/lessons/three-epochs*")


def test_an_import_opens_at_its_worst_moment_and_space_plays_from_ten_seconds_before(
    open_page: Open, server: Served
) -> None:
    with server.open("/api/timelines/incident-slow-revocation/entries") as answer:
        entries = "\n".join(json.dumps(entry) for entry in json.load(answer)["entries"])
    added = subprocess.run(
        [sys.executable, "manage.py", "timeline", "add", "-"],
        cwd=ROOT, env=server.environment, input=entries, check=True, capture_output=True, text=True,
    )  # fmt: skip
    timeline = json.loads(added.stdout)["id"]
    with server.open(f"/api/timelines/{timeline}") as answer:
        worst = json.load(answer)["worst"]

    page = open_page(f"/t/{timeline}")
    rest = page.evaluate("rebalanceExplorer.timeline.rest.moment")
    # The step that holds the entry.
    assert rest["first"] <= worst <= rest["sequence"]
    page.keyboard.press("Space")
    becomes(page, f"rebalanceExplorer.timeline.rest.sequence < {rest['sequence']}")
    page.keyboard.press("Space")
    steps = page.evaluate("rebalanceExplorer.timeline.steps.map(({sequence, at_ms}) => [sequence, at_ms])")
    before = [
        sequence
        for sequence, at_ms in steps
        if sequence < rest["sequence"] and at_ms <= rest["at_ms"] - 10_000
    ]
    # It may have played a step or two by now, and not more than up to the moment.
    assert (
        (before[-1] if before else 0)
        <= page.evaluate("rebalanceExplorer.timeline.rest.sequence")
        <= rest["sequence"]
    )
