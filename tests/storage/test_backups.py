"""Backups: what is restored is what was there, and what cannot be is refused in one line."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import manage, missing
from tests.services.servers import Absent, services
from tests.serving import environment_for

CODE = """
import hashlib, json, django
django.setup(set_prefix=False)
from django.db import connection
from groups.models import Timeline
out = {}
for one in Timeline.objects.order_by("pk"):
    rows = [bytes(each) for each in one.batches.order_by("first").values_list("entries", flat=True)]
    out[one.pk] = [one.last, one.digest, hashlib.sha256(b"".join(rows)).hexdigest(), one.packs]
print(json.dumps(out))
"""


def timelines(environment: dict[str, str]) -> dict[str, list[object]]:
    """Timeline → its last entry, digest, its rows' digest and packs."""
    done = manage("shell", "--no-imports", "-c", CODE, environment=environment)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[object]] = json.loads(done.stdout)
    return found


def shown(environment: dict[str, str], timeline: str) -> str:
    done = manage("timeline", "show", timeline, "--format", "entries", environment=environment)
    assert done.returncode == 0, done.stderr
    return hashlib.sha256(done.stdout.encode()).hexdigest()


def refused(done: subprocess.CompletedProcess[str], part: str) -> None:
    assert done.returncode == 2, done.stderr
    assert part in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A database with the case studies and an imported log, whose entries are in packs."""
    environment = environment_for(tmp_path_factory.mktemp("full"))
    for words in (
        ("case_studies",),
        ("import_log", "groups/samples/orders-enrich", "--engine", "local"),
    ):
        done = manage(*words, environment=environment)
        assert done.returncode == 0, done.stderr
    return environment


@pytest.fixture(scope="module")
def backup(full: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("backups") / "one"
    done = manage("backup", str(folder), environment=full)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.long
@pytest.mark.once
def test_a_restored_backup_has_the_same_timelines(full: dict[str, str], backup: Path, tmp_path: Path) -> None:
    environment = environment_for(tmp_path / "new")
    done = manage("restore", str(backup), environment=environment)
    assert done.returncode == 0, done.stderr
    before = timelines(full)
    packed = [name for name, (_, _, _, packs) in before.items() if packs]
    assert packed
    assert timelines(environment) == before
    for name in [packed[0], "kip848-basic"]:
        assert shown(environment, name) == shown(full, name)
    refused(manage("restore", str(backup), environment=environment), "The database is not empty")


@pytest.mark.long
@pytest.mark.once
def test_a_backup_that_cannot_be_taken_is_refused_in_one_line(
    full: dict[str, str], backup: Path, tmp_path: Path
) -> None:
    new = environment_for(tmp_path / "new")
    refused(manage("backup", str(backup), environment=full), "is not an empty folder: another backup")
    refused(manage("restore", str(tmp_path / "none"), environment=new), "is no backup")
    (tmp_path / "cut").mkdir()
    refused(manage("restore", str(tmp_path / "cut"), environment=new), "is no backup")
    manifest = json.loads((backup / "backup.json").read_text())
    newer = tmp_path / "newer"
    newer.mkdir()
    for change in (
        {"fold_version": 10_000},
        {"migrations": [["groups", "9999_later"]]},
        {"format": 99},
    ):
        (newer / "backup.json").write_text(json.dumps(manifest | change))
        refused(manage("restore", str(newer), environment=new), "made by a newer version")
    (newer / "backup.json").write_text(json.dumps(manifest | {"engine": "postgresql"}))
    refused(manage("restore", str(newer), environment=new), "they must be the same")
    (newer / "backup.json").write_text(json.dumps(manifest))
    refused(manage("restore", str(newer), environment=new), "The backup is damaged: ")


@pytest.mark.long
@pytest.mark.once
def test_a_backup_without_room_leaves_nothing(full: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "small"
    limited = ["bash", "-c", f"ulimit -f 64; exec {sys.executable} manage.py backup {folder}"]
    done = subprocess.run(limited, env=full, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode != 0
    assert done.stderr.count("\n") == 1, done.stderr
    assert not folder.exists()


@pytest.mark.long
@pytest.mark.services
@pytest.mark.once
def test_a_backup_of_postgresql_is_restored_into_another(tmp_path: Path) -> None:
    try:
        with services() as one, services() as two:
            first = environment_for(tmp_path / "var", DATABASE_URL=one["DATABASE_URL"])
            second = environment_for(tmp_path / "new", DATABASE_URL=two["DATABASE_URL"])
            for words in (
                ("migrate", "--verbosity", "0"),
                ("case_studies",),
                ("backup", str(tmp_path / "b")),
            ):
                done = manage(*words, environment=first)
                assert done.returncode == 0, done.stderr
            done = manage("restore", str(tmp_path / "b"), environment=second)
            assert done.returncode == 0, done.stderr
            assert timelines(second) == timelines(first)
            assert shown(second, "kip848-basic") == shown(first, "kip848-basic")
    except Absent as absent:
        missing(str(absent))
