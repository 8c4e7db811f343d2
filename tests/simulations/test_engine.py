"""The engine: the same run for the same seed, faults, timers, and a log that tells what happened and why."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from groups.history.entries import Entry, Kind
from groups.wire.logs.batches import read_batches
from groups.wire.logs.record_batch import RecordBatch
from groups.wire.records import decode_record
from simulations.output import segment
from simulations.world import engine, studies
from simulations.world.engine import RunTooLong, run, simulation
from simulations.world.engine.queue import EventQueue, Priority
from simulations.world.scenario import load

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = """
import sys
from simulations.world import studies
from simulations.world.engine import run
for name in studies.names():
    for semantics in ("kip", "kafka"):
        for entry in run(studies.load(name), semantics, 11):
            print(entry.to_json())
"""


def scenario(script: str, more: str = "") -> list[Entry]:
    text = f"""
topics: {{foo: {{partitions: 4}}}}
members: {{A: {{subscribe: [foo]}}, B: {{subscribe: [foo]}}}}
config: {{session_timeout_ms: 6000, heartbeat_interval_ms: 1000}}
script: [{script}]
until: 30s
{more}
"""
    return list(run(load(text, "orders")))


def test_a_run_of_joins_does_not_put_the_proposals_target_off() -> None:
    entries = scenario("{at: 0s, join: A}, {at: 80ms, join: B}, {at: 160ms, restart: A}", "semantics: kip")
    targets = [e.at_ms for e in of_kind(entries, Kind.RECORD) if e.payload["type"] == 6]
    assert targets[0] <= 110


def test_who_joins_while_its_last_process_is_closing_is_a_new_one() -> None:
    entries = scenario(
        "{at: 0s, join: A}, {at: 5s, slow_revoke: A, for: 4s}, {at: 6s, leave: A}, {at: 7s, join: A}"
    )
    joined = [
        e.payload["key"]["memberId"]
        for e in of_kind(entries, Kind.RECORD)
        if e.payload["type"] == 5 and e.payload["value"] is not None
    ]
    assert joined == ["A", "A~2"]


def of_kind(entries: list[Entry], kind: Kind) -> list[Entry]:
    return [entry for entry in entries if entry.kind is kind]


@pytest.mark.parametrize("name", studies.names())
def test_the_same_seed_gives_the_same_run_and_another_seed_another(name: str) -> None:
    case = studies.load(name)
    assert list(run(case, seed=5)) == list(run(case, seed=5))
    assert list(run(case, seed=5)) != list(run(case, seed=6))


@pytest.mark.long
def test_a_run_is_the_same_bytes_whatever_the_seed_of_pythons_hashes() -> None:
    def printed(hash_seed: str) -> bytes:
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
        return subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, check=True
        ).stdout

    first = printed("0")
    assert len(first) > 100_000
    assert printed("1") == printed("4242") == first


def test_the_topics_stand_first_with_ids_drawn_from_the_seed() -> None:
    entry = next(run(studies.load("kip848-basic"), seed=3))
    other = next(run(studies.load("kip848-basic"), seed=4))
    assert (entry.sequence, entry.kind, entry.payload["note"]) == (1, Kind.NOTE, "topics")
    assert entry.payload["topics"]["foo"]["partitions"] == 3
    assert entry.payload["topics"]["foo"]["id"] != other.payload["topics"]["foo"]["id"]


def test_a_steady_heartbeat_is_one_entry_and_everything_else_has_an_answer() -> None:
    entries = scenario("{at: 0s, join: A}")
    requests = of_kind(entries, Kind.REQUEST)
    steady = [entry for entry in requests if entry.payload.get("steady")]
    answered = {entry.cause for entry in of_kind(entries, Kind.RESPONSE)}
    assert len(steady) > 20
    assert answered == {entry.sequence for entry in requests if entry not in steady}


def test_records_are_caused_by_their_request_and_acknowledgements_by_their_callback() -> None:
    entries = {entry.sequence: entry for entry in scenario("{at: 0s, join: A}, {at: 5s, join: B}")}
    acknowledged = next(
        entry
        for entry in entries.values()
        if entry.kind is Kind.RECORD
        and entry.actor == "coordinator"
        and entry.payload["type"] == 8
        and entry.payload["value"]["memberEpoch"] == 3
        and entry.payload["key"]["memberId"] == "A"
    )
    chain = []
    cause = acknowledged.cause
    while cause is not None:
        entry = entries[cause]
        chain.append((str(entry.kind), entry.payload.get("callback"), entry.payload.get("phase")))
        cause = entry.cause
    assert chain == [
        ("request", None, None),
        ("callback", "on_partitions_assigned", "end"),
        ("callback", "on_partitions_assigned", "start"),
        ("callback", "on_partitions_revoked", "end"),
        ("callback", "on_partitions_revoked", "start"),
        ("response", None, None),
        ("request", None, None),
    ]


def test_a_group_lies_in_its_partition_of_the_offsets_topic() -> None:
    records = of_kind(scenario("{at: 0s, join: A}"), Kind.RECORD)
    assert {entry.partition for entry in records} == {31}, "as Java computes it"


def test_a_paused_process_is_removed_and_learns_it_when_it_goes_on() -> None:
    entries = scenario("{at: 0s, join: A}, {at: 3s, pause: A}, {at: 15s, resume: A}")
    faults = [(entry.at_ms, entry.payload["fault"]) for entry in of_kind(entries, Kind.FAULT)]
    assert faults == [(3_000, "pause"), (15_000, "resume")]
    callbacks = [
        entry.payload["callback"]
        for entry in of_kind(entries, Kind.CALLBACK)
        if entry.payload["phase"] == "start"
    ]
    assert callbacks == ["on_partitions_assigned", "on_partitions_lost", "on_partitions_assigned"]
    errors = [entry.payload["body"].get("errorCode") for entry in of_kind(entries, Kind.RESPONSE)]
    assert errors.count(25) == 1


def test_a_restarted_process_has_an_id_of_its_own_in_the_same_name() -> None:
    entries = scenario("{at: 0s, join: A}, {at: 3s, restart: A}, {at: 12s, kill: A}, {at: 13s, join: A}")
    actors = dict.fromkeys(entry.actor for entry in of_kind(entries, Kind.REQUEST))
    assert list(actors) == ["A", "A~2", "A~3"]


def test_a_member_that_left_may_come_back_under_its_id() -> None:
    entries = scenario("{at: 0s, join: A}, {at: 3s, leave: A}, {at: 6s, join: A}")
    joins = [e.actor for e in of_kind(entries, Kind.REQUEST) if e.payload["body"]["memberEpoch"] == 0]
    assert joins == ["A", "A"]


def test_times_begin_at_the_scenarios_start() -> None:
    entries = scenario("{at: 1s, join: A}", "start_ms: 1795224375000")
    assert entries[0].at_ms == 1795224375000
    assert 1 <= entries[1].at_ms - 1795224376000 <= 5
    target = next(e for e in of_kind(entries, Kind.RECORD) if e.payload["type"] == 6)
    assert target.payload["value"]["assignmentTimestamp"] == target.at_ms


def test_events_of_one_time_happen_by_priority_and_then_in_the_order_planned() -> None:
    queue, seen = EventQueue(10), []
    for name, at_ms, priority in [
        ("timer", 20, Priority.TIMER),
        ("arrival", 20, Priority.ARRIVAL),
        ("late", 21, Priority.SCRIPT),
        ("second arrival", 20, Priority.ARRIVAL),
        ("past", 5, Priority.TIMER),
    ]:
        queue.plan(at_ms, priority, lambda name=name: seen.append((queue.now_ms, name)))
    while (happen := queue.next_until(20)) is not None:
        happen()
    assert seen == [(10, "past"), (20, "arrival"), (20, "second arrival"), (20, "timer")]


def test_a_run_ends_at_its_bound_with_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "ENTRIES_MAX", 40)
    with pytest.raises(RunTooLong, match="the run stopped at 40 entries"):
        list(engine.run(studies.load("kip848-basic")))


def test_the_segment_of_a_run_holds_its_records_batch_for_batch() -> None:
    entries = list(run(studies.load("released-basic")))
    batches = list(read_batches(b"".join(segment(entries))))
    assert all(isinstance(batch, RecordBatch) for batch in batches)
    read = [
        (record.offset, record.timestamp_ms, number, decode_record(record.key, record.value))
        for number, batch in enumerate(batches)
        if isinstance(batch, RecordBatch)
        for record in batch.records
    ]
    written = [(e.offset, e.at_ms, e.batch, e.payload) for e in of_kind(entries, Kind.RECORD)]
    assert read == written


def test_a_target_of_the_first_moment_keeps_the_assignment_interval_too() -> None:
    """A time of 0 would say that there was none."""
    text = """
topics: {foo: {partitions: 6}}
members: {A: {subscribe: [foo]}, B: {subscribe: [foo]}}
network: {delay_ms: [0, 0]}
script: [{at: 0s, join: A}, {at: 0.2s, join: B}]
until: 10s
"""
    written = [e for e in run(load(text, "orders")) if e.kind is Kind.RECORD and e.payload["type"] == 6]
    assert [e.payload["value"]["assignmentTimestamp"] for e in written][:1] == [1]
    assert [e.at_ms > 1_000 for e in written] == [False, True]
