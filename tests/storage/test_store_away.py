"""A store on S3 that does not answer is one sentence, on the page and in the API."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from groups import storage
from groups.history.replay.fold import FOLD_VERSION
from groups.models import Timeline
from groups.packs.files import MissingFile, StoreAway, open_files
from groups.pipeline.spark.failures import why
from tests.services.servers import free_port

pytest.importorskip("pyarrow")

pytestmark = pytest.mark.long


@pytest.fixture
def away(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    return f"s3://key:secret@bucket/store?region=us-east-1&scheme=http&endpoint_override=127.0.0.1%3A{free_port()}"


SAYS = r"The store cannot be read now \(STORE_URL\): .+"


def test_reading_a_store_that_is_away_is_one_sentence_without_its_keys(away: str) -> None:
    with pytest.raises(MissingFile, match=SAYS) as raised:
        open_files(away).read("folder/pack", 0, 10)
    assert "\n" not in str(raised.value)
    assert "secret" not in str(raised.value)


WRITE_SAYS = SAYS.replace("read", "written to")


def test_writing_to_a_store_that_is_away_is_one_sentence(away: str, tmp_path: Path) -> None:
    files = open_files(away)
    for done, says in (
        (lambda: files.begin("folder"), WRITE_SAYS),
        (lambda: files.remove("folder/pack"), WRITE_SAYS),
        (lambda: files.names("folder"), SAYS),
        (lambda: files.size("folder/pack"), SAYS),
    ):
        with pytest.raises(StoreAway, match=says) as raised:
            done()
        assert "\n" not in str(raised.value)
    (tmp_path / "store").write_text("a file where the folder of a mount should be")
    with pytest.raises(StoreAway, match=WRITE_SAYS):
        open_files(str(tmp_path / "store")).begin("folder")


def test_an_import_into_a_store_that_is_away_fails_with_its_sentence_and_not_with_sparks_masters() -> None:
    away = StoreAway(OSError("AWS Error: Could not connect to server"), "written to")
    in_spark = RuntimeError(f"An error occurred.\ngroups.packs.files.StoreAway: {away}\n  at java")
    for error in (away, in_spark):
        assert why(error, "import") == (
            "The import failed. The store cannot be written to now (STORE_URL): AWS Error: Could not connect to server."
        )


@pytest.mark.django_db(transaction=True)
def test_a_timeline_is_deleted_while_its_store_is_away_and_the_log_says_what_stays(
    away: str, client: Client, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.STORE_URL = away
    found = storage.create_timeline(title="t", source=Timeline.Source.IMPORT)
    Timeline.objects.update(status="complete", folder="march", index_place=["march/pack", 0, 10])
    assert client.delete(f"/api/timelines/{found.id}").status_code == 204
    assert not Timeline.objects.exists()
    [said] = [each.getMessage() for each in caplog.records if each.name == "groups.storage.deleting"]
    assert said.startswith(
        "What is not needed any more of the store's folder march stays there. The store cannot"
    )


@pytest.mark.django_db
def test_a_timeline_in_a_store_that_is_away_answers_503_with_the_sentence(
    away: str, client: Client, settings: Any
) -> None:
    settings.STORE_URL = away
    found = storage.create_timeline(title="t", source=Timeline.Source.IMPORT)
    Timeline.objects.update(
        status="complete", last=5, index_place=["folder/pack", 0, 10], fold_version=FOLD_VERSION
    )
    for path in (f"/api/timelines/{found.id}", f"/t/{found.id}"):
        answer = client.get(path)
        assert answer.status_code == 503, path
        assert "The store cannot be read now (STORE_URL)" in answer.content.decode()
