"""The command conform: its report, its timeline, and one line where the words are wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from groups.history.entries import Entry, Kind
from tests.simulations.test_conformance import RECORDED, SETTINGS


def test_the_command_answers_with_the_report_and_writes_a_timeline(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    timeline = tmp_path / "timeline.jsonl"
    words = [word for name, text in SETTINGS.items() for word in ("--set", f"{name}={text}")]
    call_command(
        *(
            "conform",
            "--requests",
            str(RECORDED.requests),
            str(RECORDED.segments),
            "--group",
            "clients-static",
        ),
        *("--timeline", str(timeline), *words),
    )
    told = json.loads(capsys.readouterr().out)
    assert told["differences"] == []
    assert told["groups"] == 1
    entries = [Entry.from_json(json.loads(line)) for line in timeline.read_text().splitlines()]
    assert {entry.kind for entry in entries} >= {Kind.REQUEST, Kind.RESPONSE, Kind.RECORD, Kind.TIMER}


def test_the_command_ends_with_1_where_something_differs(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CommandError, match="differences, the first at") as ended:
        call_command(
            "conform",
            "--requests",
            str(RECORDED.requests),
            str(RECORDED.segments),
            "--group",
            "clients-static",
        )
    assert ended.value.returncode == 1
    told = json.loads(capsys.readouterr().out)
    assert told["differences"][0]["what"].endswith("heartbeatIntervalMs") or told["differences"]


def bad_words(tmp_path: Path) -> Iterator[tuple[list[str], str]]:
    log, place = str(RECORDED.requests), str(RECORDED.segments)
    empty = tmp_path / "empty.log"
    empty.write_text("nothing of the kind\n")
    topics = tmp_path / "topics.json"
    topics.write_text('{"AAAAAAAAAAAAAAAAAAAAAQ": "foo"}')
    yield ["--requests", log, place, "--set", "group.max.size"], "expected KEY=VALUE"
    yield ["--requests", log, place, "--set", "log.dirs=/x"], "log.dirs is no setting that counts here"
    yield ["--requests", log, place, "--set", "group.consumer.max.size=many"], "expected a whole number"
    yield ["--requests", log, place, "--utc-offset", "CET"], "expected a sign, hours and minutes"
    yield ["--requests", "nowhere.log", place], "No such file"
    yield ["--requests", str(empty), place], "holds no group request"
    yield ["--requests", log, str(empty)], "give segments of __cluster_metadata"
    yield ["--requests", log, place, "--topics", str(topics)], "foo has no partition count"
    yield ["--requests", log, place, "--timeline", "x.jsonl"], "--timeline takes one group"
    yield ["--requests", log, place, "--group", "nobody"], "no request of that group"


def test_bad_words_end_with_2_and_one_line(tmp_path: Path) -> None:
    for words, says in bad_words(tmp_path):
        with pytest.raises(CommandError, match=says) as ended:
            call_command("conform", *words)
        assert ended.value.returncode == 2
        assert "\n" not in str(ended.value)
