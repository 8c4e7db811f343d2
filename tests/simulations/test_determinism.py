"""The same scenario and seed give the same bytes: in any process, whatever Python's hash seed, by command and by worker."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from simulations.fuzzing.drawing import document_of
from simulations.fuzzing.shrinking import as_yaml
from tests.house import ROOT

STORM = """
group: orders
world: stormy
topics: {foo: {partitions: 6}, bar: {partitions: 3}}
members: {A: {subscribe: [foo]}, B: {regex: "foo|bar"}, C: {subscribe: [foo, bar], instance_id: c}}
script: [{at: 0s, join: [A, B, C]}, {at: 40s, restart: C}, {at: 70s, kill: A}]
until: 180s
"""

PROGRAM = """
import sys, orjson
from pathlib import Path
from simulations.engine import run
from simulations.output import entry_lines
from simulations.scenario import load
for row in entry_lines(run(load(Path(sys.argv[1]).read_text(), "same")), "entry"):
    sys.stdout.buffer.write(orjson.dumps(row) + b"\\n")
"""

WORKER = """
import sys, time
from pathlib import Path
from simulations.worker import answer
for line in answer({"scenario": Path(sys.argv[1]).read_text(), "semantics": None, "seed": None}, lambda: 0.0):
    sys.stdout.buffer.write(line)
"""


def digest(program: str, scenario: Path, hash_seed: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, str(scenario)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        check=True,
    )
    assert done.stdout
    return hashlib.sha256(done.stdout).hexdigest()


@pytest.mark.parametrize("program", [PROGRAM, WORKER], ids=["engine", "worker"])
@pytest.mark.parametrize("drawn", ["world: stormy", "hostile kafka", "hostile kip"])
def test_every_process_gives_the_same_bytes(program: str, drawn: str, tmp_path: Path) -> None:
    text = STORM if drawn.startswith("world") else as_yaml(document_of(17, drawn.split()[1], ["hostile"]))
    scenario = tmp_path / "same.yaml"
    scenario.write_text(text)
    assert len({digest(program, scenario, hash_seed) for hash_seed in ("0", "1", "4711")}) == 1


def test_a_worker_stores_the_entries_that_the_engine_makes(tmp_path: Path) -> None:
    from groups.history.recorder import Batch
    from simulations.engine import run
    from simulations.scenario import load
    from simulations.worker import answer

    stored: list[str] = []
    for line in answer({"scenario": STORM, "semantics": None, "seed": None}, lambda: 0.0):
        message = json.loads(line)
        assert message["type"] != "error", message
        if message["type"] == "batch":
            stored += [str(Batch.from_line(message).last)]
    assert int(stored[-1]) == len(list(run(load(STORM))))
