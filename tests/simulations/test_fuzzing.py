"""The fuzzer: nothing is found in the simulator as it is, everything is reached, and what fails is made small."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import nullcontext
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import call_command
from django.core.management.base import CommandError

from groups.child_side import Lines
from groups.history.entries import Entry, Kind
from groups.history.state.group import Semantics, State
from simulations.invariants import Checker, Violation
from simulations.proof.fuzzing import batches as answering
from simulations.proof.fuzzing.batches import Answer, answer
from simulations.proof.fuzzing.generator import document_of, scenario_of, text_of
from simulations.proof.fuzzing.presets import PRESETS
from simulations.proof.fuzzing.shrinking import as_yaml, shrunk
from simulations.proof.fuzzing.verdict import CRASHED, Broken, broken_by
from simulations.spark import fuzzing as job
from simulations.world.engine import run
from simulations.world.engine.simulation import Simulation
from simulations.world.scenario import load
from tests.simulations.fuzzing_reach import expected

SEEDS = (0, 149)
"""Some fifteen seconds; `make fuzz-simulator` runs many more."""


RARE = {Semantics.KAFKA: (1577,), Semantics.KIP: (795, 3861)}
"""Seeds beside those, of what one in some thousand reaches: a member is fenced by its epoch or its instance.

Where the drawing has changed, look for others with ``manage.py fuzz --seeds N --coverage``.
"""


@pytest.fixture(scope="module")
def answered() -> Answer:
    whole = answer(*SEEDS, list(Semantics), covered=True)
    for semantics, seeds in RARE.items():
        for seed in seeds:
            whole.add(answer(seed, seed, [semantics], covered=True))
    return whole


def test_random_scenarios_break_no_invariant_and_come_to_rest(answered: Answer) -> None:
    assert answered.runs == 2 * (SEEDS[1] - SEEDS[0] + 1) + sum(map(len, RARE.values()))
    assert answered.found == []


@pytest.mark.parametrize("semantics", Semantics)
def test_every_verb_error_state_and_invariant_is_reached(answered: Answer, semantics: Semantics) -> None:
    counts = answered.counts[semantics]
    assert [name for name in expected(semantics) if not counts[name]] == []


@pytest.mark.parametrize("semantics", Semantics)
@pytest.mark.parametrize("preset", PRESETS)
def test_a_seed_draws_the_same_scenario_always_and_each_preset_another(semantics: str, preset: str) -> None:
    assert document_of(7, semantics, [preset]) == document_of(7, semantics, [preset])
    assert len({text_of(document_of(7, semantics, [each])) for each in PRESETS}) == len(PRESETS)


def test_a_drawn_scenario_written_as_yaml_gives_the_same_run() -> None:
    drawn = scenario_of(11, "kafka")
    again = load(as_yaml(document_of(11, "kafka")))
    assert list(run(again)) == list(run(drawn))


class Hates(Checker):
    """Breaks an invariant when a killed member's session runs out while another one commits nothing at all."""

    def see(self, entry: Entry, state: State) -> list[Violation]:
        violations = super().see(entry, state)
        if entry.payload.get("timer") == "session" and entry.payload["event"] == "fired":
            told = Violation(invariant="session", sentence="It is hated.", sequences=(entry.sequence,))
            violations.append(told)
        return violations


@pytest.fixture
def hating(monkeypatch: pytest.MonkeyPatch) -> int:
    """A seed that fails: nothing may run out."""
    monkeypatch.setattr("simulations.world.engine.checked_run.Checker", Hates)
    return next(seed for seed in range(50) if answering.judged(seed, "kafka").broken is not None)


def test_a_failure_is_shrunk_to_what_breaks_the_same_invariant(hating: int) -> None:
    document = document_of(hating, "kafka")
    broken = broken_by(load(text_of(document)), "kafka")
    assert broken is not None
    small = shrunk(document, "kafka", broken)
    # Somebody joins and is silent: by a kill, a pause, or a leave that it cannot say.
    assert len(small["members"]) == 1
    assert len(small["topics"]) == 1
    assert len(small["script"]) <= 3
    again = broken_by(load(as_yaml(small)), "kafka")
    assert again is not None
    assert again.invariant == "session"


def test_shrinking_stops_when_its_runs_are_used_up(hating: int) -> None:
    document = document_of(hating, "kafka")
    broken = Broken(invariant="session", sentence="", sequence=1)
    less, more = (len(as_yaml(shrunk(document, "kafka", broken, runs=runs))) for runs in (3, 100))
    assert less >= more


def test_an_error_of_the_simulator_itself_is_found_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError("lost my way")

    monkeypatch.setattr("simulations.world.engine.simulation.Simulation.entries", fails)
    broken = answering.judged(1, "kip").broken
    assert broken is not None
    assert broken.invariant == CRASHED
    assert broken.sentence.startswith("RuntimeError: lost my way (fails, line ")


def fuzz(*arguments: str) -> tuple[dict[str, Any], str]:
    out, err = StringIO(), StringIO()
    call_command("fuzz", *arguments, stdout=out, stderr=err)
    told: dict[str, Any] = json.loads(out.getvalue())
    return told, err.getvalue()


