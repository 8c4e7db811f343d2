"""What waits is queued again as soon as Redis has forgotten it, not when it is missed minutes later."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from django.db import OperationalError

from explorer.server import housekeeping
from explorer.server.housekeeping import LostQueue
from groups.imports import lifecycle
from groups.imports import tasks as import_tasks
from tests.conftest import missing
from tests.services.servers import redis_server

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.services]


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> Iterator[list[str]]:
    """The imports that are queued; ``settings.REDIS_URL`` is a Redis of the test's own."""
    if shutil.which("redis-server") is None:
        missing("redis-server is not installed")
    sent: list[str] = []
    monkeypatch.setattr(import_tasks.run_import, "delay", sent.append)
    monkeypatch.setattr(housekeeping, "_queue", LostQueue())
    with redis_server(tmp_path) as url:
        settings.REDIS_URL = url
        yield sent


def test_after_a_restart_without_its_data_what_waited_is_queued_at_the_next_sweep(
    queued: list[str], settings: Any
) -> None:
    housekeeping.sweep()
    found = lifecycle.create(title="a log", paths=["/nowhere"])
    housekeeping.sweep()
    assert queued == [], "it waits where it was queued"
    with contextlib.closing(redis.Redis.from_url(settings.REDIS_URL)) as client:
        client.flushall()
    housekeeping.sweep()
    assert queued == [found.id]
    housekeeping.sweep()
    assert queued == [found.id], "once"


def test_what_was_stored_while_redis_was_away_is_queued_when_it_is_back(
    queued: list[str], settings: Any
) -> None:
    housekeeping.sweep()
    here, settings.REDIS_URL = settings.REDIS_URL, "redis://127.0.0.1:1/0"
    with pytest.raises(redis.RedisError):
        housekeeping.sweep()
    found = lifecycle.create(title="a log", paths=["/nowhere"])
    settings.REDIS_URL = here
    housekeeping.sweep()
    assert queued == [found.id]


def test_once_one_process_has_queued_it_the_others_do_not(queued: list[str], settings: Any) -> None:
    first, second = LostQueue(), LostQueue()
    assert first.is_lost(settings.REDIS_URL)
    first.mark(settings.REDIS_URL)
    assert not second.is_lost(settings.REDIS_URL)


def test_what_redis_lost_is_queued_later_where_the_database_is_away_just_then(
    queued: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = lifecycle.create(title="a log", paths=["/nowhere"])

    def away() -> None:
        raise OperationalError("the server closed the connection unexpectedly")

    with monkeypatch.context() as patched:
        patched.setattr(housekeeping, "forget_queue", away)
        with pytest.raises(OperationalError):
            housekeeping.sweep()
    assert queued == []
    housekeeping.sweep()
    assert queued == [found.id]
