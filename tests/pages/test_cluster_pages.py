"""The pages of live clusters and their part of the API, without scripts and without a broker."""

from __future__ import annotations

import html
import json
import re
import time
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from explorer.pages.clusters import testing
from explorer.push.hub import tails_of
from explorer.watchers import watchers
from groups import storage
from groups.alert_models import Alert
from groups.cluster_models import Cluster, WatchedGroup
from groups.clusters.allowed import ALLOWED
from groups.history.entries import Provenance
from groups.jobs.announce import timeline_group
from groups.models import Timeline
from groups.watching import registry

pytestmark = pytest.mark.django_db(transaction=True)

PROPERTIES = {
    "bootstrap.servers": "kafka-1.example:9093",
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "SCRAM-SHA-512",
    "sasl.username": "watcher",
    "sasl.password": "never-shown-1",
}


@pytest.fixture(autouse=True)
def woken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    calls: list[str] = []
    monkeypatch.setattr(watchers, "wake", lambda: calls.append("wake"))
    return calls


def add(**more: Any) -> Any:
    body = {"name": "prod-eu", "properties": PROPERTIES} | more
    return Client().post("/api/clusters", body, content_type="application/json")


def test_a_cluster_that_is_added_is_watched_and_its_secret_is_never_told_again(woken: list[str]) -> None:
    answer = add()
    assert answer.status_code == 201
    told = answer.json()
    assert (told["type"], told["name"], told["status"]) == ("cluster", "prod-eu", "waiting")
    assert answer["Location"] == f"/api/clusters/{told['id']}"
    assert woken == ["wake"]
    everything = "".join(
        Client().get(address).content.decode()
        for address in ("/clusters", told["url"], "/api/clusters", f"/api/clusters/{told['id']}")
    )
    assert "kafka-1.example:9093" in everything
    assert "never-shown-1" not in everything


def test_properties_may_be_the_text_of_a_file() -> None:
    text = "".join(f"{name} = {value}\n" for name, value in PROPERTIES.items())
    told = add(properties=text).json()
    assert registry.properties_of(registry.get(told["id"])) == PROPERTIES


@pytest.mark.parametrize(
    ("more", "field", "says"),
    [
        ({"name": "a b"}, "name", "A name has 1 to 60 letters"),
        ({"name": 3}, "name", "needs a name"),
        ({"properties": []}, "properties", "an object of texts"),
        ({"properties": {}}, "properties", "bootstrap.servers is missing"),
        ({"properties": {"bootstrap.servers": "https://x"}}, "properties", "has a scheme"),
        (
            {"properties": PROPERTIES | {"security.protocol": "TLS"}},
            "properties",
            "security.protocol=TLS is not known",
        ),
        (
            {"properties": PROPERTIES | {"sasl.mechanism": "GSSAPI"}},
            "properties",
            "sasl.mechanism=GSSAPI is not known",
        ),
        (
            {"properties": PROPERTIES | {"ssl.truststore.location": "/etc/shadow"}},
            "properties",
            "names something that the server reads or asks",
        ),
        (
            {"properties": PROPERTIES | {"rebalance.oauthbearer.token.command": "id"}},
            "properties",
            "names something that the server reads or asks",
        ),
    ],
)
def test_a_cluster_that_cannot_be_is_refused_in_one_line(more: dict[str, Any], field: str, says: str) -> None:
    answer = add(**more)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert says in error["message"]
    assert error["field"] == field
    assert Cluster.objects.count() == 0


def test_a_second_one_of_the_same_name_is_refused() -> None:
    add()
    assert "already" in add().json()["error"]["message"]


def test_a_cluster_is_paused_watched_again_and_removed(woken: list[str]) -> None:
    url = f"/api/clusters/{add().json()['id']}"
    change = Client().patch
    assert change(url, {"watched": False}, content_type="application/json").json()["status"] == "paused"
    assert registry.open_to_take() == []
    assert change(url, {"watched": True}, content_type="application/json").json()["status"] == "waiting"
    assert change(url, {"watched": "no"}, content_type="application/json").status_code == 400
    assert Client().delete(url).status_code == 204
    assert Client().get(url).status_code == 404
    assert Client().get(f"{url}/groups").status_code == 404


def test_the_test_of_a_connection_tells_each_step_and_stores_nothing() -> None:
    body = {"properties": {"bootstrap.servers": "no-such-broker.invalid:9092"}}
    answer = Client().post("/api/clusters/check", body, content_type="application/json")
    told = answer.json()
    assert told["ok"] is False
    assert [(step["name"], step["state"]) for step in told["steps"]] == [
        ("settings", "ok"),
        ("resolve", "failed"),
    ]
    assert told["steps"][1]["says"].startswith("The name no-such-broker.invalid is not known")
    assert Cluster.objects.count() == 0


