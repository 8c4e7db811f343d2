"""A board of more members than lanes fit: rows of blocks, in which trouble must be found without looking for it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser import large
from tests.browser.board import Fetch, becomes
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


def test_no_emoji_of_a_name_is_cut_in_two(open_page: Open, server: Served) -> None:
    names = {"consumer-0-02": "👩‍👩‍👧‍👦" * 12 + "-9"}
    page = open_page(large.waiting_at(server, large.store(server, large.scenario(10), renamed=names)))
    shown = page.locator("#board .nm", has_text="-9")
    expect(shown).to_have_count(1)
    assert page.evaluate(
        "[...document.querySelectorAll('#board .nm')].every((name) => name.textContent.isWellFormed())"
    )
    assert (shown.text_content() or "").startswith("…👩")


def test_whoever_stands_still_is_killed_or_cut_off_stands_above_the_crowd_with_words(
    open_page: Open, fetch: Fetch, crowd: str
) -> None:
    page = open_page(moment(fetch, crowd, "worker-32 is cut off"))
    rows = page.locator("#board .brow")
    expect(rows).to_have_count(MEMBERS)
    expect(page.locator("#board .rest")).to_have_text("In trouble: 3 consumers")
    assert [row.get_attribute("data-member") for row in rows.all()[:3]] == [
        "worker-30",
        "worker-31",
        "worker-32",
    ]
    for number, words in enumerate(("Paused", "Process killed; session still open", "Cut off")):
        expect(rows.nth(number).locator(".hard")).to_have_text(words)
    expect(rows.nth(3).locator(".hard")).to_have_count(0)


def test_who_is_fenced_is_seen_in_a_crowd_though_it_is_no_member_any_more(
    open_page: Open, fetch: Fetch, crowd: str
) -> None:
    page = open_page(moment(fetch, crowd, "worker-30 is fenced"))
    fenced = page.locator("#board .brow.outside[data-member=worker-30]")
    expect(fenced.locator(".hard.bad")).to_contain_text("Fenced")
    page.keyboard.press("ArrowLeft")
    expect(fenced.locator(".block.still")).to_have_count(1)
    expect(fenced.locator(".hard")).to_contain_text("still reads 1 partition")
    assert "worker-30" in page.locator("#board table.sr").inner_text()


def columns_of(page: Page) -> list[list[str]]:
    """The members below those in trouble, column by column, each from above to below."""
    rows: list[tuple[float, float, str]] = page.locator("#board .brow").evaluate_all(
        "rows => rows.slice(3).map((row) => { const { x, y } = row.querySelector('.under').getBoundingClientRect(); return [x, y, row.dataset.member]; })"
    )
    return [[member for at, _, member in sorted(rows) if at == x] for x in sorted({x for x, _, _ in rows})]


@pytest.mark.quick
def test_short_rows_stand_in_columns_read_one_after_another_and_below_each_other_on_a_phone(
    open_page: Open, fetch: Fetch, crowd: str
) -> None:
    address = moment(fetch, crowd, "worker-32 is cut off")
    page = open_page(address)
    expect(page.locator("#board .brow")).to_have_count(MEMBERS)
    columns = columns_of(page)
    assert len(columns) > 1
    in_order = [f"worker-{number:02}" for number in range(MEMBERS) if number not in {30, 31, 32}]
    assert [member for column in columns for member in column] == in_order
    page.set_viewport_size(PHONE)
    becomes(
        page,
        "new Set([...document.querySelectorAll('#board .brow .under')].map((under) => under.getAttribute('x'))).size === 1",
    )
    assert columns_of(page) == [in_order]


def test_a_name_of_letters_that_no_font_has_ends_before_the_epoch(open_page: Open, server: Served) -> None:
    names = {"consumer-0-02": "👩‍👩‍👧‍👦" * 12 + "-9"}
    page = open_page(large.waiting_at(server, large.store(server, large.scenario(14), renamed=names)))
    row = page.locator("#board .brow[data-member*='-9']")
    expect(row).to_have_count(1)
    # What is drawn of it: the text, as far as its clip shows it.
    ends, epoch = row.evaluate(
        """row => {
          const name = row.querySelector('.nm');
          const clip = document.querySelector(name.getAttribute('clip-path').slice(4, -1).replaceAll('"', '')).firstElementChild;
          return [Number(clip.getAttribute('x')) + Number(clip.getAttribute('width')), row.querySelector('.ep').getBBox().x];
        }"""
    )
    assert ends <= epoch


def test_words_of_trouble_stay_within_a_phone(open_page: Open, fetch: Fetch, crowd: str) -> None:
    page = open_page(moment(fetch, crowd, "worker-32 is cut off"), viewport=PHONE)
    expect(page.locator("#board .hard")).to_have_count(3)
    for box in (words.bounding_box() for words in page.locator("#board .hard").all()):
        assert box is not None
        assert 0 <= box["x"] < box["x"] + box["width"] <= PHONE["width"]


def test_rows_are_walked_by_key_and_a_member_picked_keeps_its_events(open_page: Open, crowd: str) -> None:
    page = open_page(f"/t/{crowd}")
    rows = page.locator("#board .brow")
    rows.first.focus()
    page.keyboard.press("ArrowDown")
    expect(rows.nth(1)).to_be_focused()
    lane = rows.nth(1).get_attribute("data-lane")
    page.keyboard.press("Enter")
    expect(page.locator("#who-filter")).to_have_value(lane or "")
