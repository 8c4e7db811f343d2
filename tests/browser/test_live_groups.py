"""A live cluster in the browser: added by the wizard, its groups pushed, a kill seen on the board."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.broker import jars
from tests.broker.members import CONSUMER, Member
from tests.broker.node import Node, running
from tests.conftest import missing

pytestmark = [pytest.mark.broker, pytest.mark.once]

Open = Callable[..., Page]
TOPIC, GROUP = "orders", "orders-enrich"


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    try:
        jars.class_path()
    except jars.BrokerUnavailableError as problem:
        missing(str(problem))
    with running(Path(tmp_path_factory.mktemp("node"))) as node:
        with node.connect() as connection:
            connection.create_topic(TOPIC, 4)
        yield node


@pytest.fixture
def member(node: Node) -> Iterator[Callable[[str], Member]]:
    started: list[Member] = []

    def start(name: str) -> Member:
        each = Member(node, name, GROUP, TOPIC, CONSUMER, rdkafka=True).start()
        started.append(each)
        each.wait_for("ready")
        each.join()
        each.wait_for("assigned")
        return each

    yield start
    for each in started:
        each.kill()


def fill(page: Page, **fields: str) -> None:
    for name, value in fields.items():
        page.fill(f"[name={name}]", value)


def test_a_cluster_is_added_by_the_wizard_and_a_kill_is_seen_on_the_board(
    open_page: Open, node: Node, member: Callable[[str], Member]
) -> None:
    member("anna")
    page = open_page("/clusters")
    fill(page, name="local", servers=node.bootstrap)
    expect(page.locator("#keep")).to_be_disabled()
    page.click("#test")
    expect(page.locator("#steps li.ok")).to_have_count(7)
    page.click("#keep")
    row = page.locator(f'#rows tr[data-group="{GROUP}"]')
    expect(row).to_contain_text("Stable")
    row.get_by_role("link").click()
    lanes = page.locator("#board .lane:not(.pool)")
    expect(lanes).to_have_count(1)
    expect(page.locator('[data-banner="status"]')).to_contain_text("Live.")

    ben = member("ben")
    expect(lanes).to_have_count(2)
    expect(page.locator("#state")).to_contain_text("Stable")
    ben.kill()
    # The broker misses it when its session expires; then the board says so by itself.
    expect(lanes).to_have_count(1)
    expect(page.locator("#verdict")).to_contain_text("ben")

    # What came is what the group's own assignor was to give.
    page.click('#view [data-value="investigator"]')
    page.click("#assignment-panel summary")
    expect(page.locator("#foretold-came")).to_contain_text("came as foretold: 4 of 4 partitions")
    expect(page.locator("#foretold-next")).to_contain_text("nothing moved")
    page.select_option("#foretold-if", "+")
    expect(page.locator("#foretold-next")).to_contain_text("2 partitions moved")

    # It is rewound while it goes on, and stays where it was put.
    page.keyboard.press("Home")
    member("cleo")
    expect(page.locator("#basis")).to_contain_text(re.compile(r"Computed from \d+ entries"))
    page.keyboard.press("End")
    expect(lanes).to_have_count(2)


@pytest.mark.parametrize(
    ("servers", "protocol", "step", "says"),
    [
        (
            "no-such-broker.invalid:9092",
            "PLAINTEXT",
            "resolve",
            "is not known to this machine's name service",
        ),
        ("127.0.0.1:1", "PLAINTEXT", "connect", "Nothing listens on 127.0.0.1:1."),
        ("BROKER", "SSL", "connect", "does not speak TLS: switch TLS off"),
        ("BROKER", "SASL_PLAINTEXT", "login", "takes no login: use security.protocol=PLAINTEXT"),
        ("https://x:1", "PLAINTEXT", "settings", "has a scheme; write the host and the port alone"),
    ],
)
def test_the_wizard_says_which_step_failed_and_what_would_be_right(
    open_page: Open, node: Node, servers: str, protocol: str, step: str, says: str
) -> None:
    page = open_page("/clusters")
    page.select_option("[name=protocol]", protocol)
    fill(page, name="wrong", servers=servers.replace("BROKER", node.bootstrap))
    if protocol.startswith("SASL"):
        fill(page, user="u", password="p")
    page.click("#test")
    failed = page.locator("#steps li.failed")
    expect(failed).to_have_attribute("data-step", step)
    expect(failed).to_contain_text(says)
    expect(page.locator("#keep")).to_be_disabled()
    # What was wrong is mended as it says, and goes on.
    page.select_option("[name=protocol]", "PLAINTEXT")
    fill(page, servers=node.bootstrap)
    page.click("#test")
    expect(page.locator("#keep")).to_be_enabled()


def test_a_group_that_loses_its_members_is_an_alert_that_leads_to_the_moment(
    open_page: Open, node: Node, member: Callable[[str], Member]
) -> None:
    page = open_page("/clusters")
    fill(page, name="alerting", servers=node.bootstrap)
    page.click("#test")
    page.click("#keep")
    dora = member("dora")
    expect(page.locator(f'#rows tr[data-group="{GROUP}"]')).to_contain_text("Stable")
    page.select_option("[name=kind]", "empty")
    fill(page, for_s="1", group=GROUP, webhook="http://127.0.0.1:9/hooks/secret")
    page.click("#rule-add button")
    expect(page.locator("#rules li")).to_contain_text("No member for 1")
    dora.leave()
    held = page.locator("#alerts li.on")
    expect(held).to_contain_text(f"{GROUP} has had no member")
    # No private address is reached, and the log says so.
    page.click(".dl summary")
    expect(page.locator("#deliveries")).to_contain_text("WEBHOOK_NETWORKS")
    member("emil")
    expect(page.locator("#alerts li.on")).to_have_count(0)
    expect(page.locator("#alerts li")).to_contain_text("over after")
    page.locator("#alerts a").click()
    page.wait_for_selector("html[data-alive]")
    assert "?at=" in page.url
    expect(page.locator("#state")).to_contain_text("Empty")
