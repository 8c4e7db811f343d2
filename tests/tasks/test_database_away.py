"""An import outlives seconds without PostgreSQL; one that failed keeps its upload until the user decides."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection
from django.test import Client

import explorer.celery  # noqa: F401  (the queue of this process)
from explorer.server import housekeeping
from groups.imports import lifecycle, tasks
from groups.models import Import

pytestmark = pytest.mark.django_db(transaction=True)

AWAY_S = 3.0

PROGRESS = {"type": "progress", "stages": [], "bytes": 1, "remaining_s": None}


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    sent: list[str] = []
    monkeypatch.setattr(tasks.run_import, "delay", sent.append)
    return sent


def send_away() -> threading.Thread:
    """Ends all connections to the test's database, and lets nobody in for ``AWAY_S``."""
    name = connection.settings_dict["NAME"]
    admin = psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)
    admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS false')
    admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])

    def let_in() -> None:
        time.sleep(AWAY_S)
        admin.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS true')
        admin.close()

    thread = threading.Thread(target=let_in)
    thread.start()
    return thread


def test_an_import_outlives_seconds_without_postgresql(monkeypatch: pytest.MonkeyPatch) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("a database that is a file is never away")
    found = lifecycle.create(title="a log", paths=["/nowhere"])
    outages: list[threading.Thread] = []

    def messages(*words: Any, **facts: Any) -> Iterator[dict[str, Any]]:
        yield PROGRESS | {"stage": "Read"}
        outages.append(send_away())
        yield PROGRESS | {"stage": "Folded"}
        yield {"type": "error", "message": "the child came to its end"}

    monkeypatch.setattr(lifecycle.children, "messages", messages)
    ended = lifecycle.perform(found.id)
    outages[0].join()
    assert ended.problem == "the child came to its end"
    assert ended.progress["stage"] == "Folded"


def test_no_lease_counts_as_expired_right_after_the_database_was_away(
    monkeypatch: pytest.MonkeyPatch, queued: list[str]
) -> None:
    found = lifecycle.create(title="a log", paths=["/nowhere"])
    Import.objects.update(status="running", lease_until="2020-01-01T00:00:00Z")
    monkeypatch.setattr(housekeeping, "_lost_from_s", 0.0)
    housekeeping.hold_back()
    housekeeping.sweep()
    assert lifecycle.get(found.id).status == "running"
    monkeypatch.setattr(housekeeping, "_lost_from_s", 0.0)
    housekeeping.sweep()
    assert lifecycle.get(found.id).status == "failed"


def test_a_failed_import_keeps_its_upload_and_can_be_read_again(
    client: Client, queued: list[str], settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.VAR, settings.UPLOAD_FOLDER = tmp_path, ""
    found = lifecycle.create(title="a log", paths=[], folder="")
    folder = lifecycle.uploads() / found.id
    folder.mkdir(parents=True)
    Import.objects.update(paths=[str(folder)], options={"folder": str(folder)})
    Import.objects.update(status="running", lease_until="2020-01-01T00:00:00Z")
    lifecycle.interrupt(found.id)
    url = f"/api/imports/{found.id}"
    detail = client.get(url).json()
    assert (detail["status"], detail["repeatable"]) == ("failed", True)
    assert detail["problem"] == "Its worker ended, or could not reach the database for 30 s."
    assert folder.exists()
    again = client.post(f"{url}/repeat").json()
    assert (again["status"], again["problem"], queued) == ("waiting", "", [found.id])
    assert client.post(f"{url}/repeat").status_code == 409
    assert lifecycle.cancel(found.id)
    assert not folder.exists()


def test_a_failed_import_whose_files_are_gone_cannot_be_read_again(client: Client, queued: list[str]) -> None:
    found = lifecycle.create(title="a log", paths=["/nowhere"])
    Import.objects.update(status="failed", lease_until=None)
    answer = client.post(f"/api/imports/{found.id}/repeat")
    assert (answer.status_code, queued) == (409, [])
    assert "its files are gone" in answer.content.decode()


def test_another_error_of_the_database_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    found = lifecycle.create(title="a log", paths=["/nowhere"])

    def fails(*words: Any, **facts: Any) -> Iterator[dict[str, Any]]:
        raise OperationalError("could not extend file: No space left on device")
        yield

    monkeypatch.setattr(lifecycle.children, "messages", fails)
    assert "No space left" in lifecycle.perform(found.id).problem
