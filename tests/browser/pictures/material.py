"""What stands on the pages: large groups, an imported log, a sweep, a live cluster. Each is made once, when it is first asked for."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
import tempfile
import time
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Browser, TimeoutError

from tests.broker import jars
from tests.broker.members import CONSUMER, Member
from tests.broker.node import running, wait_for_topic
from tests.browser import large
from tests.serving import ROOT, Served

IMPORT_S: Final = 240
"""The first import of a fresh machine starts Spark, and Spark starts slowly."""

GROUP_S: Final = 90
"""Until a live group is seen, stable, and recorded."""

ODD_NAMES: Final = {
    "consumer-0-00": "k" * 241 + "-the-end",
    "consumer-0-01": "צרכן-תשלומים-" + "א" * 40 + "-7",
    "consumer-0-02": "👩‍👩‍👧‍👦" * 12 + "-9",
}
"""As long as Kafka allows, from right to left, and of characters that are many code points each."""


class MissingError(Exception):
    """This machine lacks what it takes to make it; the page is left out, with this sentence."""


OF_SAMPLE: Final = "orders-enrich"
"""The group of the sample log that loses a member."""


class Material:
    def __init__(self, server: Served, browser: Browser, open_until_the_end: contextlib.ExitStack) -> None:
        self.server = server
        self.browser = browser
        self._ends = open_until_the_end
        self.map = cache(self._map)

    def ask(self, address: str) -> Any:
        with self.server.open(address) as answer:
            return json.load(answer)

    # -- moments of case studies

    def moment(self, study: str, words: str) -> str:
        """The address of the first moment of a case study that says so."""
        for chunk in self.ask(f"/api/timelines/{study}")["chunks"]:
            for one in self.ask(f"/api/timelines/{study}/chunks/{chunk['first']}")["moments"]:
                if words in one["says"]:
                    return f"/t/{study}?at={one['sequence']}"
        raise MissingError(f"{study} has no moment that says “{words}”")

    def step(self, study: str, step: int) -> str:
        """The address of a step of a case study."""
        moments = self.ask(f"/api/timelines/{study}/chunks/1")["moments"]
        found = next(moment["sequence"] for moment in moments if moment["step"] == step)
        return f"/t/{study}?at={found}"

    # -- runs

    def _map(self, members: int) -> str:
        """A group of so many members, at a moment at which somebody waits."""
        return large.waiting_at(self.server, large.store(self.server, large.scenario(members)))

    @cached_property
    def odd_names(self) -> str:
        """Ten members on lanes, three of which have odd names."""
        stored = large.store(self.server, large.scenario(10), renamed=ODD_NAMES)
        return large.waiting_at(self.server, stored)

    @cached_property
    def odd_names_on_a_map(self) -> str:
        stored = large.store(self.server, large.scenario(62), renamed=ODD_NAMES)
        return large.waiting_at(self.server, stored)

    @cached_property
    def many_topics(self) -> str:
        """Two members on 10,000 topics of one partition each."""
        topics = {f"topic-{number:05}": 1 for number in range(10_000)}
        return f"/t/{large.store(self.server, large.few(topics=topics))}"

    @cached_property
    def one_owner(self) -> str:
        """Where one member owns 10,000 partitions."""
        return self.moment(large.store(self.server, large.few(topics={"orders": 10_000})), "b joins")

    @cached_property
    def grown(self) -> str:
        """From nobody to 1,000 members, and back."""
        return f"/t/{large.store(self.server, large.grows(1_000))}"

    @cached_property
    def broken(self) -> str:
        """A run in which a partition has two owners; no case study has one."""
        return f"/t/{self._told('-m', 'tests.browser.seed', 'broken')}"

    @cached_property
    def nameless(self) -> str:
        """A log that has topic ids, and no names."""
        return f"/t/{self._told('-m', 'tests.browser.seed')}?at=5"

    @cached_property
    def classic(self) -> str:
        """A classic group's log, of which its clients' part is unknown."""
        return f"/t/{self._told('-m', 'tests.browser.seed', 'classic')}"

    @cached_property
    def empty(self) -> str:
        """A timeline in which nothing was recorded."""
        return f"/t/{self._told('-m', 'tests.browser.seed', 'empty')}"

    def _told(self, *words: str) -> str:
        command = [sys.executable, *words]
        return subprocess.run(
            command, cwd=ROOT, env=self.server.environment, check=True, capture_output=True, text=True
        ).stdout

    # -- jobs

    @cached_property
    def imported(self) -> tuple[str, str | None]:
        """The sample log, imported as a newcomer does it: the import's page, and that of its largest timeline."""
        context = self.browser.new_context()
        page = context.new_page()
        page.goto(self.server.entrance)
        page.get_by_role("button", name="Import the sample log").click()
        try:
            page.wait_for_url("**/import/*", timeout=30_000)
        except TimeoutError as problem:
            raise MissingError("the sample log could not be imported") from problem
        address = page.url.removeprefix(self.server.url)
        context.close()
        deadline = time.monotonic() + IMPORT_S
        while time.monotonic() < deadline:
            detail = self.ask(f"/api/imports/{address.rsplit('/', 1)[1]}")
            if detail["status"] == "complete":
                found = [each["id"] for each in self.ask("/api/timelines") if each["group"] == OF_SAMPLE]
                return address, (f"/t/{found[-1]}" if found else None)
            if detail["status"] in {"failed", "cancelled"}:
                break
            time.sleep(1)
        raise MissingError("the sample log was not imported in time")

    @cached_property
    def worst_moment(self) -> str:
        """The imported incident, where it opens."""
        timeline = self.imported[1]
        if timeline is None:
            raise MissingError("the sample log has no timeline")
        return timeline

    @cached_property
    def failed_import(self) -> str:
        """A file that is no log: the page of its import."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "holiday.jpg"
            file.write_bytes(b"\xff\xd8\xff\xe0 a picture, and no log")
            context = self.browser.new_context()
            page = context.new_page()
            page.goto(self.server.entrance)
            page.goto(f"{self.server.url}/import/")
            page.locator("#files").set_input_files(str(file))
            page.get_by_role("button", name="Import", exact=True).click()
            page.wait_for_url(re.compile(r"/import/\w+$"), timeout=30_000)
            address = page.url.removeprefix(self.server.url)
            context.close()
        deadline = time.monotonic() + IMPORT_S
        while self.ask(f"/api/imports/{address.rsplit('/', 1)[1]}")["status"] != "failed":
            if time.monotonic() > deadline:
                raise MissingError("the import that fails did not end in time")
            time.sleep(1)
        return address

    @cached_property
    def sweep_under_way(self) -> str:
        return f"/sweeps/{self._told('-m', 'tests.browser.seed_sweep', 'begun')}"

    @cached_property
    def swept(self) -> str:
        """A sweep over the usual axes, on Spark: its page."""
        with self.server.open("/api/sweeps", b"{}") as answer:
            begun = json.load(answer)
        deadline = time.monotonic() + IMPORT_S
        while time.monotonic() < deadline:
            if self.ask(f"/api/sweeps/{begun['sweep']}")["status"] == "complete":
                return str(begun["url"])
            time.sleep(1)
        raise MissingError("the sweep was not done in time")

    # -- a live cluster

    @cached_property
    def cluster(self) -> str:
        """A real broker with two groups: one of two members, one that lost its only member. The cluster's page."""
        try:
            jars.class_path()
        except jars.BrokerUnavailableError as problem:
            raise MissingError(str(problem)) from problem
        folder = Path(self._ends.enter_context(tempfile.TemporaryDirectory()))
        node = self._ends.enter_context(running(folder))
        with node.connect() as connection:
            connection.create_topic("orders", 6)
        wait_for_topic(node, "orders", "orders-enrich")
        for name, group in (("anna", "orders-enrich"), ("ben", "orders-enrich"), ("cleo", "invoices")):
            member = Member(node, name, group, "orders", CONSUMER, program="rdkafka").start()
            self._ends.callback(member.kill)
            member.wait_for("ready")
            member.join()
            member.wait_for("assigned")
            if group == "invoices":
                left = member
        settings = {"bootstrap.servers": node.bootstrap}
        body = json.dumps({"name": "prod-eu", "properties": settings}).encode()
        with self.server.open("/api/clusters", body) as answer:
            added = json.load(answer)
        self._groups(added["id"], lambda group: group["group"] == "invoices" and group["timeline"])
        left.leave()
        self._groups(added["id"], lambda group: group["state"] == "Empty")
        return str(added["url"])

    def live(self, name: str) -> str:
        """The board of a group of the cluster."""
        groups = self.ask(f"/api/clusters/{self.cluster.rsplit('/', 1)[1]}/groups")
        return next(f"/t/{group['timeline']}" for group in groups if group["group"] == name)

    def _groups(self, cluster: str, wanted: Any) -> None:
        deadline = time.monotonic() + GROUP_S
        while not any(wanted(group) for group in self.ask(f"/api/clusters/{cluster}/groups")):
            if time.monotonic() > deadline:
                raise MissingError("the live groups were not seen in time")
            time.sleep(0.5)
