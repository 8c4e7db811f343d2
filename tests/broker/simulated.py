"""Scenarios of released Kafka, simulated through the command line that users have."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

SCENARIO = "released-basic"
STATIC_MEMBERS = str(Path(__file__).resolve().parent / "fixtures" / "static-members.yaml")
MANAGE = Path(__file__).resolve().parent.parent.parent / "manage.py"
SIMULATE_LIMIT_S = 180


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run in four of its forms: every entry, the settled frames, the records alone, and a log segment."""

    entries: list[dict[str, Any]]
    frames: list[dict[str, Any]]
    records: list[dict[str, Any]]
    segment: Path

    @cached_property
    def group(self) -> str:
        return str(next(each for each in self.records if each["type"] == 3)["key"]["groupId"])

    @property
    def until_ms(self) -> int:
        return int(self.entries[-1]["at_ms"])

    @cached_property
    def topics(self) -> dict[str, str]:
        """Topic ids with their names, as the run's first note tells."""
        notes = (each["payload"] for each in self.entries if each["kind"] == "note")
        told = next(note["topics"] for note in notes if note["note"] == "topics")
        return {topic["id"]: name for name, topic in told.items()}

    def answer_to(self, sequence: int) -> dict[str, Any] | None:
        """The simulated coordinator's answer to a request; None for a steady heartbeat, which has no entry."""
        for each in self.entries:
            if each["kind"] == "response" and each["cause"] == sequence:
                return dict(each["payload"]["body"])
        return None


def simulate(folder: Path, scenario: str = SCENARIO) -> Run:
    """Runs the scenario once for each form; the same scenario and seed give the same run."""
    # kafka-dump-log takes the base offset from the file's name.
    segment = folder / "00000000000000000000.log"
    _command(scenario, "--format", "segment", "--out", str(segment))
    frames = [frame for frame in _lines(scenario, "frames") if frame["settled"]]
    return Run(
        entries=_lines(scenario, "entries"),
        frames=frames,
        records=_lines(scenario, "records"),
        segment=segment,
    )


def _lines(scenario: str, form: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _command(scenario, "--format", form).splitlines()]


def _command(scenario: str, *arguments: str) -> str:
    command = [sys.executable, str(MANAGE), "simulate", scenario, "--semantics", "kafka", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SIMULATE_LIMIT_S)
    assert done.returncode == 0, f"simulate ended with {done.returncode}: {done.stderr[-2000:]}"
    return done.stdout
