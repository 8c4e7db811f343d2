"""``python -m tests.browser.map_pictures FOLDER [AXE]``: how the board looks at 60, 200 and 1,000 members.

Each at three widths, light and dark, at a moment at which somebody waits. With the path of axe-core's script, every page
is also put to it, and what it finds is printed. Needs Chromium.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser import large
from tests.serving import Served, served

MEMBERS: Final = (60, 200, 1_000)
SIZES: Final = ((1440, 1000), (1024, 800), (390, 844))
CHROMIUM: Final = ["--no-sandbox", "--disable-gpu"]
SCHEMES: Final = ("light", "dark")


def main(folder: Path, axe: Path | None) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with (
        tempfile.TemporaryDirectory() as var,
        served(Path(var)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM)
        for members in MEMBERS:
            address = large.waiting_at(server, large.store(server, large.scenario(members)))
            for width, height in SIZES:
                for scheme in SCHEMES:
                    page = opened(browser, server, address, width, height, scheme)
                    page.screenshot(path=folder / f"board-{members}-{width}-{scheme}.png")
                    for violation in violations(page, axe) if axe else []:
                        sys.stdout.write(f"{members} members, {width} px, {scheme}: {violation}\n")
                    if members == max(MEMBERS) and width != SIZES[1][0]:
                        states(page, folder, f"{width}-{scheme}")
                        for violation in violations(page, axe) if axe else []:
                            sys.stdout.write(f"opened, {width} px, {scheme}: {violation}\n")
                    page.context.close()
        browser.close()


def opened(browser: Browser, server: Served, address: str, width: int, height: int, scheme: str) -> Page:
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        # What tests the page may be put into it; the page itself keeps its policy otherwise.
        bypass_csp=True,
    )
    context.add_cookies([server.cookie()])  # type: ignore[list-item]
    page = context.new_page()
    page.goto(server.url + address)
    page.wait_for_selector("html[data-alive]")
    page.wait_for_timeout(1_500)
    return page


def states(page: Page, folder: Path, name: str) -> None:
    """A member found and opened; groups; partitions."""
    page.keyboard.press("/")
    page.keyboard.type(large.name_of(large.JOINS_LAST))
    page.keyboard.press("Enter")
    page.keyboard.press("p")
    page.keyboard.press("Enter")
    page.wait_for_timeout(500)
    page.screenshot(path=folder / f"opened-{name}.png", full_page=True)
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.get_by_label("Group rows").select_option("host")
    page.wait_for_timeout(500)
    page.screenshot(path=folder / f"hosts-{name}.png")
    page.get_by_role("button", name="Partitions", exact=True).click()
    page.wait_for_timeout(1_500)
    page.screenshot(path=folder / f"partitions-{name}.png")


def violations(page: Page, axe: Path) -> list[str]:
    page.add_script_tag(path=str(axe))
    found = page.evaluate("axe.run().then(({violations}) => violations)")
    return [f"{each['id']}: {each['help']}: {each['nodes'][0]['html'][:200]}" for each in found]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else None)
