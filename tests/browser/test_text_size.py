"""A browser whose text is set to twice the usual size, and a reader's style sheet that doubles the root: pages grow as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser import large
from tests.browser.board import becomes
from tests.serving import Served

Open = Callable[..., Page]
DESK = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
BASIC = "/t/kip848-basic?at=90"

ROOT_PX = "parseFloat(getComputedStyle(document.documentElement).fontSize)"

CUT = """() => [...document.querySelectorAll('body *')].flatMap((node) => {
  const words = [...node.childNodes].filter((child) => child.nodeType === 3 && child.data.trim());
  if (!words.length || node.closest('svg, .sr, .skip, textarea, script, style, select, [aria-hidden=true]') || !node.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true })) return [];
  const own = getComputedStyle(node);
  if (own.webkitLineClamp !== 'none' || own.clipPath !== 'none') return [];
  const range = document.createRange();
  range.selectNodeContents(node);
  const said = range.getBoundingClientRect();
  // What hides text is the next element around it that cuts and does not scroll.
  let around = node;
  while (around !== document.body && !/hidden|clip/.test(getComputedStyle(around).overflowY)) {
    if (/auto|scroll/.test(getComputedStyle(around).overflowY) || getComputedStyle(around).webkitLineClamp !== 'none') return [];
    around = around.parentElement;
  }
  const box = (around === document.body ? node : around).getBoundingClientRect();
  const over = Math.max(box.top - said.top, said.bottom - box.bottom);
  // Letters are lower than their line.
  const room = said.height * 0.2 + 2;
  return over > room ? [`${node.tagName}.${node.className} “${node.textContent.trim().slice(0, 40)}” by ${over.toFixed(0)}`] : [];
})"""
"""Text whose lines stand out of what holds them, above or below."""

UNREACHABLE = """() => {
  const found = [];
  for (const node of document.querySelectorAll('button, a[href], input, select, textarea, summary')) {
    if (getComputedStyle(node).pointerEvents === 'none' || node.closest('.skip, .sr, dialog, [aria-hidden=true], .mrow') || node.matches('.skip, .sr') || !node.checkVisibility({ checkVisibilityCSS: true, checkOpacity: true })) continue;
    node.scrollIntoView({ block: 'center', inline: 'center' });
    const boxes = [...node.getClientRects()].filter(({ width, height }) => width > 1 && height > 1);
    const hit = boxes.some(({ left, top, width, height }) => {
      const there = document.elementFromPoint(left + width / 2, top + height / 2);
      return there && (node.contains(there) || there.contains(node) && there.tagName === 'LABEL');
    });
    if (!hit) found.push(`${node.tagName}#${node.id}.${node.className} “${node.textContent.trim().slice(0, 30)}”`);
  }
  scrollTo(0, 0);
  return found;
}"""
"""Controls whose middle, scrolled to, is another's or nobody's."""

OVERLAPS = """() => [...document.querySelectorAll('.tl, .mstrip-svg, svg.b')].flatMap((svg) => {
  const texts = [...svg.querySelectorAll('text')].filter((text) => !text.closest('.moving')).map((text) => ({ says: text.textContent, box: text.getBoundingClientRect() })).slice(0, 300);
  const met = [];
  for (let a = 0; a < texts.length; a += 1) for (let b = a + 1; b < texts.length; b += 1) {
    const [one, other] = [texts[a].box, texts[b].box];
    const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
    const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
    if (across > 3 && down > 0.4 * Math.min(one.height, other.height)) met.push(`${texts[a].says} / ${texts[b].says}`);
  }
  return met;
})"""
"""Words of a drawing that lie on each other."""


def set_in_the_browser(page: Page) -> None:
    session = page.context.new_cdp_session(page)
    session.send("Page.enable")
    session.send("Page.setFontSizes", {"fontSizes": {"standard": 32}})


def opened(open_page: Open, address: str, viewport: dict[str, int], **options: Any) -> Page:
    page = open_page(
        address, viewport=viewport, before=set_in_the_browser, reduced_motion="reduce", **options
    )
    assert page.evaluate(ROOT_PX) == 32
    page.wait_for_load_state("networkidle")
    return page


def is_whole(page: Page, width: int) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(CUT) == []
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate(UNREACHABLE) == []


@pytest.fixture(scope="module")
def crowd(server: Served) -> str:
    """Lanes for some, one row for the others."""
    return large.waiting_at(server, large.store(server, large.scenario(60)))


@pytest.fixture(scope="module")
def larger_crowd(server: Served) -> str:
    """A map."""
    return large.waiting_at(server, large.store(server, large.scenario(62)))


@pytest.mark.parametrize(
    "address",
    ["/", "/import/", "/laboratory", "/inspect", f"{BASIC}&view=reader", f"{BASIC}&view=investigator"],
)
@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_with_text_of_twice_the_size_nothing_is_cut_or_covered_and_every_control_is_in_reach(
    open_page: Open, address: str, viewport: dict[str, int]
) -> None:
    is_whole(opened(open_page, address, viewport), viewport["width"])


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_a_crowd_of_twice_the_size_is_whole(
    open_page: Open, crowd: str, larger_crowd: str, viewport: dict[str, int]
) -> None:
    for address, words in ((crowd, "#board .lane.rest"), (larger_crowd, ".mstrip-svg text")):
        page = opened(open_page, address, viewport)
        expect(page.locator(words).first).to_be_visible()
        is_whole(page, viewport["width"])


@pytest.mark.parametrize("words", [".tl text.dim", ".bar .mark span", ".ring text", "#figure .tick"])
def test_drawings_are_as_large_as_the_text_beside_them(open_page: Open, words: str) -> None:
    heights = [
        high(open_page(BASIC, viewport={"width": width, "height": 2_400}, before=before), words)
        for width, before in ((1_440, None), (2_880, set_in_the_browser))
    ]
    assert heights[1] == pytest.approx(2 * heights[0], rel=0.08)


def high(page: Page, words: str) -> float:
    """A drawing may be made anew while it is looked at: what is no longer in the page has no height."""
    found = page.wait_for_function(
        "words => document.querySelector(words)?.getBoundingClientRect().height || null", arg=words
    )
    return float(found.json_value())


def test_the_map_is_as_large_as_its_text_and_a_click_meets_the_row_under_it(
    open_page: Open, larger_crowd: str
) -> None:
    page = opened(open_page, larger_crowd, {"width": 1440, "height": 1800})
    rows = page.locator(".mscroll .mrow")
    rows.first.wait_for()
    wanted = rows.nth(1)
    # The lanes of those that matter are above it.
    wanted.scroll_into_view_if_needed()
    key, box = wanted.get_attribute("data-key"), wanted.bounding_box()
    scroller = page.locator(".mscroll").bounding_box()
    assert box
    assert scroller
    page.mouse.click(scroller["x"] + scroller["width"] * 0.7, box["y"] + box["height"] / 2)
    becomes(page, f"document.activeElement?.dataset.key === {key!r}")


def test_a_style_sheet_that_doubles_the_root_changes_the_page_as_the_browsers_own_setting_does(
    open_page: Open,
) -> None:
    page = open_page(f"{BASIC}&view=investigator", viewport=DESK, reduced_motion="reduce")
    assert (
        page.evaluate(
            "getComputedStyle(document.querySelector('.stage')).gridTemplateColumns.split(' ').length"
        )
        == 2
    )
    page.evaluate("document.documentElement.style.fontSize = '200%'")
    # As in a window of half the width: one column.
    becomes(
        page, "getComputedStyle(document.querySelector('.stage')).gridTemplateColumns.split(' ').length === 1"
    )
    is_whole(page, DESK["width"])
