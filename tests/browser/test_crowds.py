"""A board of more members than lanes fit: those that matter have lanes, the others are one row that opens."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import large
from tests.browser.board import Fetch
from tests.serving import ROOT, Served

Open = Callable[..., Page]
PHONE = {"width": 390, "height": 844}
MEMBERS = 40


def scenario() -> str:
    """As many members; one stands still past its session, one is killed, one cannot be reached."""
    names = [f"worker-{number:02}" for number in range(MEMBERS)]
    started = {
        name: {"epoch": 5, "owned": {"payments": [number]}, "heartbeat_at": f"{number * 100}ms"}
        for number, name in enumerate(names)
    }
    return json.dumps(
        {
            "name": "a crowd",
            "semantics": "kafka",
            "topics": {"payments": {"partitions": MEMBERS}},
            "config": {"session_timeout_ms": 45000, "heartbeat_interval_ms": 5000},
            "start": {"group_epoch": 5, "assignment_epoch": 5, "members": started},
            "members": {name: {"subscribe": ["payments"]} for name in names},
            "script": [
                {"at": "6s", "pause": "worker-30"},
                {"at": "7s", "kill": "worker-31"},
                {"at": "8s", "cut": "worker-32"},
                {"at": "60s", "resume": "worker-30"},
            ],
            "until": "62s",
        }
    )


@pytest.fixture(scope="module")
def crowd(server: Served) -> str:
    """The id of the stored run."""

    def manage(*words: str, given: bytes) -> bytes:
        command = [sys.executable, "manage.py", *words]
        told = subprocess.run(
            command, cwd=ROOT, env=server.environment, check=True, capture_output=True, input=given
        )
        return told.stdout

    entries = manage("simulate", "-", "--format", "entries", given=scenario().encode())
    stored = manage("timeline", "add", "-", "--semantics", "kafka", given=entries)
    return str(json.loads(stored)["id"])


def moment(fetch: Fetch, timeline: str, words: str) -> str:
    """The address of the first moment that says so."""
    for chunk in fetch(f"/api/timelines/{timeline}")["chunks"]:
        for one in fetch(f"/api/timelines/{timeline}/chunks/{chunk['first']}")["moments"]:
            if words in one["says"]:
                return f"/t/{timeline}?at={one['sequence']}"
    raise AssertionError(words)


def lanes_of(page: Page) -> Locator:
    """The lanes of members: neither of what is unassigned, nor of the others."""
    return page.locator("#board .lane[data-member]:not(.ghost)")


def members_of(page: Page) -> list[str]:
    return [lane.get_attribute("data-member") or "" for lane in lanes_of(page).all()]


def test_whoever_stands_still_is_killed_or_cut_off_has_a_lane_and_all_others_are_one_row(
    open_page: Open, fetch: Fetch, crowd: str
) -> None:
    page = open_page(moment(fetch, crowd, "worker-32 is cut off"))
    expect(lanes_of(page)).to_have_count(3)
    assert members_of(page) == ["worker-30", "worker-31", "worker-32"]
    for lane, words in zip(lanes_of(page).all(), ("Paused", "Process killed", "Cut off"), strict=True):
        expect(lane.locator(".lead")).to_contain_text(words)
    rest = page.locator("#board .lane.rest")
    expect(rest.locator(".lead")).to_contain_text(f"{MEMBERS - 3} members")
    # Each column has one mark, though most lanes are folded; what nobody reads has the ring.
    expect(page.locator("#board .chip")).to_have_count(MEMBERS)
    expect(rest.locator(".chip")).to_have_count(MEMBERS - 3)
    ringed = page.locator("#board .lane[data-member=worker-31] .chip.unread")
    expect(ringed).to_have_count(1)
    assert "rgb" in ringed.evaluate("chip => getComputedStyle(chip).boxShadow")
    expect(page.locator("#board .ch.hot")).to_have_text(["30", "31"], use_inner_text=True)


def test_the_others_open_to_a_line_each_by_key_and_by_click_and_keep_open_from_step_to_step(
    open_page: Open, fetch: Fetch, crowd: str
) -> None:
    page = open_page(moment(fetch, crowd, "worker-32 is cut off"))
    lines = page.locator("#board .others .line")
    expect(lanes_of(page)).to_have_count(3)
    expect(lines).to_have_count(0)
    page.keyboard.press("o")
    expect(lines).to_have_count(MEMBERS - 3)
    names = [f"worker-{number:02}" for number in range(MEMBERS) if number not in {30, 31, 32}]
    assert [line.get_attribute("data-member") for line in lines.all()] == names
    page.keyboard.press("ArrowLeft")
    expect(lines).to_have_count(MEMBERS - 2)
    opens = page.locator("#board .opens")
    expect(opens).to_have_attribute("aria-expanded", "true")
    opens.click()
    expect(lines).to_have_count(0)
    expect(opens).to_be_focused()


def test_a_member_or_the_owner_of_a_partition_is_found_pinned_and_unpinned(
    open_page: Open, fetch: Fetch, crowd: str
) -> None:
    page = open_page(moment(fetch, crowd, "worker-32 is cut off"))
    finds = page.get_by_role("searchbox", name="Find a member or a partition; Enter pins it")
    expect(finds).to_be_visible()
    page.keyboard.press("/")
    expect(finds).to_be_focused()
    page.keyboard.type("worker-07")
    page.keyboard.press("Enter")
    pinned = page.locator("#board .lane[data-member=worker-07]")
    expect(pinned).to_have_count(1)
    finds.fill("payments-12")
    finds.press("Enter")
    expect(page.locator("#board .lane[data-member=worker-12]")).to_have_count(1)
    expect(page.locator("#partition")).to_be_visible()
    finds.fill("nobody")
    finds.press("Enter")
    expect(page.locator(".crowdbar [role=status]")).to_have_text("Nothing found")
    page.get_by_role("button", name="Unpin worker-07").click()
    expect(pinned).to_have_count(0)


@pytest.mark.quick
def test_quiet_columns_fold_on_request_and_on_a_phone_by_themselves_and_nothing_is_wider_than_the_page(
    open_page: Open, fetch: Fetch, crowd: str
) -> None:
    address = moment(fetch, crowd, "worker-32 is cut off")
    page = open_page(address)
    heads = page.locator("#board .colheads .ch")
    expect(heads).to_have_count(MEMBERS)
    page.keyboard.press("x")
    expect(heads).to_have_text(["+30", "30", "31", "32", "+7"], use_inner_text=True)
    expect(page.locator("#board .rest .heap")).to_have_count(2)
    page.keyboard.press("x")
    expect(heads).to_have_count(MEMBERS)
    page.set_viewport_size(PHONE)
    expect(heads).to_have_text(["+30", "30", "31", "32", "+7"], use_inner_text=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    expect(page.locator("#board .corner")).to_contain_text("worker-…")
    edge = page.locator("#board").bounding_box()
    assert edge is not None
    for lane in lanes_of(page).all():
        for part in lane.locator(".lead, .chip").all():
            box = part.bounding_box()
            assert box is not None
            assert edge["x"] <= box["x"] < box["x"] + box["width"] <= edge["x"] + edge["width"]


def test_who_is_fenced_has_a_lane_though_it_is_no_member_any_more(
    open_page: Open, fetch: Fetch, crowd: str
) -> None:
    page = open_page(moment(fetch, crowd, "worker-30 is fenced"))
    fenced = page.locator("#board .lane.outside", has=page.locator("[title=worker-30]"))
    expect(fenced.locator(".hard.bad")).to_contain_text("Fenced")
    page.keyboard.press("ArrowLeft")
    expect(fenced.locator(".slot.still")).to_have_count(1)


def test_what_all_names_begin_with_is_written_once(open_page: Open, server: Served) -> None:
    names = {large.name_of(number): f"pay-settle-worker-{number:02}" for number in range(14)}
    page = open_page(large.waiting_at(server, large.store(server, large.scenario(14), renamed=names)))
    expect(page.locator("#board .corner")).to_contain_text("pay-settle-…")
    shown = lanes_of(page).first.locator(".id")
    expect(shown).to_have_text(re.compile(r"^worker-\d\d$"))
    expect(shown).to_have_attribute("title", re.compile("pay-settle-worker-"))


def test_no_emoji_of_a_long_name_is_cut_in_two_and_its_end_is_in_sight(
    open_page: Open, server: Served
) -> None:
    late = large.name_of(13)
    names = {late: "👩‍👩‍👧‍👦" * 12 + "-9"}
    page = open_page(large.waiting_at(server, large.store(server, large.scenario(14), renamed=names)))
    lane = lanes_of(page).filter(has_text="-9").first
    expect(lane).to_be_visible()
    assert page.evaluate(
        "[...document.querySelectorAll('#board .own, #board .cuts')].every((name) => name.textContent.isWellFormed())"
    )
    box, epoch = lane.locator(".own").bounding_box(), lane.locator(".epoch").bounding_box()
    assert box is not None
    assert epoch is not None
    assert box["x"] + box["width"] <= epoch["x"] + 1


def test_lanes_are_walked_by_key_and_a_member_picked_keeps_its_events(
    open_page: Open, fetch: Fetch, crowd: str
) -> None:
    page = open_page(moment(fetch, crowd, "worker-32 is cut off"))
    heads = page.locator("#board .lane[data-member] .lead")
    expect(heads).to_have_count(3)
    heads.first.focus()
    page.keyboard.press("ArrowDown")
    expect(heads.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#who-filter")).to_have_value("worker-31")
