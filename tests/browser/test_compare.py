"""Runs side by side: the playhead at hand on a phone, what was lost, and what is called the best."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from playwright.sync_api import Page, expect

from tests.browser.board import becomes
from tests.history.logs import Log
from tests.history.test_classic_group import generation
from tests.serving import ROOT, Served

Open = Callable[..., Page]
THREE = "/compare?runs=kip429-eager,kip429-cooperative,kip429-consumer&from_ms=18000"
PHONE = {"width": 390, "height": 844}


def opened(open_page: Open, address: str, **options: object) -> Page:
    page = open_page(address, reduced_motion="reduce", **options)
    page.wait_for_selector("html[data-alive]")
    return page


def test_on_a_phone_the_playhead_is_in_sight_wherever_the_boards_are(open_page: Open) -> None:
    page = opened(open_page, THREE, viewport=PHONE)
    for top in (0, 700):
        page.evaluate(f"scrollTo(0, {top})")
        box = page.get_by_role("button", name="Play all").bounding_box()
        assert box is not None
        assert 0 < box["y"] < box["y"] + box["height"] <= PHONE["height"]
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_what_was_lost_grows_in_strokes_on_one_scale_for_all_runs(open_page: Open) -> None:
    page = opened(open_page, THREE)
    widths = "[...document.querySelectorAll('.strokes i')].map((node) => node.getBoundingClientRect().width)"
    assert page.evaluate(widths) == [0, 0, 0]
    page.locator("#time").focus()
    page.keyboard.press("End")
    becomes(page, f"{widths}[0] > 0")
    eager, cooperative, consumer = page.evaluate(widths)
    assert eager > cooperative > consumer > 0
    expect(page.locator(".run .state").first).to_have_attribute("data-s", "Stable")


@pytest.mark.quick
def test_of_two_values_that_read_the_same_none_is_called_better(open_page: Open) -> None:
    page = opened(open_page, THREE)
    row = page.locator("#card tr", has_text="Last change of a reader")
    shown = row.locator("td").all_inner_texts()
    best = row.locator("td:has(b)").all_inner_texts()
    assert best == [text for text in shown if text == best[0]]
    assert len(best) == 2


def test_where_topics_have_a_rate_each_run_tells_its_lag_and_what_was_read_twice(open_page: Open) -> None:
    page = opened(open_page, THREE, viewport=PHONE)
    told = page.locator(".run [data-part='records']")
    expect(told).to_have_count(3)
    card = page.locator("#card tr", has_text="Lag at most, in records").locator("td")
    most = [int(text.replace(",", "")) for text in card.all_inner_texts()]
    assert most[0] > 1.5 * most[1] > most[2]
    twice = page.locator("#card tr", has_text="Records read twice").locator("td").all_inner_texts()
    assert [text == "0" for text in twice] == [True, False, True]
    assert page.locator("#card tr", has_text="Records skipped").count() == 0
    lag = told.first.locator("[data-part='lag']")
    expect(lag).to_have_text("0")
    page.locator("#time").focus()
    page.evaluate(
        "time.value = 29500; time.dispatchEvent(new Event('input', {bubbles: true}))".replace(
            "time.", "document.getElementById('time')."
        )
    )
    expect(lag).not_to_have_text("0")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@pytest.fixture
def two_logs(server: Served, tmp_path: Path) -> list[str]:
    """Ids of two logs of one minute each, the second of an hour later."""
    ids = []
    for at_ms in (1_760_000_000_000, 1_760_003_600_000):
        log = Log(start_ms=at_ms)
        log.write(generation(1, {"A": [0, 1]}))
        log.at(at_ms + 60_000).write(generation(2, {"A": [0], "B": [1]}))
        entries = tmp_path / f"{at_ms}.jsonl"
        entries.write_bytes(b"".join(orjson.dumps(entry.to_json()) + b"\n" for entry in log.entries))
        command = [sys.executable, "manage.py", "timeline", "add", str(entries)]
        told = subprocess.run(command, cwd=ROOT, env=server.environment, check=True, capture_output=True)
        ids.append(json.loads(told.stdout)["id"])
    return ids


def test_logs_play_each_from_its_start_or_all_by_the_clock(open_page: Open, two_logs: list[str]) -> None:
    page = opened(open_page, f"/compare?runs={','.join(two_logs)}")
    start, clock = (page.get_by_role("button", name=name) for name in ("By start", "By clock"))
    expect(start).to_have_attribute("aria-pressed", "true")
    assert 60_000 <= int(page.locator("#time").get_attribute("max") or 0) < 3_600_000
    clock.click()
    page.wait_for_url("**align=clock**")
    page.wait_for_selector("html[data-alive]")
    expect(clock).to_have_attribute("aria-pressed", "true")
    assert int(page.locator("#time").get_attribute("max") or 0) >= 3_660_000
    start.click()
    page.wait_for_url("**align=start**")


def test_runs_of_the_simulator_have_no_clock_to_choose(open_page: Open) -> None:
    page = opened(open_page, THREE)
    expect(page.locator("#align")).to_be_hidden()


def test_the_first_difference_is_where_locked_boards_part_and_is_marked_on_them(open_page: Open) -> None:
    page = opened(open_page, "/compare?runs=kip792-stale-owner,kip792-generation&lock=event")
    expect(page.get_by_role("button", name="By event")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("d")
    differs = page.locator("[data-part='differs']")
    expect(differs.nth(1)).to_contain_text("Not as 1: ")
    expect(differs.first).to_be_empty()
    at = int(page.locator("#time").input_value())
    assert page.locator(".run").nth(1).locator(".differs:not(p)").count() > 0
    page.locator("#back").click()
    expect(differs.nth(1)).to_have_text("As 1")
    assert f"at={at - 1}" in page.url
    page.get_by_role("button", name="By epoch").click()
    page.wait_for_url("**lock=epoch**")
    page.wait_for_selector("html[data-alive]")
    expect(page.locator("#at")).to_contain_text("epoch")


def test_timelines_to_compare_are_found_by_a_search_and_taken_out_by_a_button(open_page: Open) -> None:
    page = opened(open_page, THREE)
    page.get_by_role("button", name="Take out", exact=False).first.click()
    page.get_by_role("searchbox", name="Add a timeline").fill("bounce")
    expect(page.locator("#found button").first).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.locator("#chosen li")).to_have_count(3)
    page.locator("#compare").click()
    page.wait_for_selector("html[data-alive]")
    expect(page.locator(".run")).to_have_count(3)
    assert "kip429-eager" not in page.url


def test_a_case_study_is_played_next_to_the_other_semantics_in_one_click(open_page: Open) -> None:
    page = opened(open_page, "/t/kip848-basic")
    page.get_by_role("button", name="Next to Kafka").click()
    page.wait_for_selector(".run:nth-child(2)", timeout=60_000)
    page.wait_for_selector("html[data-alive]")
    expect(page.locator("#card tr", has_text="Partition-seconds not read")).to_be_visible()
