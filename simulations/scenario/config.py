"""Reads ``config`` and ``assignor``: the coordinator's settings under Kafka's names without their prefix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from simulations.coordinator.settings import MAX_INT, Settings
from simulations.scenario.nodes import Node

CONFIG_KEYS: Final = (
    "session_timeout_ms",
    "heartbeat_interval_ms",
    "assignment_interval_ms",
    "assignor_time_ms",
    "max_size",
)

MILLISECONDS_MAX: Final = MAX_INT


def read_settings(config: Node | None, assignor: Node | None) -> Settings:
    """The settings, Kafka's where nothing is said."""
    usual = Settings()
    keys = config.mapping(CONFIG_KEYS) if config is not None else {}
    assignors = usual.assignors
    if assignor is not None:
        chosen = assignor.text()
        if chosen.startswith("client:") or chosen == "scripted":
            raise assignor.wrong(f"{chosen} is not simulated yet; there are {', '.join(usual.assignors)}")
        first = assignor.choice(usual.assignors, "assignor")
        assignors = (first, *(other for other in usual.assignors if other != first))
    settings = Settings(
        session_timeout_ms=read_milliseconds(keys, "session_timeout_ms", 1, usual.session_timeout_ms),
        heartbeat_interval_ms=read_milliseconds(
            keys, "heartbeat_interval_ms", 1, usual.heartbeat_interval_ms
        ),
        assignment_interval_ms=read_milliseconds(
            keys, "assignment_interval_ms", 0, usual.assignment_interval_ms
        ),
        assignor_time_ms=read_milliseconds(keys, "assignor_time_ms", 0, usual.assignor_time_ms),
        max_size=keys["max_size"].integer(1, MAX_INT) if "max_size" in keys else usual.max_size,
        assignors=assignors,
    )
    if settings.heartbeat_interval_ms >= settings.session_timeout_ms and config is not None:
        raise config.wrong(
            f"heartbeat_interval_ms ({settings.heartbeat_interval_ms}) must be below "
            f"session_timeout_ms ({settings.session_timeout_ms})"
        )
    return settings


def read_milliseconds(keys: Mapping[str, Node], key: str, least: int, usual: int) -> int:
    return keys[key].integer(least, MILLISECONDS_MAX) if key in keys else usual
