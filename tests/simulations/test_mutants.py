"""The faults of ``make mutants``: where they are put, that each is a program, and that tests notice or do not notice them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mutants.__main__ import explained
from tests.mutants.rooms import ROOMS, Room
from tests.mutants.sites import sites
from tests.mutants.trying import ROOT, sites_of, tried

MODULE = '''"""Not 1 of these."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    LEFT_OUT = 1


class Counter:
    most: int = 3

    def adds(self, number: int, *, twice: bool = False) -> int:
        """Nor 2."""
        if number > self.most and not twice:
            print("é", number)
        return number * 2 if twice else number + 1
'''


def test_every_kind_of_fault_is_put_where_it_stands_and_texts_and_annotations_are_left_alone() -> None:
    found = {(site.where, site.old, site.new) for site in sites("m.py", MODULE)}
    inside = "Counter.adds"
    condition = "number > self.most and (not twice)"
    assert found == {
        ("Counter", "3", "(4)"),
        (inside, "False", "(True)"),
        (inside, condition, "(not (number > self.most and (not twice)))"),
        (inside, condition, "(number > self.most or not twice)"),
        (inside, condition, "(number > self.most)"),
        (inside, condition, "(not twice)"),
        (inside, "number > self.most", "(number >= self.most)"),
        (inside, "not twice", "(twice)"),
        (inside, "print('é', number)", "pass"),
        (inside, "number * 2 if twice else number + 1", "(number + 1 if twice else number * 2)"),
        (inside, "number * 2", "(number // 2)"),
        (inside, "2", "(3)"),
        (inside, "number + 1", "(number - 1)"),
        (inside, "1", "(2)"),
    }


def test_a_fault_changes_its_place_alone_also_behind_letters_of_several_bytes() -> None:
    for site in sites("m.py", MODULE):
        changed = site.applied(MODULE)
        compile(changed, "m.py", "exec")
        assert changed != MODULE
        assert changed.count("\n") == MODULE.count("\n")


@pytest.mark.parametrize("name", ROOMS)
def test_each_room_has_its_tests_and_every_fault_of_it_is_a_program(name: str) -> None:
    room = ROOMS[name]
    assert [path for path in room.paths if not (ROOT / path).is_file()] == []
    found = sites_of(room)
    assert len(found) > 500
    texts = {site.file: (ROOT / site.file).read_text(encoding="utf-8") for site in found}
    for site in found[::17]:
        compile(site.applied(texts[site.file]), site.file, "exec")


def test_what_is_explained_is_still_there() -> None:
    places = {site.key for room in ROOMS.values() for site in sites_of(room)}
    assert sorted(set(explained()) - places) == []
    assert all(explained().values())


def test_a_fault_is_noticed_by_a_test_that_fails_and_by_none_that_passes(tmp_path: Path) -> None:
    (tmp_path / "tests/simulations").mkdir(parents=True)
    (tmp_path / "room").mkdir()
    (tmp_path / "room/adds.py").write_text("def adds(a, b):\n    return a + b\n\n\nUNUSED = 1\n")
    (tmp_path / "tests/simulations/test_adds.py").write_text(
        "from room.adds import adds\n\n\ndef test_adds():\n    assert adds(1, 2) == 3\n"
    )
    room = Room(folder="room", tests=("adds",))
    results = {site.old: tried(tmp_path, room, site, 60) for site in sites_of(room, tmp_path)}
    assert {old: each.noticed for old, each in results.items()} == {"a + b": True, "1": False}
    assert "test_adds" in results["a + b"].by
    assert (tmp_path / "room/adds.py").read_text().startswith("def adds(a, b):\n    return a + b\n")


def test_an_unknown_room_is_told_in_one_line() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.mutants", "--rooms", "kitchen"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "--rooms kitchen: there are coordinator," in done.stderr
    assert json.loads((ROOT / "tests/mutants/explained.json").read_text()) == explained()
