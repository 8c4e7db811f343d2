"""Imports around the job: taken once, stored all at once or not at all, continued, deleted with their room on the disk."""

from __future__ import annotations

import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from explorer.celery import app
from explorer.pages.imports.describing import detail
from explorer.push.messages import ImportMessages
from explorer.server.queues import queue_counts
from groups import storage
from groups.imports import lifecycle, receiving
from groups.imports import tasks as import_tasks
from groups.imports.receiving import Received
from groups.jobs import children, serving
from groups.models import Import, Timeline
from groups.storage import opened
from tests.pipeline.importing import (
    Until,
    _one_child_for_all,
    announced,
    create,
    files,
    perform,
    performed,
    queued,
    store,
    until,
)

__all__ = ["_one_child_for_all", "announced", "queued", "store", "until"]

pytestmark = pytest.mark.django_db(transaction=True)


def test_an_import_stores_its_timelines_and_reports_them() -> None:
    done = perform()

    [timeline] = done.timelines.all()
    [told] = done.report["timelines"]
    assert (done.status, timeline.status, timeline.folder) == ("complete", "complete", done.id)
    assert (told["id"], told["group"], told["entries"]) == (timeline.id, "orders", timeline.last)
    assert done.finished is not None
    assert done.report["records"]["read"] == 17


def test_a_stored_timeline_is_read_whole_from_its_packs() -> None:
    perform()

    timeline = Timeline.objects.get()
    entries = list(storage.every_entry(timeline))
    assert [entry["sequence"] for entry in entries] == list(range(1, timeline.last + 1))
    assert (storage.frame_at(timeline, timeline.last) or {})["sequence"] == timeline.last
    assert storage.summary(timeline)["verdict"] == timeline.in_short()["verdict"]


def test_a_task_that_is_delivered_twice_doubles_nothing() -> None:
    found = create()

    lifecycle.perform(found.id)
    lifecycle.perform(found.id)

    assert Timeline.objects.count() == 1


def test_the_same_log_again_is_the_same_timeline_and_takes_no_more_room(store: Path) -> None:
    first = perform()
    before = files(store)
    second = perform()

    [timeline] = Timeline.objects.all()
    assert first.report["timelines"][0].get("same_as") is None
    assert second.report["timelines"][0]["same_as"] == timeline.id
    assert list(second.timelines.all()) == list(first.timelines.all()) == [timeline]
    assert files(store) == before


def test_a_longer_log_continues_its_timeline_under_the_same_id(store: Path) -> None:
    first = perform()
    timeline = Timeline.objects.get()
    address, entries = storage.version(timeline), list(storage.every_entry(timeline))
    second = perform("longer")

    [longer] = Timeline.objects.all()
    [told] = second.report["timelines"]
    assert (longer.id, longer.last) == (timeline.id, timeline.last + 1)
    assert (told["continues"], told["continues_after"]) == (timeline.id, timeline.last)
    assert list(storage.every_entry(longer))[:-1] == entries
    assert storage.version(longer) != address
    assert list(first.timelines.all()) == [longer]
    assert {path.parent.name for path in files(store)} == {second.id}


def test_a_shorter_log_of_a_stored_one_is_a_timeline_of_its_own_that_says_so() -> None:
    longer, shorter = perform("longer"), perform()

    assert Timeline.objects.count() == 2
    assert shorter.report["timelines"][0]["overlaps"] == [longer.report["timelines"][0]["id"]]


def test_other_records_at_the_same_offsets_make_a_timeline_that_says_so() -> None:
    first, second = perform(), perform("overlapping")

    [told] = second.report["timelines"]
    assert Timeline.objects.count() == 2
    assert told["overlaps"] == [first.report["timelines"][0]["id"]]
    assert not told.get("continues")


