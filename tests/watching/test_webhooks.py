"""What is sent to webhooks, where it may go, and what becomes of it when the receiver does not take it."""

from __future__ import annotations

import asyncio
import ipaddress
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from groups.alert_models import AlertRule, Delivery
from groups.watching import registry as clusters
from groups.watching.alerts import deliveries, registry, webhook
from groups.watching.alerts.addresses import is_allowed, networks
from groups.watching.alerts.deliveries import RETRY_LEAST_S, RETRY_MOST_S, TRIES_MOST, Sender, retry_after_s
from groups.watching.alerts.webhook import Answer, post
from tests.clusters.certificates import authority, issued
from tests.watching.receiver import OK, Receiver, receiver

LOOPBACK = networks(["127.0.0.0/8"])


def sent(url: str, body: bytes = b"{}", **more: Any) -> Answer:
    return asyncio.run(post(url, body, **({"also": LOOPBACK} | more)))


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:10.0.0.1", "64:ff9b::7f00:1",
        "fec0::1", "::10.0.0.1", "::ffff:0:10.0.0.1", "5f00::1", "3fff::1",
        "192.0.0.192", "168.63.129.16", "::ffff:192.0.0.192", "64:ff9b::c000:c0",
        "64:ff9b:1::a00:1", "2002:7f00:1::", "2001:0:4136:e378:8000:63bf:f5ff:fffe", "not-an-address",
    ],
)  # fmt: skip
def test_what_is_no_public_address_is_not_reached(address: str) -> None:
    assert not is_allowed(address)


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_in_ipv6_clothes_is_allowed_as_it_is_without_them(
    address: ipaddress.IPv4Address,
) -> None:
    plain = is_allowed(str(address))
    clothed = [f"::ffff:{address}", str(ipaddress.IPv6Address((0x64FF9B << 96) | int(address)))]
    assert [is_allowed(each) for each in clothed if plain is False] == [False] * (0 if plain else 2)
    assert is_allowed(f"::ffff:{address}", networks([f"{address}/32"]))


def test_a_private_address_is_refused_before_anything_is_sent_and_the_refusal_names_the_setting() -> None:
    with receiver() as made:
        for host in ("127.0.0.1", "localhost", "2130706433", "127.1"):
            answer = sent(made.url(host), also=())
            assert not answer.ok
            assert not answer.again
            assert "WEBHOOK_NETWORKS" in answer.text
    assert made.requests == []


def test_the_connection_goes_to_the_address_that_was_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that resolves to a public address first and to a private one then is asked once."""
    asked: list[str] = []

    async def once(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["10.0.0.1"]

    monkeypatch.setattr(webhook, "resolved", once)
    with receiver() as made:
        assert sent(made.url("chat.example")).ok
    assert asked == ["chat.example"]
    assert b"\r\nHost: chat.example:" in made.requests[0]


def test_a_message_arrives_whole() -> None:
    body = json.dumps({"says": "ä" * 5000}).encode()
    with receiver() as made:
        assert sent(made.url(path="/hooks/x?y=1"), body) == Answer(ok=True, text="200 OK")
    head, _, got = made.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /hooks/x?y=1 HTTP/1.1\r\n")
    assert b"Content-Type: application/json" in head
    assert got == body


@pytest.mark.parametrize(
    ("given_", "says", "again"),
    [
        (b"HTTP/1.1 302 Found\r\nLocation: http://10.0.0.1/\r\n\r\n", "redirects are not followed", False),
        (b"HTTP/1.1 404 Not Found\r\n\r\n", "404 Not Found", False),
        (b"HTTP/1.1 503 Busy\r\nRetry-After: 7\r\n\r\n", "503 Busy", True),
        (b"HTTP/1.1 429\r\n\r\n", "429", True),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "no HTTP", True),
        (b"SSH", "no HTTP", True),
        (b"", "closed without an answer", True),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 50_000 + b"\r\n\r\n", "headers are too long", True),
        (None, "No answer within 0.3 s", True),
    ],
)
def test_what_is_no_yes_is_said_in_a_line(given_: bytes | None, says: str, again: bool) -> None:
    with receiver(given_) as made:
        answer = sent(made.url(), whole_s=0.3 if given_ is None else 10.0)
    assert (answer.ok, answer.again) == (False, again)
    assert says in answer.text
    assert len(made.requests) == 1


def test_names_and_ports_that_lead_nowhere_are_said() -> None:
    assert "not known" in sent("http://no-such-host.invalid/").text
    assert "failed" in sent("http://127.0.0.1:1/").text


def test_tls_is_checked_against_the_name_of_the_url(tmp_path: Path) -> None:
    ca, stranger = authority("ca"), authority("stranger")
    server = issued(ca, "server", names=["localhost"])
    file = tmp_path / "server.pem"
    file.write_text(server.pem + server.key_pem)
    with receiver(certificate=file) as made:
        assert sent(made.url("localhost", scheme="https"), trust=ca.pem).ok
        wrong = sent(made.url("localhost", scheme="https"), trust=stranger.pem)
        other = sent(made.url("127.0.0.1", scheme="https"), trust=ca.pem)
    assert "certificate is not accepted" in wrong.text
    assert "certificate is not accepted" in other.text
    assert len(made.requests) == 1


# -- the queue


@pytest.fixture
def hook(transactional_db: None, settings: Any) -> Any:
    """A rule whose webhook is the receiver's."""
    settings.WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    cluster = clusters.add("prod", {"bootstrap.servers": "kafka-1.example:9092"})

    def made(at: Receiver) -> AlertRule:
        return registry.add(cluster, {"kind": "stuck", "webhook": at.url()})

    return made


