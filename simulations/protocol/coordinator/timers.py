"""A coordinator's commands to its timers: start, start again, cancel."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerStart:
    """Starts a timer, or starts it again. ``bound_epoch``: it does nothing if the member has left that epoch."""

    timer: str
    member_id: str | None
    length_ms: int
    bound_epoch: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerCancel:
    timer: str
    member_id: str | None


TimerCommand = TimerStart | TimerCancel

SESSION, REBALANCE, ASSIGNMENT, COMPUTE = "session", "rebalance", "assignment", "compute"
JOIN, SYNC = "join", "sync"
"""Timers of the classic protocol's two phases: the group's own (member ``None``) in a classic group, a classic member's
in a consumer group."""
