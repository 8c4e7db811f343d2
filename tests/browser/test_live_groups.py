"""A live cluster in the browser: added by the wizard, its groups pushed, a kill seen on the board."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.broker import jars
from tests.broker.members import CONSUMER, Member
from tests.broker.node import Node, wait_for_coordinator
from tests.clusters.secure import Secure, password, secure_broker
from tests.conftest import missing
from tests.serving import Served

pytestmark = [pytest.mark.broker, pytest.mark.once]

Open = Callable[..., Page]
TOPIC, GROUP = "orders", "orders-enrich"


@pytest.fixture(scope="module")
def secure(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secure]:
    try:
        jars.class_path()
    except jars.BrokerUnavailableError as problem:
        missing(str(problem))
    with secure_broker(Path(tmp_path_factory.mktemp("node"))) as secure:
        with secure.node.connect() as connection:
            connection.create_topic(TOPIC, 4)
        yield secure


@pytest.fixture(scope="module")
def node(secure: Secure) -> Node:
    return secure.node


@pytest.fixture
def member(node: Node) -> Iterator[Callable[[str], Member]]:
    started: list[Member] = []

    def start(name: str) -> Member:
        each = Member(node, name, GROUP, TOPIC, CONSUMER, program="rdkafka").start()
        started.append(each)
        each.wait_for("ready")
        each.join()
        each.wait_for("assigned")
        return each

    yield start
    for each in started:
        each.kill()


def row_of(page: Page, group: str) -> Locator:
    """Of all groups: where one is in trouble, the table begins with those alone."""
    page.locator("#troubles-all").click()
    return page.locator(f'#troubles-rows [data-group="{group}"]')


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
    row = row_of(page, GROUP)
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
    expect(page.locator("#predicted-came")).to_contain_text("came as predicted: 4 of 4 partitions")
    expect(page.locator("#predicted-next")).to_contain_text("nothing moved")
    page.select_option("#predicted-if", "+")
    expect(page.locator("#predicted-next")).to_contain_text("2 partitions moved")

    # It is rewound while it goes on, and stays where it was put.
    page.keyboard.press("Home")
    member("cleo")
    expect(page.locator("#basis")).to_contain_text(re.compile(r"Computed from \d+ entries"))
    page.keyboard.press("End")
    expect(lanes).to_have_count(2)


def failures(secure: Secure, web: str) -> list[tuple[str, dict[str, str], str, str, dict[str, str]]]:
    """Kinds of failure: what was filled in, the step that fails, what it says, and what is filled in then."""
    plain = {"servers": secure.address("PLAINTEXT")}
    login = {"mechanism": "SCRAM-SHA-512", "user": "watcher", "password": password("watcher")}
    ca = {"ca": secure.certificates.ca.pem}
    tls = {"servers": secure.address("TLS"), "protocol": "SSL", **ca}
    saslp = {"servers": secure.address("SASLP"), "protocol": "SASL_PLAINTEXT", **login}
    certificates = secure.certificates
    client = {"chain": certificates.watcher.pem, "key": certificates.watcher.key_pem}
    expired = {"chain": certificates.expired_watcher.pem, "key": certificates.expired_watcher.key_pem}
    early = {"chain": certificates.early_watcher.pem, "key": certificates.early_watcher.key_pem}
    stranger = {"chain": certificates.stranger.pem, "key": certificates.stranger.key_pem}
    mtls = tls | {"servers": secure.address("MTLS")}
    controller = f"localhost:{secure.ports['CONTROLLER']}"
    return [
        ("scheme", {"servers": f"https://{plain['servers']}"}, "settings", "write the host and the port alone", plain),
        ("name", {"servers": "no-such-broker.invalid:9092"}, "resolve", "not known to this machine's name service", plain),
        ("nothing", {"servers": "127.0.0.1:1"}, "connect", "Nothing listens on 127.0.0.1:1.", plain),
        ("web server", {"servers": web}, "versions", "web server", plain),
        ("controller", {"servers": controller}, "versions", "controller's port", plain),
        ("tls", {"servers": tls["servers"]}, "versions", "switch TLS on", tls),
        ("no tls", plain | {"protocol": "SSL"}, "connect", "switch TLS off", {"protocol": "PLAINTEXT"}),
        ("ca", tls | {"ca": ""}, "connect", "signed by a CA that you did not give", ca),
        ("another ca", tls | {"ca": certificates.other_ca.pem}, "connect", "signed by a CA that you did not give", ca),
        ("expired", tls | {"servers": secure.address("EXPIRED")}, "connect", "has to be renewed on the broker", tls),
        ("host", tls | {"servers": secure.address("WRONGHOST")}, "connect", "is for other.example", tls),
        ("client", mtls, "connect", "wants a client certificate", client),
        ("client of another ca", mtls | stranger, "connect", "its CA is not one that the broker believes", client),
        ("client expired", mtls | expired, "connect", "give a renewed one", client),
        ("client not valid yet", mtls | early, "connect", "give one that is valid now", client),
        ("key", mtls | client | {"key": expired["key"]}, "connect", "do not belong together", client),
        ("login", {"servers": saslp["servers"]}, "login", "wants a login first", saslp),
        ("no login", saslp | plain, "login", "use security.protocol=PLAINTEXT", {"protocol": "PLAINTEXT"}),
        ("mechanism", saslp | {"mechanism": "SCRAM-SHA-256"}, "login", "it offers", login),
        ("password", saslp | {"password": "guessed"}, "login", "User or password is wrong", login),
        ("advertised", {"servers": secure.address("UNREACHABLE")}, "brokers", "advertised.listeners must name", plain),
    ]  # fmt: skip


def test_twenty_one_kinds_of_failure_are_each_repaired_by_what_the_wizard_says(
    open_page: Open, secure: Secure, server: Served
) -> None:
    page = open_page("/clusters")
    first = {"protocol": "PLAINTEXT", "name": "repaired", "mechanism": "PLAIN"}
    first |= dict.fromkeys(("ca", "chain", "key", "user", "password"), "")

    def put(fields: dict[str, str]) -> None:
        # The protocol first: it shows the fields that it uses.
        for name in sorted(fields, key=lambda name: name != "protocol"):
            field = page.locator(f"[name={name}]")
            if not field.is_visible():
                continue
            if name in ("protocol", "mechanism"):
                field.select_option(fields[name])
            else:
                field.fill(fields[name])

    otherwise = []
    for kind, wrong, step, says, right in failures(secure, server.url.removeprefix("http://")):
        put(first | wrong)
        page.click("#test")
        failed = page.locator("#steps li.failed")
        expect(failed, kind).to_have_count(1)
        at, told = failed.get_attribute("data-step"), failed.inner_text()
        if at != step or says not in told:
            otherwise.append((kind, at, told))
        expect(page.locator("#keep"), kind).to_be_disabled()
        put(right)
        page.click("#test")
        expect(page.locator("#keep"), kind).to_be_enabled()
        expect(page.locator("#steps li.failed"), kind).to_have_count(0)
    assert otherwise == []


def test_a_group_that_loses_its_members_is_an_alert_that_leads_to_the_moment(
    open_page: Open, node: Node, member: Callable[[str], Member]
) -> None:
    page = open_page("/clusters")
    fill(page, name="alerting", servers=node.bootstrap)
    page.click("#test")
    page.click("#keep")
    dora = member("dora")
    expect(row_of(page, GROUP)).to_contain_text("Stable")
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


def test_groups_that_lose_their_members_together_are_one_banner_that_names_the_shared_cause(
    open_page: Open, node: Node
) -> None:
    page = open_page("/clusters")
    fill(page, name="cut-off", servers=node.bootstrap)
    page.click("#test")
    page.click("#keep")
    groups = [f"cut-off-{number}" for number in range(6)]
    for group in groups:
        wait_for_coordinator(node, group)
    banner = page.locator("#banners .banner", has_text="lost members")
    expect(banner).to_have_count(0)
    with node.connect() as connection:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not all(
            row_of(page, group).get_by_text("Stable").count() for group in groups
        ):
            for group in groups:
                # With epoch 0 a member that was removed meanwhile joins again.
                connection.heartbeat(
                    group, "only", 0, subscribed=[TOPIC], rebalance_timeout_ms=60_000, owned={}
                )
        for group in groups:
            expect(row_of(page, group)).to_contain_text("Stable")
    # From now on nobody sends a heartbeat: all sessions expire within the same seconds.
    expect(banner).to_contain_text(
        re.compile(r"ago: 6 groups lost members .* \(cut-off-0, cut-off-1, cut-off-2 and 3 more\)"),
        timeout=60_000,
    )
    expect(banner).to_contain_text("look for one cause that they share, such as a broker, the network")
    for group in groups:
        expect(row_of(page, group)).to_contain_text("Empty")
