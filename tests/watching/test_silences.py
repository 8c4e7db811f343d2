"""Silences: no message until a time, and what is sent when they end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from groups.alert_models import Alert, Delivery
from groups.watching import declared
from groups.watching.alerts import silences
from groups.watching.alerts.rules import BadRule
from groups.watching.alerts.silences import silence_of
from tests.watching.rounds import BEGIN_MS, described
from tests.watching.test_alerts import HALVES, Watch, add, cluster, watch
from tests.watching.test_alerts_over_time import WEBHOOK

__all__ = ["cluster", "watch"]
pytestmark = pytest.mark.django_db(transaction=True)


def silence(watch: Watch, second: float, **given: Any) -> None:
    asked = silence_of({"until": BEGIN_MS + round(second * 1000), "why": "a deploy", **given})
    silences.add(watch.cluster, asked, BEGIN_MS)
    watch.lookout.ledger.read_s = None


def sent() -> list[tuple[str, str]]:
    return [(row.message["status"], row.message["group"]) for row in Delivery.objects.order_by("id").all()]


def test_a_silenced_alert_is_shown_and_sent_when_the_silence_ends_and_it_still_holds(watch: Watch) -> None:
    add(watch, "empty", for_s=1, webhook=WEBHOOK)
    silence(watch, 60, group="orders*")
    names = ("orders-eu", "orders-us", "payments")
    full = [described(name, HALVES, epoch=3) for name in names]
    empty = [described(name, {}, epoch=4) for name in names]
    watch.sees(0, *full)
    watch.sees(5, *empty)
    assert len(watch.sees(8, *empty)) == 3
    assert sent() == [("began", "payments")]
    assert {alert.group: alert.silenced for alert in Alert.objects.all()} == {
        "orders-eu": True, "orders-us": True, "payments": False,
    }  # fmt: skip
    back = [described(name, HALVES, epoch=5) for name in names]
    watch.sees(20, empty[0], back[1], back[2])
    assert sent()[1:] == [("ended", "payments")]
    watch.sees(61, empty[0], back[1], back[2])
    assert sent()[2:] == [("began", "orders-eu")]
    watch.sees(90, *back)
    assert sent()[3:] == [("ended", "orders-eu")]
    assert not Alert.objects.filter(ended_ms=None).exists()


def test_a_silence_of_one_kind_is_about_no_other_rule_nor_the_cluster(watch: Watch) -> None:
    add(watch, "empty", for_s=1, webhook=WEBHOOK)
    add(watch, "lag", count=10, for_s=0, webhook=WEBHOOK)
    silence(watch, 60, kind="lag")
    watch.sees(0, described("orders", {}, epoch=4), lag={"orders": 500})
    watch.sees(5, described("orders", {}, epoch=4), lag={"orders": 500})
    assert sent() == [("began", "orders")]
    rows = list(watch.cluster.silences.all())
    assert silences.is_silent(rows, "lag", "x", BEGIN_MS)
    assert not silences.is_silent(rows, "unreachable", "", BEGIN_MS)
    assert not silences.is_silent(rows, "lag", "x", BEGIN_MS + 60_000)


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"until": "tomorrow", "why": "x"}, "until"),
        ({"until": True, "why": "x"}, "until"),
        ({"why": "x"}, "until"),
        ({"until": 2**60, "why": "x"}, "until"),
        ({"until": BEGIN_MS}, "why"),
        ({"until": BEGIN_MS, "why": "x" * 301}, "why"),
        ({"until": BEGIN_MS, "why": "x", "kind": "slow"}, "kind"),
        ({"until": BEGIN_MS, "why": "x", "group": 7}, "group"),
        ({"until": BEGIN_MS, "why": "x", "for": 7}, "for"),
    ],
)
def test_a_silence_that_cannot_be_is_refused_with_its_field(given: dict[str, Any], field: str) -> None:
    with pytest.raises(BadRule) as refused:
        silence_of(given)
    assert refused.value.field == field


def test_the_api_adds_lists_and_ends_a_silence_with_who_and_why(watch: Watch, client: Client) -> None:
    address = f"/api/clusters/{watch.cluster.pk}/silences"
    given = {"until": "2099-01-01T00:00:00Z", "why": "a deploy", "who": "ada", "group": "orders-*"}
    far = client.post(address, given, content_type="application/json")
    assert (far.status_code, far.json()["error"]["field"]) == (400, "until")
    given["until"] = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    made = client.post(address, given, content_type="application/json")
    assert made.status_code == 201
    shown = client.get(address).json()
    assert shown == [made.json()] == client.get(f"/api/clusters/{watch.cluster.pk}/alerts").json()["silences"]
    assert (shown[0]["who"], shown[0]["why"], shown[0]["group"]) == ("ada", "a deploy", "orders-*")
    assert "a deploy (ada)" in client.get(f"/clusters/{watch.cluster.pk}").content.decode()
    assert client.delete(f"{address}/{shown[0]['id']}").status_code == 204
    assert client.delete(f"{address}/{shown[0]['id']}").status_code == 404
    assert client.get(address).json() == []


def test_a_file_of_clusters_adds_silences_once_leaves_old_ones_out_and_has_them_when_exported(
    watch: Watch,
) -> None:
    soon = datetime.now(UTC) + timedelta(hours=1)
    text = f"""
clusters:
  prod:
    silences:
      - {{group: orders-*, until: {soon.isoformat()}, why: the move, who: ada}}
      - {{until: 2020-01-01T00:00:00Z, why: long past}}
"""
    assert (
        list(declared.apply(declared.read(text, {}), prune=True))[-1] == "prod: added the silence 'the move'"
    )
    assert list(declared.apply(declared.read(text, {}), prune=True)) == []
    written = declared.written()
    assert "why: the move" in written
    again = declared.read(written, {})
    assert [one.why for one in again["prod"]["silences"]] == ["the move"]
    ended = list(declared.apply(declared.read("clusters: {prod: {}}", {}), prune=True))
    assert ended == ["prod: ended the silence 'the move'"]
    with pytest.raises(declared.BadDeclaration, match=r"clusters\.prod\.silences\[0\]\.why"):
        declared.read("clusters: {prod: {silences: [{until: 2020-01-01T00:00:00Z}]}}", {})
