"""``python -m tests.browser.pictures``: every page in three sizes, light and dark, into a folder, to be looked at.

What it takes to make a page may lack on this machine (a broker's jars, Spark): the page is then left out, and said so.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, Error, Page, sync_playwright

from tests.browser.pictures import keyboard
from tests.browser.pictures.camera import CHROMIUM, SCHEMES, SIZES
from tests.browser.pictures.material import Material, MissingError
from tests.browser.pictures.scenes import SCENES, Scene
from tests.serving import ROOT, Served, served

PATIENCE_MS: Final = 10_000
FOLDER: Final = ROOT / "var" / "pictures"
AXE: Final = Path(os.environ.get("AXE_CORE") or ROOT / "node_modules" / "axe-core" / "axe.min.js")
TALLEST: Final = 4_000
"""Pixels of a page that is longer than its window: more is not looked at."""


class Options(argparse.Namespace):
    folder: Path
    only: list[str]
    sizes: list[int]
    axe: bool
    keys: bool
    text: int
    zoom: int
    list: bool


def options() -> Options:
    parser = argparse.ArgumentParser(prog="python -m tests.browser.pictures", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=FOLDER, help="default: var/pictures")
    parser.add_argument(
        "--only", metavar="WORD", nargs="+", default=[], help="pages with one of these in their name"
    )
    parser.add_argument("--sizes", metavar="PX", type=int, nargs="+", default=[width for width, _ in SIZES])
    parser.add_argument(
        "--text",
        metavar="PERCENT",
        type=int,
        default=100,
        help="of the usual size, as a reader sets the browser's text: 200 doubles it",
    )
    parser.add_argument(
        "--zoom",
        metavar="TIMES",
        type=int,
        default=1,
        help="as the browser zooms: a window that many times smaller",
    )
    parser.add_argument("--axe", action="store_true", help="put every page to axe-core, print what it finds")
    parser.add_argument("--keys", action="store_true", help="walk every page with Tab, and show each stop")
    parser.add_argument("--list", action="store_true", help="print the pages' names, and take none")
    return parser.parse_args(namespace=Options())


def main(asked: Options) -> None:
    scenes = [scene for scene in SCENES if not asked.only or any(word in scene.name for word in asked.only)]
    if asked.list:
        sys.stdout.write("".join(f"{scene.name}\n" for scene in scenes))
        return
    asked.folder.mkdir(parents=True, exist_ok=True)
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with (
        tempfile.TemporaryDirectory() as var,
        served(Path(var)) as server,
        sync_playwright() as playwright,
        contextlib.ExitStack() as until_the_end,
    ):
        enlarged = f"--blink-settings=defaultFontSize={16 * asked.text // 100}"
        browser = playwright.chromium.launch(executable_path=chromium, args=[*CHROMIUM, enlarged])
        material = Material(server, browser, until_the_end)
        for scene in scenes:
            try:
                address = scene.address(material)
            except MissingError as problem:
                sys.stderr.write(f"{scene.name}: {problem}\n")
                continue
            for width, height in SIZES:
                if width in asked.sizes:
                    with opened(browser, server, address, (width, height), asked) as page:
                        look(browser, page, scene, f"{scene.name}-{width}", asked)
        browser.close()


def look(browser: Browser, page: Page, scene: Scene, name: str, asked: Options) -> None:
    try:
        if scene.then:
            scene.then(page)
    except Error as problem:
        sys.stderr.write(f"{name}: {str(problem).splitlines()[0]}\n")
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.wait_for_timeout(300)
        page.screenshot(path=asked.folder / f"{name}-{scheme}.png")
        for fault in faults(page) if asked.axe else []:
            sys.stdout.write(f"{name}-{scheme}: {fault}\n")
    whole = page.evaluate("document.documentElement.scrollHeight")
    size = page.viewport_size
    assert size is not None
    if page.evaluate("document.documentElement.scrollWidth") > size["width"]:
        sys.stdout.write(f"{name}: wider than the window\n")
    if whole > size["height"] + 40:
        page.emulate_media(color_scheme="light")
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(whole, TALLEST)}
        page.screenshot(path=asked.folder / f"{name}-whole.png", full_page=True, clip=clip)  # type: ignore[arg-type]
    if asked.keys:
        stops = keyboard.walk(page)
        keyboard.sheet(browser, name, stops, asked.folder / f"{name}-keys.png")
        for number, stop in enumerate(stops, 1):
            if not stop.seen:
                sys.stdout.write(f"{name}: stop {number} is not seen: {stop.name} {stop.says}\n")
    sys.stderr.write(f"{name}\n")


@contextlib.contextmanager
def opened(
    browser: Browser, server: Served, address: str, size: tuple[int, int], asked: Options
) -> Iterator[Page]:
    context = browser.new_context(
        viewport={"width": size[0] // asked.zoom, "height": size[1] // asked.zoom},
        device_scale_factor=asked.zoom,
        reduced_motion="reduce",
        # What tests the page may be put into it; the page itself keeps its policy otherwise.
        bypass_csp=True,
    )
    context.add_cookies([server.cookie()])  # type: ignore[list-item]
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(server.url + address)
    with contextlib.suppress(Error):
        page.wait_for_load_state("networkidle", timeout=8_000)
    page.wait_for_timeout(700)
    yield page
    context.close()


def faults(page: Page) -> list[str]:
    """What axe-core finds: rules, and the first nodes that break them."""
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [
        f"{one['id']}: {one['help']}: {[node['html'][:160] for node in one['nodes'][:3]]}" for one in found
    ]


if __name__ == "__main__":
    main(options())
