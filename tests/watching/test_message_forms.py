"""What chat tools, Alertmanager, PagerDuty and people's mail are sent when an alert begins and when it is over."""

from __future__ import annotations

import asyncio
import email
import email.policy
import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.exceptions import ImproperlyConfigured

from explorer.server import environment
from groups.alert_models import AlertRule, Delivery
from groups.cluster_models import Cluster
from groups.watching import registry as clusters
from groups.watching.alerts import deliveries, registry
from groups.watching.alerts.deliveries import Sender
from groups.watching.alerts.rules import BadRule
from groups.watching.secrets import seal
from tests.watching.receiver import receiver
from tests.watching.rounds import described
from tests.watching.test_alerts import OWNER, Watch

pytestmark = pytest.mark.django_db(transaction=True)

WHOLE = {"anna": ((0, 1, 2, 3), (0, 1, 2, 3))}


@pytest.fixture
def watch(db: None, settings: Any) -> Watch:
    settings.PUBLIC_URL = "https://rebalance.example"
    settings.WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    made: Cluster = clusters.add("prod", {"bootstrap.servers": "kafka-1.example:9092"})
    assert clusters.take(made.pk, OWNER)
    return Watch(made)


def story(watch: Watch, **destination: str) -> None:
    """A group loses its last member, and has one again: an alert begins and ends."""
    registry.add(watch.cluster, {"kind": "empty", "for_s": 1, **destination})
    watch.sees(0, described("orders", {}, epoch=3))
    watch.sees(5, described("orders", {}, epoch=3))
    watch.sees(9, described("orders", WHOLE, epoch=4))


def bodies(watch: Watch, form: str, key: str = "") -> list[Any]:
    """What the receiver was sent, in order of the messages."""
    with receiver() as made:
        story(watch, webhook=made.url(), form=form, **({"key": key} if key else {}))
        assert asyncio.run(Sender(watch.cluster.pk).send_due()) == 2
        found = [json.loads(each.partition(b"\r\n\r\n")[2]) for each in made.requests]
    assert {each.state for each in Delivery.objects.all()} == {"delivered"}
    return found


def test_a_chat_is_sent_its_text_and_nothing_else(watch: Watch) -> None:
    began, ended = sorted(bodies(watch, "slack"), key=lambda each: "Over" in each["text"])
    assert began.keys() == ended.keys() == {"text"}
    assert began["text"].startswith("[prod] orders has had no member for 5")
    assert "https://rebalance.example/t/" in began["text"]


def test_alertmanager_is_sent_one_alert_that_ends_with_the_same_labels(watch: Watch) -> None:
    [began], [ended] = sorted(bodies(watch, "alertmanager"), key=lambda each: each[0]["endsAt"], reverse=True)
    assert began["labels"] == ended["labels"]
    assert began["labels"]["alertname"] == "rebalance_empty"
    assert (began["labels"]["cluster"], began["labels"]["group"]) == ("prod", "orders")
    assert began["startsAt"] == ended["startsAt"]
    for each in (began, ended):
        assert all(
            isinstance(text, str) for text in (*each["labels"].values(), *each["annotations"].values())
        )
        starts, ends = (datetime.fromisoformat(each[name]) for name in ("startsAt", "endsAt"))
        assert starts.tzinfo is not None
        assert starts <= ends
        assert urlsplit(each["generatorURL"]).netloc == "rebalance.example"
    length = datetime.fromisoformat(ended["endsAt"]) - datetime.fromisoformat(ended["startsAt"])
    assert timedelta(seconds=8) <= length <= timedelta(seconds=10)


def test_pagerduty_is_sent_a_trigger_and_a_resolve_of_one_event(watch: Watch) -> None:
    events = {each["event_action"]: each for each in bodies(watch, "pagerduty", "R0UT1NG")}
    assert events.keys() == {"trigger", "resolve"}
    assert len({each["dedup_key"] for each in events.values()}) == 1
    for each in events.values():
        assert each["routing_key"] == "R0UT1NG"
        assert {"summary", "source", "severity"} <= each["payload"].keys()
        assert each["payload"]["severity"] in ("critical", "error", "warning", "info")
        assert each["links"][0]["href"].startswith("https://rebalance.example/t/")
    assert "R0UT1NG" not in str(registry.overview(watch.cluster))


