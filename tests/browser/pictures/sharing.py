"""``python -m tests.browser.pictures.sharing [FOLDER] [SIZE…] [SCHEME…]``: what is shared, as its maker and its recipients see it."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page

from tests.browser.elsewhere import wiki_server
from tests.browser.pictures.camera import Camera, cameras
from tests.browser.seeded import sweep_in
from tests.serving import ROOT, Served

STUDY = "incident-slow-revocation"
BOARD = f"/t/{STUDY}?at=60&view=investigator"
GROUP = f"/laboratory?timeline={STUDY}&at=60"


def main() -> None:
    with cameras("sharing") as found, tempfile.TemporaryDirectory() as files, wiki_server() as wiki:
        sweep = file = comparison = ""
        for camera in found:
            if not file:
                file = exported(camera.server, Path(files) / "incident.html", STUDY, "--hide-names")
                comparison = exported(
                    camera.server, Path(files) / "comparison.html", "kip429-eager", "kip429-cooperative"
                )
                sweep = sweep_in(camera.server, "whole")
            of_a_moment(camera, *wiki)
            of_a_group(camera)
            of_a_cell(camera, sweep)
            files_of(camera, {"file": file, "file-comparison": comparison})


def exported(server: Served, to: Path, *words: str) -> str:
    command = [sys.executable, "manage.py", "timeline", "export", *words, "--out", str(to)]
    subprocess.run(command, cwd=ROOT, env=server.environment, check=True, capture_output=True)
    return to.as_uri()


def made(page: Page) -> str:
    """Makes a link as a user does: its address."""
    page.get_by_role("button", name="Make a link").click()
    page.locator("#share-says code").first.wait_for()
    return page.locator("#share-says code").first.inner_text()


def of_a_moment(camera: Camera, port: int, wiki: dict[str, str]) -> None:
    """The dialog on a board, the names that it hides, the link that it makes; then its recipients."""
    with camera.opened(BOARD) as page:
        page.locator("#share-open").click()
        page.locator("#share-names td").first.wait_for()
        camera.take(page, "dialog")
        page.locator("#share-names").evaluate("names => { names.scrollIntoView(); names.scrollTop = 400; }")
        camera.take(page, "preview")
        page.locator(".share-embed summary").click()
        page.get_by_label("Origin of that page").fill("wiki")
        page.get_by_role("button", name="Make a link").click()
        page.locator("#share-says .bad").wait_for()
        page.locator("#share-says").scroll_into_view_if_needed()
        camera.take(page, "dialog-refused")
        page.get_by_label("Origin of that page").fill(f"http://localhost:{port}")
        link = made(page)
        page.locator("#share-says").scroll_into_view_if_needed()
        camera.take(page, "dialog-made")
        wiki["body"] = around(page.locator("#share-says code").nth(1).inner_text())
        page.locator(".share .modes input[value=investigator]").check()
        page.locator("#share-hide").uncheck()
        detailed = made(page)
        chat(camera, link)
        with camera.opened(f"http://localhost:{port}/", alive=False, knows_server=False) as theirs:
            theirs.frame_locator("iframe").locator("#board .chip").first.wait_for()
            camera.take(theirs, "embed")
        with camera.opened(detailed, knows_server=False) as theirs:
            camera.take(theirs, "investigator", whole=True)
        with camera.opened(f"{link.partition('?')[0]}?at=99999", knows_server=False) as theirs:
            theirs.locator("[data-banner=moment]").wait_for()
            camera.take(theirs, "reader-moment-gone")
        with camera.opened(link, knows_server=False) as theirs:
            camera.take(theirs, "reader")
            camera.take(theirs, "reader-whole", whole=True)
            page.get_by_role(
                "button", name=f"Withdraw the link that ends with {link.partition('?')[0][-4:]}"
            ).click()
            theirs.get_by_role("alert").wait_for()
            camera.take(theirs, "ended")
        camera.take(page, "dialog-withdrawn")
    with camera.opened(link, alive=False, knows_server=False) as theirs:
        camera.take(theirs, "gone")


def chat(camera: Camera, link: str) -> None:
    """The card as chat tools lay it out, of what the link gives them: its title, its sentence and its picture."""
    with urllib.request.urlopen(link, timeout=60) as answer:
        door = answer.read().decode()
    told = dict(re.findall(r'<meta property="og:([a-z_:]+)" content="([^"]*)">', door))
    with camera.opened(camera.server.url + "/s/", alive=False, knows_server=False) as page:
        # Their own page, without a policy: only a picture of this server is asked for.
        page.route("**/chat", lambda route: route.fulfill(content_type="text/html", body=message(told)))
        page.goto(camera.server.url + "/chat")
        page.locator("img").evaluate("image => image.decode()")
        camera.take(page, "card")


def message(told: dict[str, str]) -> str:
    return (
        "<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width'><style>:root{color-scheme:light dark;font:15px/1.4 system-ui}"
        "article{max-width:520px;margin:24px;padding:0 14px;border-left:4px solid gray}img{max-width:100%;border-radius:6px}</style>"
        f"<article><small>{told['site_name']}</small><br><b>{told['title']}</b><p>{told['description']}</p>"
        f"<img src='{told['image']}' alt='{told['image:alt']}'></article>"
    )


def around(embed: str) -> str:
    """The piece of HTML that the dialog gives, on a page of somebody else's."""
    return (
        "<meta name=viewport content='width=device-width'><style>:root{color-scheme:light dark;font:15px/1.4 system-ui}</style>"
        f"<h1>Our incident of Tuesday</h1><p>What happened, step by step:</p>{embed}<p>And what we did about it.</p>"
    )


def of_a_group(camera: Camera) -> None:
    with camera.opened(GROUP, alive=False) as page:
        page.locator("#b6 svg").wait_for()
        camera.take(page, "laboratory", whole=True)
        shared_sheet(camera, page, "laboratory", lambda: page.locator("#share-open").click())


def of_a_cell(camera: Camera, sweep: str) -> None:
    with camera.opened(f"/sweeps/{sweep}?cell=13") as page:
        button = page.get_by_role("button", name="Share this seed")
        button.wait_for()
        shared_sheet(camera, page, "cell", button.click)


def shared_sheet(camera: Camera, page: Page, name: str, share: Callable[[], None]) -> None:
    share()
    link = made(page)
    camera.take(page, f"{name}-dialog")
    with camera.opened(link, knows_server=False) as theirs:
        camera.take(theirs, f"{name}-reader", whole=True)


def files_of(camera: Camera, files: dict[str, str]) -> None:
    for name, url in files.items():
        with camera.opened(f"{url}?at=60", knows_server=False) as page:
            camera.take(page, name, whole=True)


if __name__ == "__main__":
    main()
