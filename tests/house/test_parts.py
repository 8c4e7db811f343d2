"""``make test-all`` runs every test once, and ends with the names of what failed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
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


@pytest.mark.parametrize("tier", [Tier.QUICK, Tier.REST])
def test_the_workflow_runs_each_part_of_a_tier_in_one_job(tier: Tier) -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    named = " ".join(workflow["jobs"][tier]["strategy"]["matrix"]["part"]).split()
    assert sorted(named) == sorted(part.name for part in PARTS if command_of(tier, part))


@pytest.mark.parametrize(("idle", "most"), [(0.1, 2), (0.9, 3)])
def test_one_part_more_runs_while_the_processors_are_idle(
    monkeypatch: pytest.MonkeyPatch, idle: float, most: int
) -> None:
    monkeypatch.setattr(parts.Idle, "share", lambda self: idle)
    monkeypatch.setattr(parts.signal, "signal", lambda *how: None)
    together: list[int] = []
    running = 0
    lock = threading.Lock()
    full = threading.Event()

    def run(tier: Tier, part: Part) -> Outcome:
        nonlocal running
        with lock:
            running += 1
            together.append(running)
            if running == most:
                full.set()
        # The first ones end when as many run as may.
        assert full.wait(60)
        with lock:
            running -= 1
        return Outcome(part=part.name, code=0, output="", took_s=1.0)

    outcomes = parts.run_at_once(2, [(Tier.QUICK, part) for part in PARTS[:6]], run)
    assert sorted(each.part for each in outcomes) == sorted(part.name for part in PARTS[:6])
    assert max(together) == most


def test_one_part_of_the_rest_that_only_computes_runs_beside_those_that_wait() -> None:
    browser, broker, history, simulations = (
        (Tier.REST, part)
        for name in ("browser", "broker", "history", "simulations")
        for part in PARTS
        if part.name == name
    )
    every = [browser, broker, history, simulations]
    assert parts.next_of(every, [], 1) == browser
    assert parts.next_of([broker, history, simulations], [browser], 1) is None, "once more, alone"
    assert parts.next_of([broker, history, simulations], [browser], 2) == broker
    assert parts.next_of([history, simulations], [browser, broker], 2) == history
    assert parts.next_of([simulations], [browser, broker, history], 2) is None
    assert parts.next_of([simulations], [browser, history], 2) is None
    assert parts.next_of([simulations], [history], 2) == simulations, "nothing waits any more"
    assert parts.next_of([simulations], [], 1) == simulations
    quick = (Tier.QUICK, history[1])
    assert parts.next_of([quick], [browser, broker], 2) is None


def test_what_runs_beside_gives_way_and_is_a_session_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(parts, "LOGS", tmp_path)
    shows = "import os; print(os.getpriority(os.PRIO_PROCESS, 0), os.getsid(0) == os.getpid())"
    command = (sys.executable, "-c", f"import time; time.sleep(1); {shows}", "inner")
    part = Part(name="drawn", what="drawn", quick=command, rest=command)
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert parts.run(Tier.REST, part, 1).output.split() == [str(parts.BESIDE_NICE), "True"]
    assert parts.run(Tier.QUICK, part, 1).output.split() == [str(own), "False"]
    assert parts.run(Tier.REST, part, 1, once_more=True).output.split() == [str(own), "False"]


def test_the_idle_share_is_that_of_the_time_between_two_looks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = tmp_path / "stat"
    monkeypatch.setattr(parts.Idle, "TABLE", table)
    monkeypatch.setattr(parts, "LOOK_EVERY_S", 0.0)
    table.write_text("cpu  100 0 100 500 100 0 0 0 0 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
    idle = parts.Idle()
    table.write_text("cpu  150 10 110 520 100 0 0 0 0 0\n")
    assert idle.share() == pytest.approx(30 / 90)
    table.unlink()
    assert parts.Idle().share() == 0.0


def test_the_quick_tier_takes_the_values_of_a_spread_that_are_not_long() -> None:
    marked = [[mark.name for mark in value.marks] for value in spread("abcdef", every=3)]
    assert marked == [[], ["long"], ["long"], [], ["long"], ["long"]]
    kept = spread(["a", "b"], keep=lambda value: value == "b")
    assert [[mark.name for mark in value.marks] for value in kept] == [["long"], []]


def test_the_last_lines_are_the_failures_of_all_parts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def run(tier: Tier, part: Part, seed: int, **how: bool) -> Outcome:
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

    def run(tier: Tier, part: Part, seed: int, **how: bool) -> Outcome:
        asked.append((str(tier), part.name))
        return Outcome(part=part.name, code=0, output="", took_s=1.0)

    monkeypatch.setattr(parts, "run", run)
    monkeypatch.setattr(parts.signal, "signal", lambda *how: None)
    monkeypatch.setattr(parts, "LOGS", tmp_path)
    assert parts.main(["quick", "rest", "--only", "history"]) == 0
    assert asked == [("quick", "history"), ("rest", "history")]


TESTS = """
import pathlib
import pytest

HERE = pathlib.Path(__file__).parent

def test_that_passes():
    pass

def test_that_passes_alone():
    seen = HERE / "seen"
    first = not seen.exists()
    seen.touch()
    assert not first

@pytest.mark.parametrize("number", range(MOST))
def test_that_fails(number):
    assert False

@pytest.mark.skipif((HERE / "seen").exists(), reason="away by now")
def test_that_is_away_later():
    assert AWAY
"""


def played(
    monkeypatch: pytest.MonkeyPatch, folder: Path, tier: str, *, most: int = 0, away: bool = True
) -> int:
    """Runs a part of pytest's with a test that fails once, ``most`` that always fail, and one that fails and is skipped then."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_it.py").write_text(TESTS.replace("MOST", str(most)).replace("AWAY", str(away)))
    command = (*parts.PYTEST, "-c", str(folder / "pytest.ini"), "-p", "no:django", str(folder / "test_it.py"))
    part = Part(name="drawn", what="drawn", quick=command, rest=command)
    monkeypatch.setattr(parts, "PARTS", (part,))
    monkeypatch.setattr(parts, "LOGS", folder / "logs")
    monkeypatch.setattr(parts.signal, "signal", lambda *how: None)
    return parts.main([tier])


def test_a_test_that_failed_beside_others_and_passes_alone_is_named_in_the_last_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert played(monkeypatch, tmp_path, "rest") == 0
    *before, last = capsys.readouterr().out.splitlines()
    assert last.startswith("failed beside others, passed alone: ")
    assert last.endswith("test_it.py::test_that_passes_alone (rest-drawn): a defect of that test, mend it")
    assert "1 failed:" in before, "the first outcome is printed too"


def test_a_test_that_fails_alone_too_or_is_skipped_then_fails_the_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert played(monkeypatch, tmp_path, "rest", most=1) == 1
    last = capsys.readouterr().out.splitlines()[-2:]
    assert [line.split(":")[0] for line in last] == [
        "failed beside others, failed alone",
        "failed beside others, passed alone",
    ]
    (tmp_path / "seen").unlink()
    assert played(monkeypatch, tmp_path, "rest", away=False) == 1
    assert "passed alone" not in capsys.readouterr().out


@pytest.mark.parametrize(("tier", "most"), [("quick", 0), ("rest", parts.AGAIN_MOST)])
def test_a_failure_of_the_quick_tier_and_more_than_a_few_failures_are_final(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, tier: str, most: int
) -> None:
    assert played(monkeypatch, tmp_path, tier, most=most) == 1
    printed = capsys.readouterr().out
    assert "test_that_passes_alone" in printed
    assert "once more" not in printed
