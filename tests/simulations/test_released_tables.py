"""Tables of the released coordinator's rules that are spread over its code: timers, cut subscriptions, replayed values."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from groups.history.state.consumer import ConsumerGroup, ConsumerMember
from simulations.protocol.coordinator.consumer import records
from simulations.protocol.coordinator.consumer.outcome import Record
from simulations.protocol.coordinator.consumer.reconciliation import Reconciliation
from simulations.protocol.coordinator.settings import Settings
from simulations.protocol.coordinator.timers import TimerStart
from tests.simulations.broker import BAR, FOO, GROUP, Broker

Act = Callable[[Broker], object]
STABLE, UNREVOKED = 0, 1


def revoking() -> Broker:
    """A has foo 0 to 2 at epoch 2, and was told to give foo 2 up for B."""
    broker = Broker(assignment_interval_ms=0)
    broker.join("A")
    broker.join("B")
    broker.heartbeat("A", 2)
    return broker


def timers(broker: Broker) -> dict[str, object]:
    """What the last operation did to timers: ``session A`` → the length it starts with, and its epoch if it is bound to one."""
    told: dict[str, object] = {}
    for command in broker.last.timers:
        name = f"{command.timer} {command.member_id}"
        if isinstance(command, TimerStart):
            bound = command.bound_epoch
            told[name] = command.length_ms if bound is None else (command.length_ms, bound)
        else:
            told[name] = "cancelled"
    return told


TIMERS: dict[str, tuple[Act, dict[str, object]]] = {
    "a join": (lambda b: b.join("C"), {"session C": 45_000, "rebalance C": "cancelled"}),
    "a heartbeat that changes nothing": (
        lambda b: (b.heartbeat("B", 3), b.heartbeat("B", 3)),
        {"session B": 45_000},
    ),
    "written in another state": (
        lambda b: b.heartbeat("B", 3),
        {"session B": 45_000, "rebalance B": "cancelled"},
    ),
    "not given up yet": (lambda b: b.heartbeat("A", 2), {"session A": 45_000}),
    "given up": (
        lambda b: b.heartbeat("A", 2, {FOO: (0, 1)}),
        {"session A": 45_000, "rebalance A": "cancelled"},
    ),
    "more to give up": (
        lambda b: b.heartbeat("A", 2, subscribed_topic_names=("bar",)),
        {"session A": 45_000, "rebalance A": (300_000, 2)},
    ),
    "a fence": (lambda b: b.heartbeat("A", 9), {}),
    "a commit": (lambda b: b.commit("A", 2, 0), {}),
    "a leave": (lambda b: b.heartbeat("A", -1), {"session A": "cancelled", "rebalance A": "cancelled"}),
    "a session that ran out": (
        lambda b: b.expire("session", "A"),
        {"session A": "cancelled", "rebalance A": "cancelled"},
    ),
    "a rebalance timeout of an earlier epoch": (lambda b: b.expire("rebalance", "A", 1), {}),
    "a rebalance timeout of this epoch": (
        lambda b: b.expire("rebalance", "A", 2),
        {"session A": "cancelled", "rebalance A": "cancelled"},
    ),
    "a timer of who is gone": (lambda b: b.expire("session", "Z"), {}),
}


@pytest.mark.parametrize("name", TIMERS)
def test_each_row_of_the_table_of_timers(name: str) -> None:
    broker = revoking()
    act, expected = TIMERS[name]
    act(broker)
    assert timers(broker) == expected


def test_the_rebalance_timer_is_bound_to_the_epoch_and_as_long_as_the_member_said() -> None:
    assert timers(revoking()) == {"session A": 45_000, "rebalance A": (300_000, 2)}


def test_a_static_leave_for_now_touches_no_timer() -> None:
    broker = Broker()
    broker.join("A", instance_id="i")
    broker.heartbeat("A", -2, instance_id="i")
    assert timers(broker) == {}


def test_the_rebalance_timer_of_who_left_for_now_runs_out_and_does_nothing() -> None:
    broker = Broker(assignment_interval_ms=0)
    broker.join("A", instance_id="i")
    broker.join("B")
    broker.heartbeat("A", 2, instance_id="i")
    broker.heartbeat("A", -2, instance_id="i")
    assert timers(broker) == {}
    broker.expire("rebalance", "A", 2)
    assert (broker.types, timers(broker)) == ([], {})


CUTS = {
    "nothing dropped": (STABLE, {FOO: [1]}, {}, None, (STABLE, {FOO: [1]}, {})),
    "dropped and perhaps owned": (
        STABLE,
        {FOO: [1], BAR: [0]},
        {},
        None,
        (UNREVOKED, {FOO: [1]}, {BAR: [0]}),
    ),
    "dropped and owned": (STABLE, {FOO: [1], BAR: [0]}, {}, {BAR: (0,)}, (UNREVOKED, {FOO: [1]}, {BAR: [0]})),
    "dropped and not owned": (STABLE, {FOO: [1], BAR: [0]}, {}, {FOO: (1,)}, (STABLE, {FOO: [1]}, {})),
    "dropped while giving up": (
        UNREVOKED,
        {FOO: [1], BAR: [0]},
        {FOO: [2]},
        None,
        (UNREVOKED, {FOO: [1]}, {FOO: [2], BAR: [0]}),
    ),
}
"""State, assigned, pending and owned of a member at the target's epoch that drops bar; then what it is after it."""