def test_a_test_that_lasts_too_long_is_ended_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testing, "TEST_MOST_S", 0.0)
    body = {"properties": {"bootstrap.servers": "127.0.0.1:1"}}
    told = Client().post("/api/clusters/check", body, content_type="application/json").json()
    assert told["steps"][-1]["says"].startswith("The test was ended")


def group(cluster_id: str, name: str, **facts: Any) -> None:
    WatchedGroup.objects.create(
        cluster_id=cluster_id, group=name, kind="consumer", state="Stable", condition="seen", facts=facts
    )


def test_the_page_of_a_cluster_has_its_groups_without_those_that_are_gone() -> None:
    told = add().json()
    group(told["id"], "orders", group_epoch=12, assignment_epoch=11, members=3, lag=1234)
    group(told["id"], "<b>evil</b>")
    WatchedGroup.objects.create(cluster_id=told["id"], group="gone", condition="deleted")
    page = Client().get(told["url"]).content.decode()
    [data] = re.findall(r'id="cluster-data">(.*?)</script>', page)
    assert [(row["group"], row["lag"]) for row in json.loads(data)["groups"]] == [
        ("<b>evil</b>", None),
        ("orders", 1234),
    ]
    assert "<b>evil" not in page
    rows = Client().get(f"/api/clusters/{told['id']}/groups").json()
    assert [row["group"] for row in rows] == ["<b>evil</b>", "orders"]


def test_the_page_of_a_group_lists_all_its_timelines_with_their_spans_and_boards_lead_there() -> None:
    told = add().json()
    name = "orders/eu & co"
    spans = [(1_700_000_000_000, 1_700_086_400_000), (1_700_086_400_000, 1_700_090_000_000)]
    made = []
    for first_ms, last_ms in spans:
        made.append(
            storage.create_timeline(
                title="t", source="live", group=name, cluster_id=told["id"], provenance="recorded"
            )
        )
        Timeline.objects.filter(pk=made[-1].pk).update(
            last=7, summary={"first_ms": first_ms, "last_ms": last_ms, "group": name}
        )
    Timeline.objects.filter(pk=made[0].pk).update(status="complete")
    storage.create_timeline(title="t", source="live", group="another", cluster_id=told["id"])
    query = urlencode({"group": name})
    rows = Client().get(f"/api/clusters/{told['id']}/timelines?{query}").json()
    assert [(row["id"], row["status"], row["first_ms"], row["last_ms"]) for row in rows] == [
        (made[1].pk, "running", *spans[1]),
        (made[0].pk, "complete", *spans[0]),
    ]
    page = Client().get(f"/clusters/{told['id']}/timelines?{query}").content.decode()
    assert [page.index(f'href="/t/{each.pk}"') > 0 for each in made] == [True, True]
    assert "2023-11-14 22:13:20" in page
    assert "24\u202fh" in page
    board = Client().get(f"/t/{made[1].pk}").content.decode()
    [link] = re.findall(r'href="([^"]+/timelines\?group=[^"]+)"', board)
    assert Client().get(html.unescape(link)).status_code == 200
    assert Client().get(f"/clusters/{told['id']}/timelines?group=nobody").status_code == 404
    assert Client().get(f"/api/clusters/{told['id']}/timelines?group=nobody").json() == []
    refused = Client().get(f"/api/clusters/{told['id']}/timelines")
    assert (refused.status_code, refused.json()["error"]["field"]) == (400, "group")


def test_the_page_names_every_request_that_is_ever_sent() -> None:
    page = Client().get("/clusters").content.decode()
    for allowed in ALLOWED.values():
        assert allowed.api.name in page


def test_a_cluster_that_the_environment_names_stands_in_the_list_and_is_not_removed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    file = tmp_path / "x.properties"
    file.write_text("bootstrap.servers=kafka-9.example:9092\n")
    monkeypatch.setenv("REBALANCE_CLUSTER_PROD_US", str(file))
    [told] = Client().get("/api/clusters").json()
    assert (told["name"], told["origin"], told["bootstrap"]) == (
        "prod-us",
        "environment",
        "kafka-9.example:9092",
    )
    refused = Client().delete(f"/api/clusters/{told['id']}")
    assert refused.status_code == 409
    monkeypatch.delenv("REBALANCE_CLUSTER_PROD_US")
    [told] = Client().get("/api/clusters").json()
    assert (told["status"], told["watched"]) == ("paused", False)
    assert Client().delete(f"/api/clusters/{told['id']}").status_code == 204


# -- alerts


def rule(cluster_id: str, **body: Any) -> Any:
    return Client().post(f"/api/clusters/{cluster_id}/rules", body, content_type="application/json")


