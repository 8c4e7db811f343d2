"""The list of all timelines in a browser: keys, selection, an import that opens, a deletion that is taken back."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.serving import ROOT, Served

Open = Callable[..., Page]

SEEDED = """
from groups.history.story.problems import LEVEL_MS
from groups.models import Import, Timeline
def row(pk, **facts):
    facts = {"title": pk, "group": pk, "source": "simulation", "status": "complete", **facts}
    return Timeline.objects.create(id=pk, entry_format=1, fold_version=1, **facts)
inner = [row(f"kept-in-{at}", source="import", headline=f"in-{at} was removed.", weight=LEVEL_MS * (at < 2),
             summary={"group": "g", "first_ms": 1_700_000_000_000, "last_ms": 1_700_000_060_000, "weight": LEVEL_MS * (at < 2),
                      "gaps": [], "epochs_ms": [], "no_owner_ms": [], "verdict": {"text": f"in-{at} was removed.", "clauses": []}})
         for at in range(7)]
Import.objects.create(id="kept-import", title="Kept deploy", status="complete").timelines.set(inner)
for at in range(3):
    row(f"kept-run-{at}", headline=f"kept run {at} waited", weight=LEVEL_MS)
"""


@pytest.fixture(scope="module")
def seeded(server: Served) -> None:
    subprocess.run(
        [sys.executable, "manage.py", "shell", "-c", SEEDED],
        cwd=ROOT, env=server.environment, check=True, capture_output=True,
    )  # fmt: skip


def opened(open_page: Open, query: str = "?q=kept", **how: object) -> Page:
    page = open_page(f"/timelines{query}", **how)
    page.wait_for_selector("html[data-alive]")
    return page


def exists(server: Served, timeline: str) -> bool:
    with server.open("/api/kept?q=kept+run") as answer:
        return timeline in {one["id"] for one in json.load(answer)["rows"]}


@pytest.mark.quick
def test_rows_are_chosen_by_key_and_a_deletion_is_taken_back(
    open_page: Open, server: Served, seeded: None
) -> None:
    page = opened(open_page)
    rows = page.locator("#kept-rows tr")
    expect(rows).to_have_count(4)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("x")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("x")
    expect(page.locator("#kept-chosen")).to_contain_text("2 selected")
    expect(page.locator("#kept-filters")).to_be_hidden()
    page.keyboard.press("Delete")
    expect(rows).to_have_count(2)
    expect(page.locator("#toast")).to_contain_text("Deleted 2 rows")
    assert exists(server, "kept-run-2"), "nothing is sent while it can be undone"
    page.keyboard.press("z")
    expect(rows).to_have_count(4)


def test_a_deletion_is_sent_when_the_page_is_left(open_page: Open, server: Served, seeded: None) -> None:
    page = opened(open_page)
    row = page.locator("[data-key='timeline kept-run-0']")
    row.get_by_role("checkbox").check()
    page.get_by_role("button", name="Delete").click()
    expect(row).to_have_count(0)
    page.goto(f"{server.url}/help/")
    until_s = time.monotonic() + 60
    while exists(server, "kept-run-0"):
        assert time.monotonic() < until_s
        time.sleep(0.1)


@pytest.mark.quick
def test_an_import_opens_to_its_worst_groups(open_page: Open, seeded: None) -> None:
    page = opened(open_page, "?source=import&q=deploy")
    expect(page.locator("#kept-rows tr").first).to_contain_text("2 of 7 groups were in trouble")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.locator("tr.inner")).to_have_count(6)
    expect(page.locator("tr.inner").last).to_have_text("2 more groups")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("tr.inner")).to_have_count(0)


def test_two_timelines_are_compared_and_an_import_is_not(open_page: Open, seeded: None) -> None:
    page = opened(open_page)
    page.get_by_label("Select Kept deploy").check()
    expect(page.get_by_role("button", name="Compare")).to_have_attribute("aria-disabled", "true")
    page = opened(open_page, "?source=case-study")
    for number in (0, 1):
        page.locator("#kept-rows").get_by_role("checkbox").nth(number).check()
    expect(page.locator("#kept-chosen")).to_contain_text("2 selected")
    with page.expect_navigation(url="**/compare?runs=*"):
        page.keyboard.press("c")


def test_filters_stand_in_the_address_and_nothing_that_matches_can_be_cleared(
    open_page: Open, seeded: None
) -> None:
    page = opened(open_page, "")
    page.get_by_label("Search timelines").fill("no such thing")
    expect(page.locator("#kept-none")).to_contain_text("Nothing matches.")
    assert page.evaluate("location.search") == "?q=no+such+thing"
    page.reload()
    expect(page.locator("#kept-none")).to_contain_text("Nothing matches.")
    page.get_by_role("button", name="Clear filters").click()
    expect(page.locator("[data-key='import kept-import']")).to_be_visible()
    assert page.evaluate("location.search") == ""
    page.get_by_label("Trouble").select_option("warning")
    expect(page.locator("[data-key='timeline kept-run-1']")).to_be_visible()


def test_a_row_is_renamed_in_its_place(open_page: Open, seeded: None) -> None:
    page = opened(open_page)
    page.get_by_label("Select Kept deploy").check()
    page.get_by_role("button", name="Rename").click()
    page.get_by_label("New name of Kept deploy").fill("Kept outage")
    page.keyboard.press("Enter")
    expect(page.locator("[data-key='import kept-import']")).to_contain_text("Kept outage")
    page.reload()
    expect(page.locator("[data-key='import kept-import']")).to_contain_text("Kept outage")
    page.get_by_label("Select Kept outage").check()
    page.get_by_role("button", name="Rename").click()
    page.get_by_label("New name of Kept outage").fill("Kept deploy")
    page.keyboard.press("Enter")
    expect(page.locator("[data-key='import kept-import']")).to_contain_text("Kept deploy")