def test_the_command_reports_in_one_line_and_tells_progress_beside_it() -> None:
    told, beside = fuzz("--seeds", "5-9")
    assert told["seeds"] == "5-9"
    assert told["runs"] == 10
    assert told["violations"] == []
    assert told["seconds"] >= 0
    assert "10 of 10 runs" in beside


def test_the_command_counts_what_was_reached_when_asked() -> None:
    told, _ = fuzz("--seeds", "1-3", "--semantics", "kip", "--coverage")
    assert told["coverage"]["kip"]["verb join"] > 0


def test_one_seed_can_be_written_down_without_a_failure(tmp_path: Path) -> None:
    fuzz("--seeds", "4", "--semantics", "kafka", "--out", str(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kafka-4.entries.jsonl", "kafka-4.yaml"]
    lines = (tmp_path / "kafka-4.entries.jsonl").read_text().splitlines()
    assert len(lines) == len(list(run(load((tmp_path / "kafka-4.yaml").read_text()))))


def test_a_failure_is_reported_with_its_shrunk_scenario_and_exit_1(hating: int, tmp_path: Path) -> None:
    out, seed = StringIO(), str(hating)
    with pytest.raises(CommandError, match="1 of 1 runs broke") as caught:
        call_command(
            "fuzz",
            "--seeds",
            seed,
            "--semantics",
            "kafka",
            "--out",
            str(tmp_path),
            stdout=out,
            stderr=StringIO(),
        )
    assert caught.value.returncode == 1
    (violation,) = json.loads(out.getvalue())["violations"]
    assert (violation["seed"], violation["semantics"], violation["invariant"]) == (hating, "kafka", "session")
    assert yaml.safe_load(violation["scenario"])["script"]
    assert (tmp_path / f"kafka-{hating}.shrunk.yaml").read_text() == violation["scenario"]
    entries = (tmp_path / f"kafka-{hating}.entries.jsonl").read_text().splitlines()
    assert any(json.loads(line)["payload"].get("invariant") == "session" for line in entries)


def test_an_error_of_the_simulator_is_reported_with_the_entries_before_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    whole = Simulation.entries

    def fails(simulation: Simulation) -> Iterator[Entry]:
        for entry in whole(simulation):
            yield entry
            if entry.kind is Kind.REQUEST:
                raise RuntimeError("lost my way")

    monkeypatch.setattr(Simulation, "entries", fails)
    out = StringIO()
    with pytest.raises(CommandError, match="1 of 1 runs broke"):
        call_command(
            "fuzz",
            "--seeds",
            "1",
            "--semantics",
            "kip",
            "--out",
            str(tmp_path),
            stdout=out,
            stderr=StringIO(),
        )
    (violation,) = json.loads(out.getvalue())["violations"]
    assert violation["invariant"] == CRASHED
    entries = (tmp_path / "kip-1.entries.jsonl").read_text().splitlines()
    assert [json.loads(line)["kind"] for line in entries].index("request") == len(entries) - 1


def test_ctrl_c_tells_what_was_done(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def interrupted(first: int, *_: Any, **__: Any) -> Answer:
        asked.append(first)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return Answer(runs=100)

    monkeypatch.setattr(answering, "answer", interrupted)
    out = StringIO()
    with pytest.raises(CommandError, match="100 of 300 runs are done, 0 broke") as caught:
        call_command("fuzz", "--seeds", "0-149", stdout=out, stderr=StringIO())
    assert caught.value.returncode == 130
    assert json.loads(out.getvalue())["runs"] == 100


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--seeds", "9-3"], "--seeds 9-3: the first is at most the last"),
        (["--seeds", "many"], "--seeds many: expected the first and the last one, such as 0-999"),
        (["--seeds", "1", "--semantics", "java"], "--semantics java: there are kip, kafka, both"),
        (["--seeds", "1", "--presets", "calm,wild"], "--presets calm,wild: there are calm, stormy, hostile"),
        (["--seeds", "1", "--out", __file__], "this is a file, and a folder is needed"),
    ],
)
def test_wrong_words_are_told_in_one_line(arguments: list[str], says: str) -> None:
    with pytest.raises(CommandError, match=says) as caught:
        call_command("fuzz", *arguments, stdout=StringIO(), stderr=StringIO())
    assert caught.value.returncode == 2


@pytest.mark.spark
def test_spark_runs_the_same_seeds(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def in_this_process(module: str, *, question: dict[str, Any]) -> Iterator[dict[str, Any]]:
        out = BytesIO()
        job.run(question, Lines(out))
        return map(json.loads, out.getvalue().splitlines())

    monkeypatch.setattr(job, "spark_session", lambda **options: nullcontext(spark))
    monkeypatch.setattr("groups.jobs.children.run_child", in_this_process)
    told, beside = fuzz("--seeds", "0-9", "--spark", "local[2]", "--coverage")
    here, _ = fuzz("--seeds", "0-9", "--coverage")
    assert told | {"seconds": 0} == here | {"seconds": 0}
    assert "Starting Spark" in beside
