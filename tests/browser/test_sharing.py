"""Sharing in the browser: the dialog, a link in somebody else's browser, and what is seen when it is withdrawn."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.board import becomes
from tests.browser.elsewhere import wiki_server
from tests.browser.seeded import sweep_in
from tests.browser.test_access import faults_of
from tests.serving import Served

STUDY = "incident-slow-revocation"
AT = f"/t/{STUDY}?at=60&view=investigator"
Open = Callable[..., Page]


@pytest.fixture
def somebody(browser: Browser, server: Served) -> Iterator[Callable[..., Page]]:
    """Another person's browser, without the server's token; its pages ask nothing but what links lead to."""
    contexts = []
    asked: list[str] = []

    def open_(url: str, **options: Any) -> Page:
        context = browser.new_context(**({"viewport": {"width": 1440, "height": 900}} | options))
        contexts.append(context)
        context.on("request", lambda request: asked.append(request.url))
        page = context.new_page()
        page.goto(url)
        return page

    yield open_
    for context in contexts:
        context.close()
    own = re.compile(rf"(data:|{re.escape(server.url)}/s/)")
    assert [url for url in asked if not own.match(url)] == []


def shared(page: Page, *, hide: bool = True, view: str = "Reader") -> str:
    """Makes a link as a user does; its address."""
    page.get_by_role("button", name="Share").click()
    page.get_by_role("radio", name=view).check()
    page.get_by_label("Hide names").set_checked(hide)
    page.get_by_role("button", name="Make a link").click()
    address = page.locator("#share-says code").first
    expect(address).to_be_visible()
    return address.inner_text()


def test_a_link_plays_in_somebody_elses_browser_at_the_moment_and_without_names(
    open_page: Open, somebody: Callable[..., Page]
) -> None:
    page = open_page(AT)
    link = shared(page)
    expect(page.locator("#share-names")).to_contain_text("payments")
    names = {row.locator("td").nth(1).inner_text(): row.locator("td").nth(2).inner_text() for row in page.locator("#share-names tbody tr").all()}  # fmt: skip
    assert names["payments"] == "topic-1"
    assert set(names) >= {STUDY, "payments", "A", "B", "C", "/10.0.0.1"}
    step = page.locator("#step").inner_text()
    theirs = somebody(link)
    theirs.wait_for_selector("html[data-alive]")
    assert "/s/open/" in theirs.url
    assert link.split("/s/")[1].split("?")[0] not in theirs.url
    expect(theirs.locator("#step")).to_have_text(step)
    expect(theirs.locator("h1.gid")).to_have_text("group-1")
    seen = theirs.locator("body").inner_text()
    assert "payments" not in seen
    assert STUDY not in seen
    theirs.keyboard.press("ArrowRight")
    becomes(theirs, f"document.querySelector('#step').textContent !== '{step}'")
    expect(theirs.get_by_role("button", name="Investigator")).to_be_hidden()
    # A moment that another import had, and this one has not.
    gone = somebody(f"{link.partition('?')[0]}?at=99999")
    expect(gone.locator("[data-banner=moment]")).to_contain_text("entry 99,999, is not here")


def test_a_link_that_is_withdrawn_while_it_plays_ends_politely(
    open_page: Open, somebody: Callable[..., Page]
) -> None:
    page = open_page(AT)
    link = shared(page, hide=False, view="Investigator")
    theirs = somebody(link)
    theirs.wait_for_selector("html[data-alive]")
    theirs.keyboard.press("Space")
    page.locator("#share-links").get_by_role("button", name=re.compile("Withdraw")).first.click()
    expect(page.locator("#share-links li").first).to_contain_text("withdrawn")
    expect(theirs.get_by_role("alert")).to_contain_text("This link has ended")
    assert theirs.locator("#board").count() == 0
    assert theirs.locator("script").count() == 0
    theirs.goto(link)
    expect(theirs.locator("main")).to_contain_text("does not open anything, or does not any more")


@pytest.mark.quick
def test_one_file_and_data_are_downloaded_from_the_dialog(open_page: Open, tmp_path: Path) -> None:
    page = open_page(AT)
    page.get_by_role("button", name="Share").click()
    with page.expect_download() as downloading:
        page.get_by_role("button", name="One HTML file").click()
    assert re.fullmatch(r"incident-[a-z2-7]{10}\.html", downloading.value.suggested_filename)
    downloading.value.save_as(tmp_path / "incident.html")
    assert "payments" not in re.sub(r"<script>.*?</script>", "", (tmp_path / "incident.html").read_text(), flags=re.DOTALL)  # fmt: skip
    page.get_by_label("Hide names").uncheck()
    with page.expect_download() as downloading:
        page.get_by_role("button", name="Data file").click()
    assert downloading.value.suggested_filename == f"timeline-{STUDY}.jsonl.gz"


def test_the_dialog_is_worked_by_keys_and_says_what_is_wrong(open_page: Open) -> None:
    page = open_page(AT)
    page.locator("#share-open").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#share")).to_be_visible()
    page.locator(".share-embed summary").click()
    page.get_by_label("Origin of that page").fill("wiki")
    page.get_by_role("button", name="Make a link").click()
    expect(page.locator("#share-says .bad")).to_contain_text("up to the first path: https://wiki.example")
    page.keyboard.press("Escape")
    expect(page.locator("#share")).to_be_hidden()


def test_a_group_of_the_laboratory_is_shared_and_read_by_somebody_else(
    open_page: Open, somebody: Callable[..., Page], axe: str
) -> None:
    page = open_page(f"/laboratory?timeline={STUDY}&at=60")
    page.keyboard.press("3")
    page.get_by_role("button", name="Share").click()
    page.get_by_role("button", name="Make a link").click()
    address = page.locator("#share-says code")
    expect(address).to_be_visible()
    assert faults_of(page, axe) == []
    for width, scheme in ((390, "dark"), (1440, "light")):
        theirs = somebody(address.inner_text(), viewport={"width": width, "height": 844}, color_scheme=scheme, bypass_csp=True)  # fmt: skip
        theirs.wait_for_selector("html[data-alive]")
        expect(theirs.locator("#b3")).to_have_attribute("aria-current", "true")
        assert "payments" not in theirs.locator("body").inner_text()
        theirs.keyboard.press("6")
        expect(theirs.locator("#steps-title")).to_have_text("How uniform got there")
        place = theirs.locator("#steps-place").inner_text()
        theirs.keyboard.press("ArrowRight")
        expect(theirs.locator("#steps-place")).not_to_have_text(place)
        assert theirs.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert faults_of(theirs, axe) == []
    page.locator("#share-links").get_by_role("button", name=re.compile("Withdraw")).first.click()
    expect(theirs.get_by_role("alert")).to_contain_text("This link has ended")


def test_a_seed_of_a_sweeps_cell_is_shared_from_its_page_and_ends_politely(
    open_page: Open, server: Served, somebody: Callable[..., Page], axe: str
) -> None:
    page = open_page(f"/sweeps/{sweep_in(server, 'whole')}?cell=13", bypass_csp=True)
    page.get_by_role("button", name="Share this seed").click()
    title = page.locator("#share-moment").inner_text()
    page.get_by_role("button", name="Make a link").click()
    address = page.locator("#share-says code")
    expect(address).to_be_visible()
    expect(page.locator("#share-links li").first).to_contain_text("never opened")
    assert faults_of(page, axe) == []
    theirs = somebody(address.inner_text())
    theirs.wait_for_selector("html[data-alive]")
    # What all seeds of the cell come to, and this one with its steps; nothing can be changed.
    expect(theirs.locator("#of-cell")).to_contain_text(title.rpartition("seed ")[2])
    expect(theirs.locator("#b2")).to_have_attribute("aria-current", "true")
    theirs.keyboard.press("4")
    expect(theirs.locator("#b4")).to_have_attribute("aria-current", "true")
    assert theirs.get_by_role("button", name="One member more").count() == 0
    theirs.reload()
    expect(theirs.locator("#b4")).to_have_attribute("aria-current", "true")
    page.locator("#share-links").get_by_role("button", name=re.compile("Withdraw")).first.click()
    expect(page.locator("#share-links li").first).to_contain_text("withdrawn")
    expect(theirs.get_by_role("alert")).to_contain_text("This link has ended")
    assert theirs.locator("#b4").count() == 0
    theirs.goto(address.inner_text())
    expect(theirs.locator("main")).to_contain_text("does not open anything, or does not any more")


@pytest.fixture
def wiki() -> Iterator[tuple[int, dict[str, str]]]:
    with wiki_server() as running:
        yield running


def test_a_page_that_was_named_may_frame_it_and_no_other(
    open_page: Open, browser: Browser, wiki: tuple[int, dict[str, str]]
) -> None:
    port, shown = wiki
    page = open_page(AT)
    page.get_by_role("button", name="Share").click()
    page.locator(".share-embed summary").click()
    page.get_by_label("Origin of that page").fill(f"http://localhost:{port}")
    page.get_by_role("button", name="Make a link").click()
    expect(page.locator("#share-says code")).to_have_count(2)
    shown["body"] = page.locator("#share-says code").nth(1).inner_text()
    assert shown["body"].startswith("<iframe")
    context = browser.new_context()
    named = context.new_page()
    named.goto(f"http://localhost:{port}/")
    expect(named.frame_locator("iframe").locator("#board .chip").first).to_be_visible()
    other = context.new_page()
    refused: list[str] = []
    other.on("console", lambda said: refused.append(said.text))
    other.goto(f"http://127.0.0.1:{port}/")
    until_s = time.monotonic() + 20
    while not any("frame-ancestors" in said for said in refused):
        assert time.monotonic() < until_s, refused
        other.wait_for_timeout(50)
    expect(other.frame_locator("iframe").locator("#board")).to_have_count(0)
    context.close()


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_dialog_and_a_shared_page_have_no_fault_that_axe_finds(
    open_page: Open, somebody: Callable[..., Page], axe: str, width: int, scheme: str
) -> None:
    options = {"viewport": {"width": width, "height": 844}, "color_scheme": scheme, "bypass_csp": True}
    page = open_page(AT, **options)
    link = shared(page)
    assert faults_of(page, axe) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    theirs = somebody(link, **options)
    theirs.wait_for_selector("html[data-alive]")
    assert theirs.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert faults_of(theirs, axe) == []
