"""A whole segment dropped on the import page: progress moves, the list stands, a group opens.

``IMPORT_RECORDS`` sets its size: 12 MB by default, 120 MB (930,000) as the benchmarks run it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.benchmarks.generated.mixes import typical

pytestmark = [pytest.mark.spark, pytest.mark.once]

Open = Callable[..., Page]

RECORDS = int(os.environ.get("IMPORT_RECORDS") or 93_000)
PATIENCE_MS = 240_000
"""Spark's first start on a busy machine, and the import."""


@pytest.fixture(scope="module")
def segment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return typical(tmp_path_factory.mktemp("segment"), RECORDS, segment_bytes=None).files[0]


def test_a_dropped_segment_becomes_groups_that_open(
    open_page: Open, segment: Path, spark_can_start: None
) -> None:
    page = open_page("/import/")
    page.locator("#files").set_input_files(str(segment))
    expect(page.locator("#chosen")).to_contain_text("MB")
    page.get_by_role("button", name="Import", exact=True).click()

    reading = page.locator('[role="progressbar"][aria-label="Read"]')
    expect(reading).to_be_attached(timeout=PATIENCE_MS)
    expect(page.locator("#stage-facts")).to_contain_text("found", timeout=PATIENCE_MS)
    expect(page.locator("#stage")).to_have_text("Done", timeout=PATIENCE_MS)
    expect(reading).to_have_attribute("aria-valuenow", "100")
    expect(page.locator("#stage-facts")).to_contain_text("groups found")
    expect(page.locator("#says")).to_contain_text("groups in")

    expect(page.locator("#sources")).to_be_hidden()
    page.locator("#troubles-all").click()
    page.get_by_label("Search groups").fill("service-")
    first = page.locator("#troubles-rows a").first
    name = first.inner_text()
    first.click()

    expect(page.locator("#board")).to_be_visible()
    expect(page.locator("body")).to_contain_text(name)
    expect(page.locator("#board")).to_contain_text("consumer")


def test_an_import_is_cancelled_and_leaves_nothing(
    open_page: Open, segment: Path, spark_can_start: None
) -> None:
    page = open_page("/import/")
    page.locator("#files").set_input_files(str(segment))
    page.get_by_role("button", name="Import", exact=True).click()
    page.get_by_role("button", name="Cancel").click(timeout=PATIENCE_MS)

    expect(page.locator("#stage")).to_have_text("Cancelled", timeout=PATIENCE_MS)
    expect(page.locator("#banners")).to_contain_text("Nothing of it was kept")
    expect(page.locator("#troubles-rows .tr")).to_have_count(0)