@pytest.mark.parametrize("name", CUTS)
def test_what_is_not_subscribed_to_any_more_is_cut(name: str) -> None:
    state, assigned, pending, owned, expected = CUTS[name]
    member = ConsumerMember(
        member_id="A",
        state=state,
        epoch=11,
        previous_epoch=10,
        assigned={topic: dict.fromkeys(numbers, 9) for topic, numbers in assigned.items()},
        pending_revocation={topic: dict.fromkeys(numbers, 9) for topic, numbers in pending.items()},
    )
    step = Reconciliation(
        group=ConsumerGroup(group_epoch=12, assignment_epoch=11, partition_epochs={}),
        target={FOO: (1,)},
        target_epoch=11,
        subscribed_ids=frozenset({FOO}),
        subscribes_to_nothing=False,
        subscription_changed=True,
        owned=owned,
    )
    after = step.step(member)
    kept, given = after.assigned, after.pending_revocation
    assert (after.state, after.epoch) == (expected[0], 11)
    assert {topic: list(numbers) for topic, numbers in kept.items()} == expected[1]
    assert {topic: list(numbers) for topic, numbers in given.items()} == expected[2]


def test_who_gave_up_moves_on_though_its_subscription_changed() -> None:
    broker = revoking()
    broker.heartbeat("A", 2, {}, subscribed_topic_names=("bar", "foo"))
    member = broker.member("A")
    assert (member.state, member.epoch, member.previous_epoch) == (STABLE, 4, 2)
    assert set(member.assigned) == {FOO, BAR}


def test_who_subscribes_to_nothing_any_more_has_its_previous_epoch_moved_though_it_had_nothing() -> None:
    broker = Broker(assignment_interval_ms=15_000)
    broker.join("A", "nowhere")
    assert (broker.member("A").epoch, broker.member("A").previous_epoch) == (2, 0)
    broker.heartbeat("A", 2, subscribed_topic_names=())
    assert broker.types == [5, 3, 8]
    assert (broker.member("A").epoch, broker.member("A").previous_epoch) == (2, 2)
    broker.heartbeat("A", 2, subscribed_topic_names=("nowhere",))
    assert broker.types == [5, 3], "with a subscription, having nothing is no change"


