"""An import that begins again takes over the groups that an earlier attempt has finished, and stores what one attempt would have."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from groups.packs import packs
from groups.pipeline.folding.finished import SUFFIX
from groups.pipeline.local.engine import LocalEngine
from tests.pipeline.folds import FOLDER, Folds, import_with_engine
from tests.pipeline.segments import FOO, Group, Segment

GROUPS = 12
KEPT = 5


class Killed(Exception):
    pass


class Breaks(LocalEngine):
    """Its process ends after so many timelines."""

    def fold(self, *args: Any, **options: Any) -> Iterator[tuple[str, bytes]]:
        left = KEPT
        for kind, payload in super().fold(*args, **options):
            yield kind, payload
            left -= kind == "timeline"
            if not left:
                raise Killed


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # Each timeline has a pack of its own.
    monkeypatch.setattr(packs, "PACK_BYTES", 1)
    monkeypatch.setattr(packs, "SHARED_BYTES", 1)
    segment = Segment()
    for number in range(GROUPS):
        segment.add(Group(f"group-{number}").join("A", {FOO: [0]}))
    segment.write(tmp_path / "log")
    # Twice, so that every group reports records that were given before.
    segment.write(tmp_path / "log" / "again")
    return tmp_path / "log"


def stored(folds: Folds, kind: str = "timeline") -> list[str]:
    lines = ({name: value for name, value in line.items() if name != "index"} for line in folds.of(kind))
    return sorted(orjson.dumps(line).decode() for line in lines)


def test_an_import_that_begins_again_folds_no_group_that_was_finished_and_stores_the_same(
    log: Path, tmp_path: Path
) -> None:
    whole = import_with_engine(LocalEngine(), tmp_path / "whole", log, resume=True)
    with pytest.raises(Killed):
        import_with_engine(Breaks(), tmp_path / "store", log, resume=True)
    again = import_with_engine(LocalEngine(), tmp_path / "store", log, resume=True)

    [kept] = again.of("finished")
    # The pack of the last one was whole, and the group had not ended.
    assert kept["groups"] == KEPT - 1
    folded = next(one for one in again.of("times")[-1]["times"] if one["stage"] == "fold")
    in_all = next(one for one in whole.of("times")[-1]["times"] if one["stage"] == "fold")
    assert folded["rows"] == in_all["rows"] * (GROUPS - kept["groups"]) // GROUPS
    assert stored(again) == stored(whole)
    assert stored(again, "repeated") == stored(whole, "repeated") != []
    assert again.of("done") == whole.of("done")
    for timeline in whole.timelines:
        assert again.entries(timeline) == whole.entries(timeline)


def test_what_was_finished_counts_for_the_same_files_alone(log: Path, tmp_path: Path) -> None:
    import_with_engine(LocalEngine(), tmp_path / "store", log, resume=True)
    Segment().add(Group("later").join("A", {FOO: [0]})).write(log / "later", partition=3)
    again = import_with_engine(LocalEngine(), tmp_path / "store", log, resume=True)
    assert (again.of("finished"), len(again.timelines)) == ([], GROUPS + 1)


def test_an_import_of_a_command_keeps_nothing_for_another_attempt(log: Path, tmp_path: Path) -> None:
    import_with_engine(LocalEngine(), tmp_path / "store", log)
    assert [path for path in (tmp_path / "store" / FOLDER).iterdir() if path.suffix == SUFFIX] == []
