"""The fuzzer of classic groups and of migrations: nothing is found, everything is reached, and seeded mistakes are."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from simulations.proof.fuzzing.batches import Answer, answer, judged
from simulations.proof.fuzzing.generator import document_of, scenario_of, text_of
from simulations.proof.fuzzing.groups import Groups
from simulations.proof.fuzzing.presets import PRESETS
from simulations.proof.fuzzing.shrinking import as_yaml
from simulations.proof.fuzzing.verdict import verdict_on
from simulations.world.engine import run
from simulations.world.scenario import load
from tests.simulations.fuzzing_reach import expected_of

SEEDS = (0, 99)
"""The first fifty reach everything; ``make fuzz-simulator`` runs many more."""

KINDS = (Groups.CLASSIC, Groups.MIXED)


@pytest.fixture(scope="module")
def answered() -> Answer:
    return answer(*SEEDS, ["kafka", "kip"], groups=KINDS, covered=True)


@pytest.mark.long
def test_random_classic_and_mixed_groups_break_no_invariant_and_come_to_rest(answered: Answer) -> None:
    assert answered.runs == 3 * (SEEDS[1] - SEEDS[0] + 1), "classic groups run in kafka alone"
    assert answered.found == []
    assert sum(answered.unknown.values()) < answered.runs / 5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.long
def test_every_verb_request_refusal_and_timer_of_classic_groups_is_reached(
    answered: Answer, kind: Groups
) -> None:
    counts = answered.counts[kind]
    assert [name for name in expected_of(kind) if not counts[name]] == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_of_a_kind_draws_the_same_scenario_always_and_each_preset_another(kind: Groups) -> None:
    assert document_of(7, "kafka", groups=kind) == document_of(7, "kafka", groups=kind)
    assert len({text_of(document_of(7, "kafka", [each], kind)) for each in PRESETS}) == len(PRESETS)


@pytest.mark.parametrize("seed", [12, 3034], ids=["12", "3034, whose members share a list of topics"])
def test_a_drawn_migration_written_as_yaml_gives_the_same_run(seed: int) -> None:
    drawn = scenario_of(seed, "kafka", groups=Groups.MIXED)
    assert list(run(load(as_yaml(document_of(seed, "kafka", groups=Groups.MIXED))))) == list(run(drawn))


ONE_BOUNCE = """
protocol: classic
assignor: stream
topics: {orders: {partitions: 6}}
config: {initial_rebalance_delay_ms: 0}
members:
  A: {subscribe: [orders], client: '2.3'}
  B: {subscribe: [orders], client: '2.3'}
script:
  - {at: 0s, join: A}
  - {at: 4s, join: B}
  - {at: 20s, bounce: B, with: {client: '4.3'}, for: 2s}
  - {at: 40s, enforce_rebalance: A}
"""


def test_what_a_released_client_is_known_to_do_wrong_is_told_and_not_taken_for_a_violation() -> None:
    verdict = verdict_on(load(ONE_BOUNCE), "kafka")
    assert verdict.broken is None
    assert verdict.unknown is not None
    assert "a leader before 2.4 gives away what cooperative members keep" in verdict.unknown


def test_the_newest_clients_have_no_known_fault_in_a_group_of_range() -> None:
    text = ONE_BOUNCE.replace("'2.3'", "'4.3'").replace("assignor: stream", "assignor: range")
    verdict = verdict_on(load(text + "until: 20m\n"), "kafka")
    assert (verdict.broken, verdict.unknown) == (None, None)


def test_a_group_that_asks_again_and_again_is_told() -> None:
    """Streams' tasks are shared among all members: one that subscribes to less is given what it does not read."""
    text = """
    protocol: classic
    assignor: stream
    topics: {foo: {partitions: 2}, bar: {partitions: 2}}
    config: {initial_rebalance_delay_ms: 0}
    network: {delay_ms: [0, 0]}
    members: {A: {subscribe: [foo, bar]}, B: {subscribe: [bar]}}
    script: [{at: 0s, join: A}, {at: 1s, join: B}]
    """
    broken = verdict_on(load(text), "kafka").broken
    assert broken is not None
    assert broken.invariant in {"requests_end", "assigned_once"}


def fuzz(*arguments: str) -> tuple[dict[str, Any], str]:
    out, err = StringIO(), StringIO()
    call_command("fuzz", *arguments, stdout=out, stderr=err)
    told: dict[str, Any] = json.loads(out.getvalue())
    return told, err.getvalue()


def test_the_command_runs_the_protocols_that_are_named_and_counts_what_it_did_not_judge() -> None:
    told, beside = fuzz("--seeds", "0-20", "--protocols", "classic,mixed", "--coverage")
    assert told["runs"] == 63
    assert told["violations"] == []
    assert sorted(told["coverage"]) == ["classic", "mixed", "mixed-kip"]
    assert "63 of 63 runs" in beside


def test_one_seed_of_a_kind_is_written_under_its_name(tmp_path: Path) -> None:
    fuzz("--seeds", "4", "--semantics", "kafka", "--protocols", "mixed", "--out", str(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mixed-4.entries.jsonl", "mixed-4.yaml"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--protocols", "eager"], "--protocols eager: there are consumer, classic, mixed"),
        (
            ["--protocols", "classic", "--semantics", "kip"],
            "--protocols classic: such groups run in kafka, not in kip",
        ),
    ],
)
def test_wrong_protocols_are_told_in_one_line(arguments: list[str], says: str) -> None:
    with pytest.raises(CommandError, match=says) as caught:
        call_command("fuzz", "--seeds", "1", *arguments, stdout=StringIO(), stderr=StringIO())
    assert caught.value.returncode == 2


def test_judging_a_seed_is_the_same_each_time() -> None:
    assert judged(62, "kafka", groups="classic") == judged(62, "kafka", groups="classic")
