"""Static members: leaving for now, coming back under another id, and who is refused an instance that is held."""

from __future__ import annotations

from typing import Any

import pytest

from groups.history.entries import Entry, Kind
from simulations.protocol.coordinator.timers import SESSION, TimerCancel, TimerStart
from simulations.world.scenario import load
from tests.simulations.broker import FOO, Broker
from tests.simulations.checked import checked
from tests.simulations.test_coordinator import refusal


def two_members(semantics: str = "kafka", **settings: Any) -> Broker:
    """A and B, each with two partitions of foo, both at the group's epoch."""
    broker = Broker(semantics, foo=4, **{"assignment_interval_ms": 0, **settings})
    for name in "AB":
        broker.join(name, instance_id=f"i-{name}")
        broker.expire("assignment", None)
    for _ in range(3):
        for name in "AB":
            target = {topic: tuple(numbers) for topic, numbers in broker.group.target[name].items()}
            epoch = broker.member(name).epoch
            if epoch:
                broker.heartbeat(name, epoch, target, instance_id=f"i-{name}")
            else:
                broker.join(name, instance_id=f"i-{name}")
    assert broker.group.converged
    return broker


def comes_back(broker: Broker, member_id: str = "A~2", *names: str, **fields: Any) -> Any:
    return broker.join(member_id, *names, instance_id="i-A", **{"client_id": "A", **fields})


def written(broker: Broker) -> list[tuple[int, str | None, bool]]:
    """Record type, member, and whether the record is a tombstone."""
    return [(r["type"], r["key"].get("memberId"), r["value"] is None) for r in broker.last.records]


def test_a_static_member_that_leaves_with_minus_2_keeps_its_partitions_at_epoch_minus_2() -> None:
    broker = two_members()
    before = broker.group
    answer = broker.heartbeat("A", -2, instance_id="i-A")
    assert (answer.member_id, answer.member_epoch, answer.heartbeat_interval_ms) == ("A", -2, 0)
    assert answer.assigned is None
    (record,) = broker.last.records
    assert record["value"] == {
        "memberEpoch": -2,
        "previousMemberEpoch": before.members["A"].previous_epoch,
        "state": 0,
        "assignedPartitions": [{"topicId": FOO, "partitions": [0, 1], "assignmentEpochs": [0, 0]}],
        "partitionsPendingRevocation": [],
    }
    assert broker.last.timers == (), "its session goes on from its last heartbeat"
    assert broker.group.group_epoch == before.group_epoch
    assert broker.group.partition_epoch(FOO, 0) == -2
    broker.heartbeat("A", -2, instance_id="i-A")
    assert broker.types == [8], "a repeated -2 writes it again"


def test_what_it_was_giving_up_is_free_at_once() -> None:
    broker = Broker(assignment_interval_ms=0)
    broker.join("A", instance_id="i-A")
    broker.join("B")
    broker.heartbeat("A", 2, instance_id="i-A")
    (given_up,) = broker.member("A").pending_revocation[FOO]
    broker.heartbeat("A", -2, instance_id="i-A")
    assert (broker.member("A").state, broker.member("A").pending_revocation) == (1, {})
    assert broker.heartbeat("B", 3).assigned == {FOO: (given_up,)}
    answer = comes_back(broker)
    assert (answer.member_epoch, set(answer.assigned[FOO])) == (3, {0, 1, 2} - {given_up})
    assert broker.member("A~2").state == 0, "no revocation step: it goes straight to the target's epoch"


def test_its_replacement_writes_the_tombstones_of_the_old_member_then_its_copy_then_what_changed() -> None:
    broker = two_members()
    broker.heartbeat("A", -2, instance_id="i-A")
    epoch = broker.group.group_epoch
    answer = comes_back(broker)
    six = [(8, "A", True), (7, "A", True), (5, "A", True), *((t, "A~2", False) for t in (5, 7, 8))]
    assert written(broker) == [*six, (8, "A~2", False)]
    copy, moved = broker.last.records[5]["value"], broker.last.records[6]["value"]
    kept = [{"topicId": FOO, "partitions": [0, 1], "assignmentEpochs": [0, 0]}]
    assert (copy["memberEpoch"], copy["previousMemberEpoch"], copy["assignedPartitions"]) == (0, 0, kept)
    assert (moved["memberEpoch"], moved["previousMemberEpoch"], moved["assignedPartitions"]) == (
        epoch,
        0,
        kept,
    )
    assert (answer.member_epoch, answer.assigned) == (epoch, {FOO: (0, 1)})
    assert broker.group.group_epoch == broker.group.assignment_epoch == epoch, "no rebalance"
    assert broker.group.target["A~2"] == {FOO: (0, 1)}
    started = [t for t in broker.last.timers if isinstance(t, TimerStart)]
    assert [(t.timer, t.member_id) for t in started] == [(SESSION, "A~2")], "the old one's timers go on"


