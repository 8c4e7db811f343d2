"""A violation, a fence, a fail-over, a static replacement and a regex match: each can be read off the board."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.board import Fetch, at_step, step_of
from tests.serving import ROOT, Served

Open = Callable[..., Page]
PHONE = {"width": 390, "height": 844}


@pytest.fixture
def broken(server: Served) -> str:
    """The address of a run in which foo-1 has two owners."""
    command = [sys.executable, "-m", "tests.browser.seed", "broken"]
    told = subprocess.run(
        command, cwd=ROOT, env=server.environment, check=True, capture_output=True, text=True
    )
    return f"/t/{told.stdout}"


def where(fetch: Fetch, study: str, shape: str) -> str:
    """The address of the last moment of a shape."""
    moments = fetch(f"/api/timelines/{study}/chunks/1")["moments"]
    return f"/t/{study}?at={[moment for moment in moments if moment['shape'] == shape][-1]['sequence']}"


def lane(page: Page, key: str) -> Locator:
    return page.locator(f"#board .lane[data-lane={key}]")


def test_a_violation_is_red_wherever_it_shows_and_leads_to_its_proof_by_key(
    open_page: Open, broken: str
) -> None:
    page = open_page(f"{broken}?at=0")
    expect(page.get_by_role("alert")).to_contain_text("This run breaks a rule of the protocol")
    page.get_by_role("link", name="Go there").press("Enter")
    at_step(page, 4)
    expect(page.locator("#now.bad")).to_contain_text("foo-1 is assigned to A and to B")
    expect(page.locator("#board .lane.broken")).to_have_count(2)
    expect(page.locator("#board .ch.broken")).to_have_text("foo-1")
    expect(lane(page, "B").locator(".cell[data-col=foo-1]")).to_contain_text("owned here, too")
    expect(page.locator("#log .ev.bad")).to_have_count(1)
    expect(page.locator("#tracks line.broken")).to_have_count(1)
    page.get_by_role("link", name="step 3").press("Enter")
    at_step(page, 3)
    expect(page.locator("#board .lane.broken")).to_have_count(0)


def test_who_is_fenced_has_a_lane_that_says_so_and_what_it_still_reads(open_page: Open, fetch: Fetch) -> None:
    page = open_page(where(fetch, "incident-zombie-member", "fence"))
    a = lane(page, "A")
    expect(a).to_contain_text("not a member")
    expect(a.locator(".hard.bad")).to_have_text("Fenced: abandons its partitions")
    expect(a.locator(".hard.bad")).to_have_attribute("title", "UNKNOWN_MEMBER_ID")
    expect(a.locator(".slot.still")).to_have_count(2)
    expect(page.locator("#tracks .hardship.paused")).to_have_count(1)
    step = step_of(page)
    page.keyboard.press("ArrowLeft")
    at_step(page, step - 1)
    expect(a.locator(".hard")).to_have_text("Removed; the client has not been notified (zombie)")
    page.keyboard.press("End")
    expect(page.locator("#board .outside")).to_have_count(0)


def test_a_fail_over_names_the_new_coordinator_and_shades_while_it_loads(
    open_page: Open, fetch: Fetch
) -> None:
    page = open_page(where(fetch, "released-fail-over", "fail_over"))
    expect(page.locator("#now")).to_contain_text("broker-2")
    expect(page.locator("#coordinator")).to_have_text("broker-2 loads for 2.0\u202fs more")
    expect(page.locator("#tracks .takeover")).to_have_count(1)
    expect(page.locator("#tracks")).to_contain_text("broker-2 loads: no request is answered for 2.0\u202fs")
    expect(page.locator("#board .ring .session")).to_have_count(0)
    page.keyboard.press("End")
    expect(page.locator("#coordinator")).to_have_text("coordinator broker-2")
    expect(page.locator("#board .ring .session")).to_have_count(3)


def test_a_static_member_is_away_and_then_replaced_in_its_lane(open_page: Open, fetch: Fetch) -> None:
    page = open_page(where(fetch, "released-static-replacement", "leave"))
    expect(lane(page, "A")).to_contain_text("away (−2)")
    expect(page.locator("#epochs")).to_contain_text("away 1")
    page.goto(page.url.split("/t/")[0] + where(fetch, "released-static-replacement", "replace"))
    expect(lane(page, "A").locator(".id")).to_have_text("A → A~2")
    expect(page.locator("#board .lane:not(.pool)")).to_have_count(2)


def test_an_expression_stands_in_its_lane_with_what_it_matched(open_page: Open, fetch: Fetch) -> None:
    page = open_page(where(fetch, "released-regex", "regex"))
    expect(lane(page, "A").locator(".rx")).to_have_text("orders-.*")
    expect(lane(page, "B").locator(".note")).to_contain_text("matches orders-asia, orders-eu, orders-us")
    expect(page.locator("#log .ev[aria-current]")).to_contain_text("orders-.* matches orders-asia")


@pytest.mark.parametrize("which", ["violation", "fence", "fail_over"])
def test_nothing_of_it_is_cut_or_too_wide_on_a_phone(
    open_page: Open, fetch: Fetch, broken: str, which: str
) -> None:
    addresses = {"violation": f"{broken}?at=15"}
    if which == "fence":
        addresses[which] = where(fetch, "incident-zombie-member", which)
    elif which == "fail_over":
        addresses[which] = where(fetch, "released-fail-over", which)
    page = open_page(addresses[which], viewport=PHONE, color_scheme="dark", reduced_motion="reduce")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    cut = page.evaluate(
        """() => [...document.querySelectorAll('#board .lead, #board .chip, #board .slot, #board .st, #board .hard, #now, #gap, #coordinator, .banner')]
             .filter((node) => node.offsetParent && node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).display !== 'inline')
             .map((node) => node.className + ' ' + node.textContent)"""
    )
    assert cut == []


def test_case_studies_are_filtered_searched_and_walked_by_key(open_page: Open) -> None:
    page = open_page("/")
    cards = page.locator(".card:visible")
    expect(cards).to_have_count(12)
    page.get_by_role("button", name="Upgrades").click()
    expect(cards).to_have_count(9)
    page.locator("#find").fill("nothing is called so")
    expect(page.locator("#no-case")).to_be_visible()
    page.locator("#all-cases").click()
    expect(page.locator(".card:not(:visible)")).to_have_count(0)
    page.locator("#find").fill("callback")
    expect(cards).to_have_count(2)
    cards.first.focus()
    page.keyboard.press("Tab")
    expect(cards.nth(1)).to_be_focused()
    assert cards.nth(1).evaluate("node => getComputedStyle(node).outlineStyle") == "solid"
    address = (cards.nth(1).get_attribute("href") or "").partition("?")[0]
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{address}*")


@pytest.fixture
def judged(server: Served, tmp_path: Path) -> str:
    """The address of a recording that was judged with a wrong setting: the group would have been full."""
    entries = tmp_path / "judged.jsonl"
    manage = [sys.executable, "manage.py"]
    command = [*manage, "conform", "--sample", "recorded-clients", "--set", "group.consumer.max.size=1"]
    command += ["--group", "clients-join-leave-kill", "--timeline", str(entries)]
    differs = subprocess.run(command, cwd=ROOT, env=server.environment, check=False, capture_output=True)
    assert differs.returncode == 1
    added = [*manage, "timeline", "add", str(entries)]
    told = subprocess.run(added, cwd=ROOT, env=server.environment, check=True, capture_output=True)
    return f"/t/{json.loads(told.stdout)['id']}"


def test_a_difference_from_the_simulated_coordinator_is_said_on_top_and_leads_to_both_sides(
    open_page: Open, judged: str
) -> None:
    page = open_page(f"{judged}?at=0")
    expect(page.locator("#verdict")).to_contain_text("The simulated coordinator differs 12 times")
    page.get_by_role("link", name="Go to the first").press("Enter")
    expect(page.locator("#now")).to_contain_text("errorCode of the answer to b: recorded 0, simulated 81")
    details = page.locator("#details")
    expect(details.locator(".xh")).to_have_text(["Recorded", "Simulated"])
    page.locator("#log .ev", has_text="record of type 5").first.press("Enter")
    expect(details.locator(".xh").first).to_contain_text("ConsumerGroupMemberMetadata")
    expect(details).to_contain_text("nothing")


def test_who_was_refused_is_told_why_in_kafkas_words(open_page: Open, fetch: Fetch) -> None:
    page = open_page(where(fetch, "incident-static-churn", "fault"))
    expect(page.locator("#verdict")).to_contain_text("X was refused: UNRELEASED_INSTANCE_ID")
    expect(page.locator("#details")).to_contain_text("111 UNRELEASED_INSTANCE_ID")


def test_marks_of_events_stand_under_each_other_whatever_the_time(open_page: Open, fetch: Fetch) -> None:
    page = open_page(where(fetch, "incident-static-churn", "fault"))
    marks = page.locator("#log .ev > :nth-child(4)")
    expect(marks.first).to_be_visible()
    assert len({round(box["x"]) for mark in marks.all() if (box := mark.bounding_box())}) == 1


def test_a_name_that_was_restarted_stands_whole_beside_its_epoch(open_page: Open, fetch: Fetch) -> None:
    page = open_page(where(fetch, "incident-rebalance-storm", "fault"))
    for name in page.locator("#board .lead .id").all():
        assert name.evaluate("node => node.scrollWidth <= node.clientWidth"), name.inner_text()
