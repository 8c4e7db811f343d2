"""Incidents from lines of logs alone, next to the same from records: what is equal, what is missing, and nothing false.

``python -m tests.incidents.record --lines --into tests/incidents/lines NAME…`` plays them with real clients on a real broker and keeps
what the coordinator and the clients logged.
"""

from __future__ import annotations

import lzma
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from groups.history.entries import Entry
from groups.history.passes.recorder import Recorder
from groups.texts.log_lines import LOG_LINES
from tests.pipeline.folds import fold_paths

from .claims import mine
from .facts import LINES, SEGMENTS, Kind, recorded_names
from .judge import Judgement, judge
from .segments import unpacked

pytestmark = pytest.mark.once

HERE = Path(__file__).resolve().parent / "lines"

TOLD = {
    "classic-kill": (2, 3),
    "classic-overrun": (6, 9),
    "cooperative-scale-up": (2, 2),
    "coordinator-restart": (0, 1),
    "eager-restart": (4, 4),
    "freeze": (2, 3),
    "kill-one": (1, 2),
    "librdkafka-kill": (1, 2),
    "poll-overrun": (10, 15),
    "rolling-classic-static": (6, 6),
    "rolling-static": (10, 10),
    "scale-down": (2, 2),
    "strategy-restart": (5, 5),
}
"""How many of the facts that records show the lines show, too."""

MISSING: frozenset[Kind] = frozenset({"silent", "poll_overrun", "removed", "coordinator_moved"})
"""Lines have no commits: who reads nothing is not seen before it is removed, and why it left only where a line says so."""


@cache
def judged(name: str, source: str) -> Judgement:
    return judge(name, HERE, source)


@pytest.mark.parametrize("name", TOLD)
def test_nothing_false_is_said_from_lines_or_from_records(name: str) -> None:
    for source in (LINES, SEGMENTS):
        found = judged(name, source)
        assert [(each.claim.says, each.because) for each in found.false] == []
        assert found.unproven_clauses == []


@pytest.mark.parametrize("name", TOLD)
def test_lines_show_as_many_facts_as_before_and_what_they_lack_needs_commits(name: str) -> None:
    from_lines, from_records = judged(name, LINES), judged(name, SEGMENTS)

    assert (from_lines.told_count, from_records.told_count) == TOLD[name]
    missing = {each.fact["kind"] for each in from_lines.told if each.claim is None}
    assert missing <= MISSING
    assert "commits" in LOG_LINES.lacks


@pytest.mark.parametrize("name", TOLD)
def test_lines_have_the_groups_members_at_each_epoch_of_the_records(name: str, tmp_path: Path) -> None:
    text = tmp_path / "lines.txt"
    text.write_bytes(lzma.decompress((HERE / name / LINES).read_bytes()))
    segments = unpacked((HERE / name / SEGMENTS).read_bytes(), tmp_path / "segments")

    assert members(text, name, tmp_path) == members(segments, name, tmp_path)


def members(path: Path, name: str, folder: Path) -> list[Any]:
    """Each epoch or generation, and its members by client and instance."""
    folds = fold_paths(str(path), scratch=str(folder / "scratch"))
    [timeline] = mine(folds, name)
    recorder = Recorder(group=name, digests=False)
    found: dict[Any, Any] = {}
    for line in folds.entries(timeline):
        recorder.add(Entry.from_json(line))
        if line["settled"] and line["kind"] == "record":
            recorder.flush(final=True)
            frame: Any = recorder.frame
            epoch = frame.get("generation") if frame["protocol"] == "classic" else frame.get("group_epoch")
            found.setdefault(
                epoch, sorted((each["client_id"], each["instance_id"]) for each in frame["members"].values())
            )
    return [one for one in found.items() if one[0]]


def test_ten_incidents_or_more_are_kept_and_each_is_small() -> None:
    assert recorded_names(HERE) == sorted(TOLD)
    assert len(TOLD) >= 10
    assert all((HERE / name / LINES).stat().st_size < 20_000 for name in TOLD)