def test_names_that_hold_the_sign_that_no_database_keeps_are_imported_and_known_again() -> None:
    first, second = perform("odd"), perform("odd")

    [timeline] = Timeline.objects.all()
    assert (first.status, first.problem) == ("complete", "")
    assert (timeline.group, timeline.title) == ("or\u2400ders", "or\u2400ders")
    assert second.report["timelines"][0].get("same_as") == timeline.id
    keys = [entry["payload"].get("key") for entry in storage.every_entry(timeline)]
    assert {"group": "or\0ders", "topic": "f\0o", "partition": 0} in keys
    assert (storage.frame_at(timeline, timeline.last) or {})["group"] == "or\0ders"


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("notes.txt", "Nothing was read: notes.txt: no log segment."),
        ("metadata", "only cluster metadata was given"),
    ],
)
def test_an_import_that_read_nothing_of_a_group_has_failed_and_says_what_would_be_right(
    word: str, says: str, store: Path
) -> None:
    done = perform(word)

    assert done.status == "failed"
    assert says in done.problem
    assert "__consumer_offsets-N" in done.problem
    assert "\n" not in done.problem
    assert done.progress["sources"][0]["file"] == word
    assert not files(store)


def test_an_import_of_a_group_that_is_not_in_the_log_is_complete_and_empty() -> None:
    done = perform(groups=["nobody"])

    assert (done.status, done.report["timelines"]) == ("complete", [])


def test_an_import_is_named_after_its_groups_unless_it_was_given_a_name() -> None:
    assert perform().title == "orders"
    assert perform(named=True).title == "log"


def test_a_renamed_import_keeps_its_name_and_an_empty_one_is_refused() -> None:
    done = perform()

    assert lifecycle.rename(done.id, "  Tuesday's outage\u0000 ").title == "Tuesday's outage\u2400"
    with pytest.raises(lifecycle.BadTitle):
        lifecycle.rename(done.id, "   ")


def test_an_error_of_the_job_is_the_imports_problem_in_one_line() -> None:
    done = perform("fails")

    assert (done.status, done.problem) == ("failed", "Spark needs Java 17 or newer and none was found")


def test_a_job_that_breaks_leaves_nothing_and_can_be_run_again(store: Path) -> None:
    done = perform("breaks")

    assert done.status == "failed"
    assert "it broke" in done.problem
    assert Timeline.objects.count() == 0
    assert files(store) == []
    assert perform().status == "complete"