def send_due(rule: AlertRule) -> int:
    """Send what is due, at whatever time that is."""
    Delivery.objects.update(next_try=timezone.now())
    return asyncio.run(Sender(rule.cluster_id).send_due())


def test_a_message_is_tried_again_until_it_is_taken(hook: Any) -> None:
    with receiver(b"HTTP/1.1 500 Oh\r\n\r\n", b"", OK) as made:
        rule = hook(made)
        delivery = deliveries.trial_of(rule)
        states = []
        while send_due(rule):
            delivery.refresh_from_db()
            states.append((delivery.state, delivery.tries))
    assert states == [("waiting", 1), ("waiting", 2), ("delivered", 3)]
    assert {json.loads(each.partition(b"\r\n\r\n")[2])["status"] for each in made.requests} == {"test"}


def test_what_is_never_taken_is_given_up_and_the_log_says_why(hook: Any) -> None:
    with receiver(b"HTTP/1.1 500 Oh\r\n\r\n") as made:
        rule = hook(made)
        deliveries.trial_of(rule)
        while send_due(rule):
            pass
    [row] = registry.overview(rule.cluster)["deliveries"]
    assert (row["state"], row["tries"], row["answer"], row["next_try_ms"]) == (
        "failed",
        TRIES_MOST,
        "500 Oh",
        None,
    )


def test_a_refusal_that_lasts_is_given_up_at_once(hook: Any) -> None:
    with receiver(b"HTTP/1.1 410 Gone\r\n\r\n") as made:
        rule = hook(made)
        deliveries.trial_of(rule)
        send_due(rule)
    assert Delivery.objects.get().state == "failed"


def test_what_waits_for_its_next_try_is_not_due(hook: Any) -> None:
    with receiver(b"HTTP/1.1 503 Busy\r\nRetry-After: 600\r\n\r\n") as made:
        rule = hook(made)
        deliveries.trial_of(rule)
        send_due(rule)
        assert asyncio.run(Sender(rule.cluster_id).send_due()) == 0
    assert Delivery.objects.get().next_try > timezone.now() + timedelta(seconds=500)


@given(st.integers(1, TRIES_MOST), st.one_of(st.none(), st.integers(0, 3600)))
def test_tries_come_later_and_later_within_bounds(tries: int, wanted_s: int | None) -> None:
    length_s = retry_after_s(tries, Answer(ok=False, text="", after_s=wanted_s))
    assert length_s >= max(RETRY_LEAST_S * 0.75 * 2 ** (tries - 1), wanted_s or 0)
    assert length_s <= max(RETRY_MOST_S * 1.25, wanted_s or 0)


def test_the_log_keeps_its_bound(hook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliveries, "LOG_MOST", 3)
    with receiver() as made:
        rule = hook(made)
        for _ in range(6):
            deliveries.trial_of(rule)
            send_due(rule)
    assert Delivery.objects.count() == 3


@pytest.mark.parametrize("host", ["a" * 64 + ".example", "a..example", ".example"])
def test_a_host_that_can_be_no_name_is_refused_when_the_rule_is_made(host: str) -> None:
    with pytest.raises(webhook.BadUrl, match="host is no name"):
        webhook.checked(f"https://{host}/path")
