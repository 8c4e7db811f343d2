"""The one file: it plays from a ``file:`` address with no network, as the page on the server does, and says if it was changed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser import large
from tests.browser.board import Fetch, becomes, chips, frame_of, partitions_of
from tests.browser.firefox import firefox
from tests.browser.test_access import faults_of
from tests.serving import ROOT, Served

STUDY = "incident-slow-revocation"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("files")


def export(server: Served, timeline: str, to: Path, *options: str) -> Path:
    """As a user does it."""
    done = subprocess.run(
        [sys.executable, "manage.py", "timeline", "export", timeline, "--out", str(to), *options],
        cwd=ROOT,
        env=server.environment,
        check=True,
        capture_output=True,
    )
    assert json.loads(done.stdout)["bytes"] == to.stat().st_size
    return to


@pytest.fixture(scope="module")
def study(server: Served, folder: Path) -> Path:
    return export(server, STUDY, folder / "study.html")


@pytest.fixture
def open_file(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens a file with the network off; nothing may be asked for but the file."""
    contexts = []
    asked: list[str] = []
    complaints: list[str] = []

    def open_(file: Path, *, complains: bool = False, **options: Any) -> Page:
        context = browser.new_context(**({"viewport": {"width": 1440, "height": 900}} | options))
        contexts.append(context)
        context.set_offline(True)
        context.on("request", lambda request: asked.append(request.url))
        page = context.new_page()
        if not complains:
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.goto(file.as_uri())
        return page

    yield open_
    for context in contexts:
        context.close()
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert complaints == []


def alive(page: Page) -> Page:
    page.wait_for_selector("html[data-alive]")
    return page


def test_it_plays_as_the_page_does(study: Path, open_file: Callable[..., Page], fetch: Fetch) -> None:
    page = alive(open_file(study))
    steps = int(page.locator("#steps").inner_text())
    for step in range(1, steps + 1):
        page.keyboard.press("ArrowRight")
        expect(page.locator("#step")).to_have_text(str(step))
        shown = frame_of(page)
        assert shown == fetch(f"/api/timelines/{STUDY}/frame?at={shown['sequence']}")
        assert chips(page) == partitions_of(shown)
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    expect(page.locator("#play-word")).to_have_text("Pause")
    becomes(page, "Number(document.querySelector('#step').textContent) > 0")


def test_n_goes_from_problem_to_problem_as_on_the_page(
    study: Path, open_file: Callable[..., Page], fetch: Fetch
) -> None:
    troubles = fetch(f"/api/timelines/{STUDY}")["troubles"]
    assert troubles
    page = alive(open_file(study))
    page.keyboard.press("Home")
    for number, trouble in enumerate(troubles, 1):
        page.keyboard.press("n")
        expect(page.locator("#toast")).to_contain_text(
            f"Problem {number} of {len(troubles)}: {trouble['says'][:20]}"
        )
    page.keyboard.press("n")
    expect(page.locator("#toast")).to_have_text("No problem after this moment")


def test_details_findings_and_text_are_in_it(
    study: Path, open_file: Callable[..., Page], fetch: Fetch
) -> None:
    page = alive(open_file(study))
    page.get_by_role("button", name="Investigator").click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#details")).to_contain_text("ConsumerGroupHeartbeat request")
    verdict = fetch(f"/api/timelines/{STUDY}")["summary"]["verdict"]
    plain = " ".join(page.locator("#headline").inner_text().split())
    assert plain == " ".join(verdict["headline"]["text"].split())
    page.emulate_media(media="print")
    expect(page.locator(".as-text li").first).to_be_visible()
    expect(page.locator(".transport")).to_be_hidden()
    expect(page.locator("#verdict")).to_be_visible()
    plain = " ".join(page.locator("#verdict").inner_text().split())
    assert plain == " ".join(verdict["text"].split())


def test_epochs_metrics_and_bytes_are_in_it(
    study: Path, open_file: Callable[..., Page], open_page: Callable[..., Page]
) -> None:
    page, servers = alive(open_file(study)), open_page(f"/t/{STUDY}?at=60&view=investigator")
    page.goto(f"{study.as_uri()}?at=60&view=investigator")
    for one in (page, servers):
        one.locator("#metrics-panel summary").click()
        expect(one.locator("#metrics")).to_have_attribute("data-sequence", re.compile(r"\d+"))
        one.get_by_role("button", name="Records").click()
        one.get_by_role("button", name="Show bytes").first.click()
        expect(one.locator(".inplace").first).to_contain_text("memberEpoch")
    assert page.locator("#metrics").inner_text() == servers.locator("#metrics").inner_text()
    assert page.locator(".inplace .fields").first.inner_text() == servers.locator(".inplace .fields").first.inner_text()  # fmt: skip
    expect(page.get_by_role("link", name="Open in the inspector")).to_have_count(0)
    figure = page.locator("#figure")
    expect(figure.locator("path title")).to_have_text(["group epoch", "assignment epoch", "A", "B", "C"])
    step = page.locator("#step").inner_text()
    figure.scroll_into_view_if_needed()
    box = figure.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] - 20, box["y"] + 30)
    becomes(page, f"document.querySelector('#step').textContent !== '{step}'")
    page.locator(".figure-words summary").click()
    page.locator("#figure-table a").first.click()
    expect(page.locator("#step")).to_have_text("1")


