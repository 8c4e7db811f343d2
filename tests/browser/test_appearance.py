from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.board import Fetch, at, at_step, becomes, equals_the_fresh_frame
from tests.serving import ROOT, Served

Open = Callable[..., Page]
PHONE = {"width": 390, "height": 844}
TABLET = {"width": 820, "height": 1180}
BASIC = "kip848-basic"
PAGES = [
    "/",
    "/help/",
    "/import/",
    "/groups",
    "/timelines?source=case-study",
    "/status",
    "/docs/reference/settings",
    "/api/docs",
    "/simulate/",
    "/differences/told-to-give-up",
    "/t/kip848-basic/steps",
    "/t/kip848-basic?at=90&view=investigator&watch=unassigned",
    "/t/kip848-basic?play=1",
    "/t/kip848-six-partitions?play=1",
]


@pytest.mark.parametrize("address", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.quick
def test_nothing_is_wider_than_a_phone(open_page: Open, address: str, scheme: str) -> None:
    page = open_page(address, viewport=PHONE, color_scheme=scheme)
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


@pytest.mark.parametrize("address", ["/sign-in", "/account", "/account/password", "/audit"])
@pytest.mark.parametrize("size", [PHONE, TABLET], ids=["phone", "tablet"])
def test_no_page_of_accounts_is_wider_than_a_phone_or_a_tablet(
    open_team_page: Open, address: str, size: dict[str, int]
) -> None:
    page = open_team_page(address, viewport=size)
    assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


@pytest.mark.parametrize(
    "address",
    [
        "/",
        "/help/",
        "/compare",
        "/differences",
        "/rehearsal",
        "/clusters",
        "/sweeps",
        "/inspect",
        "/groups",
        "/timelines",
        "/t/kip848-basic?at=0",
    ],
)
def test_nothing_is_wider_than_a_tablet_and_every_page_leads_to_the_others(
    open_page: Open, address: str
) -> None:
    page = open_page(address, viewport=TABLET)
    assert page.evaluate("document.documentElement.scrollWidth") <= TABLET["width"]
    menu = page.locator(".menu:visible")
    expect(menu).to_have_count(1)
    menu.locator("summary").click()
    expect(menu.get_by_role("link", name="Live groups")).to_be_in_viewport()


def test_with_bytes_open_the_inspector_still_leads_to_the_other_pages(open_page: Open) -> None:
    page = open_page("/inspect")
    page.get_by_role("button", name="A classic group’s record").click()
    page.locator(".fr").first.wait_for()
    page.locator(".menu summary").click()
    expect(page.locator(".menu").get_by_role("link", name="Case studies")).to_be_in_viewport()


def test_a_timeline_without_entries_says_so_under_a_heading(open_page: Open, server: Served) -> None:
    command = [sys.executable, "-m", "tests.browser.seed", "empty"]
    told = subprocess.run(
        command, cwd=ROOT, env=server.environment, check=True, capture_output=True, text=True
    )
    page = open_page(f"/t/{told.stdout}")
    expect(page.get_by_role("heading", level=1)).to_have_text("This timeline has no entries")
    expect(page.locator("#basis")).to_have_text("Computed from 0 entries")


@pytest.mark.parametrize(("study", "step"), [(BASIC, 14), ("kip848-six-partitions", 4)])
def test_no_text_of_a_board_is_cut_on_a_phone(open_page: Open, fetch: Fetch, study: str, step: int) -> None:
    page = open_page(at(study, step, fetch), viewport=PHONE)
    cut = page.evaluate(
        """() => [...document.querySelectorAll('#board .lead, #board .chip, #board .slot, #board .st, #board .epoch, #now, .transport *')]
             .filter((node) => node.offsetParent && node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).display !== 'inline')
             .map((node) => node.className + ' ' + node.textContent)"""
    )
    assert cut == []


@pytest.mark.parametrize("width", [1440, 1300, 1180])
def test_no_key_of_the_transport_is_cut(open_page: Open, width: int) -> None:
    page = open_page("/t/kip848-basic?at=0", viewport={"width": width, "height": 900})
    page.evaluate("document.querySelector('#zone').append('Africa/Addis_Ababa (+03:00)')")
    cut = page.locator(".keys").evaluate(
        """keys => [...keys.children].map((key) => [key.getBoundingClientRect(), keys.getBoundingClientRect()])
             .filter(([key, all]) => key.top < all.bottom - 1 && key.left < all.left).length"""
    )
    assert cut == 0


def test_the_transport_stays_in_reach_of_a_thumb(open_page: Open) -> None:
    page = open_page("/t/kip848-basic?at=0", viewport=PHONE, has_touch=True)
    box = page.get_by_role("button", name="Event forward").bounding_box()
    assert box
    assert box["width"] >= 44
    assert box["height"] >= 44
    assert box["y"] + box["height"] <= PHONE["height"]


@pytest.mark.quick
def test_with_reduced_motion_nothing_travels_and_everything_is_said(open_page: Open, fetch: Fetch) -> None:
    page = open_page(at(BASIC, 7, fetch), reduced_motion="reduce")
    page.keyboard.press("ArrowRight")
    at_step(page, 8)
    assert (
        page.evaluate(
            "document.getAnimations().filter((a) => a.effect.target.classList.contains('chip')).length"
        )
        == 0
    )
    expect(page.locator(".foot")).to_have_text("just left")
    expect(page.locator("#board .pool .cap")).to_have_text("just released")
    equals_the_fresh_frame(page, "kip848-basic", fetch)


def test_with_reduced_motion_a_case_study_waits_and_plays_frame_by_frame(open_page: Open) -> None:
    page = open_page("/t/kip848-basic?play=1", reduced_motion="reduce")
    expect(page.locator("#play")).to_be_focused()
    at_step(page, 0)
    page.keyboard.press("Space")
    becomes(page, "Number(document.getElementById('step').textContent) > 0")
    assert page.locator(".chip.moving").count() == 0


def test_in_forced_colours_the_state_is_told_by_the_border(open_page: Open, fetch: Fetch) -> None:
    page = open_page(at(BASIC, 14, fetch), forced_colors="active")
    style = "getComputedStyle(document.querySelector('%s')).borderTopStyle"
    assert page.evaluate(style % "#board .chip.own") == "solid"
    assert page.evaluate(style % "#board .chip.revoking") == "double"
    assert page.evaluate(style % "#board .slot") == "dashed"


def test_the_page_of_a_case_study_is_light(open_page: Open) -> None:
    """Under 280 KB over the wire before Plotly, which is asked for only when its panel comes near."""
    sizes: dict[str, int] = {}

    def count(page: Page) -> None:
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        urls: dict[str, str] = {}
        session.on(
            "Network.requestWillBeSent", lambda sent: urls.update({sent["requestId"]: sent["request"]["url"]})
        )
        session.on(
            "Network.loadingFinished",
            lambda done: sizes.update({urls.get(done["requestId"], "?"): int(done["encodedDataLength"])}),
        )

    page = open_page(
        "/t/kip848-basic?play=1", before=count, viewport={"width": 1440, "height": 600}, cold=True
    )
    page.wait_for_timeout(1500)
    before_plotly = {url: size for url, size in sizes.items() if "plotly" not in url}
    assert sum(before_plotly.values()) < 280_000
    assert len(before_plotly) > 10


def test_plotly_comes_when_a_reader_turns_to_the_figure_and_a_drawing_stands_in_its_place_until_then(
    open_page: Open,
) -> None:
    asked: list[str] = []
    page = open_page("/t/kip848-basic?at=0")
    page.on("request", lambda request: asked.append(request.url))
    page.locator("#figure-panel").scroll_into_view_if_needed()
    page.wait_for_selector("#figure[data-ready=true]")
    expect(page.locator("#figure svg path title")).to_contain_text(["group epoch", "assignment epoch"])
    head = "+document.querySelector('#figure svg line[x1]:last-of-type').getAttribute('x1')"
    began = page.evaluate(head)
    page.keyboard.press("End")
    at_step(page, 16)
    becomes(page, f"{head} > {began}")
    assert not [url for url in asked if "plotly" in url]
    page.locator("#figure-zoom").press("Enter")
    page.wait_for_selector("#figure[data-ready=plotly] .main-svg")
    expect(page.locator("#figure-zoom")).to_be_hidden()
    assert [url for url in asked if "plotly" in url]


def test_the_figure_is_linked_to_the_playhead_and_follows_the_scheme(open_page: Open) -> None:
    page = open_page("/t/kip848-basic?at=0", color_scheme="light")
    page.locator("#figure-panel").scroll_into_view_if_needed()
    page.locator("#figure-zoom").click()
    page.wait_for_selector("#figure[data-ready=plotly]")
    where = "document.getElementById('figure').layout.shapes[0].x0"
    page.keyboard.press("End")
    at_step(page, 16)
    becomes(page, f"Math.abs({where} - 28.6) < 0.2")
    light = page.evaluate("document.getElementById('figure').data[0].line.color")
    page.emulate_media(color_scheme="dark")
    becomes(page, f"document.getElementById('figure').data[0].line.color !== '{light}'")
    page.get_by_text("As a table").click()
    expect(page.locator("#figure-table tr").nth(1)).to_be_visible()


@pytest.mark.parametrize("study", ["incident-static-churn", "kip341-old-leader", "kip429-upgrade"])
def test_no_board_is_wider_than_a_phone_at_its_end_with_all_that_opens_open(
    open_page: Open, study: str
) -> None:
    """Metrics of six processes, and the title of the next case study, were."""
    page = open_page(f"/t/{study}?at=99999", viewport=PHONE)
    page.wait_for_timeout(600)
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    expect(page.locator("#metrics table").last).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
