"""What runs, imports and uploads may take of the disk: a bound on each run, and how long they are kept."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from explorer.pages.runs.starting import start_run
from explorer.server import retention
from explorer.sharing.models import Link
from explorer.web.endpoint import BadRequest
from groups import storage
from groups.cluster_models import Cluster
from groups.imports import lifecycle
from groups.models import Batch, Import, Timeline
from groups.watching import retention as live_retention
from simulations.jobs import run_tasks

pytestmark = pytest.mark.django_db(transaction=True)

LONG = """\
protocol: consumer
topics: {orders: {partitions: 200}}
members: {A: {subscribe: [orders]}, B: {subscribe: [orders]}, C: {subscribe: [orders]}}
config: {heartbeat_interval_ms: 1000}
script:
  - {at: 0s, join: A}
  - {at: 1s, join: B}
  - {at: 2s, join: C}
until: 86400s
"""


@pytest.fixture(autouse=True)
def folders(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> None:
    settings.VAR = tmp_path / "var"
    settings.STORE_URL = str(tmp_path / "store")
    monkeypatch.setattr(run_tasks.run, "delay", lambda timeline_id: None)


def run_of(scenario: str = "kip848-basic") -> Timeline:
    timeline = start_run(scenario)
    run_tasks.run(timeline.id)
    return storage.get(timeline.id)


@pytest.mark.long
def test_a_run_of_a_few_lines_stops_at_its_bytes_with_a_sentence_and_keeps_what_it_came_to(
    settings: Any,
) -> None:
    settings.RUN_BYTES_MOST = 1024**2
    found = run_of(LONG)
    assert found.status == Timeline.Status.FAILED
    assert found.problem.startswith("the run stopped at 1 MiB, which is as much as a run may have here: ")
    assert "shorten until" in found.problem
    assert found.last > 100
    assert f"{found.last:,} entries" in found.problem
    kept = sum(len(bytes(batch.entries)) for batch in Batch.objects.filter(timeline=found))
    # One batch may reach beyond the bound.
    assert 0 < kept < 3 * 1024**2


def test_a_run_within_the_bound_ends_by_itself(settings: Any) -> None:
    settings.RUN_BYTES_MOST = 1024**2
    assert run_of().status == Timeline.Status.COMPLETE


def test_all_runs_together_have_a_bound_and_a_run_that_may_not_fit_is_refused(settings: Any) -> None:
    assert storage.bytes_of_runs() == 0
    run_of()
    held = storage.bytes_of_runs()
    assert held > 10_000
    settings.RUN_BYTES_MOST = 1024**2
    settings.RUNS_BYTES_MOST = held + 2 * 1024**2
    first = start_run("kip848-basic")
    start_run("kip848-basic")
    with pytest.raises(BadRequest, match="Delete runs first") as refused:
        start_run("kip848-basic")
    assert refused.value.status == 507
    storage.delete(first.id)
    assert start_run("kip848-basic").status == Timeline.Status.RUNNING


def aged(model: Any, key: str, days: int, field: str) -> None:
    model.objects.filter(pk=key).update(**{field: timezone.now() - timedelta(days=days)})


def linked(timeline: Timeline, *, open_for: timedelta) -> None:
    Link.objects.create(
        id=f"l-{timeline.id}",
        token_hash=timeline.id,
        token_end="wxyz",
        timeline=timeline,
        title="t",
        sentence="s",
        view="reader",
        hides_names=False,
        first=1,
        last=2,
        until=timezone.now() + open_for,
    )


def test_runs_are_kept_for_so_many_days_and_for_ever_unless_told(settings: Any) -> None:
    old, young, shared, ended, noted = (
        storage.create_timeline(title=name, source=Timeline.Source.SIMULATION, group="g", semantics="kafka")
        for name in ("old", "young", "shared", "ended", "noted")
    )
    Timeline.objects.update(status=Timeline.Status.COMPLETE)
    waiting = start_run("kip848-basic")
    noted.notes.create(id="note", text="Ours.", sequence=0)
    for timeline in (old, shared, ended, noted, waiting):
        aged(Timeline, timeline.id, 8, "created")
    linked(shared, open_for=timedelta(days=1))
    linked(ended, open_for=-timedelta(days=1))
    retention.forget()
    assert Timeline.objects.count() == 6
    settings.RUNS_KEEP_DAYS = 7
    retention.forget()
    assert set(Timeline.objects.values_list("id", flat=True)) == {young.id, shared.id, noted.id, waiting.id}


def imported(
    name: str, days: int, status: Import.Status = Import.Status.COMPLETE
) -> tuple[Import, Timeline, Path]:
    folder = lifecycle.uploads() / name
    folder.mkdir(parents=True)
    (folder / "0.log").write_bytes(b"x")
    made = lifecycle.create(title=name, paths=[str(folder)], import_id=name, folder=str(folder))
    timeline = storage.create_timeline(
        title=name, source=Timeline.Source.IMPORT, group="g", semantics="kafka"
    )
    Timeline.objects.filter(pk=timeline.id).update(status=Timeline.Status.COMPLETE)
    made.timelines.add(timeline)
    Import.objects.filter(pk=name).update(status=status)
    if status not in (Import.Status.WAITING, Import.Status.RUNNING):
        aged(Import, name, days, "finished")
    return made, timeline, folder


def test_imports_are_kept_for_so_many_days_with_their_timelines(settings: Any) -> None:
    imported("old", 8)
    imported("young", 6)
    imported("waiting", 8, Import.Status.WAITING)
    _, shown, _ = imported("shared", 8)
    linked(shown, open_for=timedelta(days=1))
    imported("noted", 8)[1].notes.create(id="note", text="Ours.", sequence=0)
    retention.forget()
    assert Import.objects.count() == 5
    settings.IMPORTS_KEEP_DAYS = 7
    retention.forget()
    assert set(Import.objects.values_list("id", flat=True)) == {"young", "waiting", "shared", "noted"}
    assert set(Timeline.objects.values_list("title", flat=True)) == {"young", "waiting", "shared", "noted"}


def test_timelines_of_live_groups_are_kept_for_so_many_days_and_longer_with_notes() -> None:
    cluster = Cluster.objects.create(id="c", name="c", sealed=b"")
    for name in ("old", "noted", "young"):
        storage.create_timeline(title=name, source=Timeline.Source.LIVE, group="g", semantics="kafka")
    Timeline.objects.update(status=Timeline.Status.COMPLETE, cluster=cluster)
    for timeline in Timeline.objects.exclude(title="young"):
        aged(Timeline, timeline.id, 8, "created")
    Timeline.objects.get(title="noted").notes.create(id="note", text="Ours.", sequence=0)
    assert live_retention.forget(cluster) == 1
    assert set(Timeline.objects.values_list("title", flat=True)) == {"noted", "young"}


def test_uploads_go_a_week_after_their_import_ended_and_those_of_no_import_after_a_day(settings: Any) -> None:
    settings.UPLOADS_KEEP_DAYS = 7
    folders = {
        name: imported(name, days, status)[2]
        for name, days, status in (
            ("failed-long-ago", 8, Import.Status.FAILED),
            ("failed", 6, Import.Status.FAILED),
            ("running", 8, Import.Status.RUNNING),
        )
    }
    for name, age_s in (("nobody", 2 * 86400), ("nobody-yet", 60), (".coming-abc", 2 * 86400)):
        folders[name] = lifecycle.uploads() / name
        folders[name].mkdir()
        os.utime(folders[name], (time.time() - age_s,) * 2)
    retention.forget()
    kept = {name for name, folder in folders.items() if folder.exists()}
    assert kept == {"failed", "running", "nobody-yet", ".coming-abc"}
    assert Import.objects.count() == 3