def test_another_client_id_is_a_second_type_5_of_the_replacement() -> None:
    broker = two_members()
    broker.heartbeat("A", -2, instance_id="i-A")
    comes_back(broker, client_id="other")
    assert broker.types == [8, 7, 5, 5, 7, 8, 5, 8]
    assert [r["value"]["clientId"] for r in broker.last.records if r["type"] == 5 and r["value"]] == [
        "A",
        "other",
    ]


def test_a_replacement_that_subscribes_to_something_else_rebalances_and_gets_a_second_target() -> None:
    broker = two_members()
    broker.heartbeat("A", -2, instance_id="i-A")
    epoch = broker.group.group_epoch
    comes_back(broker, "A~2", "foo", "bar")
    assert broker.types[6:8] == [5, 3]
    assert (7, "A~2", False) in written(broker)[8:]
    assert set(broker.group.target) == set(broker.group.members) == {"A~2", "B"}
    assert broker.group.group_epoch == broker.group.assignment_epoch == epoch + 1


def test_a_member_that_comes_back_under_its_own_id_replaces_itself() -> None:
    broker = two_members()
    broker.heartbeat("A", -2, instance_id="i-A")
    assert comes_back(broker, "A").assigned == {FOO: (0, 1)}
    assert broker.types == [8, 7, 5, 5, 7, 8, 8]
    assert (len(broker.group.members), broker.group.instances["i-A"]) == (2, "A")


def test_an_instance_that_is_held_is_not_released_to_another_nor_to_its_own_holder() -> None:
    broker = two_members()
    words = "Static member {} with instance id i-A cannot join the group because the instance id is owned by A member."
    assert refusal(comes_back(broker, "C")) == (111, words.format("C"))
    assert refusal(comes_back(broker, "A")) == (111, words.format("A"))
    assert broker.last.records == broker.last.timers == ()


@pytest.mark.parametrize("semantics", ["kafka", "kip"])
@pytest.mark.parametrize("epoch", [3, -1, -2])
def test_who_names_an_unknown_instance_or_one_of_another_is_refused(semantics: str, epoch: int) -> None:
    broker = two_members(semantics)
    assert refusal(broker.heartbeat("A", epoch, instance_id="i-C")) == (25, "Instance id i-C is unknown.")
    fenced = "Static member A with instance id i-B was fenced by member B."
    assert refusal(broker.heartbeat("A", epoch, instance_id="i-B")) == (82, fenced)
    assert broker.last.records == broker.last.timers == ()


def test_a_full_group_does_not_take_a_replacement_under_a_new_id() -> None:
    broker = two_members(max_size=2)
    broker.heartbeat("A", -2, instance_id="i-A")
    assert refusal(comes_back(broker))[0] == 81
    assert comes_back(broker, "A").member_epoch == broker.group.group_epoch


def test_a_heartbeat_with_an_epoch_after_minus_2_is_fenced_as_greater() -> None:
    broker = two_members()
    broker.heartbeat("A", -2, instance_id="i-A")
    code, words = refusal(broker.heartbeat("A", 3, instance_id="i-A"))
    assert (code, "greater member epoch (3)" in str(words)) == (110, True)


@pytest.mark.parametrize("fields", [{}, {"instance_id": "i-A"}])
def test_minus_1_removes_a_static_member_for_good(fields: dict[str, str]) -> None:
    broker = two_members()
    epoch = broker.group.group_epoch
    assert broker.heartbeat("A", -1, **fields).member_epoch == -1
    assert broker.types == [8, 7, 5, 3]
    assert (list(broker.group.instances), broker.group.group_epoch) == (["i-B"], epoch + 1)


@pytest.mark.parametrize(("semantics", "types"), [("kafka", [8, 7, 5, 3]), ("kip", [8, 5, 3])])
def test_who_is_not_back_in_time_is_removed_with_its_session(semantics: str, types: list[int]) -> None:
    broker = two_members(semantics)
    broker.heartbeat("A", -2, instance_id="i-A")
    broker.expire(SESSION, "A")
    assert broker.types == types
    assert not broker.group.is_held(FOO, 0)


def test_the_timers_of_who_was_replaced_find_nobody() -> None:
    broker = two_members()
    broker.heartbeat("A", -2, instance_id="i-A")
    comes_back(broker)
    broker.expire(SESSION, "A")
    assert broker.last.records == ()
    assert set(broker.group.members) == {"A~2", "B"}


