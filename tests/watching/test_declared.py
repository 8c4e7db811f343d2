"""Clusters and rules of a file: applied once, the same again changes nothing, and a file that is wrong changes nothing either."""

from __future__ import annotations

import os
import time
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from django.core.management.base import CommandError

from groups.cluster_models import Cluster
from groups.watching import declared, registry
from groups.watching.alerts import silences
from groups.watching.alerts.registry import add, overview

pytestmark = pytest.mark.django_db(transaction=True)

FILE = """\
clusters:
  prod-eu:
    properties:
      bootstrap.servers: kafka-1.example:9092
      security.protocol: SASL_SSL
      sasl.mechanism: PLAIN
      sasl.username: watcher
      sasl.password: "${EU_PASSWORD}"
    rules:
      - {kind: late, lag_s: 120, for_s: 60, group: orders-*, webhook: "${CHAT}", form: slack}
      - {kind: lost}
  test:
    watched: false
    properties: {bootstrap.servers: "kafka-2.example:9092"}
"""


def applied(folder: Path, text: str, *words: str) -> list[str]:
    file, out = folder / "clusters.yaml", StringIO()
    file.write_text(text)
    call_command("clusters", "apply", str(file), *words, stdout=out)
    return out.getvalue().splitlines()


@pytest.fixture(autouse=True)
def _secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EU_PASSWORD", "hunter2")
    monkeypatch.setenv("CHAT", "https://chat.example/hooks/secret-1")


def rules_of(name: str) -> list[dict[str, Any]]:
    return overview(Cluster.objects.get(name=name))["rules"]  # type: ignore[no-any-return]


def test_a_file_adds_clusters_and_rules_and_the_same_again_changes_nothing(tmp_path: Path) -> None:
    assert applied(tmp_path, FILE, "--dry-run") == applied(tmp_path, FILE)
    eu = Cluster.objects.get(name="prod-eu")
    assert registry.properties_of(eu)["sasl.password"] == "hunter2"
    assert [(rule["kind"], rule["group"], rule["form"]) for rule in rules_of("prod-eu")] == [
        ("late", "orders-*", "slack"),
        ("lost", "", None),
    ]
    assert not Cluster.objects.get(name="test").watched
    assert applied(tmp_path, FILE) == []


def test_what_changed_is_changed_and_rules_go_where_that_is_asked_for(tmp_path: Path) -> None:
    applied(tmp_path, FILE)
    other = (
        FILE.replace("lag_s: 120", "lag_s: 240")
        .replace("kafka-2", "kafka-3")
        .replace("watched: false", "watched: true")
    )
    assert applied(tmp_path, other) == [
        "prod-eu: added the rule Lag over 4\N{NARROW NO-BREAK SPACE}min for 1\N{NARROW NO-BREAK SPACE}min",
        "test: other properties; whoever watches it takes them when it connects again",
        "test: watched",
    ]
    assert len(rules_of("prod-eu")) == 3
    [removed] = applied(tmp_path, other, "--prune")
    assert removed.startswith("prod-eu: removed the rule Lag over 2")
    registry.add("by-hand", {"bootstrap.servers": "kafka-9.example:9092"})
    assert applied(tmp_path, other, "--prune") == ["by-hand: not in the file, left as it is"]


def test_what_is_there_is_written_without_secrets_and_applied_again_it_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    applied(
        tmp_path,
        FILE
        + "    rules: [{kind: stuck, webhook: 'https://pager.example/v2/enqueue', form: pagerduty, key: K1}]\n",
    )
    rule = {"kind": "empty", "webhook": "https://chat.example/other", "form": "json"}
    add(Cluster.objects.get(name="prod-eu"), rule)
    out = StringIO()
    call_command("clusters", "export", stdout=out)
    text = out.getvalue()
    assert "hunter2" not in text
    assert "secret-1" not in text
    assert (
        yaml.safe_load(text)["clusters"]["prod-eu"]["properties"]["sasl.password"]
        == "${PROD_EU_SASL_PASSWORD}"
    )
    monkeypatch.setenv("PROD_EU_SASL_PASSWORD", os.environ["EU_PASSWORD"])
    monkeypatch.setenv("PROD_EU_WEBHOOK", os.environ["CHAT"])
    monkeypatch.setenv("PROD_EU_2_WEBHOOK", rule["webhook"])
    monkeypatch.setenv("TEST_WEBHOOK", "https://pager.example/v2/enqueue")
    monkeypatch.setenv("TEST_KEY", "K1")
    assert applied(tmp_path, text) == []
    Cluster.objects.all().delete()
    applied(tmp_path, text)
    assert len(rules_of("prod-eu")) == 3
    assert [rule["form"] for rule in rules_of("test")] == ["pagerduty"]


def test_what_was_typed_on_a_page_names_no_variable_of_the_environment_in_the_file(tmp_path: Path) -> None:
    """Who may add a silence could read the secrets of whoever applies the file otherwise."""
    applied(tmp_path, FILE)
    cluster, now_ms = Cluster.objects.get(name="test"), time.time_ns() // 1_000_000
    typed = {"why": "${CHAT} and $${CHAT}", "until": now_ms + 3_600_000}
    silences.add(cluster, silences.silence_of(typed), now_ms)
    add(cluster, {"kind": "stuck", "group": "${EU_PASSWORD}"})
    out = StringIO()
    call_command("clusters", "export", stdout=out)
    [found] = declared.read(
        out.getvalue(), os.environ | {"PROD_EU_SASL_PASSWORD": "x", "PROD_EU_WEBHOOK": os.environ["CHAT"]}
    )["test"]["silences"]
    assert found.why == typed["why"]
    assert "group: $${EU_PASSWORD}" in out.getvalue()


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("clusters:\n", "cluster:\n", "the key clusters alone"),
        ("${EU_PASSWORD}", "${NOBODY}", "clusters.prod-eu.properties.sasl.password: the environment has no NOBODY"),
        ("kind: lost", "kind: loss", "clusters.prod-eu.rules[1].kind"),
        ("lag_s: 120", "lag_s: 0", "clusters.prod-eu.rules[0].lag_s"),
        ("form: slack", "form: chat", "clusters.prod-eu.rules[0].form"),
        ("watched: false", "watched: later", "clusters.test.watched"),
        ("{bootstrap.servers: ", "{acks: ", "clusters.test.properties"),
        ("watched: false", "colour: red", "clusters.test must have"),
        ("{kind: lost}", "{kind: lost", "Line"),
        ('"kafka-2.example:9092"}', '"kafka-2.example:9092"}\n  "a b": {properties: {bootstrap.servers: "k:1"}}', "a b"),
        ('"kafka-2.example:9092"}', '"kafka-2.example:9092"}\n  bare: {}', "clusters.bare is not there yet"),
    ],
)  # fmt: skip
def test_a_file_that_is_wrong_is_one_line_and_changes_nothing(
    tmp_path: Path, old: str, new: str, place: str
) -> None:
    assert old in FILE
    with pytest.raises(CommandError) as refused:
        applied(tmp_path, FILE.replace(old, new))
    assert place in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1
    assert refused.value.returncode == 2
    assert not Cluster.objects.exists()
