"""What a group may set for itself, and what holds for it then.

A value is refused when it is set outside the broker's bounds; one that is outside later, since the broker's bounds
changed, is brought inside when it is used. What a group does not set is the broker's.

Kafka: ``GroupConfig.validate`` and ``GroupConfigManager``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from simulations.protocol.coordinator.errors import ConfigRefused
from simulations.protocol.coordinator.settings import MAX_INT, Settings

GroupConfig = Mapping[str, int]
"""Those of ``NAMES`` that the group sets, in milliseconds."""

NAMES: Final[Mapping[str, str]] = {
    "heartbeat_interval_ms": "heartbeat.interval.ms",
    "session_timeout_ms": "session.timeout.ms",
    "assignment_interval_ms": "assignment.interval.ms",
}
"""Field of ``Settings`` → setting, ``consumer.`` before it for a group and ``group.consumer.`` for a broker."""

LEAST: Final = {"heartbeat_interval_ms": 1, "session_timeout_ms": 1, "assignment_interval_ms": 0}
"""What no broker allows to go below."""


def check(config: GroupConfig, settings: Settings) -> None:
    """``ConfigRefused`` for the first value that the broker does not take."""
    for field, value in config.items():
        if field not in NAMES:
            known = ", ".join(sorted(NAMES))
            raise ConfigRefused(f"a consumer group has no setting {field}; it has {known}")
        given = f"Invalid value {value} for configuration consumer.{NAMES[field]}: "
        if value > MAX_INT:
            raise ConfigRefused(f"{given}Not a number of type INT")
        if value < LEAST[field]:
            raise ConfigRefused(f"{given}Value must be at least {LEAST[field]}")
    for field in NAMES:
        if field not in config:
            continue
        low, high = bounds(field, settings)
        group, broker = f"consumer.{NAMES[field]}", "group.consumer.{}." + NAMES[field]
        names_range = settings.release.rules.setting_out_of_range_names_it
        if names_range and not low <= config[field] <= high:
            raise ConfigRefused(f"{group} must be in the range {low} to {high} inclusive.")
        if config[field] < low:
            raise ConfigRefused(f"{group} must be greater than or equal to {broker.format('min')}")
        if config[field] > high:
            raise ConfigRefused(f"{group} must be less than or equal to {broker.format('max')}")
    merged = _with(settings, config)
    if merged.session_timeout_ms <= merged.heartbeat_interval_ms:
        raise ConfigRefused("consumer.session.timeout.ms must be greater than consumer.heartbeat.interval.ms")


def effective(config: GroupConfig, settings: Settings) -> Settings:
    """The broker's settings with the group's in place, each within the broker's bounds."""
    if not config:
        return settings
    clamped: dict[str, int] = {}
    for field, value in config.items():
        low, high = bounds(field, settings)
        clamped[field] = min(max(value, low), high)
    return _with(settings, clamped)


def bounds(field: str, settings: Settings) -> tuple[int, int]:
    """The least and the greatest value of a group.

    A broker starts only with its own value between them, so that this value widens bounds that were left as they are.
    """
    own: int = getattr(settings, field)
    return min(getattr(settings, f"min_{field}"), own), max(getattr(settings, f"max_{field}"), own)


def _with(settings: Settings, config: GroupConfig) -> Settings:
    return replace(
        settings,
        heartbeat_interval_ms=config.get("heartbeat_interval_ms", settings.heartbeat_interval_ms),
        session_timeout_ms=config.get("session_timeout_ms", settings.session_timeout_ms),
        assignment_interval_ms=config.get("assignment_interval_ms", settings.assignment_interval_ms),
    )