def test_an_import_whose_counts_do_not_change_is_reported_as_stuck_until_one_does(
    until: Until, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(receiving, "STUCK_S", 0)
    found = create("waits")
    thread = performed(found, lifecycle.perform)
    until(lambda: detail(lifecycle.get(found.id))["stuck"])
    stuck = detail(lifecycle.get(found.id))["stuck"]
    lifecycle.cancel(found.id)
    thread.join(15)
    assert stuck == "No progress for 0 minutes or more in the stage “Done” (read 1 of 1 records)."
    assert caplog.messages.count(f"Import {found.id}: {stuck}") == 1
    assert detail(lifecycle.get(found.id))["stuck"] == ""

    received = Received(import_id="x", progress={"stage": "Folding", "stages": [], "stuck": "No progress"})
    received.take({"type": "progress", "stage": "Folding", "stages": [], "bytes": 1, "remaining_s": 9})
    assert "stuck" in received.progress
    received.take({"type": "progress", "stage": "Done", "stages": [], "bytes": 1, "remaining_s": 9})
    assert "stuck" not in received.progress


def test_a_failed_import_keeps_the_last_lines_of_sparks_log() -> None:
    found = perform("fails")
    assert detail(found)["log"] == ["ERROR SparkContext: no Java at s3://…@bucket/java"]


def test_stopping_a_running_import_leaves_nothing(until: Until, store: Path) -> None:
    found = create("waits")
    thread = performed(found, lifecycle.perform)
    until(lambda: files(store))
    assert lifecycle.cancel(found.id)
    thread.join(15)

    assert not thread.is_alive()
    assert lifecycle.get(found.id).status == "cancelled"
    assert Timeline.objects.count() == 0
    assert files(store) == []


def test_deleting_a_running_import_ends_its_task_and_leaves_nothing(until: Until, store: Path) -> None:
    found = create("waits")
    thread = performed(found, import_tasks.run_import)
    until(lambda: files(store))
    lifecycle.delete(found.id)
    thread.join(15)

    assert not thread.is_alive()
    assert Timeline.objects.count() == 0
    assert files(store) == []


def test_an_import_that_is_cancelled_when_all_is_read_stores_nothing(
    monkeypatch: pytest.MonkeyPatch, store: Path
) -> None:
    """The job has said that it is done, and the rows are about to be stored."""
    found = create()
    complete = lifecycle.complete

    def cancelled_before(import_id: str, received: Received) -> bool:
        assert lifecycle.cancel(import_id)
        return complete(import_id, received)

    monkeypatch.setattr(lifecycle, "complete", cancelled_before)

    assert lifecycle.perform(found.id).status == "cancelled"
    assert Timeline.objects.count() == 0
    assert files(store) == []


def test_an_import_that_was_cut_short_leaves_nothing(store: Path) -> None:
    found = create()
    Import.objects.filter(pk=found.id).update(
        status="running", lease_until=timezone.now() - timedelta(seconds=1)
    )
    (store / found.id).mkdir(parents=True)
    (store / found.id / ".writing-1").write_bytes(b"half a pack")

    lifecycle.interrupt(found.id)

    assert lifecycle.get(found.id).status == "failed"
    assert files(store) == []


def test_a_waiting_import_that_is_cancelled_is_never_read() -> None:
    found = create()

    assert lifecycle.cancel(found.id)
    assert lifecycle.perform(found.id).status == "cancelled"
    assert not lifecycle.cancel(found.id)
    assert Timeline.objects.count() == 0


def test_an_import_that_needs_spark_waits_while_its_packages_come(
    monkeypatch: pytest.MonkeyPatch, queued: list[Any], announced: list[dict[str, Any]], store: Path
) -> None:
    found = create("needs-spark")
    monkeypatch.setattr(import_tasks, "missing_packages", lambda: ["pyspark"])
    for _ in range(2):
        import_tasks.run_import(found.id)
    assert queued == [found.id, found.id]
    assert lifecycle.get(found.id).status == "waiting"
    assert lifecycle.get(found.id).progress["stage"] == "Getting Spark ready"
    [stage] = [said["stage"] for said in announced if said.get("stage") == "Getting Spark ready"]
    assert announced[-1]["stage"] == stage, "it was read once, and then waited"

    monkeypatch.setattr(import_tasks, "missing_packages", list)
    store.mkdir(parents=True, exist_ok=True)
    (store / "spark-is-there").touch()
    import_tasks.run_import(found.id)
    assert lifecycle.get(found.id).status == "complete"


def test_an_import_that_needs_no_spark_does_not_wait_for_it(
    monkeypatch: pytest.MonkeyPatch, queued: list[Any]
) -> None:
    found = create()
    monkeypatch.setattr(import_tasks, "missing_packages", lambda: ["pyspark"])

    import_tasks.run_import(found.id)

    assert queued == []
    assert lifecycle.get(found.id).status == "complete"


def test_an_import_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch, queued: list[Any]) -> None:
    found = create("needs-spark")
    monkeypatch.setattr(import_tasks, "missing_packages", lambda: ["pyspark"])
    import_tasks.run_import(found.id)
    queued.clear()
    Import.objects.update(created=timezone.now() - timedelta(hours=2))

    import_tasks.run_import(found.id)

    assert queued == []
    assert lifecycle.get(found.id).status == "failed"
    assert "make install" in lifecycle.get(found.id).problem


def test_lost_imports_are_queued_again_or_told_as_failed(queued: list[Any]) -> None:
    waiting, running = create(), create()
    Import.objects.filter(pk=running.id).update(status="running")
    Import.objects.update(lease_until=timezone.now() - timedelta(seconds=1))

    import_tasks.take_up_lost()

    assert queued == [waiting.id]
    assert lifecycle.get(running.id).status == "failed"
    assert lifecycle.leases.lost() == []


def test_a_new_servers_waiting_imports_are_queued_again(queued: list[Any]) -> None:
    found = create()

    lifecycle.leases.forget_queue()
    import_tasks.take_up_lost()

    assert queued == [found.id]


def test_uploaded_files_go_when_the_import_is_over(settings: Any, tmp_path: Path) -> None:
    settings.VAR = tmp_path
    folder = tmp_path / "imports" / "abc"
    folder.mkdir(parents=True)
    elsewhere = tmp_path / "kept"
    elsewhere.mkdir()

    lifecycle.perform(create(folder=str(folder)).id)
    lifecycle.perform(create(folder=str(elsewhere)).id)

    assert not folder.exists()
    assert elsewhere.exists()


