"""``make demo`` as a newcomer starts it: rebalances happen, the app records them, and the board shows them as they happen."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Error, sync_playwright

from tests.broker import jars
from tests.browser.conftest import CHROMIUM, chromium_path
from tests.conftest import missing
from tests.serving import ROOT, environment_for

pytestmark = [pytest.mark.broker, pytest.mark.browser, pytest.mark.once]
"""In one part of the tests, so that the demonstration is started once."""

LIMIT_S = 180
"""A start may take a minute on a machine that does other things, and the consumers some seconds more."""

SEEN_WITHIN_S = 2.0
KILLS_MOST = 8
"""Members that may be killed until one is seen in time: a machine that does other things may stand still for a second."""

NOTICED = re.compile(
    r"^(\d+) .*\[GroupId orders\].*[Mm]ember (\S+) (?=.*(?:session expired|fenced from the group))",
    re.MULTILINE,
)
"""The broker's own line, with the milliseconds of its clock and the member, when a session in ``orders`` expires."""

WATCHING = """
window.drawn = [];
const look = () => {
  const now = [...document.querySelectorAll('#board .lane[data-member]')].map((lane) => lane.dataset.member);
  if (now.join() !== (window.drawn.at(-1) ?? [0, []])[1].join()) window.drawn.push([Date.now(), now]);
};
look();
new MutationObserver(look).observe(document.querySelector('#board'), { childList: true, subtree: true, attributes: true });
"""
"""Whose lanes the board has, and since when: how many there are says little, one may join as another is dropped."""


@dataclass(frozen=True, slots=True)
class Demo:
    """The demonstration under way: its process, what it says, and where its broker writes."""

    process: subprocess.Popen[bytes]
    log: Path
    folder: Path

    @property
    def said(self) -> str:
        return self.log.read_text()

    @property
    def entrance(self) -> tuple[str, str] | None:
        """The server's address and its token, once it is said."""
        found = re.search(r"plays at (http://[^/]+)/\?token=(\S+)", self.said)
        return None if found is None else (found[1], found[2])

    def ask(self, address: str) -> Any:
        assert self.entrance is not None
        url, token = self.entrance
        request = urllib.request.Request(url + address, headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def groups(self) -> dict[str, dict[str, Any]]:
        if self.entrance is None:
            return {}
        clusters = [cluster for cluster in self.ask("/api/clusters") if cluster["name"] == "demo"]
        return {
            each["group"]: each
            for cluster in clusters
            for each in self.ask(f"{cluster['url']}/groups".replace("/clusters", "/api/clusters"))
        }

    def noticed(self) -> list[tuple[int, str]]:
        """When the broker noticed that members of ``orders`` were gone, in milliseconds, and which."""
        [log] = self.folder.glob("rebalance-demo-*/broker/broker.log")
        return [(int(at), member) for at, member in NOTICED.findall(log.read_text())]

    def until(self, holds: Any) -> Any:
        deadline = time.monotonic() + LIMIT_S
        while not (found := holds()):
            assert self.process.poll() is None, self.said[-2000:]
            assert time.monotonic() < deadline, f"{self.groups()}\n{self.said[-2000:]}"
            time.sleep(0.3)
        return found


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    try:
        jars.class_path()
    except jars.BrokerUnavailableError as problem:
        missing(str(problem))
    folder = tmp_path_factory.mktemp("demo")
    log = folder / "demo.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.demo", "--port", "0", "--pause", "1"],
            cwd=ROOT, env=environment_for(folder / "var", TMPDIR=str(folder)), stdout=out, stderr=out,
            start_new_session=True,
        )  # fmt: skip
    running = Demo(process, log, folder)
    try:
        yield running
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(60) is not None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def test_the_demonstration_shows_groups_that_rebalance(demo: Demo) -> None:
    """All four stories are seen, and the one that kills was seen to rebalance more than once."""

    def shown() -> bool:
        groups = demo.groups()
        if not {"orders", "payments", "billing", "audit"} <= groups.keys():
            return False
        return groups["orders"]["timeline"] is not None and len(groups["orders"]["rebalanced_ms"]) >= 2

    demo.until(shown)


def test_a_kill_is_on_the_board_within_two_seconds_of_the_brokers_noticing_it(demo: Demo) -> None:
    timeline = demo.until(lambda: demo.groups().get("orders", {}).get("timeline"))
    assert demo.entrance is not None
    url, token = demo.entrance
    with sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=chromium_path(), args=CHROMIUM)
        except Error as error:
            missing(f"No Chromium: {str(error).splitlines()[0]}")
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(f"{url}/?token={token}")
        page.goto(f"{url}/t/{timeline}")
        page.wait_for_selector("html[data-alive]")
        page.evaluate(WATCHING)
        lags_ms: list[int] = []

        def in_time() -> bool:
            """Of each member that the board had when the broker dropped it, how long the board kept it: each is another try."""
            drawn = page.evaluate("window.drawn")
            lags_ms.clear()
            for at, member in demo.noticed():
                had = [when for when, members in drawn if member in members]
                gone = [when for when, members in drawn if had and when > had[-1] and member not in members]
                if gone and gone[0] >= at:
                    lags_ms.append(gone[0] - at)
            seen = any(lag <= SEEN_WITHIN_S * 1000 for lag in lags_ms)
            assert seen or len(lags_ms) < KILLS_MOST, f"the board followed {lags_ms} ms after the broker"
            return seen

        demo.until(in_time)
        browser.close()
    sys.stderr.write(f"seen on the board {lags_ms} ms after the broker noticed\n")
