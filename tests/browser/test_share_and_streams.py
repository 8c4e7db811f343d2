"""Share groups and streams groups on the board: its grammar where it fits, words where it does not."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.serving import ROOT, Served

Open = Callable[..., Page]


@pytest.fixture
def seeded(server: Served) -> Callable[[str], str]:
    """Stores the log of a group of a protocol, and gives the id of its timeline."""

    def seed(protocol: str) -> str:
        command = [sys.executable, "-m", "tests.browser.seed", protocol]
        return subprocess.run(
            command, cwd=ROOT, env=server.environment, check=True, capture_output=True, text=True
        ).stdout

    return seed


def test_a_partition_of_a_share_group_stands_in_the_lane_of_each_of_its_readers(
    open_page: Open, seeded: Callable[[str], str]
) -> None:
    page = open_page(f"/t/{seeded('share')}?at=16")

    shared = page.locator("#board .chip[data-key$='-1']")
    expect(shared).to_have_count(2)
    for lane in ("A", "B"):
        chip = page.locator(f"#board .lane[data-lane={lane}] .chip[data-key$='-1']")
        expect(chip).to_have_attribute("data-mode", "own")
        expect(chip).to_have_attribute("aria-label", "foo-1: shared by A and B")
    expect(page.locator("#board .chip.twice")).to_have_count(0)
    expect(page.locator("#board")).to_contain_text("No reader")

    shared.first.click()
    expect(page.get_by_text("Readers of foo-1")).to_be_visible()


def test_tasks_of_a_streams_group_are_written_as_such_and_standbys_stand_in_the_note(
    open_page: Open, seeded: Callable[[str], str]
) -> None:
    page = open_page(f"/t/{seeded('streams')}?at=12")

    assert page.locator("#board .lane[data-lane=A] .chip").all_inner_texts() == ["0_0", "0_1"]
    expect(page.locator("#board .lane[data-lane=B] .note")).to_contain_text("Standby of 0_0")
    expect(page.locator("#board .lane[data-lane=B] .st")).to_have_text("Waiting for 0_1")
    expect(page.locator("#epochs")).to_contain_text("topology 0")
