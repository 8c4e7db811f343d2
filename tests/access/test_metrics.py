"""``/metrics``: what Prometheus reads, the bounds of it, and the dashboard and rules that ask for it."""

from __future__ import annotations

import builtins
import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from explorer.push.hub import BACKLOG_MOST, Feed, Listener
from explorer.server.metrics import stored
from explorer.server.metrics.request_times import Histogram
from explorer.server.metrics.stored import group_figures
from explorer.server.metrics.table import BUCKETS, CAUSES, GROUPS_MOST, METRICS, PREFIX, TABLE
from groups.cluster_models import Cluster, WatchedGroup
from groups.models import Import, Timeline
from tests.house import ROOT, prometheus_page
from tests.serving import served

OPEN_METRICS = "application/openmetrics-text; version=1.0.0"


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "_kept", [])
    monkeypatch.setattr(stored, "_figures", {})


def scraped(client: Client) -> dict[tuple[str, ...], float]:
    """The samples of an answer: name and label values, without the prefix."""
    answer = client.get("/metrics", HTTP_ACCEPT=OPEN_METRICS)
    assert answer.status_code == 200
    families = text_string_to_metric_families(answer.content.decode())
    return {
        (one.name.removeprefix(PREFIX), *one.labels.values()): one.value
        for family in families
        for one in family.samples
    }


def watched(count: int = 1, **facts: Any) -> Cluster:
    seen = {"at_ms": int(time.time() * 1000) - 30_000, "took_ms": 250}
    cluster = Cluster.objects.create(id="c", name="prod", status="connected", seen=seen)
    WatchedGroup.objects.bulk_create(
        WatchedGroup(cluster=cluster, group=f"orders-{n:04}", facts=facts) for n in range(count)
    )
    return cluster


def summary(**more: Any) -> dict[str, Any]:
    findings = [
        {"kind": "joined", "sequences": [10]},
        {"kind": "removed", "why": None, "looks_like": "session_expired", "sequences": [20]},
        {"kind": "causeless_rebalances", "sequences": [30, 40], "steps": [30, 40]},
        {"kind": "no_owner", "sequences": [20], "length_ms": 4000},
        {"kind": "no_owner", "sequences": [20], "length_ms": 1500},
        {"kind": "waited_for", "sequences": [10], "name": "A", "length_ms": 2000},
        {"kind": "waited_for", "sequences": [20], "name": "A", "length_ms": 1000},
        {"kind": "stable", "sequences": [50], "from_ms": 43_000},
        {"kind": "epochs", "sequences": [50], "count": 5},
    ]
    starts = [{"epoch": n, "sequence": 10 * n, "at_ms": 8_000 * n} for n in range(1, 6)]
    silent = {"to_ms": None, "partitions": [{"from_ms": 47_000}, {"from_ms": 48_000}]}
    return {"findings": findings, "epochs": starts, "silences": [silent], "last_ms": 50_000} | more


def test_a_groups_figures_are_those_of_its_findings() -> None:
    figures = group_figures(summary())
    assert figures.rebalances == 5
    assert figures.causes == {"joined": 1, "session_expired": 1, "none": 2, "other": 1}
    assert figures.unassigned_s == 5.5
    assert figures.not_read_s == 5.0
    assert figures.last_rebalance_s == 3.0
    assert figures.blocked_s == {"A": 3.0}


def test_a_group_that_still_changes_has_no_duration_of_its_last_rebalance() -> None:
    still = summary(findings=[one for one in summary()["findings"] if one["kind"] != "stable"])
    assert group_figures(still).last_rebalance_s is None
    assert group_figures({}).rebalances == 0


def test_each_request_is_in_the_first_bucket_that_holds_it() -> None:
    times = Histogram()
    for seconds in (0.001, BUCKETS[0], 0.2, 100.0):
        times.add(seconds)
    assert dict(times.buckets()) == {
        "0.005": 2, "0.025": 2, "0.1": 2, "0.25": 3, "1.0": 3, "2.5": 3, "10.0": 3, "30.0": 3, "+Inf": 4,
    }  # fmt: skip


def test_what_is_watched_and_imported_is_scraped(client: Client, transactional_db: None) -> None:
    cluster = watched(members=3, behind=1, lag=1234, group_epoch=5, rebalancing=True)
    timeline = Timeline.objects.create(
        id="t", title="t", group="orders-0000", source="live", last=50, entry_format=1, fold_version=1, summary=summary()
    )  # fmt: skip
    WatchedGroup.objects.filter(cluster=cluster).update(timeline=timeline)
    times = [{"stage": "fold", "seconds": 2.0, "rows": 500, "unit": "records"}]
    Import.objects.create(
        id="i", title="i", status="complete", report={"times": times}, finished=timezone.now()
    )
    Import.objects.create(id="j", title="j", status="waiting")
    group = ("prod", "orders-0000")
    found = scraped(client)
    assert found["group_members", *group] == 3
    assert found["group_lag_records", *group] == 1234
    assert found["group_rebalancing", *group] == 1
    assert found["group_rebalances_total", *group] == 5
    assert found["group_rebalances_by_cause", "none", *group] == 2
    assert found["group_blocked_seconds", "A", *group] == 3.0
    assert found["import_stage_rate", "fold", "records"] == 250
    assert found["queue_waiting", "imports"] == 1
    assert found["cluster_up", "prod"] == 1
    assert found["cluster_look_age_seconds", "prod"] >= 30
    assert found["database_up",] == 1


