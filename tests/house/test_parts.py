"""``make test`` runs every part, and ends with the names of what failed."""

import re
from pathlib import Path

import pytest

from tests import parts
from tests.conftest import INNER
from tests.house import ROOT
from tests.parts import Outcome, failures

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


def told(output: str, code: int = 2) -> list[str]:
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
            "tests/a.py ...\nmake[1]: *** [test-x] Killed\n",
            ["test-x: ended with code 2 and names no test; it said last: tests/a.py ..."],
        ),
    ],
)
def test_a_failed_part_tells_each_failure_in_a_line(output: str, lines: list[str]) -> None:
    assert told(output) == lines


def test_a_part_that_passed_tells_nothing_and_a_long_line_is_cut() -> None:
    assert told(PYTEST, code=0) == []
    (line,) = told(f"not ok 1 - {'long ' * 200}")
    assert len(line) <= parts.LINE_MOST + len("test-x: ")


def test_every_part_is_a_target_of_the_makefile_and_every_such_target_a_part() -> None:
    targets = re.findall(r"^(test-[a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert sorted(targets) == sorted(parts.PARTS)


def test_the_inner_part_reads_the_rooms_whose_tests_are_marked_so() -> None:
    (command,) = re.findall(r"-m inner (tests/.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert sorted(command.split()) == [f"tests/{room}" for room in sorted(INNER)]


def test_the_last_lines_are_the_failures_of_all_parts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def run(part: str) -> Outcome:
        return Outcome(part=part, code=2 * (part != "test-js"), output=PYTEST, took_s=1.0)

    monkeypatch.setattr(parts, "run", run)
    monkeypatch.setattr(parts.signal, "signal", lambda *how: None)
    monkeypatch.setattr(parts, "LOGS", tmp_path)
    assert parts.main() == 1
    last = capsys.readouterr().out.splitlines()[-2 * (len(parts.PARTS) - 1) :]
    assert {line.split(":")[0] for line in last} == set(parts.PARTS) - {"test-js"}
    assert all("tests/a.py::test_" in line for line in last)
