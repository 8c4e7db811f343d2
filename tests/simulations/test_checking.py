"""The checker: each invariant can be broken, and is then told with the entries that prove it; sound runs break none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from groups.history.entries import Entry
from groups.history.passes.recorder import Recorder
from groups.history.replay.fold import replay
from groups.history.state.group import State, initial_state
from simulations.invariants import INVARIANTS, Checker
from simulations.invariants.classic_groups import CLASSIC_GROUP_INVARIANTS
from simulations.protocol.coordinator.consumer.released.coordinator import KafkaCoordinator
from simulations.world import studies
from simulations.world.engine import run
from simulations.world.engine.checked_run import bounds_of
from tests.history.logs import FOO, Log
from tests.simulations.broken_logs import (
    BOUNDS,
    Held,
    Record,
    answered,
    by_heartbeat,
    commit,
    commits_after_giving_up,
    committed,
    current,
    epoch,
    gone,
    group,
    record,
    shown,
    static,
    subscribes,
    target,
    target_epoch,
)
from tests.simulations.consumer_studies import CONSUMER_STUDIES
from tests.simulations.invariants_reference import CLASSIC_GROUP, CONSUMER, EVERY, reported


def refuse(log: Log, request: int, member: str) -> None:
    answer = log.answer(request, member, 0)
    entry = log.entries[answer - 1]
    body = {**entry.payload["body"], "errorCode": 110}
    log.entries[answer - 1] = replace(entry, payload={**entry.payload, "body": body})


def one_batch(log: Log) -> None:
    request = log.heartbeat("A", 2, [0, 1])
    log.write(subscribes("A"), cause=request)
    log.write(epoch(3), cause=request)


def session(log: Log) -> None:
    log.timer("session", "B", "cancelled", 6_000)
    log.answer(log.heartbeat("A", 2, [0, 1]), "A", 2)


def unrevoked(log: Log) -> None:
    request = log.heartbeat("A", 2)
    log.write(current("A", 2, [0], pending=[1], state=1), cause=request)
    log.answer(request, "A", 2)


def lost_answer(log: Log) -> None:
    log.write(epoch(3), target_epoch(3), current("A", 3, [0, 1], previous=2), cause=log.heartbeat("A", 2))
    refuse(log, log.heartbeat("A", 2, [0, 1]), "A")


def refused(log: Log) -> None:
    request = log.heartbeat("A", 9)
    log.write(subscribes("A"), cause=request)
    refuse(log, request, "A")


def both_process(log: Log) -> None:
    log.callback("B", "on_partitions_assigned", "start", [0])


def never_converges(log: Log) -> None:
    """B needs a second target, and nobody ever moves."""
    log.write(epoch(3), target_epoch(3), cause=log.heartbeat("B", 2))
    for at_ms in range(1_000, 20_000, 1_000):
        for member in "AB":
            log.at(at_ms).heartbeat(member, 2, steady=True)


def never_owned(log: Log) -> None:
    log.callback("A", "on_partitions_revoked", "start", [1])
    log.callback("A", "on_partitions_revoked", "end", [1])
    for at_ms in range(1_000, 20_000, 1_000):
        for member in "AB":
            log.at(at_ms).heartbeat(member, 2, steady=True)


def waits_for_ever(log: Log) -> None:
    request = log.heartbeat("A", 2)
    log.timer("rebalance", "A", "started", 99_000, cause=request)
    log.write(current("A", 2, [0], pending=[1], state=1), cause=request)
    log.at(4_001).heartbeat("A", 2, steady=True)


def stays_silent(log: Log) -> None:
    log.at(6_001).heartbeat("A", 2, steady=True)


def member_without_its_last_tombstone(log: Log) -> None:
    """Its current assignment stays in the log, and makes it again when the other tombstones are gone."""
    request = log.heartbeat("A", -1)
    log.write(record(7, {"memberId": "A"}, None), record(5, {"memberId": "A"}, None), epoch(3), cause=request)
    log.fault("fail_over")


def takes_over(log: Log) -> None:
    """C comes with the instance of A, which has not left."""
    log.write(static("A", "i"), cause=log.heartbeat("A", 2))
    came = (static("C", "i"), target("C", 0, 1), current("C", 0, [0, 1], previous=0), current("C", 2, [0, 1]))
    log.write(*gone("A"), *came, cause=log.heartbeat("C", 0, []))


def needless_timer(log: Log) -> None:
    """The session of A goes on though A has left."""
    request = log.heartbeat("A", -1, [])
    log.write(*gone("A"), epoch(3), cause=request)
    log.answer(request, "A", -1)


def gap(log: Log) -> None:
    log.heartbeat("A", 2)
    log.entries[-1] = replace(log.entries[-1], sequence=log.last + 3)


def loses_for_no_reason(log: Log) -> None:
    """No leave of it comes, however long it may travel."""
    log.callback("A", "on_partitions_lost", "start", [0, 1])
    log.at(BOUNDS.travel_ms + 1).heartbeat("B", 2, steady=True)


def fires_early(log: Log) -> None:
    """B was heard of at 1,000: its session of 6,000 ms goes on until 7,000."""
    log.at(1_000).heartbeat("B", 2, steady=True)
    log.at(6_000).timer("session", "B", "fired", 6_000)


def offsets_of_others(log: Log) -> None:
    """The offsets of a topic that is there are removed by nobody."""
    log.write(committed(0, 7))
    log.write(committed(0, None))


def never_grows(log: Log) -> None:
    log.topics(foo={"id": FOO, "partitions": 3})
    for at_ms in range(1_000, 20_000, 1_000):
        for member in "AB":
            log.at(at_ms).heartbeat(member, 2, steady=True)


BREAKS: dict[str, tuple[Callable[[Log], object], tuple[int, ...]]] = {
    "one_holder": (by_heartbeat(current("B", 2, [0]), member="B", owned=()), (9, 16)),
    "group_epochs": (by_heartbeat(epoch(5)), (5, 16)),
    "member_epoch": (by_heartbeat(current("A", 7, [0, 1])), (8, 9, 16)),
    "previous_epoch": (by_heartbeat(current("A", 2, [0, 1], previous=4)), (9, 16)),
    "whole_target": (by_heartbeat(epoch(3), target("B", 1), target_epoch(3)), (6, 17, 18)),
    "stable": (by_heartbeat(current("A", 2, [0]), owned=(0,)), (6, 16)),
    "unrevoked": (unrevoked, (16, 17)),
    "unreleased": (by_heartbeat(current("A", 1, [0, 1], state=2, previous=0)), (8, 16)),
    "pending_is_not_assigned": (by_heartbeat(current("A", 2, [0, 1], pending=[1], state=1)), (16,)),
    "revoked_by_acknowledgement": (by_heartbeat(current("A", 2, [0])), (9, 15, 16)),
    "gained_from_target": (by_heartbeat(current("B", 2, [0]), member="B", owned=()), (7, 16)),
    "assignment_epochs": (by_heartbeat(current("A", 2, [0, 1], since=1)), (6, 16)),
    "compacted_log": (member_without_its_last_tombstone, (19,)),
    "accepted_or_refused": (lambda log: answered(log, "A", 9), (15, 16)),
    "as_asked": (lambda log: answered(log, "A", 2, asked={"subscribedTopicNames": ["bar"]}), (9, 15, 16)),
    "assignor_answers": (lambda log: answered(log, "A", 2, errorCode=-1), (15, 16)),
    "settings_hold": (lambda log: answered(log, "A", 2, heartbeatIntervalMs=5_000), (15, 16)),
    "timer_length": (fires_early, (16,)),
    "expressions_go_along": (
        lambda log: log.write(record(16, {"regularExpression": "f.*"}, {"topics": ["foo"], "version": 1})),
        (15,),
    ),
    "offsets_go_along": (offsets_of_others, (16,)),
    "no_anomaly": (by_heartbeat(epoch(5)), (16,)),
    "current_target": (never_grows, (8, 52)),
    "session": (session, (10, 17)),
    "needed_timers": (needless_timer, (18, 20)),
    "one_instance": (takes_over, (9, 24)),
    "dense_log": (gap, (14, 18)),
    "one_batch": (one_batch, (15, 16, 17)),
    "lost_answer": (lost_answer, (19, 20)),
    "refused_writes_nothing": (refused, (15, 16, 17)),
    "one_processor": (both_process, (9, 10, 15)),
    "owned_is_held": (both_process, (10, 15)),
    "callbacks": (loses_for_no_reason, (15,)),
    "given_up_is_left_alone": (commits_after_giving_up, (16, 17)),
    "commit_epoch": (lambda log: commit(log, "A", 1, 0), (9, 15, 16)),
    "group_converges": (never_converges, (10, 16, 54)),
    "members_converge": (never_converges, (10, 16, 54)),
    "partitions_processed": (never_owned, (10, 53)),
    "rebalance_timeout": (waits_for_ever, (17, 18)),
    "session_timeout": (stays_silent, (12, 15)),
}


@pytest.mark.parametrize("name", BREAKS)
def test_an_invariant_that_is_broken_is_told_with_the_entries_that_prove_it(name: str) -> None:
    log = group()
    assert shown(log) == []
    BREAKS[name][0](log)
    told = {violation.invariant: violation.sequences for violation in shown(log)}
    assert told.get(name) == BREAKS[name][1], (told, log.last)


def test_memory_that_differs_from_the_log_is_told() -> None:
    log = group()
    by_heartbeat(epoch(3), target("A", 0, 1), target_epoch(3), current("A", 3, [0, 1], previous=2))(log)
    assert shown(log) == []

    def other(state: State) -> State:
        member = replace(state.consumer.members["A"], assigned={FOO: {0: 2}}, epoch=2)
        spoilt = {**state.consumer.members, "A": member}
        epochs, counts = {FOO: {0: 2, 1: 2}}, {2: 2, 3: 0}
        consumer = replace(
            state.consumer,
            members=spoilt,
            partition_epochs=epochs,
            stable_at=counts,
            target={"A": {FOO: (0,)}},
        )
        return replace(state, consumer=replace(consumer, members={"A": member}, stable_at={3: 1}))

    told = {violation.invariant: violation.sequences[-1] for violation in shown(log, spoil=other)}
    memory = {"memory_is_replay", "partition_epochs", "target_replayed", "group_state"}
    assert told == dict.fromkeys(memory, 19)
    assert set(BREAKS) | memory | {"application_is_heeded"} == set(INVARIANTS), "each is proved able to fail"


@pytest.mark.parametrize(("semantics", "told"), [("kafka", False), ("kip", True)])
def test_the_proposal_computes_no_target_with_an_expression_that_nobody_has_resolved(
    semantics: str, told: bool
) -> None:
    log = group()
    by_regex = subscribes("A")
    by_regex["value"] |= {"subscribedTopicNames": [], "subscribedTopicRegex": "f.*"}
    by_heartbeat(by_regex, epoch(3), target("A", 0, 1), target_epoch(3))(log)
    assert ("whole_target" in {violation.invariant for violation in shown(log, semantics)}) is told


def broken_by_a_static(*records: Record, by: str = "A", epoch_said: int = -2, owned: Held = ()) -> set[str]:
    """What is told where A, with an instance, holds foo-0 and foo-1 at epoch 2 and a heartbeat writes these records."""
    log = group()
    log.write(static("A", "i"), cause=log.heartbeat("A", 2))
    assert shown(log) == []
    log.write(*records, cause=log.heartbeat(by, epoch_said, owned))
    return {violation.invariant for violation in shown(log)}


def test_a_leave_for_now_keeps_what_is_assigned_though_it_names_nothing_as_owned() -> None:
    assert broken_by_a_static(current("A", -2, [0, 1], since=0)) == set()
    assert broken_by_a_static(current("A", -2, [0], since=0)) == {"revoked_by_acknowledgement"}
    assert broken_by_a_static(current("A", -2, [0, 1], since=2)) == {"assignment_epochs"}


def test_a_static_member_goes_back_to_no_other_epoch_than_that_of_its_leave() -> None:
    assert broken_by_a_static(current("A", 0, [0, 1], previous=0), epoch_said=0) == {"member_epoch"}
    assert "member_epoch" in broken_by_a_static(current("A", -1, [0, 1], previous=0), epoch_said=-1)


def test_who_comes_back_begins_anew_and_not_at_the_epoch_of_its_leave() -> None:
    for previous, told in ((0, set()), (-2, {"previous_epoch"})):
        log = group()
        log.write(static("A", "i"), cause=log.heartbeat("A", 2))
        log.write(current("A", -2, [0, 1], since=0), cause=log.heartbeat("A", -2, []))
        back = (static("C", "i"), target("C", 0, 1), current("C", 2, [0, 1], previous=previous, since=0))
        log.write(*gone("A"), *back, cause=log.heartbeat("C", 0, []))
        assert {violation.invariant for violation in shown(log)} == told


def test_who_has_left_for_now_has_nothing_to_give_up() -> None:
    left = current("A", -2, [0], pending=[1], state=1, since=0)
    assert broken_by_a_static(left) == {"unrevoked"}


@pytest.mark.parametrize(
    ("twice", "told"), [(current("A", 2, [0, 1, 1]), "one_holder"), (target("A", 0, 1, 1), "whole_target")]
)
def test_no_record_names_a_partition_twice(twice: Record, told: str) -> None:
    log = group()
    by_heartbeat(twice)(log)
    assert told in {violation.invariant for violation in shown(log)}


def test_neither_commits_nor_leaves_keep_a_session() -> None:
    for still in (lambda log: commit(log, "A", 2, 0), lambda log: log.heartbeat("A", -2, [])):
        log = group()
        still(log.at(5_000))
        log.at(5_001).heartbeat("B", 2, steady=True)
        log.at(6_001).heartbeat("B", 2, steady=True)
        assert {violation.invariant for violation in shown(log)} == {"session_timeout"}


def test_nobody_acknowledges_for_another() -> None:
    assert broken_by_a_static(current("A", 2), by="B", epoch_said=2) >= {"revoked_by_acknowledgement"}


@pytest.mark.parametrize("semantics", ["kip", "kafka"])
@pytest.mark.parametrize("name", CONSUMER_STUDIES)
def test_no_case_study_breaks_an_invariant_and_those_that_end_quiet_converge(
    name: str, semantics: str
) -> None:
    scenario = studies.load(name)
    checker, state = Checker(semantics, bounds_of(scenario)), initial_state(scenario.group, semantics)
    for entry in run(scenario, semantics):
        state = replay(state, entry)
        assert checker.see(entry, state) == []
    if scenario.start is None:
        assert checker.demand_convergence() == []


@pytest.fixture
def careless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A coordinator that forgets the session timers of those who join."""
    sound = KafkaCoordinator.heartbeat

    def heartbeat(self: KafkaCoordinator, context: Any, request: Any) -> Any:
        outcome = sound(self, context, request)
        return replace(outcome, timers=()) if request.member_epoch == 0 else outcome

    monkeypatch.setattr(KafkaCoordinator, "heartbeat", heartbeat)


