"""A cluster's workers of another account: what they may read and write, whatever the umask, and how they reach the driver."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from groups.imports.tasks import run_import
from groups.models import Import
from groups.packs.files import GROUP, OWNER, Rights, open_files
from groups.pipeline.folding.context import Context
from groups.pipeline.folding.tasks import fold_blocks
from groups.pipeline.reading.splitting import list_sources
from groups.pipeline.spark.session import DRIVER_NAME, for_tasks_of
from groups.pipeline.topics.facts import Known
from tests.pipeline.folds import FOLDER, blocks_in_order, read
from tests.pipeline.segments import sample_group


@pytest.fixture(params=[0o077, 0o022])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("rights", [OWNER, GROUP])
def test_the_store_is_its_owners_alone_or_also_its_groups_whatever_the_umask(
    rights: Rights, tmp_path: Path, umask: int
) -> None:
    files = open_files(str(tmp_path / "store"), rights)
    writing = files.begin("march")
    writing.write(b"x")
    writing.keep("march/a.pack")
    assert mode(tmp_path / "store") == mode(tmp_path / "store" / "march") == rights.folder
    assert mode(tmp_path / "store" / "march" / "a.pack") == rights.file
    # As a second task, or another import, finds it: what is there keeps its rights.
    (tmp_path / "store").chmod(0o2775)
    files.begin("april").drop()
    assert mode(tmp_path / "store") == 0o2775


def test_the_tasks_of_an_import_write_with_the_rights_of_their_request(tmp_path: Path) -> None:
    for rights, expected in (("owner", OWNER), ("group", GROUP)):
        store = tmp_path / rights
        context = Context(
            known=Known(names={}, partitions={}, changes=()), store=str(store), folder=FOLDER, rights=rights
        )
        list(fold_blocks(sample_blocks(tmp_path), context))
        [pack] = store.rglob("*.pack")
        assert (mode(pack), mode(pack.parent)) == (expected.file, expected.folder)


def sample_blocks(folder: Path) -> Any:
    return blocks_in_order(*read(list_sources([str(sample_group().write(folder))])))


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("rights", ["owner", "group"])
def test_an_upload_goes_to_its_folder_with_its_rights_and_runs_on_the_cluster_that_is_set(
    rights: str, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, umask: int
) -> None:
    monkeypatch.setattr(run_import, "delay", lambda import_id: None)
    settings.VAR = tmp_path / "var"
    settings.UPLOAD_FOLDER = str(tmp_path / "shared")
    settings.FILE_RIGHTS = rights
    settings.SPARK_MASTER = "spark://spark.internal:7077"
    file = SimpleUploadedFile("00000000000000000000.log", b"x" * 100)
    answer = Client().post(
        "/api/imports", {"files": file, "paths": "__consumer_offsets-7/00000000000000000000.log"}
    )
    assert answer.status_code == 201, answer.content
    made = Import.objects.get()
    assert made.master == "spark://spark.internal:7077"
    folder = tmp_path / "shared" / made.id
    assert made.paths == [str(folder)]
    modes = {mode(path) for path in (folder, folder / "__consumer_offsets-7")}
    [log] = folder.rglob("*.log")
    if rights == "group":
        assert modes == {0o750}
        assert mode(log) == 0o640
    else:
        assert all(not each & 0o077 for each in modes) or umask == 0o022
        assert mode(log) & 0o077 == 0 or umask == 0o022


def test_a_clusters_workers_are_not_sent_to_localhost_and_may_have_another_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(DRIVER_NAME, raising=False)
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    for_tasks_of("local[*]")
    assert (os.environ[DRIVER_NAME], os.environ["PYSPARK_PYTHON"]) == ("localhost", sys.executable)
    # The same process, whose session is closed for one on a cluster.
    monkeypatch.setenv("PYSPARK_PYTHON", "/opt/python/bin/python")
    for_tasks_of("spark://spark.internal:7077")
    assert DRIVER_NAME not in os.environ
    assert os.environ["PYSPARK_PYTHON"] == "/opt/python/bin/python"
    monkeypatch.setenv(DRIVER_NAME, "imports.internal")
    for_tasks_of("spark://spark.internal:7077")
    assert os.environ[DRIVER_NAME] == "imports.internal"
