"""The line of committed offsets: it rises while somebody reads a partition, and is flat while its reader's process is dead."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.large import store
from tests.serving import ROOT, Served

Open = Callable[..., Page]

READ_AND_KILLED: dict[str, Any] = {
    "name": "a reader that is killed",
    "semantics": "kafka",
    "topics": {"orders": {"partitions": 2}},
    "config": {"session_timeout_ms": 20000, "heartbeat_interval_ms": 2000},
    "members": {
        name: {"subscribe": ["orders"], "auto_commit": True, "auto_commit_interval_ms": 1000} for name in "ab"
    },
    "script": [{"at": "0s", "join": "a"}, {"at": "1s", "join": "b"}, {"at": "20s", "kill": "b"}],
    "until": "60s",
}


@pytest.fixture(scope="module")
def timeline(server: Served) -> str:
    return store(server, READ_AND_KILLED)


def rises(page: Page, at: int) -> int:
    """How often the line under a span rises."""
    return str(page.locator("#tracks path.commits").nth(at).get_attribute("d")).count("v-3v3")


def test_the_line_under_a_span_rises_while_it_is_read_and_stays_flat_when_its_reader_was_killed(
    open_page: Open, timeline: str
) -> None:
    page = open_page(f"/t/{timeline}")
    expect(page.locator("#commits-key")).to_be_visible()
    expect(page.locator("#tracks path.commits").first).to_be_attached()
    longest = max(rises(page, at) for at in range(page.locator("#tracks path.commits").count()))
    assert longest > 20


def test_the_card_of_a_partition_draws_what_was_committed_and_says_how_long_it_was_flat(
    open_page: Open, timeline: str
) -> None:
    page = open_page(f"/t/{timeline}")
    for key in ("orders-0", "orders-1"):
        page.locator(f"#board .chip[data-key={key}]").first.click()
        figure = page.locator("#partition figure.committed")
        expect(figure).to_contain_text(f"Committed offset of {key}")
        says = figure.locator("svg").get_attribute("aria-label")
        assert "The offset did not move for" in str(says)
    page.keyboard.press("Escape")
    expect(page.locator("#partition")).to_be_hidden()


def test_a_timeline_without_commits_has_neither_line_nor_legend(open_page: Open) -> None:
    page = open_page("/t/kip848-basic?at=999999")
    expect(page.locator("#tracks .span").first).to_be_attached()
    expect(page.locator("#commits-key")).to_be_hidden()
    page.locator("#board .chip").first.click()
    expect(page.locator("#partition")).to_be_visible()
    expect(page.locator("#partition figure.committed")).to_have_count(0)


@pytest.mark.quick
def test_a_stretch_of_commits_of_a_followed_group_is_one_moment_with_its_partitions(
    open_page: Open, server: Served, fetch: Callable[[str], Any]
) -> None:
    command = [sys.executable, "-m", "tests.browser.seed", "commits"]
    made = subprocess.run(
        command, cwd=ROOT, env=server.environment, check=True, capture_output=True, text=True
    ).stdout
    page = open_page(f"/t/{made}?at=999999")
    says = page.locator("#log .ev").last
    expect(says).to_contain_text("commits of 3 partitions in")
    details = page.locator("#details")
    expect(details).to_contain_text("OffsetCommit,")
    expect(details.get_by_role("row", name="foo-2")).to_contain_text("commits")
    page.get_by_role("button", name="Records").click()
    expect(details.get_by_role("row", name="foo-2")).to_contain_text("to 59900")
    entries = fetch(f"/api/timelines/{made}/entries?from=1")["entries"]
    page = open_page(
        f"/t/{made}?at={next(each['sequence'] for each in entries if each['kind'] == 'commits')}"
    )
    details = page.locator("#details")
    expect(details).to_contain_text("were thinned: the first and the last of each partition are left")
    page.locator("#board .chip[data-key=foo-2]").first.click()
    expect(page.locator("#partition figure.committed")).to_contain_text("Committed offset of foo-2")
