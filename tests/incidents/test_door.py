"""What the judge reads in this process is what ``import_log`` stores and ``timeline show`` prints."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.serving import ROOT, environment_for

from .facts import RECORDED, SEGMENTS
from .judge import Judgement
from .segments import unpacked

COMMAND_LIMIT_S = 300
NAME = "kill-one"


@pytest.mark.spark
def test_the_command_says_what_is_judged(judged: dict[str, Judgement], tmp_path: Path) -> None:
    environment = environment_for(tmp_path / "home")
    log = unpacked((RECORDED / NAME / SEGMENTS).read_bytes(), tmp_path / "log")

    def manage(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT, env=environment, capture_output=True, text=True, timeout=COMMAND_LIMIT_S, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2_000:]
        return done.stdout

    manage("migrate", "--verbosity", "0")
    (told,) = json.loads(manage("import_log", str(log), "--group", NAME))["timelines"]
    verdict = json.loads(manage("timeline", "show", told["id"], "--format", "verdict"))
    findings = [
        json.loads(line)
        for line in manage("timeline", "show", told["id"], "--format", "findings").splitlines()
    ]

    said = judged[NAME].said
    assert verdict["text"] == said.verdicts[0]["text"]
    assert [(each["kind"], each["says"]) for each in findings] == [
        (each.kind, each.says) for each in said.claims
    ]