@pytest.mark.usefixtures("careless")
def test_a_violation_is_an_entry_of_the_run_a_moment_of_the_board_and_an_exit_status(tmp_path: Path) -> None:
    entries: list[Entry] = list(run(studies.load("released-basic"), "kafka"))
    broken = [entry for entry in entries if entry.payload.get("fault") == "invariant"]
    assert [entry.sequence for entry in entries] == list(range(1, len(entries) + 1))
    assert {entry.payload["invariant"] for entry in broken} == {"session"}
    recorder = Recorder(group=studies.load("released-basic").group, semantics="kafka")
    for entry in entries:
        recorder.add(entry)
    batch = recorder.flush(final=True)
    assert batch is not None
    assert b"An invariant is broken: No session timer runs for c1" in batch.moments
    with pytest.raises(CommandError, match="invariants are broken, first at entry") as caught:
        call_command("simulate", "released-basic", "--out", str(tmp_path / "run"), stdout=StringIO())
    assert caught.value.returncode == 1


def test_the_reference_has_a_row_for_each_invariant_that_a_checker_reports_and_for_no_other() -> None:
    assert CONSUMER == INVARIANTS
    assert CLASSIC_GROUP == CLASSIC_GROUP_INVARIANTS
    found, texts = reported()
    assert len(found) > 40
    assert found <= EVERY <= texts
