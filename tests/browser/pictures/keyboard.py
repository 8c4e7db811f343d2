"""A page walked with Tab alone: a sheet of every stop with its focus ring, and which of them does not show that it has the focus."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, FloatRect, Page

STOPS_MOST: Final = 160
"""Of one page: beyond it lies a list of many like rows."""

AROUND: Final = 26
WIDEST, HIGHEST = 420, 150

WHERE: Final = """() => {
  const node = document.activeElement;
  if (!node || node === document.body) return null;
  const box = node.getBoundingClientRect();
  const name = node.id ? '#' + node.id : node.tagName.toLowerCase() + (node.className && node.className.baseVal === undefined ? '.' + node.className : '');
  return { name, says: (node.getAttribute('aria-label') || node.textContent || '').trim().replace(/\\s+/g, ' ').slice(0, 50),
           x: box.x, y: box.y, width: box.width, height: box.height };
}"""

NO_MOTION: Final = "*, *::before, *::after { transition: none !important; animation: none !important; caret-color: transparent !important; }"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    name: str
    says: str
    seen: bool
    """The same place looks otherwise without the focus."""
    picture: bytes


def walk(page: Page) -> list[Stop]:
    """Tab from the beginning until the focus leaves the page, or has been everywhere."""
    page.add_style_tag(content=NO_MOTION)
    stops: list[Stop] = []
    for _ in range(STOPS_MOST):
        page.keyboard.press("Tab")
        found: dict[str, Any] | None = page.evaluate(WHERE)
        if found is None:
            break
        clip = _around(page, found)
        if clip is None:
            stops.append(
                Stop(name=found["name"], says=f"{found['says']} (out of sight)", seen=False, picture=b"")
            )
            continue
        focused = page.screenshot(clip=clip)
        page.evaluate("() => { window.held = document.activeElement; held.blur(); }")
        without = page.screenshot(clip=clip)
        page.evaluate("() => held.focus({ preventScroll: true })")
        stops.append(Stop(name=found["name"], says=found["says"], seen=focused != without, picture=focused))
    return stops


def sheet(browser: Browser, title: str, stops: list[Stop], path: Path) -> None:
    """The stops beside each other, in order; those that are not seen framed in red."""

    def cell(number: int, stop: Stop) -> str:
        picture = (
            f'<img src="data:image/png;base64,{base64.b64encode(stop.picture).decode()}">'
            if stop.picture
            else ""
        )
        says = stop.says.replace("&", "&amp;").replace("<", "&lt;")
        return f'<figure class="{"" if stop.seen else "unseen"}"><figcaption>{number} {stop.name} <i>{says}</i></figcaption>{picture}</figure>'

    cells = "".join(cell(number, stop) for number, stop in enumerate(stops, 1))
    page = browser.new_page(viewport={"width": 1400, "height": 600})
    page.set_content(
        "<style>body{font:11px sans-serif;margin:8px;columns:4;column-gap:8px}h1{font-size:13px;margin:0 0 6px}"
        "figure{margin:0 0 8px;break-inside:avoid;border:1px solid #bbb;padding:3px}figure.unseen{border:3px solid red}"
        f"img{{max-width:100%;display:block}}i{{color:#666}}</style><h1>{title}</h1>{cells}"
    )
    page.screenshot(path=path, full_page=True)
    page.close()


def _around(page: Page, found: dict[str, Any]) -> FloatRect | None:
    size = page.viewport_size
    assert size is not None
    left, top = max(0, found["x"] - AROUND), max(0, found["y"] - AROUND)
    right = min(size["width"], found["x"] + min(found["width"], WIDEST) + AROUND)
    bottom = min(size["height"], found["y"] + min(found["height"], HIGHEST) + AROUND)
    if right - left < 2 or bottom - top < 2:
        return None
    return {"x": left, "y": top, "width": right - left, "height": bottom - top}
