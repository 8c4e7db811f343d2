"""A coordinator takes a group over: the timers it starts, what it forgot, and the records that it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from groups.history.state.consumer import ConsumerMember
from groups.history.state.group import Semantics
from simulations.protocol.coordinator.consumer import records
from simulations.protocol.coordinator.consumer.outcome import Record, ResolveRegexes
from simulations.protocol.coordinator.errors import IllegalState
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.coordinator.timers import TimerStart
from tests.simulations.broker import BAR, FOO, GROUP, Broker

THIRD = "AAAAAAAAAAAAAAAAAAAAAw"


def written(broker: Broker, *operations: Any) -> list[Record]:
    """The records of one operation after the other."""
    everything: list[Record] = []
    for operation in operations:
        operation()
        everything += broker.last.records
    return everything


def taken_over(broker: Broker, log: list[Record]) -> Broker:
    """A new coordinator of the same group that has loaded the log."""
    other = Broker()
    other.shard = Shard(GROUP, Semantics.KAFKA, broker.shard.settings, broker.shard.image)
    other.shard.load(log)
    other.now_ms = broker.now_ms
    other.last = other.shard.loaded(other.now_ms)
    return other


def two_members(**settings: Any) -> tuple[Broker, list[Record]]:
    broker = Broker(**{"assignment_interval_ms": 0, **settings})
    log = written(
        broker,
        lambda: broker.join("A"),
        lambda: broker.join("B", instance_id="i"),
        lambda: broker.heartbeat("A", 2),
        lambda: broker.heartbeat("B", -2, instance_id="i"),
    )
    return broker, log


def test_every_member_has_a_session_again_and_who_gives_up_its_time_for_that() -> None:
    broker, log = two_members()
    other = taken_over(broker, log)
    assert {
        (t.timer, t.member_id, t.length_ms, getattr(t, "bound_epoch", None)) for t in other.last.timers
    } == {
        ("session", "A", 45_000, None),
        ("session", "B", 45_000, None),
        ("rebalance", "A", 300_000, 2),
    }
    assert all(isinstance(timer, TimerStart) for timer in other.last.timers)
    assert other.last.records == ()
    assert other.shard.state.consumer == broker.shard.state.consumer
    assert other.shard.memory.rebalancing == {"A"}


def test_the_first_heartbeat_looks_at_the_metadata_anew_and_bumps_if_they_are_others() -> None:
    broker, log = two_members()
    broker.heartbeat("A", 2)
    broker.grow("foo", 4)
    other = taken_over(broker, log)
    other.heartbeat("A", 2)
    assert other.types[0] == 3
    same = taken_over(Broker(), log)
    same.heartbeat("A", 2)
    assert same.types == []


def test_the_assignment_interval_goes_on_over_a_fail_over() -> None:
    broker = Broker()
    log = written(broker, lambda: broker.join("A"))
    broker.now_ms += 999
    other = taken_over(broker, log)
    other.join("B")
    assert other.types == [5, 3, 8]


def test_expressions_are_resolved_again_where_the_image_is_newer_than_the_result() -> None:
    broker = Broker(assignment_interval_ms=0)
    log = written(
        broker,
        lambda: broker.heartbeat("A", 0, {}, rebalance_timeout_ms=1, subscribed_topic_regex="fo+"),
        broker.resolve,
        lambda: broker.heartbeat("A", 1),
    )
    broker.now_ms += 10_001
    same = taken_over(broker, log)
    same.heartbeat("A", 2)
    assert same.last.tasks == ()
    broker.create("fox", THIRD)
    other = taken_over(broker, log)
    other.heartbeat("A", 2)
    assert other.last.tasks == (ResolveRegexes(regexes=("fo+",), member_id="A"),)


def member(member_id: str, epoch: int, *partitions: int) -> Record:
    held = ConsumerMember(
        member_id=member_id,
        epoch=epoch,
        previous_epoch=epoch - 1,
        assigned={FOO: dict.fromkeys(partitions, epoch)},
    )
    return records.current_assignment(GROUP, held, with_epochs=True)


def gone(record_type: int, member_id: str | None = None) -> Record:
    return records.tombstone(record_type, GROUP, member_id)


CLASSIC: Record = {
    "type": 2,
    "key": {"group": GROUP},
    "version": 3,
    "value": {"protocolType": "consumer", "generation": 1, "members": []},
}
TARGET = records.target_member(GROUP, "A", {FOO: (0,)})


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (
            [member("A", 3, 0), member("B", 3, 0)],
            f"Cannot set the epoch of {FOO}-0 to 3 because the partition is still owned at epoch 3",
        ),
        (
            [member("A", 5, 0), member("B", 3, 1, 0)],
            f"Cannot set the epoch of {FOO}-0 to 3 because the partition is still owned at epoch 5",
        ),
        (
            [member("A", 3), gone(5, "A")],
            "Received a tombstone record to delete member A but did not receive "
            "ConsumerGroupCurrentMemberAssignmentValue tombstone.",
        ),
        (
            [member("A", 3), TARGET, gone(8, "A"), gone(5, "A")],
            "Received a tombstone record to delete member A but did not receive "
            "ConsumerGroupTargetAssignmentMetadataValue tombstone.",
        ),
        (
            [TARGET, gone(6)],
            "Received a tombstone record to delete target assignment of orders but the assignment still has 1 members.",
        ),
        (
            [member("A", 3), gone(3)],
            "Received a tombstone record to delete group orders but the group still has 1 members.",
        ),
        (
            [TARGET, gone(3)],
            "Received a tombstone record to delete group orders but the target assignment still has 1 members.",
        ),
        (
            [records.group_epoch(GROUP, 2, 0), gone(3)],
            "Received a tombstone record to delete group orders but did not receive "
            "ConsumerGroupTargetAssignmentMetadataValue tombstone.",
        ),
        ([CLASSIC, member("A", 3)], "Group orders is not a consumer group."),
    ],
)
def test_what_contradicts_itself_is_refused_in_kafkas_words(log: list[Record], words: str) -> None:
    shard = Broker().shard
    with pytest.raises(IllegalState) as refused:
        shard.load(log)
    assert str(refused.value) == words


@pytest.mark.parametrize(
    "log",
    [
        [member("A", 3, 0), member("B", 4, 0)],
        [member("A", 3, 0), member("A", 3, 0, 1), member("A", 2, 0)],
        [gone(3), gone(6), gone(5, "A"), gone(7, "A"), gone(8, "A"), gone(4)],
        [member("A", 3, 0), gone(8, "A"), member("B", 3, 0), gone(5, "A"), gone(5, "Z"), gone(8, "Z")],
        [records.group_epoch(GROUP, 2, 0), gone(6), gone(3)],
        [records.group_epoch(GROUP, 9, 0), records.group_epoch(GROUP, 4, 0)],
    ],
)
def test_what_compaction_leaves_is_loaded(log: list[Record]) -> None:
    Broker().shard.load(log)


def test_the_proposals_coordinator_takes_what_it_is_given() -> None:
    Broker("kip").shard.load([member("A", 3, 0), member("B", 3, 0)])


def test_what_an_earlier_record_was_noted_for_is_not_held_against_a_later_one() -> None:
    shard = Broker().shard
    shard.load([member("A", 3, 0), member("B", 4, 0), member("C", 4, 1)])
    assert shard.state.anomalies == ()


def test_the_table_of_members_grows_with_them_and_never_shrinks() -> None:
    broker = Broker(assignment_interval_ms=0)
    sizes = []
    for number in range(4):
        broker.join(f"m{number}")
        sizes.append(broker.shard.memory.member_slots)
    assert sizes == [2, 4, 4, 4]
    for number in range(4):
        broker.heartbeat(f"m{number}", -1)
    assert broker.shard.memory.member_slots == 4
    broker.shard.delete_group(broker.now_ms)
    assert broker.shard.memory.member_slots == 2


def test_a_member_counts_in_the_table_from_its_subscription_on() -> None:
    """Its type 5 is put first; a group may be loaded that ends there, in the middle of a join."""
    log = written(
        joined := Broker(assignment_interval_ms=0),
        *[lambda name=name: joined.join(name) for name in ("A", "B", "C")],
    )
    shard = Broker().shard
    shard.load([record for record in log if record["type"] == 5])
    assert set(shard.state.consumer.members) == {"A", "B", "C"}
    assert shard.memory.member_slots == 4


def test_a_member_of_a_client_that_writes_no_expression_as_null_takes_part_in_the_next_target() -> None:
    broker = Broker(assignment_interval_ms=0)
    log = written(broker, lambda: broker.join("A"))
    for record in log:
        if record["type"] == 5:
            record["value"]["subscribedTopicRegex"] = None
    other = taken_over(broker, log)
    other.join("B", "foo", "bar")
    assert other.types == [5, 3, 7, 6, 8], "what A has is its share"
    assert {member_id: dict(target) for member_id, target in other.group.target.items()} == {
        "A": {FOO: (0, 1, 2)},
        "B": {BAR: (0, 1)},
    }
