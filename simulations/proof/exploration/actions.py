"""What can happen next in a world, as numbers; and how often what is not the members' own doing may happen."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum, unique
from typing import Final

SLOTS_MAX: Final = 64
"""Processes of a scenario, restarts included: a step is identified by its kind and one of these. No exploration has that many."""

Step = int
"""A kind and the process that it happens to, packed: ``kind * SLOTS_MAX + slot``."""


@unique
class ActionKind(IntEnum):
    """``BEAT``: a heartbeat is sent and arrives; ``SEND``: it is sent alone, and is on its way.

    ``APPEND`` to ``FORGET``: of groups with classic members alone. ``COMPUTE``: of assignors on clients.
    """

    BEAT = 0
    SEND = 1
    ARRIVE = 2
    ANSWER = 3
    RETURN = 4
    SCRIPT = 5
    ASSIGNMENT = 6
    TASK = 7
    SESSION = 8
    REBALANCE = 9
    LOSE = 10
    DUPLICATE = 11
    FAIL_OVER = 12
    APPEND = 13
    START = 14
    METADATA = 15
    UNANSWERED = 16
    JOIN_PHASE = 17
    SYNC_PHASE = 18
    FORGET = 19
    COMPUTE = 20


def packed(kind: ActionKind, slot: int = 0) -> Step:
    return kind * SLOTS_MAX + slot


def unpacked(step: Step) -> tuple[ActionKind, int]:
    kind, slot = divmod(step, SLOTS_MAX)
    return ActionKind(kind), slot


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """How often each fault may befall one run.

    ``losses``: a connection breaks, with all that is on its way on it. ``duplicates``: the connection
    breaks when a request has arrived, so that it is handled, and its client asks again in its own way.
    ``timers``: the session or the rebalance timeout of a process that lives and is not paused runs out.
    ``fail_overs``: another broker takes the group over. What the script states is not counted.
    """

    losses: int = 0
    duplicates: int = 0
    timers: int = 0
    fail_overs: int = 0


BUDGETS: Final = tuple(field.name for field in fields(Budgets))