def test_a_rule_is_added_shown_turned_off_and_removed_and_its_webhook_is_never_told_again() -> None:
    told = add().json()
    added = rule(told["id"], kind="unassigned", for_s=45, webhook="https://chat.example/hooks/never-shown-2")
    assert added.status_code == 201
    assert added.json()["says"].startswith("A partition unassigned for 45")
    assert added.json()["webhook"] == "https://chat.example/…"
    address = added["Location"]
    everything = "".join(
        Client().get(each).content.decode()
        for each in (
            told["url"],
            address,
            f"/api/clusters/{told['id']}/rules",
            f"/api/clusters/{told['id']}/alerts",
        )
    )
    assert "https://chat.example/…" in everything
    assert "never-shown-2" not in everything
    assert (
        Client().patch(address, {"enabled": False}, content_type="application/json").json()["enabled"]
        is False
    )
    assert Client().patch(address, {"enabled": 1}, content_type="application/json").status_code == 400
    assert Client().delete(address).status_code == 204
    assert Client().get(address).status_code == 404


@pytest.mark.parametrize(
    ("body", "field"), [({"kind": "joy"}, "kind"), ({"kind": "stuck", "for_s": "9"}, "for_s"), ({}, "kind")]
)
def test_a_rule_that_cannot_be_is_refused_with_its_field(body: dict[str, Any], field: str) -> None:
    refused = rule(add().json()["id"], **body)
    assert (refused.status_code, refused.json()["error"]["field"]) == (400, field)


def test_a_test_is_queued_for_a_rule_with_a_webhook_alone() -> None:
    told = add().json()
    with_hook = rule(told["id"], kind="stuck", webhook="https://chat.example/x")["Location"]
    without = rule(told["id"], kind="stuck")["Location"]
    assert Client().post(f"{with_hook}/test").json()["state"] == "waiting"
    assert Client().post(f"{without}/test").status_code == 409
    overview = Client().get(f"/api/clusters/{told['id']}/alerts").json()
    assert (overview["waiting"], len(overview["deliveries"]), overview["alerts"]) == (1, 1, [])


def test_a_rule_belongs_to_its_cluster() -> None:
    address = rule(add().json()["id"], kind="stuck")["Location"]
    other = add(name="prod-us").json()["id"]
    assert Client().get(f"/api/clusters/{other}/rules/{address.rsplit('/', 1)[1]}").status_code == 404


def test_what_a_group_is_called_is_no_markup_in_its_alerts() -> None:
    told = add().json()
    made = rule(told["id"], kind="stuck", group="<b>evil</b>").json()
    Alert.objects.create(
        id="a", rule_id=made["id"], cluster_id=told["id"], group="<b>evil</b>", says="<i>x</i>", since_ms=1, at_ms=2
    )  # fmt: skip
    page = Client().get(told["url"]).content.decode()
    assert "<b>evil" not in page
    assert "<i>x" not in page


def test_a_live_board_has_the_condition_of_its_source_and_one_that_is_over_has_none() -> None:
    cluster = registry.get(add().json()["id"])
    seen = {
        "every_s": 0.5,
        "at_ms": 1_795_000_000_000,
        "follow": {"mode": "following", "skews_ms": {"3": -180_000}},
    }
    Cluster.objects.filter(pk=cluster.pk).update(
        seen=seen, status=Cluster.Status.FAILING, problem="It is away."
    )
    timeline = storage.create_timeline(
        title="orders on prod-eu", source=Timeline.Source.LIVE, group="orders", semantics="kafka",
        cluster_id=cluster.pk, provenance=Provenance.RECORDED.value,
    )  # fmt: skip
    WatchedGroup.objects.create(
        cluster=cluster, group="orders", timeline=timeline, state="PreparingRebalance", condition="seen",
        facts={"members": 2, "rebalancing": True, "since_ms": 5, "state_since_ms": 7}, followed={"partition": 3},
    )  # fmt: skip

    def live() -> Any:
        return Client().get(f"/api/timelines/{timeline.pk}").json()["live"]

    before_ms = time.time() * 1000
    told = live()
    assert before_ms - 1 <= told.pop("now_ms") <= time.time() * 1000
    assert told == {
        "looked_ms": 1_795_000_000_000, "every_s": 0.5, "mode": "following", "status": "failing",
        "problem": "It is away.", "is_watched": False, "condition": "seen", "state": "PreparingRebalance",
        "state_since_ms": 7, "rebalancing": True, "since_ms": 5, "members": 2, "skew_ms": -180_000,
    }  # fmt: skip
    assert registry.take(cluster.pk, "watcher")
    assert live()["is_watched"]
    tail = tails_of([timeline_group(timeline.pk)])[timeline_group(timeline.pk)]
    assert (tail["live"]["status"], tail["live"]["members"]) == ("failing", 2)
    Timeline.objects.filter(pk=timeline.pk).update(status=Timeline.Status.COMPLETE)
    assert live() is None
