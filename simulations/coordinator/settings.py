"""What a broker's and a group's settings say to the coordinator, with Kafka's defaults."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MAX_INT: Final = 2147483647


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Each field names the broker setting that it stands for; durations are in milliseconds."""

    session_timeout_ms: int = 45_000
    """``group.consumer.session.timeout.ms``"""
    heartbeat_interval_ms: int = 5_000
    """``group.consumer.heartbeat.interval.ms``"""
    assignment_interval_ms: int = 1_000
    """``group.consumer.assignment.interval.ms``: the least time between two targets (``kafka`` only)."""
    assignor_time_ms: int = 100
    """How long after a new group epoch the target stands (``kip`` only: the proposal gives no number)."""
    max_size: int = MAX_INT
    """``group.consumer.max.size``"""
    assignors: tuple[str, ...] = ("uniform", "range")
    """``group.consumer.assignors``: the first is the default"""
    offset_metadata_max_bytes: int = 4096
    """``offset.metadata.max.bytes``"""
