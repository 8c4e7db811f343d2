"""Kafka's own case of three members that are reconciled, row by row: answers, states, records, the group's state."""

from __future__ import annotations

from dataclasses import dataclass

from groups.history.state.consumer import STATE_NAMES, ConsumerMember
from simulations.protocol.coordinator.consumer import records
from tests.simulations.broker import BAR, FOO, GROUP, Broker

Assigned = dict[str, tuple[int, ...]]

STABLE, UNREVOKED, UNRELEASED = "STABLE", "UNREVOKED_PARTITIONS", "UNRELEASED_PARTITIONS"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A heartbeat; ``assigned`` is what the answer tells (``None``: nothing), ``state`` the member's after it."""

    who: str
    epoch: int
    owned: Assigned | None = None
    answer: int
    assigned: Assigned | None
    state: tuple[str, int, int]
    written: list[int]
    group: str


ROWS = [
    Row(who="M3", epoch=0, answer=11, assigned={}, state=(UNRELEASED, 11, 0), written=[5, 3, 8], group="Reconciling"),
    Row(who="M1", epoch=10, answer=10, assigned={FOO: (0, 1), BAR: (0,)}, state=(UNREVOKED, 10, 10), written=[8], group="Reconciling"),
    Row(who="M2", epoch=10, answer=10, assigned={FOO: (3,), BAR: (2,)}, state=(UNREVOKED, 10, 10), written=[8], group="Reconciling"),
    Row(who="M3", epoch=11, answer=11, assigned=None, state=(UNRELEASED, 11, 11), written=[8], group="Reconciling"),
    Row(who="M1", epoch=10, owned={FOO: (0, 1), BAR: (0,)}, answer=11, assigned=None, state=(STABLE, 11, 10), written=[8], group="Reconciling"),
    Row(who="M2", epoch=10, answer=10, assigned=None, state=(UNREVOKED, 10, 10), written=[], group="Reconciling"),
    Row(who="M3", epoch=11, answer=11, assigned={BAR: (1,)}, state=(UNRELEASED, 11, 11), written=[8], group="Reconciling"),
    Row(who="M3", epoch=11, answer=11, assigned=None, state=(UNRELEASED, 11, 11), written=[], group="Reconciling"),
    Row(who="M2", epoch=10, owned={FOO: (3,), BAR: (2,)}, answer=11, assigned={FOO: (2, 3), BAR: (2,)}, state=(STABLE, 11, 10), written=[8], group="Reconciling"),
    Row(who="M3", epoch=11, owned={BAR: (1,)}, answer=11, assigned={FOO: (4, 5), BAR: (1,)}, state=(STABLE, 11, 11), written=[8], group="Stable"),
]  # fmt: skip


def beginning() -> Broker:
    """M1 and M2 at epoch 10; the target of epoch 11, in which M3 has its part, is there before M3 is."""
    broker = Broker(foo=6, bar=3, assignment_interval_ms=0)
    held = {
        "M1": {FOO: (0, 1, 2), BAR: (0, 1)},
        "M2": {FOO: (3, 4, 5), BAR: (2,)},
    }
    members = [
        ConsumerMember(
            member_id=who,
            epoch=10,
            previous_epoch=9,
            client_id=who,
            client_host="/127.0.0.1",
            rebalance_timeout_ms=300_000,
            subscribed_topic_names=("bar", "foo"),
            assigned={topic: dict.fromkeys(numbers, 10) for topic, numbers in assigned.items()},
        )
        for who, assigned in held.items()
    ]
    targets = {
        "M1": {FOO: (0, 1), BAR: (0,)},
        "M2": {FOO: (2, 3), BAR: (2,)},
        "M3": {FOO: (4, 5), BAR: (1,)},
    }
    broker.shard.load(
        [
            *(records.member_metadata(GROUP, member) for member in members),
            records.group_epoch(GROUP, 10, broker.shard.image.metadata_hash(("foo", "bar"))),
            *(records.target_member(GROUP, who, target) for who, target in targets.items()),
            records.target_epoch(GROUP, 11, 1),
            *(records.current_assignment(GROUP, member, with_epochs=True) for member in members),
        ]
    )
    return broker


def test_ten_heartbeats_move_three_members_as_in_kafka() -> None:
    broker = beginning()
    for number, row in enumerate(ROWS, start=1):
        fields = {"subscribed_topic_names": ("foo", "bar"), "rebalance_timeout_ms": 300_000}
        owned = {} if row.epoch == 0 else row.owned
        answer = broker.heartbeat(row.who, row.epoch, owned, **(fields if row.epoch == 0 else {}))
        told = answer.assigned
        sorted_told = {t: tuple(sorted(p)) for t, p in told.items()} if told is not None else None
        member = broker.member(row.who)
        assert (answer.error_code, answer.member_epoch, sorted_told) == (0, row.answer, row.assigned), number
        assert (STATE_NAMES[member.state], member.epoch, member.previous_epoch) == row.state, number
        assert broker.types == row.written, number
        assert broker.shard.describe()["groupState"] == row.group, number


def test_what_the_first_two_were_to_give_up_is_what_the_target_takes() -> None:
    broker = beginning()
    broker.heartbeat("M3", 0, {}, subscribed_topic_names=("foo", "bar"), rebalance_timeout_ms=300_000)
    broker.heartbeat("M1", 10)
    broker.heartbeat("M2", 10)
    assert {t: set(p) for t, p in broker.member("M1").pending_revocation.items()} == {FOO: {2}, BAR: {1}}
    assert {t: set(p) for t, p in broker.member("M2").pending_revocation.items()} == {FOO: {4, 5}}