def test_grafana_is_shown_its_token_and_sent_a_region_for_each_rebalance(watch: Watch) -> None:
    with receiver() as made:
        rule = {"webhook": made.url(path="/api/annotations"), "form": "grafana", "key": "glsa_t0ken"}
        story(watch, **rule)
        assert asyncio.run(Sender(watch.cluster.pk).send_due()) == 2
        heads, sent = zip(*(each.split(b"\r\n\r\n", 1) for each in made.requests), strict=True)
    assert all(b"\r\nAuthorization: Bearer glsa_t0ken\r\n" in head for head in heads)
    began, ended = sorted(map(json.loads, sent), key=len)
    assert began.keys() == {"time", "tags", "text"}
    assert began["tags"] == ["rebalance-explorer", "empty", "prod", "orders"]
    assert "https://rebalance.example/t/" in began["text"]
    assert (ended["time"], ended["tags"]) == (began["time"], began["tags"])
    assert 8_000 <= ended["timeEnd"] - ended["time"] <= 10_000
    assert "glsa_t0ken" not in str(registry.overview(watch.cluster))


@contextmanager
def mail_server(refusal: bytes = b"") -> Iterator[tuple[int, list[bytes]]]:
    """A server that speaks as much of SMTP as a client needs; what it was sent. ``refusal``: its answer to each message."""
    letters: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    talk(*listening.accept())

        def talk(one: socket.socket, _: object) -> None:
            with one, one.makefile("rb") as lines:
                one.sendall(b"220 here\r\n")
                for line in lines:
                    if line.upper().startswith(b"DATA"):
                        one.sendall(b"354 go on\r\n")
                        letters.append(b"".join(iter(lines.readline, b".\r\n")))
                        one.sendall(refusal or b"250 taken\r\n")
                    elif line.upper().startswith(b"QUIT"):
                        one.sendall(b"221 bye\r\n")
                        return
                    else:
                        one.sendall(b"250 good\r\n")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listening.getsockname()[1], letters
        listening.shutdown(socket.SHUT_RDWR)
    thread.join(10)


@pytest.mark.parametrize(
    ("refusal", "states"),
    [(b"", {"delivered"}), (b"550 no such box\r\n", {"failed"}), (b"451 later\r\n", {"waiting"})],
)
def test_people_get_an_e_mail_and_a_server_that_refuses_for_good_is_not_asked_again(
    watch: Watch, settings: Any, refusal: bytes, states: set[str]
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    with mail_server(refusal) as (port, letters):
        settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_USE_TLS = "127.0.0.1", port, False
        settings.DEFAULT_FROM_EMAIL = "kafka@example.org"
        story(watch, webhook="mailto:ada@example.org,ben@example.org")
        asyncio.run(Sender(watch.cluster.pk).send_due())
    assert {each.state for each in Delivery.objects.all()} == states, [
        each.answer for each in Delivery.objects.all()
    ]
    began = min(
        (email.message_from_bytes(each, policy=email.policy.default) for each in letters),
        key=lambda each: "Over" in each["Subject"],
    )
    assert began["Subject"].startswith("[prod] orders has had no member for 5")
    assert began["To"] == "ada@example.org, ben@example.org"
    assert "https://rebalance.example/t/" in began.get_content()
    [rule] = registry.overview(watch.cluster)["rules"]
    assert (rule["webhook"], rule["form"]) == ("mailto:…@example.org", "mail")


def test_a_line_break_in_a_groups_name_stays_in_the_subject_and_stops_no_other_message(
    watch: Watch, settings: Any
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    with mail_server() as (port, letters):
        settings.EMAIL_HOST, settings.EMAIL_PORT, settings.EMAIL_USE_TLS = "127.0.0.1", port, False
        settings.DEFAULT_FROM_EMAIL = "kafka@example.org"
        registry.add(watch.cluster, {"kind": "empty", "for_s": 1, "webhook": "mailto:ada@example.org"})
        for at_s in (0, 5):
            watch.sees(at_s, described("orders\nBcc: eve@example.org", {}, epoch=3))
        # A time that no calendar has.
        row = Delivery.objects.get()
        other = registry.add(
            watch.cluster, {"kind": "stuck", "webhook": "https://chat.example/x", "form": "alertmanager"}
        )
        message = {**row.message, "since_ms": 2**62, "at_ms": 2**62}
        Delivery.objects.create(
            cluster=watch.cluster, rule=other, message=message, state="waiting", next_try=row.next_try
        )
        assert asyncio.run(Sender(watch.cluster.pk).send_due()) == 2
    states = {each.message["since_ms"] == 2**62: each.state for each in Delivery.objects.all()}
    assert states == {False: "delivered", True: "failed"}
    [letter] = [email.message_from_bytes(each, policy=email.policy.default) for each in letters]
    assert "\\u000aBcc: eve@example.org" in letter["Subject"]
    assert letter["Bcc"] is None


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"form": "teams"}, "form"),
        ({"form": "pagerduty"}, "key"),
        ({"form": "grafana"}, "key"),
        ({"key": "k"}, "key"),
        ({"form": "pagerduty", "key": "two words"}, "key"),
        ({"form": 7}, "form"),
        ({"webhook": "mailto:ada@example.org"}, "webhook"),
        ({"form": "mail"}, "webhook"),
    ],
)
def test_a_destination_that_cannot_be_is_refused_with_its_field(
    watch: Watch, given: dict[str, Any], field: str
) -> None:
    with pytest.raises(BadRule) as refused:
        registry.add(watch.cluster, {"kind": "empty", "webhook": "https://chat.example/x"} | given)
    assert refused.value.field == field
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize(
    "address",
    [
        "mailto:ada",
        "mailto:" + ",".join(["a@example.org"] * 11),
        "https://x.example/",
        f"mailto:ada@{'ä' * 60}.example",
        'mailto:"%01"@example.org',
    ],
)
def test_an_e_mail_goes_to_addresses_and_to_a_few(watch: Watch, settings: Any, address: str) -> None:
    settings.EMAIL_HOST = "mail.example"
    with pytest.raises(BadRule):
        registry.add(watch.cluster, {"kind": "empty", "webhook": address, "form": "mail"})


