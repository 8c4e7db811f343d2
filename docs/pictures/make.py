"""Take the screenshots of the docs anew: ``make pictures``; only some with their names: ``python docs/pictures/make.py board-light``.
``python docs/pictures/make.py --to FOLDER`` takes what a newcomer and an on-call engineer see first, in three sizes and both
schemes, to be looked at side by side.

A fresh server with nothing but the case studies and the sample log, so that the pictures are the same on every
machine but for its fonts. Needs Chromium; the pictures of an import and of a sweep need Spark, and are left as they are without.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Locator, Page, TimeoutError, sync_playwright

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))

from tests.serving import Served, served  # noqa: E402

STUDY = "kip848-basic"
FAIL_OVER = "released-fail-over"
SHARED = "/t/incident-slow-revocation?at=60&view=investigator"
STEP = 14
"""A revokes foo-1, whose target owner is C: all that a board can say is on it."""

SIZES = {1440: 900, 1024: 768, 390: 844}

IMPORT_S = 240
"""The first import of a fresh machine starts Spark, and Spark starts slowly."""


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
    ):
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        board = f"/t/{STUDY}?at={sequence_of(server, STEP)}"
        if "--to" in sys.argv:
            look(browser, server, board, Path(sys.argv[sys.argv.index("--to") + 1]))
            return
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
            Picture(name="fail-over-light", address=f"/t/{FAIL_OVER}?at={loading(server)}"),
            Picture(name="share-light", address=SHARED, then=open_sharing),
            Picture(name="inspector-light", address="/inspect", then=open_record),
            Picture(name="inspector-dark", address="/inspect", scheme="dark", then=open_record),
            Picture(name="inspector-edit-light", address="/inspect", then=edit_record),
            Picture(name="inspector-compare-light", address="/inspect", height=560, then=compare_members),
            Picture(
                name="inspector-390-light",
                address="/inspect",
                width=390,
                height=844,
                scale=1.5,
                then=open_record,
            ),
            Picture(
                name="inspector-390-dark",
                address="/inspect",
                width=390,
                height=844,
                scale=1.5,
                scheme="dark",
                then=open_record,
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
            broken = f"/t/{store_broken_run(server.environment)}"
            take(
                browser,
                server,
                Picture(name="violation-light", address=broken, height=760, then=go_to_violation),
            )
        if named:
            return
        imported = import_sample(browser, server)
        if imported:
            address, timeline = imported
            take(browser, server, Picture(name="import-light", address=address))
            take(browser, server, Picture(name="imports-light", address="/import/"))
            if timeline:
                take(browser, server, Picture(name="imported-light", address=f"/t/{timeline}"))
        swept = sweep(server)
        if swept:
            take(browser, server, Picture(name="sweep-light", address=swept))
            take(browser, server, Picture(name="sweep-dark", address=swept, scheme="dark"))
            phone = Picture(
                name="sweep-390-dark", address=swept, width=390, height=844, scale=1.5, scheme="dark"
            )
            take(browser, server, phone)
        browser.close()


def look(browser: Browser, server: Served, board: str, folder: Path) -> None:
    """The first page, the list of imports, an imported incident at its worst moment, Reader and Investigator."""
    folder.mkdir(parents=True, exist_ok=True)
    imported = import_sample(browser, server)
    screens = {
        "home": "/",
        "imports": "/import/",
        "imported": f"/t/{imported[1]}" if imported else None,
        "reader": f"{board}&view=reader",
        "investigator": f"{board}&view=investigator",
    }
    for name, address in screens.items():
        for width, height in SIZES.items():
            for scheme in ("light", "dark"):
                if address:
                    shown = Picture(
                        name=f"{name}-{width}-{scheme}",
                        address=address,
                        width=width,
                        height=height,
                        scheme=scheme,
                    )
                    take(browser, server, shown, folder)


def take(browser: Browser, server: Served, picture: Picture, folder: Path = HERE) -> None:
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
    page.screenshot(path=folder / f"{picture.name}.png")
    context.close()
    sys.stderr.write(f"{picture.name}.png\n")


def store_broken_run(environment: dict[str, str]) -> str:
    """A run in which a partition has two owners; no case study has one."""
    command = [sys.executable, "-m", "tests.browser.seed", "broken"]
    told = subprocess.run(
        command, cwd=HERE.parent.parent, env=environment, check=True, capture_output=True, text=True
    )
    return told.stdout


def go_to_violation(page: Page) -> None:
    page.get_by_role("link", name="Go there").click()
    page.locator("#now.bad").wait_for()


def loading(server: Served) -> int:
    """A moment at which the new coordinator still reads the log, and somebody has to wait."""
    moments = ask(server, f"/api/timelines/{FAIL_OVER}/chunks/1")["moments"]
    return next(moment["sequence"] for moment in moments if "still loading" in moment["says"])


def open_sharing(page: Page) -> None:
    page.get_by_role("button", name="Share").click()
    page.locator("#share-names td").first.wait_for()


def open_record(page: Page) -> None:
    """A classic group's record, with the partitions that a member came with lit up."""
    page.get_by_role("button", name="A classic group’s record").click()
    field(page, "members.0.subscription.ownedPartitions.0.partitions").locator(".nm").click()


