"""Imports around the job: taken once, stored by one writer, cancelled, failed, interrupted, said to be the same."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from groups import import_tasks, imports
from groups.models import Import, Timeline

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def pretend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports, "JOB", "tests.pipeline.pretend_job")


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
    monkeypatch.setattr(imports, "say", lambda import_id, message: said.append(dict(message)))
    return said


def create(word: str = "log", **facts: Any) -> Import:
    return imports.create(title=word, paths=[word], **facts)


def test_an_import_stores_its_timelines_and_reports_them() -> None:
    done = imports.perform(create().id)

    [timeline] = Timeline.objects.all()
    [told] = done.report["timelines"]
    assert (done.status, timeline.status, timeline.made_by_id) == ("complete", "complete", done.id)
    assert (told["id"], told["group"], told["entries"]) == (timeline.id, "orders", timeline.last)
    assert done.finished is not None
    assert done.report["records"]["read"] == 9


def test_a_task_that_is_delivered_twice_doubles_nothing() -> None:
    found = create()

    imports.perform(found.id)
    imports.perform(found.id)

    assert Timeline.objects.count() == 1


def test_the_same_log_again_makes_a_timeline_that_names_the_first() -> None:
    first, second = imports.perform(create().id), imports.perform(create().id)

    assert Timeline.objects.count() == 2
    assert first.report["timelines"][0].get("same_as") is None
    assert second.report["timelines"][0]["same_as"] == first.report["timelines"][0]["id"]


def test_an_error_of_the_job_is_the_imports_problem_in_one_line() -> None:
    done = imports.perform(create("fails").id)

    assert (done.status, done.problem) == ("failed", "Spark needs Java 17 or newer and none was found")


def test_a_job_that_breaks_leaves_what_was_stored_and_says_so() -> None:
    done = imports.perform(create("breaks").id)

    [timeline] = Timeline.objects.all()
    assert done.status == "failed"
    assert "it broke" in done.problem
    assert (timeline.status, timeline.last > 0) == ("interrupted", True)


def test_stopping_a_running_import_keeps_what_is_stored(
    until: Callable[[Callable[[], object]], None],
) -> None:
    found = create("waits")

    def run() -> None:
        try:
            imports.perform(found.id)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    until(lambda: Timeline.objects.filter(last__gt=0).exists())
    assert imports.cancel(found.id)
    thread.join(15)

    assert not thread.is_alive()
    assert imports.get(found.id).status == "cancelled"
    assert Timeline.objects.get().status == "interrupted"


def test_deleting_a_running_import_ends_its_task(until: Callable[[Callable[[], object]], None]) -> None:
    found = create("waits")

    def run() -> None:
        try:
            import_tasks.run_import(found.id)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    until(lambda: Timeline.objects.filter(last__gt=0).exists())
    imports.delete(found.id)
    thread.join(15)

    assert not thread.is_alive()
    assert Timeline.objects.count() == 0


def test_a_waiting_import_that_is_cancelled_is_never_read() -> None:
    found = create()

    assert imports.cancel(found.id)
    assert imports.perform(found.id).status == "cancelled"
    assert not imports.cancel(found.id)
    assert Timeline.objects.count() == 0


def test_an_import_waits_while_sparks_packages_come(
    monkeypatch: pytest.MonkeyPatch, queued: list[Any], announced: list[dict[str, Any]]
) -> None:
    found = create()
    monkeypatch.setattr(import_tasks, "missing_packages", lambda: ["pyspark"])
    import_tasks.run_import(found.id)
    assert queued == [found.id]
    assert imports.get(found.id).progress["stage"] == "Getting Spark ready"
    assert announced[-1]["stage"] == "Getting Spark ready"

    monkeypatch.setattr(import_tasks, "missing_packages", list)
    import_tasks.run_import(found.id)
    assert imports.get(found.id).status == "complete"


def test_an_import_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch, queued: list[Any]) -> None:
    found = create()
    Import.objects.update(created=timezone.now() - timedelta(hours=2))
    monkeypatch.setattr(import_tasks, "missing_packages", lambda: ["pyspark"])

    import_tasks.run_import(found.id)

    assert queued == []
    assert imports.get(found.id).status == "failed"
    assert "make install" in imports.get(found.id).problem


def test_lost_imports_are_queued_again_or_told_as_failed(queued: list[Any]) -> None:
    waiting, running = create(), create()
    Import.objects.filter(pk=running.id).update(status="running")
    Import.objects.update(lease_until=timezone.now() - timedelta(seconds=1))

    import_tasks.take_up_lost()

    assert queued == [waiting.id]
    assert imports.get(running.id).status == "failed"
    assert imports.leases.lost() == []


def test_a_new_servers_waiting_imports_are_queued_again(queued: list[Any]) -> None:
    found = create()

    imports.leases.forget_queue()
    import_tasks.take_up_lost()

    assert queued == [found.id]


def test_uploaded_files_go_when_the_import_is_over(settings: Any, tmp_path: Path) -> None:
    settings.VAR = tmp_path
    folder = tmp_path / "imports" / "abc"
    folder.mkdir(parents=True)
    elsewhere = tmp_path / "kept"
    elsewhere.mkdir()

    imports.perform(create(folder=str(folder)).id)
    imports.perform(create(folder=str(elsewhere)).id)

    assert not folder.exists()
    assert elsewhere.exists()


def test_deleting_an_import_deletes_its_timelines() -> None:
    done = imports.perform(create().id)

    imports.delete(done.id)

    assert Timeline.objects.count() == 0
    with pytest.raises(imports.NoSuchImport):
        imports.get(done.id)


def test_a_stage_that_begins_is_announced(announced: list[dict[str, Any]]) -> None:
    imports.perform(create().id)

    assert [said["stage"] for said in announced if said["type"] == "progress"][:2] == ["Starting", "Reading"]
    assert [said["status"] for said in announced if said["type"] == "status"] == ["running", "complete"]


@pytest.fixture
def until() -> Callable[[Callable[[], object]], None]:
    def wait(holds: Callable[[], object]) -> None:
        end_s = time.monotonic() + 15
        while not holds():
            assert time.monotonic() < end_s, "it did not come about within 15 s"
            time.sleep(0.05)

    return wait