def test_deleting_an_import_deletes_its_timelines_and_the_disk_has_its_room_back(store: Path) -> None:
    done = perform()
    timeline = Timeline.objects.get()
    storage.frame_at(timeline, 1)
    assert files(opened.folder())

    lifecycle.delete(done.id)

    assert Timeline.objects.count() == 0
    assert files(store) == files(opened.folder()) == []
    with pytest.raises(lifecycle.NoSuchImport):
        lifecycle.get(done.id)


def test_a_timeline_goes_with_the_last_import_that_lists_it(store: Path) -> None:
    first, second = perform(), perform()

    lifecycle.delete(first.id)
    timeline = Timeline.objects.get()
    assert len(list(storage.every_entry(timeline))) == timeline.last

    lifecycle.delete(second.id)
    assert Timeline.objects.count() == 0
    assert files(store) == []


def test_deleting_a_timeline_gives_the_room_back_that_no_other_one_needs(store: Path) -> None:
    perform()
    perform("overlapping")
    mine, other = Timeline.objects.order_by("-last")

    storage.delete(mine.id)

    assert len(list(storage.every_entry(other))) == other.last
    assert {path.parent.name for path in files(store)} == {other.folder}


def test_a_group_that_is_asked_for_alone_is_the_only_one(store: Path) -> None:
    assert perform(groups=["orders"]).report["timelines"] != []
    assert perform(groups=["others"]).report["timelines"] == []


def test_until_cuts_a_log_at_its_time_and_from_leaves_out_what_ended_before() -> None:
    [whole] = perform().report["timelines"]
    [cut] = perform(until_ms=whole["first_ms"] + 1000).report["timelines"]

    assert cut["first_ms"] == whole["first_ms"]
    assert cut["last_ms"] == whole["first_ms"] + 1000
    assert perform(from_ms=whole["last_ms"] + 1).report["timelines"] == []
    assert len(perform(from_ms=whole["last_ms"]).report["timelines"]) == 1


def test_a_stage_that_begins_is_announced(announced: list[dict[str, Any]]) -> None:
    lifecycle.perform(create().id)

    progress = [said for said in announced if said["type"] == "progress"]
    assert [said["stage"] for said in progress][:1] == ["Reading"]
    assert {(said["bytes"], said["remaining_s"]) for said in progress} == {(900, None)}
    assert [said["status"] for said in announced if said["type"] == "status"] == ["running", "complete"]


@pytest.mark.parametrize("word", ["log", "notes.txt"])
def test_what_archives_were_unpacked_to_is_removed_with_the_end_of_their_import(word: str) -> None:
    found = create(word)
    unpacked = lifecycle.unpacked(found.id)
    unpacked.mkdir(parents=True)
    (unpacked / "segment").write_bytes(b"some")

    lifecycle.perform(found.id)

    assert not unpacked.exists()


def test_what_archives_were_unpacked_to_is_removed_where_a_worker_ended() -> None:
    found = create()
    unpacked = lifecycle.unpacked(found.id)
    unpacked.mkdir(parents=True)
    Import.objects.filter(pk=found.id).update(
        status=Import.Status.RUNNING, lease_until=timezone.now() - timedelta(hours=1)
    )

    lifecycle.interrupt(found.id)

    assert not unpacked.exists()


def test_a_worker_that_stood_still_unpacks_into_a_folder_of_its_own_attempt_and_removes_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = create()
    asked = []

    def stands_still(question: Any, watch: Any) -> Any:
        asked.append(question["scratch"])
        now = lifecycle.get(found.id)
        Import.objects.filter(pk=found.id).update(options=now.options | {"attempts": 2})
        for attempt in (1, 2):
            lifecycle.unpacked(found.id, attempt).mkdir(parents=True)
        yield from ()

    monkeypatch.setattr(lifecycle.children, "messages", stands_still)
    import_tasks.run_import(found.id)
    first, second = (lifecycle.unpacked(found.id, attempt) for attempt in (1, 2))
    assert asked == [str(first)]
    assert (first.exists(), second.exists()) == (False, True)


