"""Text that is pasted on the first page becomes a timeline, which says that it is inferred."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

pytestmark = pytest.mark.browser

BROKER = Path(__file__).resolve().parent.parent / "wire" / "fixtures" / "pasted" / "broker.txt.gz"


def test_lines_of_a_log_that_are_pasted_become_a_timeline_that_is_inferred(
    open_page: Callable[..., Page],
) -> None:
    page = open_page("/")
    page.locator("#pasted").fill(gzip.decompress(BROKER.read_bytes()).decode())
    page.locator("#read").click()

    page.wait_for_url(re.compile(r"/import/"), timeout=60_000)
    expect(page.locator("body")).to_contain_text("lines of logs", timeout=60_000)
    page.get_by_role("link", name=re.compile("checkout")).first.click(timeout=60_000)
    expect(page.locator("body")).to_contain_text("Inferred", timeout=60_000)
    expect(page.locator("body")).to_contain_text("cart-c")


def test_a_path_that_is_pasted_is_named_and_nothing_promises_what_does_not_come(
    open_page: Callable[..., Page],
) -> None:
    page = open_page("/")
    page.locator("#pasted").fill("/var/lib/kafka/__consumer_offsets-3")
    page.locator("#read").click()

    page.wait_for_url(re.compile(r"/import/"), timeout=60_000)
    expect(page.locator("#banners")).to_contain_text(
        "only the path /var/lib/kafka/__consumer_offsets-3", timeout=60_000
    )
    for part in ("#progress-fold", "#troubles"):
        expect(page.locator(part)).to_be_hidden()
    again = page.get_by_role("button", name="Read the files again")
    assert again.evaluate("node => getComputedStyle(node).color !== getComputedStyle(node).backgroundColor")


def test_the_import_page_names_the_partition_of_a_group_and_what_copies_it(
    open_page: Callable[..., Page],
) -> None:
    page = open_page("/import", viewport={"width": 390, "height": 844})
    page.locator("#of-group").fill("checkout")
    page.locator("#of-partitions").fill("4")

    expect(page.locator("#of-command")).to_have_text(re.compile(r"tar .*__consumer_offsets-2$"))
    expect(page.locator("#of-copy")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
