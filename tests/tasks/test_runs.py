"""A run as a task: stored once however often it is delivered, cancelled, resumed, or told as failed."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.test import override_settings
from django.utils import timezone

from explorer import case_studies
from explorer.pages.runs.starting import start_run
from explorer.pages.timelines.timeline_api import detail_of
from explorer.server import housekeeping
from explorer.server.worker import EmbeddedWorker
from explorer.web.endpoint import BadRequest
from groups import storage
from groups.history.entries import Entry, Kind
from groups.history.passes.recorder import RecordedBatch, Recorder
from groups.jobs.children import ParentStops
from groups.jobs.warm_children import WarmChildren
from groups.models import Timeline
from groups.places import python_path
from simulations.jobs import run_tasks
from simulations.world import studies

pytestmark = pytest.mark.django_db(transaction=True)

Until = Callable[[Callable[[], object]], None]


BAD_SCENARIO = """\
topics: {foo: {partitions: many}}
members: {A: {subscribe: [foo]}}
script: [{at: 0s, join: A}]
until: 60s
"""


@pytest.fixture
def queued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The queue as a list of the timelines that wait in it; nothing takes them."""
    waiting: list[str] = []
    monkeypatch.setattr(run_tasks.run, "delay", waiting.append)
    return waiting


def recorded(study: str) -> list[RecordedBatch]:
    """What a study's own worker says of it."""
    [(_, batches)] = case_studies.recorded([study])
    return batches


def stored_entries(timeline_id: str) -> list[dict[str, Any]]:
    return list(storage.every_entry(storage.get(timeline_id)))


def status(timeline_id: str) -> str:
    return storage.get(timeline_id).status


def lose_lease(timeline_id: str) -> None:
    Timeline.objects.filter(pk=timeline_id).update(lease_until=timezone.now() - timedelta(seconds=1))


def test_a_run_is_queued_once_it_is_stored_and_stores_what_the_simulator_says(queued: list[str]) -> None:
    timeline = start_run("kip848-basic", "kip")
    assert queued == [timeline.id]
    assert (timeline.source, timeline.status, timeline.last) == ("simulation", "running", 0)

    run_tasks.run(timeline.id)
    told = [entry for batch in recorded("kip848-basic") for entry in orjson.loads(batch.entries)]
    assert stored_entries(timeline.id) == told
    found = storage.get(timeline.id)
    assert (found.status, found.last, found.protocol) == ("complete", len(told), "consumer")
    assert found.summary["verdict"]["text"]


def test_a_task_that_is_delivered_twice_stores_the_run_once(queued: list[str]) -> None:
    timeline = start_run("kip848-basic")
    run_tasks.run(timeline.id)
    before = stored_entries(timeline.id)
    run_tasks.run(timeline.id)
    assert stored_entries(timeline.id) == before


