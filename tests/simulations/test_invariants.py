"""Safety while things go wrong, then convergence once they stop; judged by a checker that stands outside."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.history.entries import Kind
from groups.history.replay.fold import replay
from groups.history.state.group import initial_state
from simulations.world import studies
from simulations.world.engine import run
from simulations.world.scenario import Scenario, load
from tests.simulations.checked import checked
from tests.simulations.consumer_studies import CONSUMER_STUDIES
from tests.tiers import examples

SESSION_MS, SLOW_MS, REBALANCE_MS = 6_000, 6_000, 4_000
QUIET_MS = 2 * (SESSION_MS + SLOW_MS) + 12_000
"""After the last line of a script: a session, a rebalance timeout twice over, and some heartbeats."""


@pytest.mark.parametrize("name", CONSUMER_STUDIES)
@pytest.mark.parametrize("semantics", ["kip", "kafka"])
def test_every_case_study_keeps_the_rules_after_each_unit(name: str, semantics: str) -> None:
    scenario = studies.load(name)
    checked(scenario, semantics, converges=scenario.start is None)


@st.composite
def scripts(draw: st.DrawFn) -> Scenario:
    """A few members that join, leave, die, stand still, go on, and are slow to give up, at any time."""
    topics = {f"t{n}": {"partitions": draw(st.integers(1, 6))} for n in range(draw(st.integers(1, 2)))}
    names = "ABCD"[: draw(st.integers(1, 4))]
    members = {
        name: {
            "subscribe": draw(st.lists(st.sampled_from(sorted(topics)), min_size=1, unique=True)),
            "rebalance_timeout_ms": REBALANCE_MS,
            "callback_ms": draw(st.sampled_from([0, 20, 700])),
        }
        | ({"instance_id": f"i-{name}"} if draw(st.booleans()) else {})
        for name in names
    }
    states = dict.fromkeys(names, "away")
    counts = {topic: told["partitions"] for topic, told in topics.items()}
    now_ms = 0
    script: list[dict[str, Any]] = []
    for name in draw(st.lists(st.sampled_from(names), unique=True)):
        script.append({"at": "0s", "join": name})
        states[name] = "runs"
    for _ in range(draw(st.integers(1, 14))):
        now_ms += draw(st.sampled_from([0, 1, 40, 300, 1_000, 2_500, 7_000]))
        name = draw(st.sampled_from(names))
        verbs = {
            "away": ["join"],
            "dead": ["join"],
            "runs": ["leave", "kill", "pause", "restart", "slow_revoke", "heartbeat", "commit", "subscribe"],
            "paused": ["resume", "kill"],
        }[states[name]]
        verb = draw(st.sampled_from([*verbs, "add_partitions"]))
        line: dict[str, Any] = {"at": f"{now_ms}ms", verb: name}
        match verb:
            case "slow_revoke":
                line["for"] = f"{draw(st.sampled_from([0, 900, SLOW_MS]))}ms"
            case "subscribe":
                line["topics"] = draw(st.lists(st.sampled_from(sorted(topics)), min_size=1, unique=True))
            case "add_partitions":
                topic = draw(st.sampled_from(sorted(topics)))
                counts[topic] += 1
                line = {"at": f"{now_ms}ms", verb: topic, "to": counts[topic]}
        states[name] = {
            "join": "runs",
            "restart": "runs",
            "resume": "runs",
            "leave": "away",
            "kill": "dead",
            "pause": "paused",
        }.get(verb, states[name])
        script.append(line)
    config = {
        "session_timeout_ms": SESSION_MS,
        "heartbeat_interval_ms": draw(st.sampled_from([500, 1_000, 2_500])),
        "assignment_interval_ms": draw(st.sampled_from([0, 1_000, 3_000])),
    }
    return load(
        json.dumps(
            {
                "topics": topics,
                "members": members,
                "config": config,
                "assignor": draw(st.sampled_from(["uniform", "range"])),
                "network": {"delay_ms": draw(st.sampled_from([[0, 0], [1, 5], [10, 300]]))},
                "script": script,
                "seed": draw(st.integers(0, 1_000)),
                "until": f"{now_ms + QUIET_MS}ms",
            }
        ),
        "random",
    )


@examples(120)
@given(scripts(), st.sampled_from(["kafka", "kip"]))
def test_any_script_keeps_the_rules_and_converges_once_it_is_over(scenario: Scenario, semantics: str) -> None:
    checked(scenario, semantics)


@examples(25)
@given(scripts(), st.sampled_from(["kafka", "kip"]))
def test_what_is_kept_for_good_is_what_the_records_alone_give(scenario: Scenario, semantics: str) -> None:
    whole = records = initial_state(scenario.group, semantics)
    for entry in run(scenario, semantics):
        whole = replay(whole, entry)
        assert not whole.anomalies
        if entry.kind in (Kind.RECORD, Kind.NOTE):
            records = replay(records, entry)
    assert records.consumer == whole.consumer
    assert records.offsets == whole.offsets
