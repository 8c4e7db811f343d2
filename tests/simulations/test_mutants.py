"""The faults of ``make mutants``: where they are put, that each is a program, and that tests notice or do not notice them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import missing
from tests.mutants import browser
from tests.mutants.__main__ import explained
from tests.mutants.forking import NO_END
from tests.mutants.rooms import ROOMS, Room
from tests.mutants.sites import sites, with_faults
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


COUNTED = """from __future__ import annotations


def counted(letters: str, most: int = 2) -> int:
    found = 0
    for letter in letters:
        if letter == "é" and found < most:
            found += 1
    match found:
        case 1:
            found = 10
    return found
"""


def counted_with(switch_on: int | None) -> int:
    """What the module of all its faults returns with one of them on."""
    text = with_faults(COUNTED, {site.number: site.number for site in sites("m.py", COUNTED)})
    assert text.startswith("from __future__ import annotations\nfrom tests.mutants.switch import on")
    namespace: dict[str, Any] = {}
    code = compile(text.replace("from tests.mutants.switch import on as __mutant__", ""), "m.py", "exec")
    exec(code, {"__mutant__": lambda number: number == switch_on}, namespace)
    return namespace["counted"]("aéébé")


def test_all_faults_stand_in_one_module_and_each_changes_it_when_it_alone_is_on() -> None:
    assert counted_with(None) == 2
    by_what = {(site.old, site.new): counted_with(site.number) for site in sites("m.py", COUNTED)}
    assert by_what[("found < most", "(found <= most)")] == 3
    assert by_what[("letter == 'é'", "(letter != 'é')")] == 2
    assert by_what[("found += 1", "found -= 1")] == -3
    assert by_what[("2", "(3)")] == 3
    assert by_what[("1", "(2)")] == 10, "a pattern of a match, too"


@pytest.mark.parametrize("name", ROOMS)
@pytest.mark.long
def test_each_room_has_its_tests_and_every_fault_of_it_is_a_program(name: str) -> None:
    room = ROOMS[name]
    assert [path for path in room.paths if not (ROOT / path).is_file()] == []
    found = sites_of(room)
    assert len(found) > 500
    by_file = {site.file: (ROOT / site.file).read_text(encoding="utf-8") for site in found}
    for file, text in by_file.items():
        numbers = [site.number for site in found if site.file == file]
        compile(with_faults(text, {number: number for number in numbers}), file, "exec")


@pytest.mark.long
def test_what_is_explained_is_still_there() -> None:
    places = {site.key for room in ROOMS.values() for site in sites_of(room)}
    if any(key.startswith(browser.MODULES) for key in explained()):
        if shutil.which("node") is None or not (ROOT / "node_modules/typescript").is_dir():
            missing("Node or TypeScript is not installed")
        places |= {site.key for site in browser.sites_of()}
    assert sorted(set(explained()) - places) == []
    assert all(explained().values())


@pytest.mark.long
def test_a_fault_is_noticed_by_a_test_that_fails_and_by_none_that_passes(tmp_path: Path) -> None:
    (tmp_path / "tests/simulations").mkdir(parents=True)
    (tmp_path / "room").mkdir()
    shutil.copytree(ROOT / "tests/mutants", tmp_path / "tests/mutants")
    (tmp_path / "tests/__init__.py").touch()
    shutil.copy2(ROOT / "tests/tiers.py", tmp_path / "tests/tiers.py")
    (tmp_path / "tests/conftest.py").write_text("from tests.tiers import load_profile\n\nload_profile()\n")
    (tmp_path / "room/adds.py").write_text(
        "def adds(a, b):\n    return a + b\n\n\n"
        "def counts(n):\n    while n > 0:\n        n -= 7\n    return n\n\n\nUNUSED = 1\nUSED = 2\n"
    )
    (tmp_path / "tests/simulations/test_adds.py").write_text(
        "import pytest\nfrom room import adds as room\n\n\n"
        "@pytest.fixture(scope='module')\ndef sum_of_two():\n    return room.adds(1, 2)\n\n\n"
        "def test_builds_it(sum_of_two):\n    pass\n\n\n"
        "def test_adds(sum_of_two):\n    assert sum_of_two == 3\n\n\n"
        "def test_ends():\n    assert room.counts(7) == 0\n\n\n"
        "def test_used():\n    assert room.USED == 2\n"
    )
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    room = Room(folder="room", tests=("adds",))
    results = {each.site.old: each for each in tried(room, sites_of(room, tmp_path), tmp_path)}
    assert {old: each.noticed for old, each in results.items()} == {
        "a + b": True,
        "n > 0": True,
        "n -= 7": True,
        "7": True,
        "0": False,
        "1": False,
        "2": True,
    }
    assert "test_adds" in results["a + b"].by, "though another test's fixture reached it"
    assert results["n -= 7"].by == NO_END
    assert "test_used" in results["2"].by, "though it was reached as the module was loaded"


MODULE_OF_A_PAGE = """import { other } from './other.js';

/** Not 1 of these. */
export function adds(number, most = 3) {
  if (number > most && !other(1)) log(number);
  let sum = number ?? 7;
  sum += 1;
  const names = { 5: 'five' };
  return most ? `${sum}` : 'none' + names[5];
}
"""


@pytest.fixture
def typescript() -> None:
    if shutil.which("node") is None or not (ROOT / "node_modules/typescript").is_dir():
        missing("Node or TypeScript is not installed")


def test_the_browsers_modules_have_faults_of_the_same_kinds(typescript: None) -> None:
    told = {(place["old"], place["new"]) for place in browser.places({"m.js": MODULE_OF_A_PAGE})["m.js"]}
    assert told == {
        ("3", "(3 + 1)"),
        ("1", "(1 + 1)"),
        ("number > most && !other(1)", "!(number > most && !other(1))"),
        ("number > most && !other(1)", "(number > most) || (!other(1))"),
        ("number > most && !other(1)", "(number > most)"),
        ("number > most && !other(1)", "(!other(1))"),
        ("number > most", "(number) >= (most)"),
        ("!other(1)", "(other(1))"),
        ("log(number);", ";"),
        ("number ?? 7", "(number)"),
        ("7", "(7 + 1)"),
        ("sum += 1", "sum -= 1"),
        ("most ? `${sum}` : 'none' + names[5]", "(most) ? ('none' + names[5]) : (`${sum}`)"),
        ("5", "(5 + 1)"),
    }


def test_a_fault_in_a_module_of_the_browser_is_noticed_by_a_test_that_fails(
    typescript: None, tmp_path: Path
) -> None:
    (tmp_path / "static/js").mkdir(parents=True)
    shutil.copytree(ROOT / "tests/javascript/mutants", tmp_path / "tests/javascript/mutants")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "static/js/adds.js").write_text(
        "export function adds(a, b) {\n  return a + b;\n}\nexport const unused = 1;\n"
    )
    (tmp_path / "static/js/draws.js").write_text("export const draws = () => document.title + 1;\n")
    (tmp_path / "tests/javascript/adds.test.js").write_text(
        "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\n"
        "import { adds } from '../../static/js/adds.js';\nimport '../../static/js/draws.js';\n\n"
        "test('two and one are three', () => assert.equal(adds(2, 1), 3));\n"
    )
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    found = browser.sites_of(tmp_path)
    assert {site.file for site in found} == {"static/js/adds.js"}, "the other one knows a page"
    results = {each.site.old: each for each in browser.tried(found, tmp_path)}
    assert {old: each.noticed for old, each in results.items()} == {"a + b": True, "1": False}
    assert results["a + b"].by == "adds.test.js: two and one are three"


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
