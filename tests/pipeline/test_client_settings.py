"""Timeouts of the consumers, as whoever imports a log gives them: a note before all else, and findings that say "as given"."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management.base import CommandError
from django.test import Client

from explorer.pages.imports import uploading
from groups.history.entries import Kind
from groups.imports import lifecycle
from groups.imports.client_settings import TIMEOUT_MOST_MS, BadSetting, settings_of
from groups.management.commands.import_log import given_settings
from tests.history.storied import A, B, two_reading
from tests.pipeline.folds import fold
from tests.pipeline.segments import sample_group


def test_what_is_given_is_known_by_kafkas_names() -> None:
    assert settings_of({"session_timeout_ms": " 6000", "max_poll_interval_ms": 60_000, "other": "x"}) == {
        "group.consumer.session.timeout.ms": 6_000,
        "max.poll.interval.ms": 60_000,
    }
    assert settings_of({"session_timeout_ms": "", "max_poll_interval_ms": None}) == {}


@pytest.mark.parametrize(
    "value", ["0", "-5", "6s", "6000.0", 6.5, True, TIMEOUT_MOST_MS + 1, "９", [6_000], "1" * 40]
)
def test_what_is_no_timeout_is_refused_by_its_name_with_what_would_be_right(value: Any) -> None:
    with pytest.raises(
        BadSetting, match=r"session_timeout_ms=.* a whole number of ms from 1 to 604,800,000\.$"
    ):
        settings_of({"session_timeout_ms": value})


def test_the_note_stands_before_the_first_record_of_each_timeline_and_nowhere_else() -> None:
    given = {"group.consumer.session.timeout.ms": 6_000}
    entries = fold(sample_group(), settings=given).entries()
    assert entries[0]["payload"] == {"note": "settings", "settings": given}
    assert entries[0]["at_ms"] == entries[1]["at_ms"]
    assert [entry for entry in entries[1:] if entry["payload"].get("note") == "settings"] == []
    assert fold(sample_group()).entries()[0]["payload"].get("note") != "settings"


def test_a_removal_after_a_session_that_was_given_says_so_and_nothing_is_assumed() -> None:
    story = two_reading(120_000, a_until_ms=30_000)
    story.remove(36_500, A)
    story.assign(37_500, {B: (0, 1, 2, 3)})
    story.at(0, lambda log: log.note(note="settings", settings={"group.consumer.session.timeout.ms": 6_000}))
    [one] = story.found("removed")
    assert one["looks_like"] == "session_expired"
    assert "as given" in one["because"]
    assert story.log().entries[0].kind in (Kind.NOTE, Kind.RECORD)


@pytest.mark.django_db(transaction=True)
def test_an_upload_carries_them_to_the_import_and_bad_ones_are_refused(
    monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> None:
    settings.VAR, settings.STORE_URL = tmp_path, str(tmp_path / "store")
    monkeypatch.setattr(uploading.run_import, "delay", lambda pk: None)

    def send(**fields: str) -> Any:
        file = SimpleUploadedFile("0.log", sample_group().bytes())
        return Client().post("/api/imports", {"files": [file], "paths": ["p/0.log"], **fields})

    answer = send(session_timeout_ms="6000")
    found = lifecycle.get(answer.json()["import"])
    assert found.options["settings"] == {"group.consumer.session.timeout.ms": 6_000}
    refused = send(session_timeout_ms="six")
    assert refused.status_code == 400
    assert refused.json()["error"]["message"].startswith("session_timeout_ms='six' is no timeout")


def test_the_command_names_its_own_option() -> None:
    with pytest.raises(CommandError, match=r"^--session-timeout-ms='x' is no timeout"):
        given_settings({"session_timeout_ms": "x"})
