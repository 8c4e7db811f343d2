"""An upgrade rehearsed in the browser: a group taken from an imported log, bounced, played, and two ways side by side."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_access import faults_of
from tests.serving import ROOT, Served

Open = Callable[..., Page]

LINK = "/rehearsal?group=orders-enrich&members=3&topics=foo:6&client=3.8&assignors=range"


@pytest.fixture
def imported(server: Served, tmp_path: Path, spark_can_start: None) -> str:
    """The id of a classic group's timeline, imported from a segment as a broker writes it."""
    segment = tmp_path / "00000000000000000000.log"

    def told(*words: str) -> str:
        command = [sys.executable, "manage.py", *words]
        return subprocess.run(
            command, cwd=ROOT, env=server.environment, check=True, capture_output=True, text=True
        ).stdout

    told("simulate", "kip429-eager", "--format", "segment", "--out", str(segment))
    return str(json.loads(told("import_log", str(segment)))["timelines"][0]["id"])


@pytest.mark.spark
def test_a_group_of_an_imported_log_is_rehearsed_from_its_board(open_page: Open, imported: str) -> None:
    page = open_page(f"/t/{imported}")
    page.locator("#legend > summary").click()
    page.locator("#rehearsal").click()
    expect(page).to_have_url(re.compile(rf"/rehearsal\?timeline={imported}&at=\d+"))
    expect(page.locator("#verdict")).to_contain_text("is upgraded in")
    expect(page.get_by_role("heading", name="Assumed")).to_be_visible()
    ladder = page.locator("#planned table.ladder")
    expect(ladder.locator("thead th").last).to_have_text(re.compile(r"Bounce \d"))
    expect(ladder.locator("tbody tr").filter(has_text="The group").locator("td").first).to_contain_text(
        "classic"
    )
    page.get_by_role("checkbox", name="Static").check()
    page.get_by_role("button", name="Rehearse").click()
    expect(page.locator("#verdict")).to_contain_text("No member stops reading but the one that is bounced")
    assert f"timeline={imported}" in page.url


def test_a_bounce_is_played_on_the_board_from_where_it_begins(open_page: Open) -> None:
    page = open_page(LINK)
    page.locator("#planned").get_by_role("button", name="Bounce 2").press("Enter")
    expect(page).to_have_url(re.compile(r"/t/\w+\?at=\d+"))
    page.wait_for_selector("html[data-alive]")
    expect(page.locator("#board .lane[data-lane=B]")).to_be_visible()


def test_the_way_back_stands_beside_the_documented_way(open_page: Open) -> None:
    page = open_page(LINK)
    page.locator("#back").get_by_role("button", name="Side by side").click()
    expect(page.locator(".run")).to_have_count(2)
    expect(page.locator("#card tbody tr").first).to_contain_text("Partition-seconds lost")


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_the_page_has_no_fault_that_axe_finds_and_does_not_scroll_sideways(
    open_page: Open, axe: str, width: int, scheme: str
) -> None:
    page = open_page(
        f"{LINK}&migration_policy=disabled",
        viewport={"width": width, "height": 844},
        color_scheme=scheme,
        bypass_csp=True,
    )
    expect(page.locator("#planned .outcome")).to_have_text("Refused")
    assert faults_of(page, axe) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.quick
def test_the_plan_is_downloaded(open_page: Open, tmp_path: Path) -> None:
    page = open_page(LINK)
    with page.expect_download() as started:
        page.get_by_role("link", name="Export the plan").click()
    started.value.save_as(tmp_path / "plan.md")
    assert started.value.suggested_filename == "upgrade-plan.md"
    assert (tmp_path / "plan.md").read_text().startswith("# Upgrade plan: orders-enrich")