def test_a_timeline_that_has_grown_is_read_again(client: Client, transactional_db: None) -> None:
    watched()
    timeline = Timeline.objects.create(
        id="t", title="t", group="g", source="live", last=1, entry_format=1, fold_version=1
    )
    WatchedGroup.objects.update(timeline=timeline)
    group = ("group_rebalances_total", "prod", "orders-0000")
    assert scraped(client)[group] == 0
    Timeline.objects.update(last=50, summary=summary())
    stored._kept.clear()
    assert scraped(client)[group] == 5


def test_groups_beyond_the_bound_are_counted_and_have_no_series(
    client: Client, transactional_db: None
) -> None:
    watched(GROUPS_MOST + 7, members=1)
    found = scraped(client)
    assert sum(key[0] == "group_members" for key in found) == GROUPS_MOST
    assert found["cluster_groups", "prod"] == GROUPS_MOST + 7
    assert found["cluster_groups_left_out", "prod"] == 7


def test_addresses_that_do_not_exist_are_one_series(client: Client, transactional_db: None) -> None:
    before = scraped(client).get(("request_seconds_count", "none", "4xx"), 0)
    for number in range(5):
        assert client.get(f"/no-such-{number}").status_code == 404
    found = scraped(client)
    assert found["request_seconds_count", "none", "4xx"] == before + 5
    assert not [key for key in found if "no-such" in str(key)]


def test_while_the_database_is_away_the_figures_of_the_process_are_there(
    client: Client, transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away() -> None:
        raise OperationalError("connection refused")

    monkeypatch.setattr(stored, "_work", away)
    found = scraped(client)
    assert found["database_up",] == 0
    assert ("sockets",) in found
    assert not [key for key in found if key[0] == "queue_waiting"]


def test_without_its_package_one_line_says_what_to_install(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported = builtins.__import__

    def without(name: str, *args: Any) -> Any:
        if name.startswith("prometheus_client"):
            raise ImportError(name)
        return imported(name, *args)

    monkeypatch.setattr(builtins, "__import__", without)
    answer = client.get("/metrics")
    assert answer.status_code == 501
    assert answer.content.decode().count("\n") == 1
    assert b"rebalance-explorer[metrics]" in answer.content


async def test_a_slow_socket_counts_what_it_does_not_take() -> None:
    feed = Feed(group="g")
    feed.listeners.add(Listener())
    for _ in range(BACKLOG_MOST + 3):
        feed.send("x")
    assert feed.dropped == 3


@pytest.mark.once
def test_the_reference_has_exactly_the_metrics_of_the_table_and_every_cause() -> None:
    page = prometheus_page.PAGE.read_text()
    assert page == prometheus_page.text()
    for cause in CAUSES:
        assert f"`{cause}`" in page
    for name in re.findall(r"`(\w+)` has|`(\w+)` is 0", page):
        assert next(filter(None, name)) in {*METRICS, "up"}


def queries() -> dict[str, str]:
    """Each query of the dashboard and of the alert rules, by its title."""
    dashboard = json.loads((ROOT / "docs/deploy/grafana/dashboard.json").read_text())
    rules = yaml.safe_load((ROOT / "docs/deploy/prometheus/rules.yaml").read_text())
    found = {
        f"{panel['title']} {target['refId']}": target["expr"]
        for panel in dashboard["panels"]
        for target in panel["targets"]
    }
    found |= {each["name"]: each["query"] for each in dashboard["templating"]["list"][1:]}
    return found | {rule["alert"]: rule["expr"] for group in rules["groups"] for rule in group["rules"]}


@pytest.mark.once
def test_rules_have_what_prometheus_asks_of_them() -> None:
    rules = yaml.safe_load((ROOT / "docs/deploy/prometheus/rules.yaml").read_text())
    assert set(rules) == {"groups"}
    for group in rules["groups"]:
        assert set(group) == {"name", "rules"}
        for rule in group["rules"]:
            assert {"alert", "expr"} <= set(rule) <= {"alert", "expr", "for", "labels", "annotations"}
            assert rule["expr"].count("(") == rule["expr"].count(")")
            used = set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]))
            names = [name for name in METRICS if PREFIX + name in rule["expr"]]
            assert used <= {label for name in names for label in METRICS[name].labels}


@pytest.mark.long
def test_a_running_server_has_every_metric_that_the_dashboard_and_the_rules_ask_for(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        for _ in range(2):
            server.open("/").read()
        with pytest.raises(Exception, match=r"40[13]"):
            server.open("/metrics", Authorization="")
        text = server.open("/metrics", Accept=OPEN_METRICS).read().decode()
        plain = server.open("/metrics").read().decode()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    assert set(families) == {metric.full_name for metric in TABLE}
    assert f"# TYPE {PREFIX}sockets gauge" in plain
    answered = {one.name for family in families.values() for one in family.samples}
    assert f"{PREFIX}request_seconds_bucket" in answered
    offered = {name + suffix for name, each in families.items() for suffix in SUFFIXES[each.type]}
    for title, query in queries().items():
        asked = set(re.findall(rf"{PREFIX}\w+", query))
        assert asked, title
        assert asked <= offered, title


SUFFIXES = {"gauge": [""], "counter": ["_total"], "histogram": ["_bucket", "_count", "_sum"]}