def test_a_rule_of_an_earlier_version_goes_on_as_json(watch: Watch) -> None:
    row = registry.add(watch.cluster, {"kind": "empty", "webhook": "https://chat.example/x"})
    AlertRule.objects.filter(pk=row.pk).update(sealed=seal({"url": "https://chat.example/x"}))
    [rule] = registry.overview(watch.cluster)["rules"]
    assert (rule["webhook"], rule["form"]) == ("https://chat.example/…", "json")
    AlertRule.objects.filter(pk=row.pk).update(
        sealed=seal({"url": "https://chat.example/x", "form": "of later"})
    )
    [rule] = registry.overview(watch.cluster)["rules"]
    assert (rule["webhook"], rule["form"]) == (None, None)


def test_what_could_not_wait_is_counted_in_one_message_once_there_is_room(
    watch: Watch, monkeypatch: Any
) -> None:
    monkeypatch.setattr(deliveries, "WAITING_MOST", 2)
    rule = registry.add(watch.cluster, {"kind": "empty", "webhook": "https://chat.example/x"})
    for _ in range(5):
        deliveries.trial_of(rule)
    deliveries.summarize_dropped(watch.cluster.pk)
    assert Delivery.objects.filter(state="dropped").count() == 3, "there is no room yet"
    Delivery.objects.filter(state="waiting").update(state="delivered")
    for _ in range(2):
        deliveries.summarize_dropped(watch.cluster.pk)
    [told] = Delivery.objects.filter(state="waiting")
    assert told.message["says"].startswith(
        "3 messages of this rule could not wait, and were dropped: No member"
    )


def test_a_message_of_a_late_group_asks_about_no_other_group(
    watch: Watch, django_assert_num_queries: Any
) -> None:
    rule = registry.add(watch.cluster, {"kind": "late", "webhook": "https://chat.example/x"})
    rule.cluster.seen = {"brokers": 3}
    with django_assert_num_queries(0):
        assert deliveries.message_of(rule, None, "test", "")["rule"]["says"].startswith("Lag over 5")


@pytest.mark.parametrize(
    "value",
    [
        "mail.example",
        "smtp://",
        "smtp://h:x",
        "http://h",
        "smtp://h?tls=2",
        "smtp://u:pa[ss@h",
        "smtp://u:pass\u2100@h",
    ],
)
def test_a_mail_server_that_cannot_be_is_one_line_without_the_password(value: str, monkeypatch: Any) -> None:
    monkeypatch.setenv("MAIL_URL", value)
    monkeypatch.setenv("MAIL_FROM", "kafka@example.org")
    with pytest.raises(ImproperlyConfigured, match=r"MAIL_URL (must be smtp://|is no address)") as refused:
        environment.mail_server("MAIL_URL", "MAIL_FROM")
    assert "pa[ss" not in str(refused.value)
    assert "pass\u2100" not in str(refused.value)
    monkeypatch.setenv("MAIL_URL", "smtps://ada%40example.org:s%2Fe@mail.example")
    read = environment.mail_server("MAIL_URL", "MAIL_FROM")
    assert (read["EMAIL_HOST_USER"], read["EMAIL_HOST_PASSWORD"]) == ("ada@example.org", "s/e")
    assert (read["EMAIL_PORT"], read["EMAIL_USE_SSL"], read["EMAIL_USE_TLS"]) == (465, True, False)
