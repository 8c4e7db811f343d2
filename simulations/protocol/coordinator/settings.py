"""What a broker's and a group's settings say to the coordinator, with Kafka's defaults (``GroupCoordinatorConfig``)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from groups.releases import EARLIER, Release
from simulations.protocol.assignors.scripted import ScriptedAssignor

MAX_INT: Final = 2147483647

DAY_MINUTES: Final = 24 * 60


class MigrationPolicy(StrEnum):
    """``group.consumer.migration.policy``: which ways a group with members may change its protocol."""

    BIDIRECTIONAL = "bidirectional"
    UPGRADE = "upgrade"
    DOWNGRADE = "downgrade"
    DISABLED = "disabled"

    @property
    def upgrades(self) -> bool:
        return self in (MigrationPolicy.BIDIRECTIONAL, MigrationPolicy.UPGRADE)

    @property
    def downgrades(self) -> bool:
        return self in (MigrationPolicy.BIDIRECTIONAL, MigrationPolicy.DOWNGRADE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Each field is named like its broker setting; durations are in milliseconds."""

    session_timeout_ms: int = 45_000
    """``group.consumer.session.timeout.ms``"""
    min_session_timeout_ms: int = 45_000
    """``group.consumer.min.session.timeout.ms``: bounds what a group may set for itself."""
    max_session_timeout_ms: int = 60_000
    """``group.consumer.max.session.timeout.ms``"""
    heartbeat_interval_ms: int = 5_000
    """``group.consumer.heartbeat.interval.ms``"""
    min_heartbeat_interval_ms: int = 5_000
    """``group.consumer.min.heartbeat.interval.ms``"""
    max_heartbeat_interval_ms: int = 15_000
    """``group.consumer.max.heartbeat.interval.ms``"""
    assignment_interval_ms: int = 1_000
    """``group.consumer.assignment.interval.ms``: the least time between two targets (``kafka`` only)."""
    min_assignment_interval_ms: int = 0
    """``group.consumer.min.assignment.interval.ms``"""
    max_assignment_interval_ms: int = 15_000
    """``group.consumer.max.assignment.interval.ms``"""
    assignor_time_ms: int = 100
    """How long after a new group epoch the target is (``kip`` only: the proposal gives no number)."""
    max_size: int = MAX_INT
    """``group.consumer.max.size``"""
    assignors: tuple[str, ...] = ("uniform", "range")
    """``group.consumer.assignors``: the first is the default"""
    scripted: ScriptedAssignor | None = field(default=None, compare=False)
    """What is behind the name ``scripted`` among them: an assignor that the broker loads in addition to its own."""
    regex_refresh_interval_ms: int = 600_000
    """``group.consumer.regex.refresh.interval.ms``"""
    append_linger_ms: int = -1
    """``group.coordinator.append.linger.ms``: -1 lets a batch take what waits together; for who keeps the log."""
    offset_metadata_max_bytes: int = 4096
    """``offset.metadata.max.bytes``"""
    offsets_retention_minutes: int = 7 * DAY_MINUTES
    """``offsets.retention.minutes``"""
    offsets_retention_check_interval_ms: int = 600_000
    """``offsets.retention.check.interval.ms``: how often who runs the shard calls ``expire_offsets``."""

    initial_rebalance_delay_ms: int = 3_000
    """``group.initial.rebalance.delay.ms``: how long the first join phase of a classic group waits for more members."""
    classic_min_session_timeout_ms: int = 6_000
    """``group.min.session.timeout.ms``: bounds what a classic member may ask for."""
    classic_max_session_timeout_ms: int = 1_800_000
    """``group.max.session.timeout.ms``"""
    classic_max_size: int = MAX_INT
    """``group.max.size``: members of a classic group"""
    migration_policy: MigrationPolicy = MigrationPolicy.BIDIRECTIONAL
    """``group.consumer.migration.policy``"""
    max_message_bytes: int = 1_048_588
    """``max.message.bytes`` of ``__consumer_offsets``: the largest batch, and so the records of one operation (``kafka`` only)."""
    group_version: int = 1
    """The feature ``group.version`` as it is at first: at 0 brokers refuse the consumer protocol, before a coordinator is asked."""
    release: Release = EARLIER
    """What the broker runs: its rules are those that the coordinator follows in ``kafka``."""
    other_releases: tuple[tuple[str, Release], ...] = ()
    """Brokers of the cluster that run another release than the first one, by name."""

    @property
    def offsets_retention_ms(self) -> int:
        return self.offsets_retention_minutes * 60_000
