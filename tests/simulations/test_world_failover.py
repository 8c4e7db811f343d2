"""A coordinator that dies or is led away from: what of its log remains, what its clients see, and how the next one begins."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.history.entries import Kind
from groups.history.replay.fold import replay_record
from groups.history.state.group import initial_state
from simulations.protocol.coordinator.consumer.outcome import Record
from simulations.world import studies
from simulations.world.engine import run
from simulations.world.engine.cluster import CLEAN_AT, CommittedLog, compacted
from simulations.world.engine.partition_log import PartitionLog
from simulations.world.engine.queue import EventQueue
from tests.simulations.consumer_studies import CONSUMER_STUDIES
from tests.simulations.worlds import THREE, Disturbed
from tests.tiers import examples

LOADING, NOT_COORDINATOR = 14, 16


def crash(world: Disturbed, at_ms: int, **how: Any) -> Disturbed:
    return world.at(at_ms, lambda each: each.fail_over(**{"crash": True, **how}))


def test_a_batch_that_no_replica_had_is_lost_and_was_never_folded() -> None:
    calm = Disturbed(replication_ms=400)
    calm.run()
    asked_ms = next(e.at_ms for e in calm.of(Kind.REQUEST) if e.actor == "A")
    world = crash(Disturbed(replication_ms=400), asked_ms + 100)
    world.run()
    lost = world.faults("lost_batch")
    assert [(e.payload["member"], 5 in e.payload["types"]) for e in lost][:1] == [(None, True)]
    records = world.of(Kind.RECORD)
    assert min(entry.at_ms for entry in records) > asked_ms + 100
    assert [entry.offset for entry in records] == list(range(len(records)))


def test_what_the_next_coordinator_has_of_the_tail_stands_though_nobody_was_answered() -> None:
    world = crash(Disturbed(replication_ms=400), 100, lost=0)
    world.run()
    assert world.faults("lost_batch") == []
    fail_over = world.faults("fail_over")[0]
    survived = [entry for entry in world.of(Kind.RECORD) if entry.sequence < fail_over.sequence]
    assert {entry.at_ms for entry in survived} == {100}
    assert not [entry for entry in world.of(Kind.RESPONSE) if entry.sequence < fail_over.sequence]


def test_while_it_is_loading_clients_are_turned_away_and_then_every_timer_starts_anew() -> None:
    world = crash(Disturbed(), 5_500, loading_ms=2_000)
    world.run()
    assert world.errors() == {LOADING}
    answers = [entry.payload["body"] for entry in world.of(Kind.RESPONSE, api="ConsumerGroupHeartbeat")]
    refusals = [body for body in answers if body["errorCode"]]
    assert {body["errorMessage"] for body in refusals} == {None}, "it would be the error's usual one"
    fail_over = world.faults("fail_over")[0]
    assert dict(fail_over.payload) == {
        "fault": "fail_over",
        "member": None,
        "coordinator": "broker-2",
        "epoch": 1,
        "release": "4.4.0",
        "loading_ms": 2_000,
    }
    started = [e for e in world.of(Kind.TIMER, event="started") if e.cause == fail_over.sequence]
    assert sorted((e.payload["member"], e.payload["deadline_ms"]) for e in started) == [
        (member, 5_500 + 2_000 + 6_000) for member in "ABC"
    ]
    assert all(e.at_ms != 5_500 for e in world.of(Kind.TIMER)), "the old timers just are no more"


def test_a_coordinator_that_is_led_away_from_says_so_to_those_that_still_wait() -> None:
    world = Disturbed(replication_ms=400).at(100, lambda each: each.fail_over(crash=False))
    world.run()
    assert world.errors() == {NOT_COORDINATOR}


def test_operations_take_effect_in_the_order_in_which_they_were_handled() -> None:
    world = Disturbed(replication_ms=400)
    world.run()
    offsets = [entry.offset for entry in world.of(Kind.RECORD)]
    assert offsets == list(range(len(offsets)))
    answered = [entry.cause for entry in world.of(Kind.RESPONSE)]
    assert answered == sorted(answered, key=lambda cause: cause or 0)


def test_what_waits_together_shares_a_batch_and_without_a_delay_nothing_does() -> None:
    def units_by_batch(**around: Any) -> list[int]:
        world = Disturbed(THREE.replace("until", "network: {delay_ms: [3, 3]}\nuntil"), **around)
        world.run()
        batches: dict[int | None, set[int | None]] = {}
        for entry in world.of(Kind.RECORD):
            batches.setdefault(entry.batch, set()).add(entry.unit)
        return [len(units) for units in batches.values()]

    assert max(units_by_batch()) == 1
    assert max(units_by_batch(replication_ms=1)) == 3


@pytest.mark.parametrize("linger_ms", [0, 5])
def test_a_lingering_log_waits_for_more_and_one_that_does_not_writes_each_alone(linger_ms: int) -> None:
    queue, seen = EventQueue(0), []
    log = PartitionLog(queue, replication_ms=10, linger_ms=linger_ms)
    record: Record = {"type": 3, "key": {}, "version": 0, "value": {}}
    for name in "ab":
        log.add(
            [record], lambda batch, name=name: seen.append((name, queue.now_ms, id(batch))), lambda _: None
        )
    log.add((), lambda batch: seen.append(("read", queue.now_ms, id(batch))), lambda _: None)
    while (happen := queue.next_until(100)) is not None:
        happen()
    assert [(name, at_ms) for name, at_ms, _ in seen] == [
        (name, linger_ms + 10) for name in ("a", "b", "read")
    ]
    assert (seen[0][2] == seen[1][2]) == (linger_ms > 0)


def test_a_coordinator_without_its_replicas_commits_nothing_until_they_are_back() -> None:
    world = Disturbed()
    world.at(3_000, lambda each: each.cut("coordinator")).at(9_500, lambda each: each.heal("coordinator"))
    world.run()
    assert not [
        e for e in world.entries if 3_000 < e.at_ms < 9_500 and e.kind in (Kind.RECORD, Kind.RESPONSE)
    ]


@pytest.mark.parametrize("semantics", ["kip", "kafka"])
@examples(20)
@given(name=st.sampled_from(CONSUMER_STUDIES), cut=st.floats(0, 1), tombstones=st.booleans())
def test_the_compacted_log_gives_the_group_of_the_whole_one_wherever_it_ends(
    semantics: str, name: str, cut: float, tombstones: bool
) -> None:
    scenario = studies.load(name)
    units: dict[int | None, list[Record]] = {}
    for entry in run(scenario, semantics):
        if entry.kind is Kind.RECORD:
            units.setdefault(entry.unit, []).append(entry.payload)
    written = [record for unit in list(units.values())[: round(cut * len(units))] for record in unit]
    whole = cleaned = initial_state(scenario.group, semantics)
    for record in written:
        whole = replay_record(whole, record)
    for record in compacted(written, tombstones=tombstones):
        cleaned = replay_record(cleaned, record)
    assert cleaned.consumer == whole.consumer
    assert cleaned.offsets == whole.offsets


def test_a_long_log_is_cleaned_and_loses_nothing_but_what_was_replaced() -> None:
    log = CommittedLog()
    for epoch in range(CLEAN_AT + 10):
        log.append([{"type": 3, "key": {"groupId": "g"}, "version": 0, "value": {"epoch": epoch}}])
    assert len(log.read()) == 11
    assert log.read(clean=True)[-1]["value"] == {"epoch": CLEAN_AT + 9}
