"""What the picture of a classic group is made of: its members, its phases, the broker's limits, and what an operation brings about."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypedDict

NEW_MEMBER_MS: Final = 300_000
"""Until its first join phase ends a member has five minutes (``CLASSIC_GROUP_NEW_MEMBER_JOIN_TIMEOUT_MS``)."""

MEMBER_ID_REQUIRED, SKIPS, SYNC_NAMES_PROTOCOL = 4, 9, 5
"""Versions: of JoinGroup that draws an id first, and that can skip an assignment; of SyncGroup that has its protocol."""

NONE, UNKNOWN_MEMBER, ILLEGAL_GENERATION, INCONSISTENT = 0, 25, 22, 23
REBALANCE, INVALID_SESSION, FULL, ID_REQUIRED, FENCED_INSTANCE = 27, 26, 81, 79, 82
SERVER_ERROR: Final = -1

SESSION, JOIN, SYNC = "session", "join", "sync"


class Phase(Enum):
    EMPTY = "Empty"
    PREPARING = "PreparingRebalance"
    COMPLETING = "CompletingRebalance"
    STABLE = "Stable"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicLimits:
    """What the broker of a run is set to; durations in milliseconds."""

    initial_delay_ms: int = 3_000
    least_session_ms: int = 6_000
    most_session_ms: int = 1_800_000
    most_members: int = 2**31 - 1
    may_fail: bool = False
    """Whether a leader's assignment may be larger than a batch."""


@dataclass(slots=True)
class Member:
    """``join`` and ``sync`` are the requests of it that wait, by their entries' sequences; 0: none."""

    instance: str | None
    offers: tuple[tuple[str, str], ...]
    rebalance_ms: int
    session_ms: int
    is_new: bool = False
    join: int = 0
    sync: int = 0
    assignment: str = ""


class ExpectedAnswer(TypedDict, total=False):
    """Fields of an answer's body, those that are to be so; ``members`` by their ids."""

    errorCode: int
    generationId: int
    protocolName: str | None
    leader: str
    memberId: str
    skipAssignment: bool
    members: list[str]
    assignment: str


Written = tuple[int, str | None, tuple[str, ...]]
"""Of a group's record: generation, leader, and its members in order."""


@dataclass(slots=True)
class Effects:
    """What an operation has to bring about. ``answers``: by the request's sequence; ``timers``: the lengths of those that start."""

    answers: dict[int, ExpectedAnswer] = field(default_factory=dict)
    timers: dict[tuple[str, str | None], int] = field(default_factory=dict)
    written: list[Written] = field(default_factory=list)
    refusal: int | None = None
    """Of Heartbeat, LeaveGroup (each of its members in turn) and OffsetCommit."""
    refusals: tuple[int, ...] = ()
