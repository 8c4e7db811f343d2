"""Servers that start together, or in two versions, on one database and one folder: none breaks another."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management.base import CommandError
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from explorer.server import static_version
from groups import database, storage
from groups.history.replay.fold import FOLD_VERSION
from groups.models import Timeline
from groups.places import ROOT
from tests.services.servers import end, free_port

START_S = 300.0
"""Three servers that record the case studies, on a machine that is busy with much else."""


@pytest.mark.services
@pytest.mark.once
@pytest.mark.long
def test_three_servers_that_start_at_once_on_a_fresh_database_all_start(
    service_settings: dict[str, str], tmp_path: Path
) -> None:
    base, _, _ = service_settings["DATABASE_URL"].rpartition("/")
    with psycopg.connect(service_settings["DATABASE_URL"], autocommit=True) as admin:
        admin.execute("DROP DATABASE IF EXISTS together")
        admin.execute("CREATE DATABASE together")
    redis_url = service_settings["REDIS_URL"].rpartition("/")[0] + "/6"
    environment = {**os.environ, "REBALANCE_VAR": str(tmp_path / "var"), "REDIS_URL": redis_url}
    environment |= {"DATABASE_URL": f"{base}/together", "DEBUG": "0", "WATCH_CLUSTERS": "0"}
    with contextlib.ExitStack() as stack:
        logs = [tmp_path / f"{number}.log" for number in range(3)]
        servers = []
        for log in logs:
            out = stack.enter_context(log.open("wb"))
            command = [sys.executable, "manage.py", "serve", "--port", str(free_port())]
            servers.append(subprocess.Popen(command, cwd=ROOT, env=environment, stdout=out, stderr=out))
            stack.callback(end, servers[-1])
        until_s = time.monotonic() + START_S
        while not all("plays at" in log.read_text() for log in logs):
            for server, log in zip(servers, logs, strict=True):
                assert server.poll() is None, log.read_text()
            assert time.monotonic() < until_s, [log.read_text() for log in logs]
            time.sleep(0.2)
    assert sum("Recorded" in log.read_text() for log in logs) == 1
    assert not [log.read_text() for log in logs if "Traceback" in log.read_text()]


def test_changed_static_files_are_collected_into_a_folder_of_their_own(tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    (sources / "js").mkdir(parents=True)
    (sources / "js" / "page.js").write_text("1")
    before = static_version.versioned(tmp_path / "static", sources, with_admin=False)
    assert static_version.versioned(tmp_path / "static", sources, with_admin=False) == before
    (sources / "js" / "page.js").write_text("22")
    assert static_version.versioned(tmp_path / "static", sources, with_admin=False) != before


def test_the_files_of_an_older_version_stay_as_long_as_a_server_serves_them(tmp_path: Path) -> None:
    old, new = tmp_path / ("0" * 16), tmp_path / ("1" * 16)
    for folder in (old, new):
        folder.mkdir()
        (folder / "page.js").touch()
        static_version.mark_complete(folder)
    with static_version.kept(old):
        static_version.remove_unused(new)
        assert (old / "page.js").exists()
    static_version.remove_unused(new)
    assert not old.exists()
    assert static_version.is_complete(new)


def timeline(**facts: Any) -> Timeline:
    found = storage.create_timeline(title="t", source=Timeline.Source.IMPORT)
    Timeline.objects.filter(pk=found.pk).update(status=Timeline.Status.COMPLETE, **facts)
    return storage.get(found.pk)


@pytest.mark.django_db
def test_only_what_an_older_version_folded_is_folded_again() -> None:
    older = timeline(fold_version=FOLD_VERSION - 1)
    newer = timeline(fold_version=FOLD_VERSION + 1)
    assert [found.pk for found in storage.stale()] == [older.pk]
    with pytest.raises(
        storage.NotReady, match="by a newer version of Rebalance Explorer: update this server"
    ):
        storage.frame_at(newer, 0)
    with pytest.raises(storage.NotReady, match="is being prepared for this version"):
        storage.frame_at(older, 0)


@pytest.mark.django_db
def test_a_run_is_written_by_one_version_from_its_first_entry() -> None:
    run = storage.create_timeline(title="r", source=Timeline.Source.SIMULATION)
    rows = Timeline.objects.filter(pk=run.pk)
    rows.update(fold_version=FOLD_VERSION + 1)
    with pytest.raises(storage.LeaseLost, match="by another version"):
        storage.open_writer(run.pk, "an older worker")
    rows.update(fold_version=FOLD_VERSION - 1)
    storage.open_writer(run.pk, "a newer worker")
    assert storage.get(run.pk).fold_version == FOLD_VERSION


@pytest.mark.django_db
def test_a_database_that_a_newer_version_has_used_is_refused_in_one_line() -> None:
    found = timeline(fold_version=FOLD_VERSION + 1)
    with pytest.raises(
        CommandError, match="newer version of Rebalance Explorer: a timeline is folded by version"
    ):
        database.prepare()
    found.delete()
    database.prepare()
    MigrationRecorder(connection).record_applied("groups", "0099_of_a_newer_version")
    with pytest.raises(CommandError, match=r"it has the migration groups\.0099_of_a_newer_version\. Update"):
        database.prepare()
