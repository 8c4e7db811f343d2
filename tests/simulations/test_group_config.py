"""A group's own settings: which ones the broker takes, and when they hold."""

from __future__ import annotations

import pytest

from groups.history.state.group import Semantics
from groups.releases import Release
from simulations.protocol.coordinator.errors import ConfigRefused
from simulations.protocol.coordinator.settings import Settings
from simulations.protocol.coordinator.shard import Shard
from tests.simulations.broker import Broker


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"session_timeout_ms": 44_999}, "consumer.session.timeout.ms must be greater than or equal to group.consumer.min.session.timeout.ms"),
        ({"session_timeout_ms": 60_001}, "consumer.session.timeout.ms must be less than or equal to group.consumer.max.session.timeout.ms"),
        ({"heartbeat_interval_ms": 4_999}, "consumer.heartbeat.interval.ms must be greater than or equal to group.consumer.min.heartbeat.interval.ms"),
        ({"heartbeat_interval_ms": 15_001}, "consumer.heartbeat.interval.ms must be less than or equal to group.consumer.max.heartbeat.interval.ms"),
        ({"assignment_interval_ms": 15_001}, "consumer.assignment.interval.ms must be less than or equal to group.consumer.max.assignment.interval.ms"),
        ({"assignment_interval_ms": -1}, "Invalid value -1 for configuration consumer.assignment.interval.ms: Value must be at least 0"),
        ({"session_timeout_ms": 0}, "Invalid value 0 for configuration consumer.session.timeout.ms: Value must be at least 1"),
        ({"session_timeout_ms": 2_147_483_647}, "consumer.session.timeout.ms must be less than or equal to group.consumer.max.session.timeout.ms"),
        ({"session_timeout_ms": 2_147_483_648}, "Invalid value 2147483648 for configuration consumer.session.timeout.ms: Not a number of type INT"),
        ({"max_size": 3}, "a consumer group has no setting max_size; it has assignment_interval_ms, heartbeat_interval_ms, session_timeout_ms"),
    ],
)  # fmt: skip
def test_a_value_outside_the_brokers_bounds_is_refused_and_the_old_ones_stay(
    config: dict[str, int], words: str
) -> None:
    shard = Broker(release=Release.V4_3_1).shard
    shard.configure({"session_timeout_ms": 50_000})
    with pytest.raises(ConfigRefused) as refused:
        shard.configure(config)
    assert (int(refused.value.code), refused.value.message) == (40, words)
    assert shard.group_config == {"session_timeout_ms": 50_000}


def test_a_session_is_longer_than_a_heartbeats_interval_the_brokers_included() -> None:
    shard = Broker(session_timeout_ms=10_000, min_session_timeout_ms=6_000, heartbeat_interval_ms=5_000).shard
    shard.configure({"session_timeout_ms": 6_000})
    with pytest.raises(ConfigRefused, match="must be greater than"):
        shard.configure({"session_timeout_ms": 6_000, "heartbeat_interval_ms": 6_000})
    with pytest.raises(ConfigRefused, match="must be greater than"):
        shard.configure({"heartbeat_interval_ms": 10_000})


def test_a_groups_values_hold_from_their_next_use() -> None:
    broker = Broker()
    broker.shard.configure(
        {"session_timeout_ms": 50_000, "heartbeat_interval_ms": 6_000, "assignment_interval_ms": 0}
    )
    answer = broker.join("A")
    assert answer.heartbeat_interval_ms == 6_000
    assert [t.length_ms for t in broker.last.timers if t.timer == "session"] == [50_000]
    broker.join("B")
    assert 6 in broker.types, "no interval is waited for"
    broker.shard.configure({})
    assert broker.heartbeat("B", 3, {}).heartbeat_interval_ms == 5_000
    broker.join("C")
    assert 6 not in broker.types


def test_a_value_that_is_out_of_bounds_by_now_is_brought_inside() -> None:
    broker = Broker()
    broker.shard = Shard(
        "orders",
        Semantics.KAFKA,
        Settings(max_session_timeout_ms=50_000),
        broker.shard.image,
        config={"session_timeout_ms": 55_000, "heartbeat_interval_ms": 1_000},
    )
    answer = broker.join("A")
    assert answer.heartbeat_interval_ms == 5_000
    assert [t.length_ms for t in broker.last.timers if t.timer == "session"] == [50_000]


def test_a_copy_has_the_groups_settings_too() -> None:
    shard = Broker().shard
    shard.configure({"session_timeout_ms": 50_000})
    copy = shard.copy()
    shard.configure({})
    assert copy.context(0).settings.session_timeout_ms == 50_000
    assert shard.context(0).settings.session_timeout_ms == 45_000
