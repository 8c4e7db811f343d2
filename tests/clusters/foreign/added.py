"""``python -m tests.clusters.foreign.added``: brokers of several releases, and kfake, added by the page in Chromium.

Each has a group of librdkafka and one of franz-go. The page must test the broker, keep it, list both groups with their members, and
show the board of each; what it shows is printed as a line of JSON a broker. Exit 1 where a broker fails.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, expect, sync_playwright

from tests.broker.node import free_port, on_a_leash, running
from tests.clusters.foreign.__main__ import TOPIC, say
from tests.clusters.foreign.installing import Clients, MissingToolError, installed
from tests.serving import Served, served

BROKERS: Final = ("2.8.2", "3.9.1", "4.3.1", "4.4.0", "kfake")
MEMBERS: Final = {"of-librdkafka": "rdkafka", "of-franz-go": "franz"}
LIMIT_MS: Final = 60_000
expect.set_options(timeout=LIMIT_MS)


@contextlib.contextmanager
def broker(name: str, clients: Clients, folder: Path) -> Iterator[str]:
    """The address of a broker that has the topic: one of kfake, or of this release."""
    if name != "kfake":
        with running(folder / name, release=name) as node:
            with node.connect() as connection:
                connection.create_topic(TOPIC, 6)
            yield node.bootstrap
        return
    port = free_port()
    command = on_a_leash([*clients.fake_broker(port, TOPIC)])
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield f"127.0.0.1:{port}"
        finally:
            process.kill()


@contextlib.contextmanager
def members(clients: Clients, bootstrap: str, log: Path) -> Iterator[None]:
    with contextlib.ExitStack() as stack, log.open("ab") as out:
        for group, library in MEMBERS.items():
            command = clients.command(library, bootstrap, group, TOPIC, library)
            process = stack.enter_context(subprocess.Popen(on_a_leash(command), stdout=out, stderr=out))
            stack.callback(process.send_signal, signal.SIGKILL)
        yield


def seen(browser: Browser, server: Served, name: str, bootstrap: str) -> dict[str, Any]:
    """What a reader meets who adds the broker and opens the board of each group."""
    with browser.new_context() as context:
        context.add_cookies([server.cookie()])  # type: ignore[list-item]
        page = context.new_page()
        page.set_default_timeout(LIMIT_MS)
        page.goto(f"{server.url}/clusters")
        page.fill("[name=name]", name)
        page.fill("[name=servers]", bootstrap)
        page.click("#test")
        expect(page.locator("#keep")).to_be_enabled()
        steps = page.locator("#steps li").all_inner_texts()
        page.click("#keep")
        found: dict[str, Any] = {"steps": [" ".join(each.split()) for each in steps], "groups": {}}
        page.click("#troubles-all")
        for group in MEMBERS:
            expect(page.locator(f'#troubles-rows [data-group="{group}"]')).to_contain_text("Stable")
        cluster = page.url
        found["facts"] = page.locator("#facts").inner_text()
        found["banners"] = page.locator("#banners .banner").all_inner_texts()
        for group in MEMBERS:
            page.goto(cluster)
            page.click("#troubles-all")
            row = page.locator(f'#troubles-rows [data-group="{group}"]')
            expect(row.get_by_role("link")).to_have_count(1)
            shown = " ".join(row.inner_text().split())
            row.get_by_role("link").click()
            expect(page.locator("#board .lane:not(.pool)")).to_have_count(1)
            expect(page.locator('[data-banner="status"]')).to_contain_text("Live.")
            found["groups"][group] = {
                "row": shown,
                "state": page.locator("#state").inner_text(),
                "lane": " ".join(page.locator("#board .lane:not(.pool)").inner_text().split()),
                "status": " ".join(page.locator('[data-banner="status"]').inner_text().split()),
            }
        return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.clusters.foreign.added", description=__doc__)
    parser.add_argument("--broker", action="append", help=f"one of them; default: {', '.join(BROKERS)}")
    parser.add_argument(
        "--clients", type=Path, help="keeps the fetched clients in this folder for the next time"
    )
    options = parser.parse_args()
    failed = False
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory(prefix="rebalance-foreign-") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        try:
            clients = installed((options.clients or folder / "clients").resolve(), say)
        except MissingToolError as problem:
            say(f"The foreign clients cannot be run: {problem}.")
            return 2
        (folder / "app").mkdir()
        server = stack.enter_context(served(folder / "app"))
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for each in options.broker or BROKERS:
            say(f"A broker: {each} …")
            with (
                broker(each, clients, folder) as bootstrap,
                members(clients, bootstrap, folder / "members.log"),
            ):
                try:
                    result = seen(browser, server, each, bootstrap)
                except AssertionError as problem:
                    failed, result = True, {"failed": str(problem)}
            sys.stdout.write(json.dumps({"broker": each, **result}) + "\n")
            sys.stdout.flush()
        browser.close()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
