"""Rebalances of a group in which nothing changed are one finding: how many, their period, and who asks for them."""

from __future__ import annotations

from typing import Any

import pytest

from groups.history.entries import Kind
from groups.history.passes.recorder import Recorder
from tests.history.corpus import CorpusLog, corpus, recorded
from tests.history.logs import STABLE, Log, Records
from tests.history.test_departures import drawn, of_clients

R = Records()

A, B = drawn("a"), drawn("b")


TIED = ("recorded tie tied", "recorded librdkafka tie tied")


def found(log: Log) -> list[dict[str, Any]]:
    return [one for one in log.recorded().summary["findings"] if one["kind"] == "causeless_rebalances"]


def says(log: Log) -> str:
    [one] = found(log)
    return str(one["says"]).replace("\u202f", " ")


def unchanged(log: Log, times: int, every_ms: int = 8_200) -> Log:
    for turn in range(times):
        log.at(turn * every_ms).write(of_clients(500 + turn, {A: [0, 1], B: [2]}, rebalanceTimeout=60_000))
    return log


def test_a_leader_that_joins_again_and_again_opens_the_verdict_with_its_period() -> None:
    log = unchanged(Log(), 10)
    assert says(log) == (
        "Rebalances without a cause: 9 generations (501–509) every 8.2 s, with the same members, subscriptions and "
        "assignment each time; a joins again (inferred: of an unchanged group only a JoinGroup of its leader, or of a "
        "changed member, begins a rebalance)"
    )
    assert log.recorded().summary["verdict"]["text"].startswith("Rebalances without a cause: 9 generations")
    [one] = found(log)
    assert (one["every_ms"], one["count"], one["members"]) == (8_200, 9, [A])


def test_causes_that_the_protocol_does_not_have_are_not_listed() -> None:
    [one] = found(unchanged(Log(), 10))
    lines = [*one["causes"], *one["look_at"]]
    assert any("a leader that joins again" in line for line in lines)
    assert [line for line in lines if "server-side" in line or "group.remote.assignor" in line] == []
    [one] = found(epochs_without_a_cause())
    lines = [*one["causes"], *one["look_at"]]
    assert any("a tie of two server-side assignors" in line for line in lines)
    assert [line for line in lines if "leader" in line or "JoinGroup" in line] == []


def test_the_first_join_group_of_a_request_log_shows_who_asked() -> None:
    log = Log()
    for turn in range(5):
        log.at(turn * 8_200)
        for member in (B, A):
            body = {"memberId": member, "protocolType": "consumer"}
            log._add(Kind.REQUEST, member, {"api": "JoinGroup", "version": 9, "body": body})
        log.write(of_clients(5 + turn, {A: [0, 1], B: [2]}))
    [one] = found(log)
    assert (one["names"], one["needs"]) == (["b"], ["records", "requests"])
    assert says(log).endswith("; b joins again")


@pytest.mark.parametrize("times", [1, 3])
def test_fewer_than_three_are_no_pattern(times: int) -> None:
    assert found(unchanged(Log(), times)) == []


def test_a_topic_that_grew_a_member_that_came_and_another_subscription_are_causes() -> None:
    log = Log()
    for turn, held in enumerate(([0], [0, 1], [0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4])):
        log.at(turn * 8_200).write(of_clients(5 + turn, {A: held}))
    assert found(log) == []
    log = Log()
    for turn in range(6):
        log.at(turn * 8_200).write(of_clients(5 + turn, {A: [0]} if turn % 2 else {A: [0], B: []}))
    assert found(log) == []


def test_the_second_round_of_a_cooperative_rebalance_has_a_cause() -> None:
    log = Log()
    for turn in range(6):
        held = ({A: [0], B: []}, {A: [0], B: [1]}, {A: [0, 1], B: []})[turn % 3]
        record = of_clients(5 + turn, held)
        record["value"]["protocol"] = "cooperative-sticky"
        log.at(turn * 2_000).write(record)
    assert found(log) == []


