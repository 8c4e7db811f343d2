"""``/healthz`` and ``/readyz``: without a token, without detail, and true."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from django.test import Client

from explorer.server.health import checks
from tests.serving import served


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "_kept", [])


def test_a_process_that_can_work_is_ready(client: Client, transactional_db: None) -> None:
    assert client.get("/healthz").content == b"ok\n"
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"ready": True})
    assert "no-store" in answer["Cache-Control"]
    assert client.post("/readyz").status_code == 405


def test_a_store_that_cannot_be_reached_is_named(
    settings: object, transactional_db: None, tmp_path: Path
) -> None:
    settings.STORE_URL = "sftp://nowhere/"  # type: ignore[attr-defined]
    found = checks.check()
    assert found["store"]
    assert "\n" not in found["store"]
    assert not found["database"]


def test_a_store_that_does_not_answer_is_waited_for_a_moment(
    monkeypatch: pytest.MonkeyPatch, transactional_db: None
) -> None:
    ended = threading.Event()
    monkeypatch.setattr(checks, "_look_into_store", lambda url: ended.wait())
    monkeypatch.setattr(checks, "STORE_S", 0.05)
    try:
        assert checks.check()["store"] == "The store does not answer within 0 s (STORE_URL)."
    finally:
        ended.set()


def test_redis_that_is_away_is_named(settings: object, transactional_db: None) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"  # type: ignore[attr-defined]
    assert checks.check()["redis"].startswith("Redis cannot be reached: ")


def test_tables_that_are_behind_are_named(
    monkeypatch: pytest.MonkeyPatch, client: Client, transactional_db: None
) -> None:
    monkeypatch.setattr("groups.database._is_behind", lambda: True)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (503, {"ready": False})


def test_an_answer_serves_all_who_ask_within_two_seconds(
    monkeypatch: pytest.MonkeyPatch, client: Client, transactional_db: None
) -> None:
    asked: list[int] = []
    monkeypatch.setitem(checks._PARTS, "database", lambda: asked.append(1) or "")
    monkeypatch.setattr(checks, "KEPT_S", 3600.0)
    for _ in range(20):
        assert client.get("/readyz").status_code == 200
    assert len(asked) == 1


@pytest.mark.long
def test_a_server_tells_everybody_whether_it_is_ready_and_those_with_the_token_why(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        assert server.open("/readyz", Authorization="").read() == b'{"ready": true}'
        assert server.open("/healthz", Authorization="").read() == b"ok\n"
        parts = json.load(server.open("/readyz"))["parts"]
        assert parts == dict.fromkeys(("database", "tables", "redis", "store", "workers"), "")
