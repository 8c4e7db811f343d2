"""Two people look at one timeline together, in two browsers, on a server with accounts that is restarted meanwhile."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.board import becomes
from tests.browser.conftest import DESK, PASSWORD
from tests.serving import ROOT, Served, served

STUDY = "/t/released-six-partitions"
STEP = "rebalanceExplorer.timeline.rest.sequence"


def signed_in(browser: Browser, server: Served, name: str) -> Page:
    page = browser.new_context(viewport=DESK).new_page()
    page.set_default_timeout(60_000)
    page.goto(f"{server.url}/sign-in?next={STUDY}")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_selector("html[data-alive=true]")
    return page


def goes_along(page: Page, other: Page) -> None:
    """Until one is where the other one is."""
    at = page.evaluate(STEP)
    becomes(other, f"{STEP} === {at}")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "team"


@pytest.mark.once
def test_two_browsers_follow_each_other_through_a_restart_of_the_server(
    browser: Browser, folder: Path
) -> None:
    with ExitStack() as pages:
        with served(folder, LOGIN="password") as server:
            for name in ("ada", "vera"):
                subprocess.run(
                    [sys.executable, "manage.py", "createsuperuser", "--noinput", "--username", name, "--email", f"{name}@example.org"],
                    cwd=ROOT, env=server.environment | {"DJANGO_SUPERUSER_PASSWORD": PASSWORD}, check=True, capture_output=True,
                )  # fmt: skip
            ada, vera = (signed_in(browser, server, name) for name in ("ada", "vera"))
            for page in (ada, vera):
                pages.callback(page.context.close)
                page.on("dialog", lambda one: one.accept())
            of_ada, of_vera = (page.get_by_role("region", name="Looking together") for page in (ada, vera))
            # A note appears in the other window, and a reply in the first one.
            for page in (ada, vera):
                page.locator("#notes-panel summary").first.click()
            notes = [page.locator("#notes") for page in (ada, vera)]
            for page in notes:
                expect(page.get_by_role("button", name="Send")).to_be_visible()
            notes[0].get_by_role("textbox").fill("Is this <b>ours</b>, @vera? It is slow.")
            notes[0].get_by_label("Kind").select_option("question")
            notes[0].get_by_role("button", name="Send").click()
            expect(notes[1]).to_contain_text("Is this <b>ours</b>, @vera?")
            expect(notes[1].locator("b", has_text="@vera")).to_be_visible()
            notes[1].get_by_role("button", name="Reply").click()
            notes[1].get_by_role("textbox").fill("Ours.")
            notes[1].get_by_role("button", name="Send").click()
            expect(notes[0].locator(".reply")).to_contain_text("Ours.")
            expect(vera.locator("#notes-count")).to_have_text("2")
            for page in (ada, vera):
                expect(page.locator("#tracks .pin text")).to_have_text("1")
            # Each knows of the other without having asked.
            expect(ada.locator("#together-open")).to_have_attribute("title", "Also here: vera")
            ada.locator("#together-open").click()
            of_ada.get_by_role("button", name="Present").click()
            vera.get_by_role("button", name="Follow ada").click()
            expect(of_vera).to_contain_text("You follow ada")
            expect(of_ada).to_contain_text("vera follows")
            # What is read in a dialog ends nothing, and the focus stays where something was pressed.
            vera.get_by_role("button", name="Keys").click()
            expect(vera.locator("#help")).to_be_visible()
            vera.keyboard.press("Escape")
            expect(vera.locator("#help")).not_to_be_visible()
            expect(of_vera).to_contain_text("You follow ada")
            of_vera.get_by_role("button", name="Stop following").press("Enter")
            expect(of_vera).to_be_focused()
            of_vera.get_by_role("button", name="Follow").press("Enter")
            expect(of_vera).to_be_focused()
            vera.keyboard.press("Escape")
            expect(of_vera).to_contain_text("ada presents")
            of_vera.get_by_role("button", name="Follow").click()
            expect(of_vera).to_contain_text("You follow ada")
            # So does any step of one's own, wherever it is pressed.
            vera.locator("#headline a").last.dispatch_event("click")
            expect(of_vera).to_contain_text("ada presents")
            of_vera.get_by_role("button", name="Follow").click()
            for key in ("End", "Home", "Shift+ArrowRight", "m", "ArrowRight", "ArrowRight", "m"):
                ada.keyboard.press(key)
                ada.wait_for_timeout(150)
            goes_along(ada, vera)
            # The range, too, in words and in the address.
            says = "#range-panel [role=status]"
            expect(ada.locator(says)).to_contain_text(" to ")
            expect(vera.locator(says)).to_have_text(ada.locator(says).inner_text())
            becomes(vera, "location.search.includes('range=')")
            # Where the presenter points.
            ada.locator("#tracks").hover(position={"x": 400, "y": 60})
            expect(vera.locator("#tracks .pointer")).to_have_text("ada")
            ada.locator("h1.gid").hover()
            expect(vera.locator("#tracks .pointer")).to_have_count(0)
        expect(of_vera).to_contain_text("no message at the moment")
        ada.keyboard.press("ArrowRight")
        port = server.url.rpartition(":")[2]
        again = [sys.executable, "manage.py", "serve", "--port", port]
        with served(folder, again, LOGIN="password") as server:
            assert server.url.endswith(port)
            goes_along(ada, vera)
            expect(of_vera).not_to_contain_text("no message")
            # Writing a note while one follows ends nothing; an edit is kept, and in what is shared if wanted.
            notes[1].get_by_role("button", name="Edit").last.click()
            notes[1].get_by_role("textbox").fill("Ours, since May.")
            notes[1].get_by_role("button", name="Send").click()
            expect(notes[0].locator(".reply")).to_contain_text("Ours, since May.")
            expect(notes[0].locator(".reply details")).to_contain_text("edited")
            expect(of_vera).to_contain_text("You follow ada")
            ada.locator("#share-open").click()
            ada.get_by_label("Notes", exact=True).check()
            ada.get_by_role("button", name="Make a link").click()
            link = ada.context.new_page()
            link.goto(ada.locator("#share code").first.inner_text())
            shared = link.get_by_role("region", name="Notes")
            expect(shared).to_contain_text("Ours, since May.")
            expect(shared).to_contain_text("@person-2")
            expect(shared).not_to_contain_text("vera")
            expect(link.locator("#tracks .pin text")).to_have_text("1")
            link.close()
            ada.keyboard.press("Escape")
            # A step of one's own ends it.
            vera.keyboard.press("ArrowRight")
            expect(of_vera).to_contain_text("ada presents")
            expect(of_ada).not_to_contain_text("follows")
            ada.keyboard.press("ArrowLeft")
            vera.wait_for_timeout(1000)
            assert vera.evaluate(STEP) != ada.evaluate(STEP)
            # Whoever went on alone is not taken along by the next one who presents.
            of_vera.get_by_role("button", name="Follow").click()
            of_ada.get_by_role("button", name="Stop presenting").click()
            expect(of_vera).to_contain_text("Nobody presents")
            vera.keyboard.press("ArrowRight")
            of_ada.get_by_role("button", name="Present").click()
            expect(of_vera).to_contain_text("ada presents")
            of_vera.get_by_role("button", name="Take over").click()
            expect(of_ada).to_contain_text("You follow vera")
            goes_along(vera, ada)
            of_vera.get_by_label("Hand over to").select_option("ada")
            expect(of_vera).to_contain_text("You follow ada")
            expect(of_ada).to_contain_text("You present")
            vera.keyboard.press("Escape")
            expect(of_vera).to_contain_text("ada presents")
