from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.serving import ROOT, Served
from tests.stories import TOPIC_ID

Open = Callable[..., Page]


@pytest.fixture
def nameless(server: Served) -> str:
    """The id of a timeline whose two topics have ids and no names."""
    command = [sys.executable, "-m", "tests.browser.seed"]
    return subprocess.run(
        command, cwd=ROOT, env=server.environment, check=True, capture_output=True, text=True
    ).stdout


def test_a_topic_id_can_be_named_and_the_name_be_taken_back(open_page: Open, nameless: str) -> None:
    page = open_page(f"/t/{nameless}?at=5")
    form = page.locator("form", has_text=TOPIC_ID)
    form.get_by_role("textbox").fill("payments")
    form.get_by_role("button", name="Use this name").click()
    expect(page.get_by_role("button", name="payments-0: owned by A")).to_be_visible()
    expect(page.locator("#now")).to_contain_text("payments-0")
    assert "at=5" in page.url
    page.get_by_role("button", name="Take it back").click()
    expect(page.get_by_role("button", name="payments-0: owned by A")).to_have_count(0)
    expect(page.locator("form", has_text=TOPIC_ID)).to_be_visible()


def test_several_topics_are_told_apart_by_a_shape(open_page: Open, nameless: str) -> None:
    page = open_page(f"/t/{nameless}?at=10")
    shapes = set(page.locator("#board .chip .shape").all_inner_texts())
    assert shapes == {"●", "■"}