def test_a_small_import_waits_in_the_queue_of_runs_and_behind_no_large_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    small, large, packed = (tmp_path / name for name in ("small.log", "large.log", "packed.gz"))
    small.write_bytes(b"x")
    packed.write_bytes(b"\x1f\x8b\x08" + bytes(90))
    with large.open("wb") as file:
        file.truncate(lifecycle.SMALL_BYTES_MOST + 1)
    made = [
        lifecycle.create(title=name, paths=[str(path)], **facts)
        for name, path, facts in (
            ("small", small, {}),
            ("next to a large one", large, {}),
            ("a cluster's", small, {"master": "spark://host:7077"}),
            ("Spark's", small, {"engine": "spark"}),
            ("a bucket", "s3://logs/offsets", {}),
            ("packed", packed, {}),
        )
    ]
    monkeypatch.setattr(lifecycle, "SMALL_BYTES_MOST", 92)
    made.append(lifecycle.create(title="unpacks to more", paths=[str(packed)]))

    queues = [app.amqp.router.route({}, "groups.import", (found.id,))["queue"].name for found in made]
    assert queues == ["runs", "imports", "imports", "imports", "imports", "runs", "imports"]
    assert queue_counts() == {"runs": (2, 0), "imports": (5, 0)}


def test_a_waiting_import_names_what_is_before_it_in_its_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "_unserved", {})
    first, second, third = (create(word) for word in ("first", "second", "third"))
    Import.objects.filter(pk=first.id).update(status="running")

    assert detail(lifecycle.get(first.id))["waits"] == ""
    assert detail(second)["waits"] == "“first” is before it in the queue “imports”."
    [(_, tail)] = ImportMessages.tails([third.id])
    assert tail["waits"] == "“first” and 1 more are before it in the queue “imports”."


def test_what_was_taken_for_small_and_needs_spark_goes_on_in_the_queue_of_large_imports(
    monkeypatch: pytest.MonkeyPatch, queued: list[Any]
) -> None:
    monkeypatch.setattr(import_tasks, "come_by_themselves", lambda: False)
    found = create("needs-spark")
    Import.objects.filter(pk=found.id).update(options=found.options | {"queue": "runs"})

    import_tasks.run_import(found.id)
    found = lifecycle.get(found.id)
    assert (found.status, lifecycle.queue_of(found), queued) == ("waiting", "imports", [found.id])

    import_tasks.run_import(found.id)
    assert lifecycle.get(found.id).status == "failed"


def test_an_import_whose_worker_ended_begins_again_three_times_at_most_and_that_worker_stores_nothing_later(
    until: Until, queued: list[Any], store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = create("waits")
    stood_still = performed(found, import_tasks.run_import)
    until(lambda: files(store))
    for attempts in (1, 2):
        Import.objects.filter(pk=found.id).update(lease_until=timezone.now() - timedelta(seconds=1))
        import_tasks.take_up_lost()
        now = lifecycle.get(found.id)
        assert (now.status, now.options["attempts"]) == ("waiting", attempts)
        assert files(store), "what was finished stays for the next attempt"
        import_tasks.take_up_lost()
        assert queued == [found.id] * attempts
        Import.objects.filter(pk=found.id).update(
            status="running", options=now.options | {"attempts": attempts + 1}
        )
    stood_still.join(15)
    assert not stood_still.is_alive()
    assert lifecycle.get(found.id).status == "running", "it is another worker's by now"

    Import.objects.filter(pk=found.id).update(lease_until=timezone.now() - timedelta(seconds=1))
    import_tasks.take_up_lost()
    failed = lifecycle.get(found.id)
    assert (failed.status, failed.problem[:16], files(store)) == ("failed", "Its worker ended", [])
    assert Timeline.objects.count() == 0


def test_an_import_begins_again_when_its_worker_is_stopped_and_one_of_a_command_does_not(
    queued: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutting_down = threading.Event()
    shutting_down.set()
    monkeypatch.setattr(children, "shutting_down", shutting_down)
    assert perform().status == "failed"
    found = create()
    import_tasks.run_import(found.id)
    assert lifecycle.get(found.id).status == "waiting"
    shutting_down.clear()
    import_tasks.take_up_lost()
    assert queued[-1] == found.id
    import_tasks.run_import(found.id)
    assert lifecycle.get(found.id).status == "complete"
