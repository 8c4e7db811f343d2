"""Broker settings as people write them, and the settings of a group as in the metadata log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from simulations.protocol.coordinator.group_config import NAMES
from simulations.protocol.coordinator.settings import MigrationPolicy, Settings
from simulations.protocol.coordinator.shard import Shard

BROKER_SETTINGS: Final[dict[str, str]] = {
    "group.consumer.session.timeout.ms": "session_timeout_ms",
    "group.consumer.min.session.timeout.ms": "min_session_timeout_ms",
    "group.consumer.max.session.timeout.ms": "max_session_timeout_ms",
    "group.consumer.heartbeat.interval.ms": "heartbeat_interval_ms",
    "group.consumer.min.heartbeat.interval.ms": "min_heartbeat_interval_ms",
    "group.consumer.max.heartbeat.interval.ms": "max_heartbeat_interval_ms",
    "group.consumer.assignment.interval.ms": "assignment_interval_ms",
    "group.consumer.min.assignment.interval.ms": "min_assignment_interval_ms",
    "group.consumer.max.assignment.interval.ms": "max_assignment_interval_ms",
    "group.consumer.max.size": "max_size",
    "group.consumer.assignors": "assignors",
    "group.consumer.regex.refresh.interval.ms": "regex_refresh_interval_ms",
    "group.consumer.migration.policy": "migration_policy",
    "group.initial.rebalance.delay.ms": "initial_rebalance_delay_ms",
    "group.min.session.timeout.ms": "classic_min_session_timeout_ms",
    "group.max.session.timeout.ms": "classic_max_session_timeout_ms",
    "group.max.size": "classic_max_size",
    "offset.metadata.max.bytes": "offset_metadata_max_bytes",
    "offsets.retention.minutes": "offsets_retention_minutes",
}
"""Kafka's name of each broker setting that decides what the coordinator answers or writes."""

GROUP_SETTINGS: Final = {f"consumer.{name}": field for field, name in NAMES.items()}

ASSIGNOR_CLASSES: Final = {
    "org.apache.kafka.coordinator.group.assignor.UniformAssignor": "uniform",
    "org.apache.kafka.coordinator.group.assignor.RangeAssignor": "range",
}


class BadSetting(ValueError):
    """One line: what, and what would be right."""


def settings_of(texts: Mapping[str, str]) -> Settings:
    """Broker settings by Kafka's names on top of Kafka's defaults; ``BadSetting`` for what is none."""
    values: dict[str, Any] = {}  # ``Any``: each setting has its own type.
    for name, text in texts.items():
        field = BROKER_SETTINGS.get(name)
        if field is None:
            raise BadSetting(f"{name} is no setting that counts here; there are {', '.join(BROKER_SETTINGS)}")
        if field == "assignors":
            names = tuple(ASSIGNOR_CLASSES.get(each.strip(), each.strip()) for each in text.split(","))
            unknown = sorted(set(names) - set(ASSIGNOR_CLASSES.values()))
            if unknown:
                raise BadSetting(f"{name}: {unknown[0]} is not simulated; there are uniform and range")
            values[field] = names
            continue
        if field == "migration_policy":
            values[field] = migration_policy(text)
            continue
        try:
            values[field] = int(text)
        except ValueError:
            raise BadSetting(f"{name} is {text!r}; expected a whole number") from None
    return replace(Settings(), **values)


def migration_policy(text: str) -> MigrationPolicy:
    """A policy in any case; a word that is none disables, as a broker takes it (``ConsumerGroupMigrationPolicy.parse``)."""
    try:
        return MigrationPolicy(text.strip().lower())
    except ValueError:
        return MigrationPolicy.DISABLED


def group_settings(shard: Shard, values: Mapping[str, str | None]) -> None:
    """Sets and removes settings of the shard's group."""
    config = dict(shard.group_config)
    for name, text in values.items():
        field = GROUP_SETTINGS.get(name)
        if field is None:
            continue
        if text is None:
            config.pop(field, None)
        else:
            config[field] = int(text)
    # Not `configure`: the broker has taken them, and what is out of bounds by now is clamped on use.
    shard.group_config = config
