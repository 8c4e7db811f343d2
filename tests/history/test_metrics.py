"""Kafka's metrics, computed from a timeline's entries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from groups.history.entries import Entry, Kind, Provenance
from groups.history.frames.frame import frame
from groups.history.frames.shapes import NO_FRAME
from groups.history.metrics import Metrics
from groups.history.metrics.sampled import WINDOW_MS, WINDOWS, Sampled
from groups.history.metrics.table import METRICS, UNMEASURED
from groups.history.passes.recorder import Recorder
from groups.history.replay.fold import replay
from groups.history.state.group import Semantics, initial_state
from groups.history.state.plain import from_plain, to_plain
from simulations.world import studies
from simulations.world.engine import run

REFERENCE = Path(__file__).parents[2] / "docs/reference/metrics.md"


def measured(entries: list[Entry]) -> dict[str, Any]:
    state, metrics = initial_state(entries[0].payload.get("group", "any"), Semantics.KAFKA), Metrics()
    for entry in entries:
        state = replay(state, entry)
        metrics.add(entry)
    return metrics.values(frame(state))


def of_run(name: str) -> dict[str, Any]:
    scenario = studies.load(name)
    state, metrics = initial_state(scenario.group, scenario.semantics), Metrics()
    for entry in run(scenario):
        state = replay(state, entry)
        metrics.add(entry)
    return metrics.values(frame(state))


def broker(values: Mapping[str, Any], name: str, **tags: str) -> Any:
    [found] = [each["value"] for each in values["broker"] if each["name"] == name and each["tags"] == tags]
    return found


def client(values: Mapping[str, Any], member: str, name: str) -> Any:
    [found] = [each for each in values["clients"] if each["member"] == member]
    [value] = [each["value"] for each in found["metrics"] if each["name"] == name]
    return value


def entry(sequence: int, at_ms: int, kind: Kind, actor: str, payload: dict[str, Any], **place: Any) -> Entry:
    return Entry(
        sequence=sequence,
        at_ms=at_ms,
        kind=kind,
        actor=actor,
        provenance=Provenance.SIMULATED,
        payload=payload,
        **place,
    )


def heartbeat(sequence: int, at_ms: int, **body: Any) -> Entry:
    payload = {
        "api": "ConsumerGroupHeartbeat",
        "version": 1,
        "body": {"memberId": "A", "memberEpoch": 1} | body,
    }
    return entry(sequence, at_ms, Kind.REQUEST, "A", payload)


def answer(sequence: int, at_ms: int, **body: Any) -> Entry:
    payload = {"api": "ConsumerGroupHeartbeat", "version": 1, "to": "A", "body": {"errorCode": 0} | body}
    return entry(sequence, at_ms, Kind.RESPONSE, "coordinator", payload)


ASSIGNED = [{"topicId": "AAAAAAAAAAAAAAAAAAAAAQ", "partitions": [0, 1]}]


def test_a_rebalance_lasts_from_the_answer_with_an_assignment_to_its_acknowledgement() -> None:
    values = measured(
        [
            heartbeat(1, 0, memberEpoch=0, topicPartitions=[]),
            answer(2, 0, memberEpoch=1, assignment={"topicPartitions": ASSIGNED}),
            heartbeat(3, 30, topicPartitions=ASSIGNED),
            answer(4, 30, memberEpoch=1, assignment=None),
            heartbeat(5, 5_030),
        ]
    )
    assert client(values, "A", "rebalance-total") == 1
    assert client(values, "A", "rebalance-latency-avg") == 30
    assert client(values, "A", "rebalance-latency-total") == 30
    assert client(values, "A", "last-rebalance-seconds-ago") == 5
    assert client(values, "A", "heartbeat-total") == 3


def test_an_error_in_the_middle_of_a_rebalance_makes_it_a_failed_one() -> None:
    values = measured(
        [
            heartbeat(1, 0, memberEpoch=0, topicPartitions=[]),
            answer(2, 0, memberEpoch=1, assignment={"topicPartitions": ASSIGNED}),
            heartbeat(3, 5_000),
            answer(4, 5_000, errorCode=110),
        ]
    )
    assert client(values, "A", "failed-rebalance-total") == 1
    assert client(values, "A", "rebalance-total") == 0
    assert client(values, "A", "last-rebalance-seconds-ago") == -1


def test_the_coordinator_counts_epochs_that_heartbeats_began_and_not_those_of_leaves() -> None:
    values = of_run("released-basic")
    scenario = studies.load("released-basic")
    epochs = [each for each in run(scenario) if each.kind is Kind.RECORD and each.payload["type"] == 3]
    gone = [
        each
        for each in run(scenario)
        if each.kind is Kind.RECORD and each.payload["type"] == 5 and each.payload["value"] is None
    ]
    assert gone, "somebody leaves in the released basic case"
    assert broker(values, "consumer-group-rebalance-count") == len(epochs) - len(gone)


def test_the_state_of_the_group_is_one_of_the_five_gauges() -> None:
    values = of_run("kip848-basic")
    assert broker(values, "consumer-group-count", state="stable") == 1
    assert sum(each["value"] for each in values["broker"] if each["name"] == "consumer-group-count") == 1
    assert broker(values, "group-count", protocol="consumer") == 1
    assert broker(values, "num-partitions", state="active") == 1


def test_partitions_load_for_as_long_as_a_fail_over_says() -> None:
    fail_over = entry(
        1, 1_000, Kind.FAULT, "coordinator", {"fault": "fail_over", "member": None, "loading_ms": 2_500}
    )
    at_once = measured([fail_over])
    assert broker(at_once, "num-partitions", state="loading") == 1
    assert broker(at_once, "partition-load-time-max") == 2_500
    later = measured([fail_over, heartbeat(2, 3_500)])
    assert broker(later, "num-partitions", state="active") == 1


def test_callbacks_are_measured_from_start_to_end() -> None:
    def call(sequence: int, at_ms: int, phase: str) -> Entry:
        payload = {"callback": "on_partitions_revoked", "phase": phase, "partitions": {"foo": [2]}}
        return entry(sequence, at_ms, Kind.CALLBACK, "A", payload)

    values = measured([call(1, 100, "start"), call(2, 1_600, "end")])
    assert client(values, "A", "partition-revoked-latency-max") == 1_500
    assert client(values, "A", "partition-lost-latency-max") is None


def test_what_a_checkpoint_carries_goes_on_as_if_nothing_had_been_between() -> None:
    entries = list(run(studies.load("released-basic")))
    whole = Metrics()
    for number, each in enumerate(entries):
        if number % 7 == 0:
            whole = from_plain(Metrics, json.loads(json.dumps(to_plain(whole))))
        whole.add(each)
    straight = Metrics()
    for each in entries:
        straight.add(each)
    last = NO_FRAME | {"sequence": 1, "at_ms": entries[-1].at_ms, "protocol": "consumer", "state": "Stable"}
    assert whole.values(last) == straight.values(last)


def test_a_checkpoint_of_the_recorder_holds_the_metrics() -> None:
    recorder = Recorder(group="orders")
    batch = None
    for each in run(studies.load("kip848-basic")):
        recorder.add(each)
    batch = recorder.flush(final=True)
    assert batch is not None
    assert batch.checkpoint is not None
    assert "metrics" in json.loads(batch.checkpoint)


@pytest.mark.parametrize(
    "payload", [{}, {"api": "ConsumerGroupHeartbeat"}, {"api": "ConsumerGroupHeartbeat", "body": 3}]
)
def test_an_entry_of_another_shape_measures_nothing(payload: dict[str, Any]) -> None:
    metrics = Metrics()
    metrics.add(entry(1, 0, Kind.REQUEST, "A", payload))
    metrics.add(entry(2, 0, Kind.RESPONSE, "coordinator", {**payload, "to": "A"}))


def test_the_reference_lists_every_metric_and_every_one_that_cannot_be_told() -> None:
    text = REFERENCE.read_text()
    for metric in METRICS:
        row = f"| `{metric.name}` | {', '.join(metric.tags)} | {metric.unit} | {'·' if metric.proposed else ''} | {metric.about} | {f'`{metric.kip_429}`' if metric.kip_429 else ''} |"
        assert row in text
    for gap in UNMEASURED:
        assert f"| `{gap.name}` | {gap.why} |" in text


def test_every_metric_of_the_table_is_computed_and_no_other() -> None:
    told: set[str] = set()
    for name in ("released-basic", "kip429-cooperative"):
        values = of_run(name)
        told |= {each["name"] for each in values["broker"]}
        told |= {each["name"] for one in values["clients"] for each in one["metrics"]}
    assert told == {metric.name for metric in METRICS}


# -- the classic protocol


def test_a_classic_rebalance_lasts_from_the_first_join_to_the_assignment_whatever_failed_in_between() -> None:
    log = list(run(studies.load("kip429-eager")))
    values = of_run("kip429-eager")
    asked = [
        one.at_ms
        for one in log
        if one.kind is Kind.REQUEST and one.payload["api"] == "JoinGroup" and one.actor == "C"
    ]
    [answered] = [
        one.at_ms
        for one in log
        if one.kind is Kind.RESPONSE and one.payload["api"] == "SyncGroup" and one.payload["to"] == "C"
    ]
    assert len(asked) == 2, "the first is refused with MEMBER_ID_REQUIRED"
    assert client(values, "C", "rebalance-latency-total") == answered - asked[0]
    assert client(values, "C", "failed-rebalance-total") == 1
    assert (client(values, "C", "join-total"), client(values, "C", "sync-total")) == (1, 1)
    assert client(values, "C", "last-rebalance-seconds-ago") == (values["at_ms"] - answered) // 1000
    assert client(values, "A", "rebalance-total") == 3


def test_callbacks_of_a_classic_consumer_are_measured_and_an_eager_one_revokes_each_time() -> None:
    values = of_run("kip429-eager")
    assert client(values, "A", "partition-revoked-latency-max") == 20
    assert client(values, "A", "partition-assigned-latency-avg") == 20


def test_a_coordinator_counts_generations_that_their_leader_assigned_and_the_state_of_the_group() -> None:
    values = of_run("kip429-eager")
    assert broker(values, "group-completed-rebalance-count") == 3
    assert broker(values, "NumGroupsStable") == 1
    assert broker(values, "NumGroupsPreparingRebalance") == 0
    assert broker(values, "group-count", protocol="classic") == 1


def test_a_consumer_of_the_consumer_protocol_has_no_joins() -> None:
    values = of_run("released-basic")
    assert not [
        one for each in values["clients"] for one in each["metrics"] if one["name"].startswith("join-")
    ]


def test_a_join_that_a_checkpoint_cuts_goes_on_behind_it() -> None:
    log = list(run(studies.load("kip429-eager")))
    whole, cut = Metrics(), Metrics()
    for one in log:
        whole.add(one)
        cut.add(one)
        cut = from_plain(Metrics, to_plain(cut))
    assert to_plain(cut) == to_plain(whole)


def test_a_sampled_value_counts_the_windows_of_the_last_minute_and_no_older_one() -> None:
    """Kafka's ``SampledStat`` with its defaults: two windows of 30 s."""
    assert (WINDOWS, WINDOW_MS) == (2, 30_000)
    stat = Sampled()
    assert (stat.average(0), stat.greatest(0), stat.count_rate(0)) == (None, None, 0)
    told = []
    for number, value in enumerate((1, 2, 6, 4, 8)):
        stat.record(value, number * WINDOW_MS)
        told.append((stat.average(number * WINDOW_MS), stat.greatest(number * WINDOW_MS)))
    assert told == [(1, 1), (1.5, 2), (4, 6), (5, 6), (6, 8)]
    assert stat.count_rate(4 * WINDOW_MS + 5_000) == pytest.approx(2 / 35)
    assert stat.average(6 * WINDOW_MS) is None
