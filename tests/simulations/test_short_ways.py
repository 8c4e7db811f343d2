"""The short ways of a run, which nearly every heartbeat takes, give the very entries that the long ones give."""

from __future__ import annotations

from typing import Any, Final
from unittest.mock import PropertyMock, patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.history.state.group import Semantics
from simulations.proof.fuzzing.generator import scenario_of
from simulations.proof.fuzzing.presets import PRESETS
from simulations.protocol.client.consumer import Consumer
from simulations.protocol.coordinator.shard import Shard
from simulations.world import studies
from simulations.world.engine import run
from simulations.world.engine.network import Network
from simulations.world.engine.runtime import CoordinatorRuntime
from simulations.world.scenario import Scenario, load
from tests.tiers import examples

QUIET: Final = load(
    """
name: a quiet group
protocol: consumer
semantics: kafka
topics: {foo: {partitions: 6}}
config: {session_timeout_ms: 45000, heartbeat_interval_ms: 5000}
members: {A: {subscribe: [foo]}, B: {subscribe: [foo]}, C: {subscribe: [foo]}}
script:
  - {at: 0s, join: A}
  - {at: 1s, join: B}
  - {at: 2s, join: C}
seed: 1
until: 400s
""",
    "a quiet group",
)


@examples(8)
@given(st.integers(0, 100_000), st.sampled_from(Semantics), st.sampled_from(PRESETS))
def test_whatever_happens_in_a_run_both_ways_tell_the_same(
    seed: int, semantics: Semantics, preset: str
) -> None:
    scenario = scenario_of(seed, semantics, [preset])
    assert told(scenario, semantics) == told_the_long_way(scenario, semantics)


@pytest.mark.parametrize(
    "name", ["released-six-partitions", "released-fail-over", "incident-rebalance-storm"]
)
def test_both_ways_tell_the_same_of_case_studies(name: str) -> None:
    scenario = studies.load(name)
    assert told(scenario, scenario.semantics) == told_the_long_way(scenario, scenario.semantics)


def test_nearly_all_heartbeats_of_a_quiet_group_go_the_short_way() -> None:
    with patch.object(
        CoordinatorRuntime, "_beats", autospec=True, side_effect=CoordinatorRuntime._beats
    ) as short:
        steady = [each for each in told(QUIET, Semantics.KAFKA) if each["payload"].get("steady")]
    assert len(steady) > 100
    assert short.call_count >= 0.9 * len(steady)


def told(scenario: Scenario, semantics: Semantics) -> list[dict[str, Any]]:
    return [entry.to_json() for entry in run(scenario, semantics)]


def told_the_long_way(scenario: Scenario, semantics: Semantics) -> list[dict[str, Any]]:
    with (
        patch.object(Consumer, "fast_path_ring", return_value=None),
        patch.object(Consumer, "fast_path_receive", return_value=False),
        patch.object(Network, "undisturbed", PropertyMock(return_value=False)),
        patch.object(Shard, "_knows_the_same", return_value=False),
    ):
        return told(scenario, semantics)
