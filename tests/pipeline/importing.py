"""What tests of imports share: the pretended job with a store of the test's own, and imports that are made and performed."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from groups.imports import lifecycle
from groups.imports import tasks as import_tasks
from groups.models import Import
from tests.tasks.idle import close_idle_children, pretend_the_job

Until = Callable[[Callable[[], object]], None]


@pytest.fixture(scope="module", autouse=True)
def _one_child_for_all() -> Iterator[None]:
    """Most of what a test would take is the start of its child."""
    yield
    close_idle_children()


@pytest.fixture(autouse=True)
def store(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> Path:
    """The pretended job, and a store of the test's own."""
    pretend_the_job(monkeypatch)
    settings.VAR = tmp_path / "var"
    settings.STORE_URL = str(tmp_path / "store")
    return tmp_path / "store"


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What would have gone to the queue."""
    sent: list[Any] = []
    monkeypatch.setattr(
        import_tasks.run_import, "apply_async", lambda arguments, **_: sent.append(arguments[0])
    )
    monkeypatch.setattr(import_tasks.run_import, "delay", sent.append)
    return sent


@pytest.fixture
def announced(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    said: list[dict[str, Any]] = []
    monkeypatch.setattr(lifecycle, "say", lambda import_id, message: said.append(dict(message)))
    return said


def create(word: str = "log", **facts: Any) -> Import:
    return lifecycle.create(title=word, paths=[word], **facts)


def perform(word: str = "log", **facts: Any) -> Import:
    return lifecycle.perform(create(word, **facts).id)


def files(store: Path) -> list[Path]:
    return [path for path in store.rglob("*") if path.is_file()]


def performed(found: Import, task: Callable[[str], object]) -> threading.Thread:
    """A thread that reads the import."""

    def run() -> None:
        try:
            task(found.id)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.fixture
def until() -> Until:
    def wait(holds: Callable[[], object]) -> None:
        end_s = time.monotonic() + 15
        while not holds():
            assert time.monotonic() < end_s, "it did not come about within 15 s"
            time.sleep(0.05)

    return wait