def test_generations_that_are_missing_in_between_are_not_without_a_cause() -> None:
    log = Log()
    for turn in range(6):
        log.at(turn * 8_200).write(of_clients(5 + 2 * turn, {A: [0, 1], B: [2]}))
    assert found(log) == []


def epochs_without_a_cause() -> Log:
    log = Log()
    log.at(0).write(
        R.member("A"),
        R.epoch(1, 7),
        R.target("A", 0),
        R.target_epoch(1, 1),
        R.current("A", 1, 0, STABLE, {0: 1}),
    )
    for turn in range(4):
        epoch = 2 + turn
        log.at(10_000 + turn * 10_000).write(
            R.epoch(epoch, 7), R.target_epoch(epoch, 1), R.current("A", epoch, epoch - 1, STABLE, {0: 1})
        )
    return log


def test_epochs_of_a_consumer_group_without_another_hash_or_member_have_no_cause_in_the_records() -> None:
    log = epochs_without_a_cause()
    assert says(log) == (
        "Rebalances without a cause: 4 group epochs (2–5) every 10.0 s, with the same members, subscriptions and "
        "assignment each time; the records do not show who asked for them"
    )
    log.at(60_000).write(R.member("A", ["foo", "bar"]), R.epoch(6, 7), R.target_epoch(6, 1))
    assert found(log)[0]["count"] == 4


def asked(times: int, second: str) -> Log:
    """Epochs without a cause, of a group in which A asks for range and B for ``second``."""
    log = Log()
    log.at(0).write(
        R.member("A", serverAssignor="range"),
        R.member("B", serverAssignor=second),
        R.epoch(1, 7),
        R.target("A", 0),
        R.target("B", 1),
        R.target_epoch(1, 1),
        R.current("A", 1, 0, STABLE, {0: 1}),
        R.current("B", 1, 0, STABLE, {1: 1}),
    )
    for turn in range(times):
        epoch = 2 + turn
        log.at(5_000 + turn * 5_000).write(
            R.epoch(epoch, 7), R.target_epoch(epoch, 1), R.current("A", epoch, epoch - 1, STABLE, {0: 1})
        )
    return log


@pytest.mark.parametrize(
    ("times", "second", "is_found"),
    [(1, "uniform", False), (2, "uniform", True), (2, "range", False), (3, "range", True)],
)
def test_in_a_tie_of_assignors_the_second_heartbeat_shows_it_and_else_the_third_epoch(
    times: int, second: str, is_found: bool
) -> None:
    assert bool(found(asked(times, second))) == is_found


def test_no_recorded_log_of_the_corpus_has_rebalances_without_a_cause_but_those_of_ties() -> None:
    logs = [log for log in corpus() if log.name.startswith(("sample ", "recorded "))]
    assert len(logs) > 8
    named = {
        log.name
        for log in logs
        if any(one["kind"] == "causeless_rebalances" for one in recorded(log).batch.summary["findings"])
    }
    assert named == set(TIED)


@pytest.mark.parametrize("name", TIED)
def test_the_verdict_on_a_recorded_tie_names_it_first_and_the_second_heartbeat_shows_it(name: str) -> None:
    [log] = [log for log in corpus() if log.name == name]
    summary = recorded(log).batch.summary
    verdict = summary["verdict"]
    assert verdict["text"].startswith("Rebalances without a cause: ")
    assert verdict["headline"]["text"].startswith("Rebalances without a cause: ")
    assert "ranger asks for range and unifier asks for uniform" in verdict["text"]
    [one] = [one for one in summary["findings"] if one["kind"] == "causeless_rebalances"]
    _, second, *_ = one["steps"]
    assert [each["count"] for each in findings_until(log, second) if each["kind"] == one["kind"]] == [2]


def findings_until(log: CorpusLog, sequence: int) -> list[dict[str, Any]]:
    """The findings of the log up to the end of the write that this entry is in."""
    recorder = Recorder(group=log.group, semantics=log.semantics)
    for entry in log.entries:
        recorder.add(entry)
        if entry.sequence >= sequence and entry.settled:
            break
    batch = recorder.flush(final=True)
    assert batch is not None
    return list(batch.summary["findings"])
