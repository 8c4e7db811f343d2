"""What happens to committed offsets is marked on the board, and the page says what to do about it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.serving import ROOT, Served

Open = Callable[..., Page]

LAST = 999_999
"""Beyond the end: the page opens at the last entry."""


@pytest.fixture(scope="module")
def held(server: Served) -> str:
    """The address of a timeline in which a transaction holds foo-2 from its tenth second on."""
    command = [sys.executable, "-m", "tests.browser.seed", "held"]
    seeded = subprocess.run(
        command, cwd=ROOT, env=server.environment, check=True, capture_output=True, text=True
    )
    return f"/t/{seeded.stdout}"


def test_an_open_transaction_is_marked_up_to_the_end_and_has_advice(open_page: Open, held: str) -> None:
    page = open_page(f"{held}?at={LAST}")
    expect(page.locator("#board .chip[data-key=foo-2] + .cap")).to_have_text("open transaction")
    expect(page.locator("#gap")).to_contain_text("foo-2: held by producer 4001 in an open transaction for")
    page.locator("#patterns > summary").click()
    advice = page.locator("#patterns .pattern").first
    expect(advice).to_contain_text("Producer 4001 has held foo-2")
    expect(advice).to_contain_text("Usual causes:")
    expect(advice).to_contain_text("kafka-transactions.sh abort --topic __consumer_offsets --partition 7")
    page.keyboard.press("Home")
    expect(page.locator("#gap")).not_to_contain_text("open transaction")


def test_names_stay_on_a_small_board(open_page: Open, held: str) -> None:
    page = open_page(f"{held}?at={LAST}", viewport={"width": 390, "height": 844})
    for name in page.locator("#board .lane .lead .id").all():
        expect(name).to_be_visible()
    expect(page.locator("#board .lane .lead .id").first).to_be_visible()
