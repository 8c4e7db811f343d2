"""An import keeps how long its stages took, and logs it; progress counts what is folded and never falls; tasks log their begin and end."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from explorer import celery
from explorer.pages.imports.describing import detail
from groups.child_side import Lines
from groups.imports import tasks as import_tasks
from groups.pipeline import spark_engine
from groups.pipeline.local.engine import LocalEngine
from groups.pipeline.progress import Progress
from groups.pipeline.times import PARTS_MOST, Times, in_words
from simulations.jobs import run_tasks
from tests.pipeline.folds import Folds, import_with_engine
from tests.pipeline.importing import create, perform, store  # noqa: F401
from tests.pipeline.segments import FOO, Group, Segment

GROUPS = 12
TASKS = 7


def at_once(spark: Any) -> list[int]:
    """Tasks of the stages that were done in one piece."""
    tracker = spark.sparkContext.statusTracker()
    found = [
        tracker.getStageInfo(stage)
        for job_id in tracker.getJobIdsForGroup(None)
        for stage in tracker.getJobInfo(job_id).stageIds
    ]
    return [info.numCompletedTasks for info in found if info]


def many(folder: Path) -> Path:
    segment = Segment()
    for number in range(GROUPS):
        segment.add(Group(f"group-{number}").join("A", {FOO: [0]}))
    return segment.write(folder)


@pytest.mark.spark
def test_an_import_reports_seconds_and_rows_of_each_stage_and_counts_groups_as_they_are_folded(
    imported: Callable[..., Folds], spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark_engine, "folding_tasks", lambda size, cores: TASKS)
    log = many(tmp_path)
    lines = imported(log)
    assert TASKS in at_once(spark), "one job folds all, so that every core of a cluster has a task"
    told = lines.of("times")[-1]
    times = {one["stage"]: one for one in told["times"]}
    assert list(times) == ["read", "decode", "shuffle", "fold", "write"]
    assert [times[stage]["unit"] for stage in times] == ["bytes", "records", "blocks", "records", "bytes"]
    [done] = lines.of("done")
    timelines = lines.of("timeline")
    assert times["read"]["rows"] == log.stat().st_size
    assert times["decode"]["rows"] == done["records"]["decoded"]
    assert times["shuffle"]["rows"] >= GROUPS
    assert times["fold"]["rows"] == sum(timeline["records"] for timeline in timelines) > GROUPS
    files = lines.files
    assert times["write"]["rows"] == sum(files.size(name) for name in files.names())
    assert all(one["seconds"] > 0 for one in times.values())

    folded = [
        stage
        for line in lines.of("progress")
        for stage in line["stages"]
        if stage["name"] == "Folded" and stage["of"] is not None
    ]
    counts = [stage["done"] for stage in folded]
    assert counts == sorted(counts)
    assert (counts[0], counts[-1]) == (0, GROUPS)
    assert {stage["of"] for stage in folded} == {GROUPS}
    assert len(timelines) == GROUPS


def test_progress_never_falls_though_tasks_are_done_again() -> None:
    out = io.BytesIO()
    progress = Progress(Lines(out))
    for done, share in ((0, 0.4), (187, 0.96), (0, 0.4), (60, 0.5), (200, 1.0)):
        progress.set("Folded", done, 200, "groups")
        progress.reach(share)
        progress.publish("Folding")
    told = [orjson.loads(line)["stages"][2]["done"] for line in out.getvalue().splitlines()]
    assert told == [0, 187, 200]
    assert progress.share == 1.0


def test_what_remains_is_estimated_from_the_work_that_was_done_and_not_from_the_start_of_spark() -> None:
    progress = Progress(Lines(io.BytesIO()))
    assert progress.remaining_s() is None
    progress.reach(0.4)
    assert progress.first is not None
    progress.first = (progress.first[0] - 100, 0.4)
    assert progress.remaining_s() is None, "a small file is read at once: nothing was done since"
    progress.reach(0.7)
    remaining_s = progress.remaining_s()
    assert remaining_s is not None
    assert remaining_s >= 100
    progress.reach(1.0)
    assert progress.remaining_s() is None


def test_times_of_tasks_add_up_and_stand_in_their_order() -> None:
    now = iter(range(100))
    times = Times(clock=lambda: float(next(now)))
    with times.taking("write", 7):
        pass
    assert list(times.pulled("shuffle", "ab")) == ["a", "b"]
    times.merge([{"stage": "write", "seconds": 0.5, "rows": 3, "unit": "bytes"}])
    assert times.report() == [
        {"stage": "shuffle", "seconds": 3.0, "rows": 2, "unit": "blocks"},
        {"stage": "write", "seconds": 1.5, "rows": 10, "unit": "bytes"},
    ]
    assert in_words(times.report()) == "shuffle 3.0 s (2 blocks), write 1.5 s (10 bytes)"


def test_an_import_names_its_slowest_partition_and_group_and_the_memory_of_its_tasks(tmp_path: Path) -> None:
    segment = Segment()
    for number in range(100):
        segment.add(Group("large").join(f"member-{number}", {FOO: [0]}))
    segment.write(tmp_path, partition=7)
    Segment().add(Group("small").join("A", {FOO: [0]})).write(tmp_path, partition=8)

    lines = import_with_engine(LocalEngine(), tmp_path / "store", tmp_path)
    times = {one["stage"]: one for one in lines.of("times")[-1]["times"]}
    assert [part["name"] for part in times["decode"]["slowest"]] == ["partition 7", "partition 8"]
    assert [part["name"] for part in times["fold"]["slowest"]] == ["large", "small"]
    for stage in ("decode", "fold"):
        assert 20 * 1024**2 < times[stage]["memory_bytes"] < 2 * 1024**3


def test_only_the_slowest_parts_of_a_stage_are_kept_and_three_are_reported() -> None:
    times = Times()
    times.add("fold", 1.0)
    for number in range(10 * PARTS_MOST):
        times.add_part("fold", f"group-{number}", float(number))
    [fold] = times.report()
    assert [part["name"] for part in fold["slowest"]] == ["group-1999", "group-1998", "group-1997"]
    assert len(times.parts["fold"]) <= PARTS_MOST


def test_tasks_that_were_tried_again_are_added_and_the_most_memory_is_kept() -> None:
    times = Times()
    for memory, again in ((300, 1), (200, 2)):
        times.merge(
            [
                {
                    "stage": "fold",
                    "seconds": 1.0,
                    "rows": 5,
                    "unit": "records",
                    "memory_bytes": memory * 1024**2,
                    "tried_again": again,
                    "slowest": [{"name": "orders", "seconds": 0.5}],
                }
            ]
        )
    assert in_words(times.report()) == "fold 2.0 s (10 records; slowest orders 1.0 s; 300 MiB; 3 tried again)"


@pytest.mark.django_db(transaction=True)
def test_the_report_and_the_log_of_an_import_have_its_stages(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        found = perform()
    commit = found.report["times"][-1]
    assert (commit["stage"], commit["rows"], commit["unit"]) == ("commit", 1, "timelines")
    assert commit["seconds"] > 0
    assert detail(found)["times"] == found.report["times"]
    [line] = [each for each in caplog.messages if each.startswith(f"Import {found.id}: ")]
    assert re.search(r"commit \d+\.\d s \(1 timelines\)$", line)


def ended_of(caplog: pytest.LogCaptureFixture) -> str:
    return [record.getMessage() for record in caplog.records if record.name == celery.__name__][-1]


@pytest.mark.django_db(transaction=True)
def test_a_task_logs_when_it_begins_and_when_it_ends_with_its_records(
    caplog: pytest.LogCaptureFixture,
) -> None:
    found = create()
    with caplog.at_level(logging.INFO, logger=celery.__name__):
        import_tasks.run_import.apply((found.id,))
        run_tasks.run.apply(("nothing",))
    begun, ended, *nothing = [
        record.getMessage() for record in caplog.records if record.name == celery.__name__
    ]
    assert begun == f"Task groups.import {found.id} began."
    assert re.fullmatch(rf"Task groups\.import {found.id} ended after \d+\.\d s, 17 records\.", ended)
    assert nothing[0] == "Task simulations.run nothing began."
    assert re.fullmatch(r"Task simulations\.run nothing ended after \d+\.\d s\.", nothing[1])


@pytest.mark.django_db(transaction=True)
def test_a_task_that_fails_logs_so(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(run_tasks.storage, "open_writer", fail)
    with caplog.at_level(logging.INFO, logger=celery.__name__):
        run_tasks.run.apply(("x",))
    assert re.fullmatch(r"Task simulations\.run x ended after \d+\.\d s \(FAILURE\)\.", ended_of(caplog))
