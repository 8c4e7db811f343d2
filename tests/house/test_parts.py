"""``make test-all`` runs every test once, and ends with the names of what failed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from _pytest.mark.expression import Expression

from tests import parts
from tests.house import ROOT
from tests.parts import PARTS, Outcome, Part, command_of, failures
from tests.tiers import Tier, runs_in, spread

PYTEST = """\
FAILED tests/no.py - what a test printed itself
=========================== short test summary info ============================
SKIPPED [1] tests/a.py:3: no Java
FAILED tests/a.py::test_b[c] - AssertionError: [{'at_ms': 1}]
assert True == False
ERROR tests/a.py::test_d - RuntimeError: gone
========== 1 failed, 110 passed in 307.39s (0:05:07) ==========
make[1]: *** [Makefile:53: test-broker] Error 1
"""


def lines_of(output: str, code: int = 2) -> list[str]:
    return list(failures(Outcome(part="test-x", code=code, output=output, took_s=1.0)))


@pytest.mark.parametrize(
    ("output", "lines"),
    [
        (
            PYTEST,
            [
                "test-x: FAILED tests/a.py::test_b[c] - AssertionError: [{'at_ms': 1}]",
                "test-x: ERROR tests/a.py::test_d - RuntimeError: gone",
            ],
        ),
        ("ok 1 - fine\n    not ok 2 - a chip lies\n", ["test-x: not ok 2 - a chip lies"]),
        (
            "warming up\ntests/a.py ...\n",
            ["test-x: ended with code 2 and names no test; its last line: tests/a.py ..."],
        ),
    ],
)
def test_a_failed_part_tells_each_failure_in_a_line(output: str, lines: list[str]) -> None:
    assert lines_of(output) == lines


def test_a_part_that_passed_tells_nothing_and_a_long_line_is_cut() -> None:
    assert lines_of(PYTEST, code=0) == []
    (line,) = lines_of(f"not ok 1 - {'long ' * 200}")
    assert len(line) <= parts.LINE_MOST + len("test-x: ")


class Collected:
    """A test as pytest collects it: its name, its file, its markers, and whether Hypothesis draws its examples."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.name, self.path = fields["name"], ROOT / fields["path"]
        self.markers, self.is_property = set(fields["markers"]), fields["is_property"]

    def tiers(self, part: Part) -> set[Tier]:
        """The tiers in which the part runs this test."""
        return {
            tier
            for tier in (Tier.QUICK, Tier.REST)
            if runs_in(tier, is_long="long" in self.markers, is_property=self.is_property)
            and self.is_taken_by(command_of(tier, part) or ())
        }

    def is_within(self, places: list[Path]) -> bool:
        return any(self.path == place or place in self.path.parents for place in places)

    def is_taken_by(self, command: tuple[str, ...]) -> bool:
        if "pytest" not in command:
            return False
        words = command[command.index("pytest") + 1 :]
        places = [ROOT / word for word in words if word.startswith("tests/")] or [ROOT / "tests"]
        ignored = [ROOT / word.removeprefix("--ignore=") for word in words if word.startswith("--ignore=")]
        if not self.is_within(places) or self.is_within(ignored):
            return False
        return "-m" not in words or Expression.compile(words[words.index("-m") + 1]).evaluate(
            lambda name, **_: name in self.markers
        )


@pytest.fixture(scope="module")
def collected(tmp_path_factory: pytest.TempPathFactory) -> list[Collected]:
    """Every test, whatever its tier."""
    folder = tmp_path_factory.mktemp("collected")
    (folder / "listing.py").write_text(LISTING)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "listing", "tests"],
        cwd=ROOT,
        env={
            **os.environ,
            "TIER": "all",
            "PYTEST_ADDOPTS": "",
            "PYTHONPATH": str(folder),
            "LISTING": str(folder / "tests.jsonl"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    return [Collected(json.loads(line)) for line in (folder / "tests.jsonl").read_text().splitlines()]


LISTING = """
import json, os, pytest

@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session):
    with open(os.environ["LISTING"], "w") as out:
        for item in session.items:
            obj = getattr(item, "obj", None)
            json.dump({
                "name": item.nodeid, "path": str(item.path.relative_to(session.config.rootpath)),
                "markers": sorted({mark.name for mark in item.iter_markers()}),
                "is_property": bool(getattr(obj, "is_hypothesis_test", False)),
            }, out)
            out.write(chr(10))
"""


@pytest.mark.long
def test_each_test_runs_once_and_a_property_once_in_each_tier(collected: list[Collected]) -> None:
    ones = [part for part in PARTS if not part.whole]
    wrong = []
    for test in collected:
        runs = [tier for part in ones for tier in test.tiers(part)]
        expected = [Tier.REST] if "long" in test.markers else [Tier.QUICK]
        if test.is_property:
            expected = sorted({*expected, Tier.REST})
        if sorted(runs) != expected:
            wrong.append((test.name, runs))
    assert wrong == []


@pytest.mark.long
def test_on_postgresql_and_redis_no_test_runs_twice(collected: list[Collected]) -> None:
    runs = Counter(
        test.name
        for part in PARTS
        if part.whole
        for tier in (Tier.QUICK, Tier.REST)
        for test in collected
        if test.is_taken_by(command_of(tier, part) or ())
    )
    assert [name for name, count in runs.items() if count > 1] == []
    assert len(runs) > 300


def test_the_workflow_runs_each_part_of_the_rest_in_one_job() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    named = " ".join(workflow["jobs"]["rest"]["strategy"]["matrix"]["part"]).split()
    assert sorted(named) == sorted(part.name for part in PARTS if command_of(Tier.REST, part))


def test_the_quick_tier_takes_the_values_of_a_spread_that_are_not_long() -> None:
    marked = [[mark.name for mark in value.marks] for value in spread("abcdef", every=3)]
    assert marked == [[], ["long"], ["long"], [], ["long"], ["long"]]
    kept = spread(["a", "b"], keep=lambda value: value == "b")
    assert [[mark.name for mark in value.marks] for value in kept] == [["long"], []]


def test_the_last_lines_are_the_failures_of_all_parts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def run(tier: Tier, part: Part, seed: int) -> Outcome:
        return Outcome(part=f"{tier}-{part.name}", code=2 * (part.name != "js"), output=PYTEST, took_s=1.0)

    monkeypatch.setattr(parts, "run", run)
    monkeypatch.setattr(parts.signal, "signal", lambda *how: None)
    monkeypatch.setattr(parts, "LOGS", tmp_path)
    assert parts.main(["quick"]) == 1
    failed = {f"quick-{part.name}" for part in PARTS if command_of(Tier.QUICK, part)} - {"quick-js"}
    last = capsys.readouterr().out.splitlines()[-2 * len(failed) :]
    assert {line.split(":")[0] for line in last} == failed
    assert all("tests/a.py::test_" in line for line in last)


def test_one_part_can_be_asked_for_by_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = []

    def run(tier: Tier, part: Part, seed: int) -> Outcome:
        asked.append((str(tier), part.name))
        return Outcome(part=part.name, code=0, output="", took_s=1.0)

    monkeypatch.setattr(parts, "run", run)
    monkeypatch.setattr(parts.signal, "signal", lambda *how: None)
    monkeypatch.setattr(parts, "LOGS", tmp_path)
    assert parts.main(["quick", "rest", "--only", "history"]) == 0
    assert asked == [("quick", "history"), ("rest", "history")]