def edit_record(page: Page) -> None:
    open_record(page)
    field(page, "members.0.assignment.assignedPartitions.0.partitions").dblclick()
    page.get_by_label("partitions, array int32").fill("0 1 5")
    page.keyboard.press("Enter")
    page.get_by_text("6 bytes changed").wait_for()


def compare_members(page: Page) -> None:
    open_record(page)
    page.get_by_role("button", name="Compare two").click()
    page.get_by_role("row", name="ownedPartitions[0].partitions").click()


def field(page: Page, path: str) -> Locator:
    """The row of a field, which on a small screen is made only once the rows are scrolled to it."""
    row = page.locator(f'.fr[data-path="{path}"]')
    page.locator(".fr").first.wait_for()
    for _ in range(40):
        if row.count():
            break
        page.locator("#fields").evaluate("fields => { fields.scrollTop += 200; }")
        page.wait_for_timeout(50)
    return row


def settle(page: Page) -> None:
    """Until entries are fetched and the figure, where it is in sight, is drawn."""
    page.evaluate("document.fonts.ready")
    page.wait_for_timeout(800)


def import_sample(browser: Browser, server: Served) -> tuple[str, str | None] | None:
    """Import the sample log as a newcomer does, with one click: the import's page, and its largest timeline."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(server.entrance)
    page.get_by_role("button", name="Import the sample log").click()
    try:
        page.wait_for_url("**/import/*", timeout=30_000)
    except TimeoutError:
        sys.stderr.write("The sample could not be imported; import-light.png stays as it is.\n")
        return None
    address = page.url.removeprefix(server.url)
    context.close()
    deadline = time.monotonic() + IMPORT_S
    while time.monotonic() < deadline:
        detail = ask(server, f"/api/imports/{address.rsplit('/', 1)[1]}")
        if detail["status"] == "complete":
            timelines = sorted(ask(server, "/api/timelines"), key=lambda timeline: timeline["last"])
            found = [timeline["id"] for timeline in timelines if timeline["source"] == "import"]
            return address, (found[-1] if found else None)
        if detail["status"] in {"failed", "cancelled"}:
            break
        time.sleep(1)
    sys.stderr.write("The sample was not imported in time; import-light.png stays as it is.\n")
    return None


def sweep(server: Served) -> str | None:
    """Sweep the usual axes: the sweep's page."""
    with server.open("/api/sweeps", b"{}") as answer:
        begun = json.load(answer)
    deadline = time.monotonic() + IMPORT_S
    while time.monotonic() < deadline:
        if ask(server, f"/api/sweeps/{begun['sweep']}")["status"] == "complete":
            return str(begun["url"])
        time.sleep(1)
    sys.stderr.write("The sweep was not done in time; its pictures stay as they are.\n")
    return None


def sequence_of(server: Served, step: int) -> int:
    moments = ask(server, f"/api/timelines/{STUDY}/chunks/1")["moments"]
    return next(moment["sequence"] for moment in moments if moment["step"] == step)


def ask(server: Served, address: str) -> Any:
    with server.open(address) as answer:
        return json.load(answer)


if __name__ == "__main__":
    main()
