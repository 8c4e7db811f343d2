"""Take the screenshots of the docs anew: ``make pictures``; only some with their names: ``python docs/pictures/make.py board-light``.

A fresh server with nothing but the case studies and the sample log, so that the pictures are the same on every
machine but for its fonts. Needs Chromium; the pictures of an import and of a sweep need Spark, and are left as they are without.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))

from tests.browser.pictures import acts  # noqa: E402
from tests.browser.pictures.material import Material, MissingError  # noqa: E402
from tests.browser.pictures.scenes import BASIC, STEP  # noqa: E402
from tests.serving import Served, served  # noqa: E402

FAIL_OVER = "released-fail-over"
SHARED = "/t/incident-slow-revocation?at=60&view=investigator"


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    name: str
    address: str
    width: int = 1440
    height: int = 900
    scheme: str = "light"
    scale: float = 1
    then: Callable[[Page], None] | None = None
    """What is done on the page before the picture is taken."""


def main() -> None:
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with (
        tempfile.TemporaryDirectory() as folder,
        served(Path(folder)) as server,
        sync_playwright() as playwright,
        contextlib.ExitStack() as until_the_end,
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        material = Material(server, browser, until_the_end)
        board = material.step(BASIC, STEP)
        named = sys.argv[1:]
        for picture in (
            Picture(name="home-light", address="/"),
            Picture(name="home-dark", address="/", scheme="dark"),
            Picture(name="board-light", address=board),
            Picture(name="board-dark", address=board, scheme="dark"),
            Picture(name="board-investigator-light", address=f"{board}&view=investigator"),
            Picture(name="board-390-light", address=board, width=390, height=844, scale=1.5),
            Picture(name="board-390-dark", address=board, width=390, height=844, scale=1.5, scheme="dark"),
            Picture(name="help-light", address="/help/", height=1100),
            Picture(name="fail-over-light", address=material.moment(FAIL_OVER, "still loading")),
            Picture(name="share-light", address=SHARED, then=acts.open_sharing),
            Picture(name="inspector-light", address="/inspect", then=acts.open_record),
            Picture(name="inspector-dark", address="/inspect", scheme="dark", then=acts.open_record),
            Picture(name="inspector-edit-light", address="/inspect", then=acts.edit_record),
            Picture(
                name="inspector-compare-light", address="/inspect", height=560, then=acts.compare_members
            ),
            Picture(
                name="inspector-390-light",
                address="/inspect",
                width=390,
                height=844,
                scale=1.5,
                then=acts.open_record,
            ),
            Picture(
                name="inspector-390-dark",
                address="/inspect",
                width=390,
                height=844,
                scale=1.5,
                scheme="dark",
                then=acts.open_record,
            ),
            Picture(name="laboratory-light", address="/laboratory"),
            Picture(name="laboratory-dark", address="/laboratory", scheme="dark"),
            Picture(name="laboratory-390-light", address="/laboratory", width=390, height=844, scale=1.5),
            Picture(
                name="laboratory-390-dark",
                address="/laboratory",
                width=390,
                height=844,
                scale=1.5,
                scheme="dark",
            ),
            Picture(name="laboratory-large-light", address="/laboratory?g=60.1&t=10x60&e=join", height=1200),
        ):
            if not named or picture.name in named:
                take(browser, server, picture)
        if not named or "violation-light" in named:
            broken = Picture(
                name="violation-light", address=material.broken, height=760, then=acts.go_to_violation
            )
            take(browser, server, broken)
        if not named:
            of_an_import(browser, server, material)
            of_a_sweep(browser, server, material)
        browser.close()


def of_an_import(browser: Browser, server: Served, material: Material) -> None:
    try:
        address, incident = material.imported[0], material.worst_moment
    except MissingError as problem:
        sys.stderr.write(f"The pictures of an import stay as they are: {problem}.\n")
        return
    for name, where in (
        ("import-light", address),
        ("imports-light", "/import/"),
        ("imported-light", incident),
    ):
        take(browser, server, Picture(name=name, address=where))


def of_a_sweep(browser: Browser, server: Served, material: Material) -> None:
    try:
        swept = material.swept
    except MissingError as problem:
        sys.stderr.write(f"The pictures of a sweep stay as they are: {problem}.\n")
        return
    take(browser, server, Picture(name="sweep-light", address=swept))
    take(browser, server, Picture(name="sweep-dark", address=swept, scheme="dark"))
    phone = Picture(name="sweep-390-dark", address=swept, width=390, height=844, scale=1.5, scheme="dark")
    take(browser, server, phone)


def take(browser: Browser, server: Served, picture: Picture) -> None:
    context = browser.new_context(
        viewport={"width": picture.width, "height": picture.height},
        device_scale_factor=picture.scale,
        color_scheme=picture.scheme,  # type: ignore[arg-type]
        reduced_motion="reduce",
    )
    context.add_cookies([server.cookie()])  # type: ignore[list-item]
    page = context.new_page()
    page.goto(server.url + picture.address, wait_until="networkidle")
    if picture.then:
        picture.then(page)
    settle(page)
    page.screenshot(path=HERE / f"{picture.name}.png")
    context.close()
    sys.stderr.write(f"{picture.name}.png\n")


def settle(page: Page) -> None:
    """Until entries are fetched and the figure, where it is in sight, is drawn."""
    page.evaluate("document.fonts.ready")
    page.wait_for_timeout(800)


if __name__ == "__main__":
    main()