def test_the_deadline_of_who_makes_the_group_is_lost_and_the_next_heartbeat_sets_one() -> None:
    broker = Broker()
    broker.join("A")
    assert broker.shard.memory.refresh.expired(broker.now_ms, 2)
    broker.heartbeat("A", 2)
    assert broker.types == []
    assert broker.shard.memory.refresh.deadline_ms == broker.now_ms + 2**31 - 1
    assert not broker.shard.memory.refresh.expired(broker.now_ms + 2**31 - 2, 2)
    assert broker.shard.memory.refresh.expired(broker.now_ms + 2**31 - 1, 2)


def test_each_setting_has_kafkas_default() -> None:
    settings = Settings()
    minutes, check_ms = settings.offsets_retention_minutes, settings.offsets_retention_check_interval_ms
    bounds = {
        name: (getattr(settings, f"min_{name}"), getattr(settings, name), getattr(settings, f"max_{name}"))
        for name in ("session_timeout_ms", "heartbeat_interval_ms", "assignment_interval_ms")
    }
    assert bounds == {
        "session_timeout_ms": (45_000, 45_000, 60_000),
        "heartbeat_interval_ms": (5_000, 5_000, 15_000),
        "assignment_interval_ms": (0, 1_000, 15_000),
    }
    assert (settings.max_size, settings.assignors) == (2147483647, ("uniform", "range"))
    assert (settings.regex_refresh_interval_ms, settings.append_linger_ms) == (600_000, -1)
    assert (settings.offset_metadata_max_bytes, minutes, check_ms) == (4096, 10080, 600_000)


def current(**told: object) -> Record:
    held = ConsumerMember(member_id="A", epoch=3, previous_epoch=2, assigned={FOO: {0: 2, 1: 3}})
    record = records.current_assignment(GROUP, held, with_epochs=True)
    return {**record, "value": {**record["value"], **told}}


SUBSCRIBED = records.member_metadata(GROUP, ConsumerMember(member_id="A", subscribed_topic_names=("foo",)))


def loaded(*log: Record) -> ConsumerGroup:
    broker = Broker()
    broker.shard.load(log)
    return broker.group


def test_replayed_values_make_what_is_not_there_and_set_what_they_tell() -> None:
    fresh = loaded(SUBSCRIBED).members["A"]
    assert (fresh.epoch, fresh.previous_epoch, fresh.assigned) == (0, -1, {})
    member = loaded(current()).members["A"]
    assert (member.epoch, member.previous_epoch, member.assigned) == (3, 2, {FOO: {0: 2, 1: 3}})
    both = loaded(current(), SUBSCRIBED).members["A"]
    assert (both.epoch, both.subscribed_topic_names) == (3, ("foo",))


def test_a_partition_without_its_assignment_epoch_has_the_members() -> None:
    without = [{"topicId": FOO, "partitions": [0, 1]}]
    assert loaded(current(assignedPartitions=without)).members["A"].assigned == {FOO: {0: 3, 1: 3}}
    left = loaded(current(assignedPartitions=without, memberEpoch=-2))
    assert left.members["A"].assigned == {FOO: {0: 0, 1: 0}}


def test_values_of_the_group_are_remembered_and_tombstones_undo_them() -> None:
    target = records.target_member(GROUP, "Z", {FOO: (0,)})
    log = (records.group_epoch(GROUP, 4, 77), target, records.target_epoch(GROUP, 3, 5))
    group = loaded(*log)
    assert (group.group_epoch, group.assignment_epoch, dict(group.target)) == (4, 3, {"Z": {FOO: (0,)}})
    ended = loaded(*log, records.tombstone(7, GROUP, "Z"), records.tombstone(6, GROUP))
    assert (ended.assignment_epoch, dict(ended.target)) == (-1, {})
    emptied = loaded(SUBSCRIBED, current(), records.tombstone(8, GROUP, "A")).members["A"]
    assert (emptied.epoch, emptied.previous_epoch, emptied.assigned) == (-1, -1, {})
