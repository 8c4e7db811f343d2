"""N steps through the problems of a timeline: each once, in order, and the board rests where the problem's label and link say."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import Any, Final

import orjson
import pytest

from groups.history.passes.recorder import Recorder
from groups.history.story.problems import troubles
from tests.history.corpus import CorpusLog, corpus
from tests.house import ROOT
from tests.incidents.logs import recorded_logs

PROGRAM: Final = ROOT / "tests" / "javascript" / "problem-steps.js"


def material(log: CorpusLog) -> dict[str, Any]:
    recorder = Recorder(group=log.group, semantics=log.semantics, digests=False)
    for entry in log.entries:
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    return {
        "first": batch.first,
        "last": batch.last,
        "frame": orjson.loads(batch.checkpoint or b"")["frame"],
        "changes": orjson.loads(batch.changes),
        "moments": orjson.loads(batch.moments),
        "troubles": troubles(batch.summary["findings"]),
    }


@pytest.mark.long
def test_from_the_start_each_problem_of_every_log_is_visited_once_in_order_where_its_label_says() -> None:
    if shutil.which("node") is None:
        assert not os.environ.get("REQUIRE_ALL"), "Node is missing and REQUIRE_ALL is set"
        pytest.skip("Node is not installed")
    logs = [*recorded_logs(), *(log for log in corpus() if log.entries and not log.name.startswith("broken"))]
    materials = [material(log) for log in logs]
    done = subprocess.run(
        ["node", str(PROGRAM)], input=b"\n".join(map(orjson.dumps, materials)), capture_output=True, check=True, timeout=300
    )  # fmt: skip
    steps = 0
    for log, each, ways in zip(logs, materials, map(orjson.loads, done.stdout.splitlines()), strict=True):
        for trouble in each["troubles"]:
            began_ms = log.entries[trouble["sequence"] - 1].at_ms
            assert trouble["at_ms"] in (None, began_ms), (log.name, trouble)
        for visited in ways:
            assert [index for index, *_ in visited] == list(range(len(each["troubles"]))), log.name
            for trouble, (_, first, last) in zip(each["troubles"], visited, strict=True):
                assert first <= trouble["sequence"] <= last, (log.name, trouble)
            steps += len(visited)
    assert steps > 1_000
