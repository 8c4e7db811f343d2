"""Reads ``config`` and ``assignor``: the coordinator's settings under Kafka's names without their prefix."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from simulations.protocol.assignors.scripted import SCRIPTED
from simulations.protocol.coordinator import group_config
from simulations.protocol.coordinator.errors import ConfigRefused
from simulations.protocol.coordinator.settings import MAX_INT, MigrationPolicy, Settings
from simulations.world.scenario.client_assignors import CLIENT
from simulations.world.scenario.nodes import Node

LEAST: Final[Mapping[str, int]] = {
    "session_timeout_ms": 1,
    "min_session_timeout_ms": 1,
    "max_session_timeout_ms": 1,
    "heartbeat_interval_ms": 1,
    "min_heartbeat_interval_ms": 1,
    "max_heartbeat_interval_ms": 1,
    "assignment_interval_ms": 0,
    "min_assignment_interval_ms": 0,
    "max_assignment_interval_ms": 0,
    "assignor_time_ms": 0,
    "max_size": 1,
    "regex_refresh_interval_ms": 10_000,
    "append_linger_ms": -1,
    "offset_metadata_max_bytes": 0,
    "offsets_retention_minutes": 1,
    "offsets_retention_check_interval_ms": 1,
    "initial_rebalance_delay_ms": 0,
    "classic_min_session_timeout_ms": 1,
    "classic_max_session_timeout_ms": 1,
    "classic_max_size": 1,
    "max_message_bytes": 1,
}
"""Whole numbers among the settings, and the least that a broker takes for each."""

GROUP_VERSION_MAX: Final = 1
"""The newest level of the feature ``group.version`` in release 4.3."""

CONFIG_KEYS: Final = (*LEAST, "assignors", "migration_policy", "group_version")

GROUP_CONFIG_KEYS: Final = tuple(group_config.NAMES)
"""What ``set_config`` can set."""

MILLISECONDS_MAX: Final = MAX_INT


def read_settings(config: Node | None, assignor: Node | None) -> Settings:
    """The broker's settings, Kafka's where nothing is said."""
    usual = Settings()
    keys = config.mapping(CONFIG_KEYS) if config is not None else {}
    # ``Any``: by the names of the settings, of which each has its type.
    values: dict[str, Any] = {key: keys[key].integer(LEAST[key], MAX_INT) for key in keys if key in LEAST}
    if "migration_policy" in keys:
        policy = keys["migration_policy"].choice(tuple(MigrationPolicy), "policy")
        values["migration_policy"] = MigrationPolicy(policy)
    if "group_version" in keys:
        values["group_version"] = keys["group_version"].integer(
            0, GROUP_VERSION_MAX, "the feature group.version"
        )
    assignors = _assignors(keys["assignors"], usual.assignors) if "assignors" in keys else usual.assignors
    settings = replace(usual, **values, assignors=_first(assignor, assignors))
    if config is not None:
        _check(config, settings, values)
    return settings


def _check(config: Node, settings: Settings, values: Mapping[str, int]) -> None:
    """What a broker refuses to start with. Its own value widens bounds that nothing is said of."""
    for key in GROUP_CONFIG_KEYS:
        value = getattr(settings, key)
        least, most = values.get(f"min_{key}", value), values.get(f"max_{key}", value)
        if not least <= value <= most:
            bound = f"min_{key} ({least})" if value < least else f"max_{key} ({most})"
            raise config.wrong(f"{key} ({value}) must not be {'below' if value < least else 'above'} {bound}")
    if settings.heartbeat_interval_ms >= settings.session_timeout_ms:
        raise config.wrong(
            f"heartbeat_interval_ms ({settings.heartbeat_interval_ms}) must be below "
            f"session_timeout_ms ({settings.session_timeout_ms})"
        )


def _assignors(node: Node, known: tuple[str, ...]) -> tuple[str, ...]:
    chosen = node.choices(known, "assignor")
    if not chosen:
        raise node.wrong("a broker has at least one assignor")
    return chosen


def _first(assignor: Node | None, assignors: tuple[str, ...]) -> tuple[str, ...]:
    """The assignors with the group's in front."""
    if assignor is None:
        return assignors
    chosen = assignor.text()
    if chosen.startswith(CLIENT):
        return assignors
    first = assignor.choice((*assignors, SCRIPTED), "assignor")
    return (first, *(other for other in assignors if other != first))


def read_group_config(node: Node, settings: Settings) -> dict[str, int]:
    """What a group sets for itself; what the broker does not take is refused here (``INVALID_CONFIG``)."""
    keys = node.mapping(GROUP_CONFIG_KEYS)
    if not keys:
        raise node.wrong(f"set_config sets {', '.join(GROUP_CONFIG_KEYS)}")
    values = {key: value.integer(LEAST[key], MAX_INT) for key, value in keys.items()}
    try:
        group_config.check(values, settings)
    except ConfigRefused as refused:
        raise node.wrong(str(refused)) from None
    return values
