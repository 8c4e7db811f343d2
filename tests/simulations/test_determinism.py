"""The same scenario and seed give the same bytes: in any process, on any machine, by command and by worker.

How a Celery task stores them is ``tests/tasks/test_same_bytes.py``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from groups.history.passes.recorder import RecordedBatch
from tests.house import ROOT
from tests.simulations import pinned

ELSEWHERE = {"PYTHONHASHSEED": "4711", "TZ": "Pacific/Kiritimati"}
"""Another order of sets, and another day than here."""

ASCII = {"PYTHONHASHSEED": "0", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TZ": "UTC"}
"""A machine whose locale knows no letters but these."""

WORKER = """
import json, sys
from simulations.jobs.run import answer
for line in answer(json.load(sys.stdin), lambda: 0.0):
    # How long it took and what memory it had are not of the run itself.
    said = {name: value for name, value in json.loads(line).items() if name != "times"}
    sys.stdout.buffer.write(json.dumps(said).encode())
"""


def child(environment: dict[str, str], *words: str, told: str = "") -> bytes:
    done = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        input=told.encode(),
        capture_output=True,
        check=True,
    )
    assert done.stdout
    return done.stdout


@pytest.mark.parametrize("case", pinned.cases())
def test_this_machine_simulates_the_bytes_that_are_written_down(case: str) -> None:
    assert pinned.runs_of(case) == pinned.committed()[case], (
        "If the simulator behaves otherwise on purpose: python -m tests.simulations.pinned write"
    )


def test_no_digest_is_left_of_a_case_that_is_gone() -> None:
    assert sorted(pinned.committed()) == sorted(pinned.cases())


@pytest.mark.parametrize("environment", [ELSEWHERE, ASCII], ids=["elsewhere", "ascii"])
@pytest.mark.parametrize(
    ("case", "semantics"),
    [("storm", "kafka"), ("hostile-kip", "kip"), ("hostile-kafka", "kafka"), ("kip848-client-side", "kip")],
)
@pytest.mark.long
def test_every_process_prints_the_same_bytes(case: str, semantics: str, environment: dict[str, str]) -> None:
    seed = str(pinned.SEEDS[-1])
    named = case if case in pinned.STUDIES else str(pinned.FOLDER / f"{case}.yaml")
    words = ["simulate", named, "--semantics", semantics, "--seed", seed, "--format", "entries"]
    printed = child(environment, "manage.py", *words)
    assert pinned.digest([printed]) == pinned.committed()[case][semantics][seed]["sha256"]


def test_workers_say_the_same_lines_whatever_their_hash_seed_and_locale() -> None:
    """Entries, and what is made of them for the board: changes, moments, checkpoints, the summary."""
    question = json.dumps({"scenario": pinned.text_of("hostile-kafka"), "semantics": "kafka", "seed": 7})
    assert len({child(each, "-c", WORKER, told=question) for each in (ELSEWHERE, ASCII)}) == 1


def test_a_worker_stores_the_entries_that_the_engine_makes() -> None:
    from simulations.jobs.run import answer

    text, seed = pinned.text_of("storm"), pinned.SEEDS[0]
    stored: list[bytes] = []
    for line in answer({"scenario": text, "semantics": "kafka", "seed": seed}, lambda: 0.0):
        message = json.loads(line)
        assert message["type"] != "error", message
        if message["type"] == "batch":
            stored.append(RecordedBatch.from_line(message).entries[1:-1])
    assert b",".join(stored) == b",".join(line.strip() for line in pinned.printed(text, "kafka", seed))
