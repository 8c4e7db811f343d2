"""A log may say any number of partitions: a page draws so many of them, says how many it leaves out, and answers meanwhile."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.error import HTTPError

import pytest
from playwright.sync_api import Browser, Page, expect

from groups.history.state.group import PARTITIONS_A_TOPIC_MAX
from tests.browser.board import Fetch
from tests.history.logs import FOO, HASH, STABLE, Log, Records, record, topic_partitions
from tests.serving import ROOT, Served

Open = Callable[..., Page]

INT32_MAX = 2**31 - 1
OWNED = 22_000
HIGHEST = PARTITIONS_A_TOPIC_MAX - 1
TOPICS = 40

R = Records()

pytestmark = pytest.mark.once


def stored(server: Served, log: Log, to: Path) -> str:
    """The id of a timeline of these entries."""
    to.write_text("".join(json.dumps(entry.to_json()) + "\n" for entry in log.entries))
    command = [sys.executable, "manage.py", "timeline", "add", str(to), "--semantics", "kafka"]
    done = subprocess.run(command, cwd=ROOT, env=server.environment, check=True, capture_output=True)
    return str(json.loads(done.stdout)["id"])


def said_to_have_all() -> Log:
    """A topic of 2^31 - 1 partitions by the topic's note, by a record, and by a member's target."""
    log = Log()
    log.topics(foo={"id": FOO, "partitions": INT32_MAX})
    counted = {"topicId": FOO, "topicName": "foo", "numPartitions": INT32_MAX}
    log.write(record(4, {"groupId": "orders"}, {"topics": [counted]}))
    log.write(R.member("A"), R.epoch(2), R.target("A", 0, 1, INT32_MAX), R.target_epoch(2, 0))
    log.write(R.current("A", 2, 0, STABLE, {0: 2, 1: 2}))
    return log


def named_and_not_counted() -> Log:
    """Nobody says how many partitions these topics have; the target names the highest of each, and they are 4,000,000."""
    log = Log()
    ids = [f"{'A' * 19}{number:02}g" for number in range(TOPICS)]
    target = {"topicPartitions": topic_partitions({topic: [HIGHEST] for topic in ids})}
    log.write(R.member("A"), R.epoch(2, HASH), record(7, {"groupId": "orders", "memberId": "A"}, target))
    log.write(R.target_epoch(2))
    log.at(900).write(R.epoch(3, HASH))
    return log


def owned_by_one() -> Log:
    log = Log()
    owned = range(OWNED)
    log.write(R.member("A"), R.epoch(2, HASH), R.target("A", *owned), R.target_epoch(2))
    log.write(R.current("A", 2, 0, STABLE, dict.fromkeys(owned, 2)))
    log.at(3000).write(R.epoch(3, HASH), R.target("A", *owned[:-1]), R.target_epoch(3))
    log.at(3500).write(R.current("A", 3, 2, STABLE, dict.fromkeys(owned[:-1], 2)))
    return log


@pytest.fixture(scope="module")
def timelines(server: Served, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("many")
    logs = {"counted": said_to_have_all(), "named": named_and_not_counted(), "owned": owned_by_one()}
    return {name: stored(server, log, folder / f"{name}.jsonl") for name, log in logs.items()}


def test_a_count_that_is_not_believed_is_said_and_what_is_named_is_drawn(
    open_page: Open, timelines: dict[str, str]
) -> None:
    page = open_page(f"/t/{timelines['counted']}")
    expect(page.locator("body")).to_contain_text("2,147,483,647 partitions; at most 100,000 are believed")
    expect(page.locator("#board [data-key]").first).to_be_visible()


def test_topics_of_which_only_high_numbers_are_named_are_a_map_with_so_many_rows(
    open_page: Open, fetch: Fetch, timelines: dict[str, str]
) -> None:
    page = open_page(f"/t/{timelines['named']}")
    expect(page.locator("#board .map")).to_be_visible()
    page.get_by_role("button", name="Partitions", exact=True).click()
    rows = fetch(f"/api/timelines/{timelines['named']}/digest?of=partitions&from=0&to=6")
    drawn = sum(topic["partitions"] for topic in rows["topics"])
    assert (drawn, rows["left_out"]) == (20_000, TOPICS * PARTITIONS_A_TOPIC_MAX - 20_000)
    expect(page.locator("#board")).to_contain_text("20,000 partitions; 3,980,000 more have no row")
    page.get_by_role("searchbox").fill("no-such-topic")
    expect(page.locator("#board")).to_contain_text(
        "None of the 20,000 partitions that have a row matches “no-such-topic”; 3,980,000 more have none, and are not searched."
    )


def test_of_what_one_member_owns_a_few_have_columns_and_its_rows_are_bounded(
    open_page: Open, timelines: dict[str, str]
) -> None:
    page = open_page(f"/t/{timelines['owned']}")
    expect(page.locator("#board .map")).to_be_visible()
    expect(page.locator("#board .lane[data-member]")).to_have_count(1)
    assert 0 < page.locator("#board [data-key]").count() < 100
    page.get_by_role("button", name="Partitions", exact=True).click()
    expect(page.locator("#board")).to_contain_text("2,000 more have no row")


@pytest.mark.parametrize(("name", "partitions"), [("named", "4,000,000"), ("owned", "22,000")])
def test_they_are_not_compared_and_the_page_says_why(
    server: Served, timelines: dict[str, str], name: str, partitions: str
) -> None:
    with pytest.raises(HTTPError) as refused:
        server.open(f"/compare?runs={timelines[name]},{timelines[name]}")
    assert refused.value.code == 400
    says = f"has {partitions} partitions; boards of up to 600 are compared"
    assert says in refused.value.read().decode()


@pytest.mark.parametrize("name", ["counted", "named", "owned"])
def test_the_one_file_of_it_opens(
    browser: Browser, server: Served, timelines: dict[str, str], tmp_path: Path, name: str
) -> None:
    file = tmp_path / f"{name}.html"
    command = [sys.executable, "manage.py", "timeline", "export", timelines[name], "--out", str(file)]
    subprocess.run(command, cwd=ROOT, env=server.environment, check=True, capture_output=True)
    context = browser.new_context()
    page = context.new_page()
    page.goto(file.as_uri())
    page.wait_for_selector("html[data-alive]")
    expect(page.locator("#board [data-key]" if name == "counted" else "#board .map").first).to_be_visible()
    context.close()
