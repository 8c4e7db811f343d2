"""A team's processes as the docs start them, behind nginx with TLS: an admin signs in, imports, writes a note, shares, and a stranger reads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from groups.places import ROOT
from tests.browser.test_sharing import shared
from tests.services.servers import temporary_folder
from tests.services.team import Address, team

pytestmark = [pytest.mark.services, pytest.mark.once, pytest.mark.long]

SAMPLE = ROOT / "groups" / "samples" / "orders-enrich"


@pytest.fixture
def address() -> Iterator[Address]:
    with temporary_folder() as folder, team(folder) as started:
        yield started


def test_a_team_that_follows_the_docs_signs_in_imports_writes_a_note_and_shares_with_a_stranger(
    browser: Browser, address: Address
) -> None:
    ours, theirs = (browser.new_context(ignore_https_errors=True) for _ in range(2))
    with ours, theirs:
        page = ours.new_page()
        page.goto(f"{address.url}/import/")
        page.get_by_label("Name").fill(address.name)
        page.get_by_label("Password").fill(address.password)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_url(f"{address.url}/import/")
        page.locator("#files").set_input_files([str(path) for path in SAMPLE.rglob("*.log")])
        page.get_by_role("button", name="Import", exact=True).click()
        expect(page.locator("#stage")).to_have_text("Done")
        page.locator("#troubles-all").click()
        page.locator("#troubles-rows a").first.click()
        page.wait_for_selector("html[data-alive]")
        group = page.locator("h1.gid").inner_text()
        page.locator("#notes-panel summary").first.click()
        page.locator("#notes").get_by_role("textbox").fill("Is 60 s ours?")
        page.locator("#notes").get_by_role("button", name="Send").click()
        expect(page.locator("#notes li")).to_contain_text("Is 60 s ours?")
        page.locator("#share-notes").evaluate("box => { box.checked = true; }")
        link = shared(page, hide=False)

        stranger = theirs.new_page()
        stranger.goto(link)
        expect(stranger.locator("h1.gid")).to_have_text(group)
        expect(stranger.get_by_role("region", name="Notes")).to_contain_text("Is 60 s ours?")
        stranger.goto(f"{address.url}/timelines")
        expect(stranger.get_by_role("heading", name="Sign in")).to_be_visible()