def test_a_task_that_is_delivered_twice_at_once_stores_the_run_once(queued: list[str]) -> None:
    timeline = start_run("kip848-basic")

    def deliver() -> None:
        run_tasks.run(timeline.id)
        connection.close()

    threads = [threading.Thread(target=deliver) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    entries = stored_entries(timeline.id)
    assert [entry["sequence"] for entry in entries] == list(range(1, len(entries) + 1))
    found = storage.get(timeline.id)
    assert (found.status, found.last, found.attempts) == ("complete", len(entries), 1)


def test_a_task_for_a_timeline_that_was_deleted_does_nothing(queued: list[str]) -> None:
    timeline = start_run("kip848-basic")
    storage.delete(timeline.id)
    run_tasks.run(timeline.id)
    assert not Timeline.objects.exists()


@pytest.mark.long
def test_a_run_that_was_cut_short_is_resumed_and_ends_as_if_nothing_had_been(queued: list[str]) -> None:
    whole = start_run("kip848-six-partitions")
    run_tasks.run(whole.id)
    timeline = start_run("kip848-six-partitions")
    # A writer stored the first half and died.
    writer = storage.open_writer(timeline.id, "dead")
    writer.append(first_half(timeline, recorded("kip848-six-partitions"), most=40))
    lose_lease(timeline.id)
    queued.clear()

    housekeeping.sweep()
    housekeeping.sweep()
    assert queued == [timeline.id]
    run_tasks.run(timeline.id)
    assert stored_entries(timeline.id) == stored_entries(whole.id)
    found = storage.get(timeline.id)
    assert (found.status, found.attempts) == ("complete", 2)
    assert found.work is not None
    assert found.work["begun_again"] == 1
    for sequence in range(found.last + 1):
        assert storage.frame_at(found, sequence) == storage.frame_at(storage.get(whole.id), sequence)


def first_half(timeline: Timeline, batches: list[RecordedBatch], *, most: int) -> RecordedBatch:
    """What a worker had said by the last moment among the first ``most`` entries."""
    moments = [moment["sequence"] for batch in batches for moment in orjson.loads(batch.moments)]
    until = max(sequence for sequence in moments if sequence <= most)
    recorder = Recorder(group=timeline.group, semantics=timeline.semantics)
    for batch in batches:
        for line in orjson.loads(batch.entries):
            if line["sequence"] <= until:
                recorder.add(Entry.from_json(line))
    half = recorder.flush(final=True)
    assert half is not None
    return half


def test_a_run_keeps_and_logs_what_its_stages_took_their_slowest_parts_and_its_memory(
    queued: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    timeline = start_run("kip848-basic")
    with caplog.at_level(logging.INFO, logger=run_tasks.__name__):
        run_tasks.run(timeline.id)
    found = storage.get(timeline.id)
    work = detail_of(found)["work"]
    assert (work["begun_again"], work["log"]) == (0, [])
    stages = {each["stage"]: each for each in work["times"]}
    assert list(stages) == ["simulate", "fold", "write", "commit"]
    assert {stages[name]["rows"] for name in ("simulate", "fold", "commit")} == {found.last}
    assert stages["write"]["rows"] > 100 * found.last, "bytes"
    assert all(each["seconds"] > 0 for each in stages.values())
    assert {part["name"] for part in stages["simulate"]["slowest"]} <= set(Kind)
    assert 20 * 1024**2 < stages["simulate"]["memory_bytes"] < 2 * 1024**3
    [line] = caplog.messages
    assert re.match(rf"Run {timeline.id}: simulate \d+\.\d s \({found.last} entries; slowest ", line)


def test_a_run_whose_child_breaks_keeps_the_last_lines_that_it_wrote(
    queued: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "broken.py").write_text("raise SystemExit('one\\ns3://key:secret@bucket/two')")
    monkeypatch.setattr(run_tasks, "children", WarmChildren("broken"))
    monkeypatch.setattr("groups.jobs.children.python_path", lambda: f"{python_path()}:{tmp_path}")
    timeline = start_run("kip848-basic")
    run_tasks.run(timeline.id)
    found = storage.get(timeline.id)
    assert found.status == "failed"
    assert found.work is not None
    assert found.work["log"] == ["one", "s3://…@bucket/two"]


def test_a_run_of_another_simulator_is_interrupted_and_keeps_what_it_has(queued: list[str]) -> None:
    timeline = start_run("kip848-basic")
    Timeline.objects.update(engine="an older one")
    storage.open_writer(timeline.id, "dead")
    lose_lease(timeline.id)
    housekeeping.sweep()
    found = storage.get(timeline.id)
    assert found.status == "interrupted"
    assert found.problem == "It was cut short, and the simulator has changed since: run it again."


def test_a_run_that_brings_down_its_workers_is_not_tried_for_ever(queued: list[str]) -> None:
    timeline = start_run("kip848-basic")
    for attempt in range(run_tasks.ATTEMPTS_MOST):
        storage.open_writer(timeline.id, f"worker {attempt}")
        lose_lease(timeline.id)
        housekeeping.sweep()
    assert status(timeline.id) == "interrupted"
    assert "cut short 3 times" in storage.get(timeline.id).problem


def test_a_server_that_ends_gives_its_runs_back(queued: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    timeline = start_run("kip848-basic")

    def stopped(*args: object, **options: object) -> Iterator[dict[str, Any]]:
        raise ParentStops("the server ends")

    with monkeypatch.context() as patch:
        patch.setattr(run_tasks.children, "messages", stopped)
        run_tasks.run(timeline.id)
    assert list(storage.lost_timelines()) == [storage.get(timeline.id)]
    queued.clear()
    housekeeping.sweep()
    assert queued == [timeline.id]


def test_a_run_that_finds_the_disk_full_ends_and_says_so_instead_of_being_tried_again(
    queued: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    timeline = start_run(studies.text("kip848-basic"), None, None)

    def full(writer: storage.Writer, batch: RecordedBatch) -> bool:
        raise OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(storage.Writer, "append", full)
        run_tasks.run(timeline.id)
    ended = storage.get(timeline.id)
    assert (ended.status, ended.lease_until) == ("failed", None)
    assert "disk" in ended.problem


def test_a_simulation_that_fails_says_why_and_keeps_what_it_has(
    queued: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    timeline = start_run("kip848-basic")
    monkeypatch.setattr(run_tasks, "children", WarmChildren("tests.tasks.nothing"))
    run_tasks.run(timeline.id)
    found = storage.get(timeline.id)
    assert found.status == "failed"
    assert found.problem.startswith("tests.tasks.nothing ended with code 1")


def test_the_next_run_is_made_by_the_same_child(queued: list[str]) -> None:
    runs = [start_run("kip848-basic") for _ in range(2)]
    run_tasks.run(runs[0].id)
    (kept,) = run_tasks.children._idle
    run_tasks.run(runs[1].id)
    assert run_tasks.children._idle == [kept]
    assert stored_entries(runs[0].id) == stored_entries(runs[1].id)


def test_cancelling_a_run_ends_its_child_and_keeps_what_was_stored(
    queued: list[str], long_scenario: str, until: Until, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeline = start_run(long_scenario)
    ended = threading.Event()
    messages = run_tasks.children.messages

    def watched(*args: Any) -> Iterator[dict[str, Any]]:
        yield from messages(*args)
        ended.set()

    def work() -> None:
        run_tasks.run(timeline.id)
        connection.close()

    monkeypatch.setattr(run_tasks.children, "messages", watched)
    worker = threading.Thread(target=work)
    worker.start()
    until(lambda: storage.get(timeline.id).last > 0)
    assert storage.cancel(timeline.id)
    worker.join(10)
    assert not worker.is_alive()
    # The child was ended before it had said all.
    assert not ended.is_set()
    found = storage.get(timeline.id)
    assert found.status == "cancelled"
    assert len(stored_entries(timeline.id)) == found.last


@pytest.mark.parametrize(
    ("scenario", "semantics", "seed", "line", "field", "message"),
    [
        (
            "nowhere",
            None,
            None,
            None,
            "scenario",
            "There is no case study 'nowhere'. There are: incident-",
        ),
        ("", None, None, None, "scenario", "The scenario is missing"),
        (7, None, None, None, "scenario", "The scenario is missing"),
        (BAD_SCENARIO, None, None, 1, "topics.foo.partitions", "line 1, topics.foo.partitions: expected"),
        ("kip848-basic", "kafka5", None, None, "semantics", "must be kafka or kip"),
        ("kip848-basic", None, "soon", None, "seed", "seed='soon' must be a whole number"),
        ("kip848-basic", None, -1, None, "seed", "seed=-1 must be a whole number"),
        ("kip848-basic", None, True, None, "seed", "must be a whole number"),
        ("a: 1\n" * 60_000, None, None, None, "scenario", "longer than 256 KB"),
    ],
)
def test_a_run_that_cannot_be_is_refused_with_its_line_and_field(
    queued: list[str],
    scenario: object,
    semantics: object,
    seed: object,
    line: int | None,
    field: str | None,
    message: str,
) -> None:
    with pytest.raises(BadRequest) as refused:
        start_run(scenario, semantics, seed)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
    assert (refused.value.facts.get("line"), refused.value.field) == (line, field)
    assert queued == []
    assert not Timeline.objects.exists()


@override_settings(RUNS_WAITING_MOST=2)
def test_more_runs_than_the_server_takes_are_refused(queued: list[str]) -> None:
    start_run("kip848-basic")
    start_run("kip848-basic")
    with pytest.raises(BadRequest, match="2 runs are waiting or running") as refused:
        start_run("kip848-basic")
    assert refused.value.status == 429


@pytest.mark.long
def test_the_case_studies_are_recorded_once_and_anew_when_they_have_changed() -> None:
    assert sorted(case_studies.load_missing()) == sorted(studies.names())
    assert case_studies.load_missing() == []
    Timeline.objects.filter(pk="kip848-basic").update(engine="an older one")
    Timeline.objects.filter(pk="released-basic").update(scenario="what it was before")
    assert sorted(case_studies.load_missing()) == ["kip848-basic", "released-basic"]
    assert set(Timeline.objects.values_list("status", flat=True)) == {"complete"}


@pytest.mark.skipif(bool(settings.REDIS_URL), reason="the embedded worker is for a server without Redis")
def test_the_embedded_worker_takes_a_run_at_once_and_ends_with_the_server(
    until: Until, long_scenario: str
) -> None:
    worker = EmbeddedWorker()
    worker.start()
    try:
        timeline = start_run("kip848-basic")
        until(lambda: status(timeline.id) == "complete")
        unfinished = start_run(long_scenario)
        until(lambda: storage.get(unfinished.id).last > 0)
    finally:
        worker.stop()
    assert not worker.thread.is_alive()
    # Its writer gave it back, so that the next start goes on with it.
    assert list(storage.lost_timelines()) == [storage.get(unfinished.id)]


def test_a_run_keeps_the_release_that_was_chosen_for_it(queued: list[str]) -> None:
    text = studies.text("released-member-failure")
    timeline = start_run(text, "kafka", None, "4.4.0")
    assert (timeline.release, queued) == ("4.4.0", [timeline.id])
    run_tasks.run(timeline.id)
    assert stored_entries(timeline.id)[0]["payload"]["release"] == "4.4.0"
    assert start_run(text, "kafka").release == "4.3.1", "what the scenario says, or says nothing of"
    assert start_run(text, "kip").release == ""


@pytest.mark.parametrize(("semantics", "release"), [("kafka", "4.9"), ("kafka", "3.9"), ("kip", "4.4.0")])
def test_a_release_that_cannot_be_is_refused_by_name(semantics: str, release: str) -> None:
    with pytest.raises(BadRequest) as refused:
        start_run(studies.text("released-member-failure"), semantics, None, release)
    assert refused.value.field == "release"
    assert release in refused.value.message
