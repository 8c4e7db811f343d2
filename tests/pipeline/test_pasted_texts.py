"""One incident in every form of text: what a form carries is as the segments have it, and what it lacks is named.

The fixtures are what real clients and Kafka's own tools wrote (``tests/broker/recorded_texts.py``): ``checkout`` is a classic group of
three consumers of which one is killed and two leave; ``billing`` speaks the consumer protocol, and one of two is killed.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from tests.pipeline.folds import Folds, fold_paths

pytestmark = pytest.mark.once

PASTED = Path(__file__).resolve().parent.parent / "wire" / "fixtures" / "pasted"
CHECKOUT, BILLING = "checkout#1", "billing#1"


def text_of(*names: str) -> str:
    return "".join(gzip.decompress((PASTED / f"{name}.txt.gz").read_bytes()).decode() for name in names)


def fold_text(folder: Path, text: str, *paths: Path) -> Folds:
    (folder / "pasted.txt").write_text(text)
    return fold_paths(str(folder / "pasted.txt"), *map(str, paths), scratch=str(folder / "scratch"))


def said(folds: Folds) -> list[str]:
    return [one["reason"] for one in folds.lines[-1]["records"]["skipped"]]


@pytest.fixture(scope="module")
def recorded() -> Folds:
    return fold_paths(str(PASTED / "segments"))


def values(folds: Folds, timeline: str, *types: int) -> list[dict[str, Any]]:
    """The records of these types, in their order, of a time each."""
    payloads = [entry["payload"] for entry in folds.entries(timeline) if entry["kind"] == "record"]
    return [payload for payload in payloads if payload["type"] in types]


def test_the_console_consumers_groups_and_commits_are_the_records_of_the_log(
    tmp_path: Path, recorded: Folds
) -> None:
    folds = fold_text(tmp_path, text_of("console-groups", "console-offsets"))

    assert values(folds, CHECKOUT, 2) == values(recorded, CHECKOUT, 2)
    for timeline in (CHECKOUT, BILLING):
        assert values(folds, timeline, 1) == values(recorded, timeline, 1)
    assert [line for line in said(folds) if "consumer protocol" in line]


def test_the_older_console_consumers_lines_have_groups_without_assignments_and_commits(
    tmp_path: Path,
) -> None:
    folds = fold_text(tmp_path, text_of("console-offsets-old", "console-groups-old"))

    groups = [each["value"] for each in values(folds, "shipping#1", 2)]
    assert [(one["generation"], sorted(each["clientId"] for each in one["members"])) for one in groups] == [
        (1, ["ship-a"]),
        (2, ["ship-a", "ship-b"]),
        (3, ["ship-a"]),
    ]
    assert [each["value"]["offset"] for each in values(folds, "shipping#1", 1)] == [1]
    assert any("without what each member is assigned" in line for line in said(folds))
