"""The status page: what this server needs, what waits, who watches, and the log's last lines; also while a part is away."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client

from explorer.server.health import checks
from explorer.server.status import last_lines, status_facts
from explorer.sharing import tokens
from groups.cluster_models import Cluster
from groups.models import Import, Timeline


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_kept", [])


def test_the_page_has_what_the_api_has(client: Client, db: None) -> None:
    Import.objects.create(id="night", title="night", status=Import.Status.WAITING)
    Timeline.objects.create(
        id="run",
        title="run",
        source=Timeline.Source.SIMULATION,
        status="running",
        entry_format=1,
        fold_version=1,
    )
    Cluster.objects.create(
        id="prod",
        name="prod-eu",
        status="failing",
        problem="broker-1:9092 does not answer.",
        seen={"at_ms": 0},
    )
    found = client.get("/api/status").json()
    assert found["parts"][0] == {"part": "database", "problem": ""}
    assert found["queues"] == [
        {"queue": "runs", "waiting": 1, "running": 0},
        {"queue": "imports", "waiting": 1, "running": 0},
    ]
    assert (found["clusters"][0]["watcher"], found["clusters"][0]["look_ms"]) == ("", 0)
    assert found["database_bytes"] > 0
    assert all(0 < disk["free_bytes"] <= disk["size_bytes"] for disk in found["disks"])
    assert sorted(what for disk in found["disks"] for what in disk["what"]) == [
        "data folder",
        "store",
        "uploads",
    ]

    page = client.get("/status").content.decode()
    for shown in (
        "prod-eu",
        "broker-1:9092 does not answer.",
        "no process",
        "data folder",
        "None since this process began",
    ):
        assert shown in page


def test_the_last_warnings_are_there_without_tokens_and_bounded(client: Client, db: None) -> None:
    handler = last_lines.LastLines()
    log = logging.getLogger("explorer.tried")
    log.addHandler(handler)
    token = tokens.draw()
    try:
        for number in range(30):
            log.warning("Number %s of /s/%s\nsecond line", number, token)
        try:
            raise ValueError("a detail")
        except ValueError:
            log.exception("It failed")
        log.info("not this one")
        lines = client.get("/api/status").json()["lines"]
        assert (len(lines), lines[0]["message"], lines[0]["level"]) == (20, "It failed (ValueError)", "ERROR")
        assert lines[1]["message"].startswith("Number 29 of /s/…")
        assert token not in str(lines)
        assert "second line" not in str(lines)
        assert "It failed (ValueError)" in client.get("/status").content.decode()
    finally:
        log.removeHandler(handler)


def test_a_database_that_is_away_leaves_the_rest_of_the_page(
    client: Client, transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: Any) -> Any:
        raise OperationalError("could not connect to server")

    monkeypatch.setattr(status_facts, "queue_counts", away)
    monkeypatch.setitem(checks._PARTS, "database", away)
    answer = client.get("/status")
    assert answer.status_code == 200
    page = answer.content.decode()
    assert "Not known while the database does not answer." in page
    assert "could not connect to server" in page
    assert '<td>Store</td><td class="place">works</td>' in page