def test_in_the_proposal_too_a_replacement_gets_the_same_assignment_without_a_new_epoch() -> None:
    broker = two_members("kip")
    epoch, held = broker.group.group_epoch, broker.member("A").assigned
    broker.heartbeat("A", -2, instance_id="i-A")
    assert (broker.types, broker.member("A").epoch) == ([8], -2)
    assert refusal(broker.join("C", instance_id="i-B"))[0] == 111
    answer = comes_back(broker)
    assert broker.types == [8, 7, 5, 5, 7, 8, 8]
    assert (answer.member_epoch, answer.assigned) == (epoch, {FOO: (0, 1)})
    assert broker.group.group_epoch == broker.group.assignment_epoch == epoch
    assert {t: set(p) for t, p in broker.member("A~2").assigned.items()} == {
        t: set(p) for t, p in held.items()
    }
    gone = [t.member_id for t in broker.last.timers if isinstance(t, TimerCancel) and t.timer == SESSION]
    assert gone == ["A"]


def story(script: str, semantics: str = "kafka") -> list[Entry]:
    text = f"""
topics: {{foo: {{partitions: 4}}}}
members:
  A: {{subscribe: [foo], instance_id: i-A}}
  B: {{subscribe: [foo], instance_id: i-B}}
  C: {{subscribe: [foo], instance_id: i-A}}
config: {{session_timeout_ms: 6000, heartbeat_interval_ms: 1000}}
script: [{{at: 0s, join: A}}, {{at: 3s, join: B}}, {script}]
semantics: {semantics}
until: 40s
"""
    return checked(load(text, "orders"))


def types(entries: list[Entry], from_ms: int) -> list[int]:
    return [e.payload["type"] for e in entries if e.kind is Kind.RECORD and e.at_ms >= from_ms]


def errors(entries: list[Entry]) -> list[tuple[str, int]]:
    answers = [e.payload for e in entries if e.kind is Kind.RESPONSE]
    return [(each["to"], each["body"]["errorCode"]) for each in answers if each["body"].get("errorCode")]


@pytest.mark.parametrize("semantics", ["kafka", "kip"])
@pytest.mark.parametrize("script", ["{at: 9s, restart: A}", "{at: 9s, leave: A}, {at: 11s, join: A}"])
def test_a_static_member_restarts_cleanly_as_its_next_life_without_a_rebalance(
    script: str, semantics: str
) -> None:
    entries = story(script, semantics)
    assert set(types(entries, 9_000)) == {8, 7, 5}
    assert errors(entries) == []
    epochs = [
        e.payload["body"]["memberEpoch"] for e in entries if e.kind is Kind.REQUEST and e.at_ms >= 9_000
    ]
    assert [epoch for epoch in epochs if epoch <= 0] == [-2, 0]


def test_a_static_member_that_was_killed_is_refused_until_its_session_has_run_out() -> None:
    assert errors(story("{at: 9s, kill: A}, {at: 11s, join: A}")) == [("A~2", 111)]
    entries = story("{at: 9s, kill: A}, {at: 11s, join: A}, {at: 20s, restart: A}")
    assert errors(entries) == [("A~2", 111)]
    assert types(entries, 20_000)[:2] == [5, 3]


def test_a_process_that_comes_back_after_another_took_its_instance_is_fenced_for_good() -> None:
    entries = story("{at: 9s, pause: A}, {at: 18s, join: C}, {at: 25s, resume: A}")
    assert errors(entries) == [("A", 82)]
    lost = [
        e.actor for e in entries if e.kind is Kind.CALLBACK and e.payload["callback"] == "on_partitions_lost"
    ]
    assert set(lost) == {"A"}
    assert not [e for e in entries if e.kind is Kind.REQUEST and e.actor == "A" and e.at_ms > 25_100]


@pytest.mark.parametrize("semantics", ["kafka", "kip"])
def test_who_left_for_now_may_join_without_its_instance_and_keeps_it(semantics: str) -> None:
    """The exchange ``static-without-instance``: a join of a known member is taken whatever its epoch is."""
    broker = two_members(semantics)
    epoch, held = broker.group.group_epoch, {0, 1}
    broker.heartbeat("A", -2, instance_id="i-A")
    answer = broker.join("A")
    assert (int(answer.error_code), answer.member_epoch) == (0, epoch)
    assert broker.types == [8]
    assert broker.last.records[0]["value"]["previousMemberEpoch"] == -2
    assert set(broker.member("A").assigned[FOO]) == held
    assert broker.group.instances["i-A"] == "A"