def test_timelines_side_by_side_play_in_one_file_as_on_their_page(
    open_page: Callable[..., Page], folder: Path, open_file: Callable[..., Page]
) -> None:
    address = "/compare?runs=kip429-eager,kip429-cooperative,kip429-consumer&from_ms=18000"
    servers = alive(open_page(address))
    servers.get_by_label("Hide names").uncheck()
    with servers.expect_download(timeout=60_000) as downloading:
        servers.get_by_role("button", name="One HTML file").click()
    assert (
        downloading.value.suggested_filename
        == "comparison-kip429-eager-kip429-cooperative-kip429-consumer.html"
    )
    downloading.value.save_as(folder / "comparison.html")
    page = alive(open_file(folder / "comparison.html"))
    for _ in range(4):
        for one in (page, servers):
            one.keyboard.press("ArrowRight")
        assert page.locator("#at").inner_text() == servers.locator("#at").inner_text()
        for part in (".run [data-part=board]", ".run [data-part=lost]"):
            assert page.locator(part).all_inner_texts() == servers.locator(part).all_inner_texts()
        # The server adds what only it computes: the costs of the stretch.
        assert servers.locator("#card").inner_text().startswith(page.locator("#card").inner_text())
    page.keyboard.press("Space")
    expect(page.locator("#play")).to_have_text("Pause")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_side_by_side_and_with_names_hidden_it_fits_a_telephone_and_axe_finds_nothing(
    server: Served, folder: Path, open_file: Callable[..., Page], axe: str, scheme: str
) -> None:
    out = str(folder / f"hidden-{scheme}.html")
    command = [sys.executable, "manage.py", "timeline", "export", "kip429-eager", "kip429-cooperative", "--hide-names", "--out", out]  # fmt: skip
    subprocess.run(command, cwd=ROOT, env=server.environment, check=True, capture_output=True)
    options = {"viewport": {"width": 390, "height": 844}, "color_scheme": scheme, "bypass_csp": True}
    page = alive(open_file(Path(out), **options))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert "kip429" not in page.locator("body").inner_text()
    assert faults_of(page, axe) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_telephone(study: Path, open_file: Callable[..., Page], scheme: str) -> None:
    page = alive(open_file(study, viewport={"width": 390, "height": 844}, color_scheme=scheme))
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_stretch_opens_at_its_own_beginning(
    server: Served, folder: Path, open_file: Callable[..., Page], fetch: Fetch
) -> None:
    file = export(server, STUDY, folder / "stretch.html", "--from", "60", "--to", "130")
    page = alive(open_file(file))
    origin = page.evaluate("rebalanceExplorer.timeline.origin")
    assert origin > 40
    assert frame_of(page) == fetch(f"/api/timelines/{STUDY}/frame?at={origin}")
    page.keyboard.press("End")
    becomes(page, "rebalanceExplorer.timeline.atEnd")


def test_a_group_of_many_is_a_map_there_too(
    server: Served, folder: Path, open_file: Callable[..., Page]
) -> None:
    timeline = large.store(server, large.scenario(120))
    page = alive(open_file(export(server, timeline, folder / "large.html")))
    becomes(page, "'map' in rebalanceExplorer.stage")
    expect(page.locator("#board canvas:visible").first).to_be_visible()
    expect(page.locator("#log")).to_contain_text("session expired")
    page.keyboard.press("w")
    page.keyboard.press("End")
    becomes(page, "rebalanceExplorer.timeline.atEnd")


def flipped(file: Path, to: Path, at: str, offset: int = 0) -> Path:
    """The file with one letter changed, ``offset`` behind the first place of ``at``."""
    text = file.read_text()
    place = text.index(at) + offset
    to.write_text(text[:place] + ("B" if text[place] != "B" else "C") + text[place + 1 :])
    return to


@pytest.mark.parametrize(
    ("at", "offset", "says"),
    [
        ('id="block-entries-1"', 400, "entries 1"),
        ('id="block-chunk-1"', 400, "chunk 1"),
        ("was removed", 4, "its text"),
        ("--ground: #f1f4f5", 11, "its text"),
        ('"version":"', 12, "the list of its parts"),
    ],
)
def test_a_changed_letter_is_told_and_the_rest_is_shown(
    study: Path, folder: Path, open_file: Callable[..., Page], at: str, offset: int, says: str
) -> None:
    page = alive(open_file(flipped(study, folder / "changed.html", at, offset), complains=True))
    expect(page.locator("[data-banner=changed]")).to_contain_text(f"What changed: {says}")
    expect(page.locator("#verdict")).to_contain_text("A ")


@pytest.mark.parametrize(
    ("at", "offset"), [('id="block-timeline"', 400), ("const $m5 ", 2), ('"blocks":', 9)]
)
def test_what_cannot_play_any_more_says_so_and_is_read_as_text(
    study: Path, folder: Path, open_file: Callable[..., Page], at: str, offset: int
) -> None:
    page = open_file(flipped(study, folder / "broken.html", at, offset), complains=True)
    expect(page.locator("#unplayed")).to_be_visible()
    expect(page.locator("#unplayed")).to_contain_text("was changed after it was written")
    expect(page.locator(".as-text li").first).to_be_visible()


def test_it_plays_in_firefox(study: Path, tmp_path: Path, fetch: Fetch) -> None:
    with firefox(tmp_path) as page:
        page.open(study.as_uri())
        page.becomes("document.documentElement.dataset.alive === 'true'")
        assert page.evaluate("document.querySelector('[data-banner=changed]')") is None
        arrow_right = "\ue014"
        for step in range(1, 6):
            page.press(arrow_right)
            page.becomes(f"document.querySelector('#step').textContent === '{step}'")
        shown = page.evaluate("rebalanceExplorer.frame()")
        assert shown == fetch(f"/api/timelines/{STUDY}/frame?at={shown['sequence']}")
        page.evaluate("document.querySelector('#view [data-value=investigator]').click() ?? true")
        page.becomes("/ConsumerGroupHeartbeat/.test(document.querySelector('#details').textContent)")
        assert [url for url in page.requests if not re.match(r"(file|data|about):", url)] == []
        assert page.complaints == []
