"""Pages as they look, to be looked at: in three sizes, light and dark, each into a file of its own."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import Browser, Page, sync_playwright

from tests.serving import ROOT, Served, served

SIZES: Final = ((1440, 900), (820, 1180), (390, 844))
SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
CHROMIUM: Final = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Camera:
    """One size and one scheme of a browser beside a running server."""

    browser: Browser
    server: Served
    folder: Path
    width: int
    height: int
    scheme: Literal["light", "dark"]

    @contextmanager
    def opened(self, url: str, *, alive: bool = True, knows_server: bool = True) -> Iterator[Page]:
        """A page in a profile of its own: one that came in by the server's token, or somebody's who has none."""
        context = self.browser.new_context(
            viewport={"width": self.width, "height": self.height},
            color_scheme=self.scheme,
            reduced_motion="reduce",
        )
        if knows_server:
            context.add_cookies([self.server.cookie()])  # type: ignore[list-item]
        page = context.new_page()
        page.goto(self.server.url + url if url.startswith("/") else url)
        if alive:
            page.wait_for_selector("html[data-alive]")
        yield page
        context.close()

    def take(self, page: Page, name: str, *, whole: bool = False) -> None:
        """``NAME-1440-light.png``; with ``whole`` all of the page, and not what is in view alone."""
        page.evaluate("document.fonts.ready")
        page.wait_for_timeout(300)
        to = self.folder / f"{name}-{self.width}-{self.scheme}.png"
        page.screenshot(path=to, full_page=whole)
        sys.stderr.write(f"{to.name}\n")


@contextmanager
def cameras(room: str) -> Iterator[Iterator[Camera]]:
    """A camera for each size and scheme, on a fresh server; pictures stand in ``var/pictures/ROOM``, or in the folder that is named.

    Arguments of the command that are sizes or schemes (``390 dark``) are the only ones that are taken.
    """
    asked = sys.argv[1:]
    places = [Path(word) for word in asked if not word.isdigit() and word not in SCHEMES]
    folder = places[0] if places else ROOT / "var" / "pictures" / room
    folder.mkdir(parents=True, exist_ok=True)
    sizes = [size for size in SIZES if str(size[0]) in asked] or SIZES
    schemes = [scheme for scheme in SCHEMES if scheme in asked] or SCHEMES
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with (
        tempfile.TemporaryDirectory() as var,
        served(Path(var)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM)
        yield (
            Camera(browser=browser, server=server, folder=folder, width=width, height=height, scheme=scheme)
            for width, height in sizes
            for scheme in schemes
        )
        browser.close()
