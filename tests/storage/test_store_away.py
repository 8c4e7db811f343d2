"""A store on S3 that does not answer is one sentence, on the page and in the API."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from groups import storage
from groups.history.replay.fold import FOLD_VERSION
from groups.models import Timeline
from groups.packs.files import MissingFile, open_files
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
