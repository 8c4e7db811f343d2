"""What a consumer of the classic protocol keeps between two calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto

from simulations.protocol.assignors.classic.strategies import COOPERATIVE
from simulations.protocol.assignors.interface import Topic
from simulations.protocol.client.classic.config import ClassicConfig
from simulations.protocol.client.consumer.config import CloseOption
from simulations.protocol.client.consumer.effects import Callback
from simulations.protocol.client.consumer.state import FOREVER
from simulations.protocol.messages.classic_requests import (
    NO_GENERATION,
    NO_MEMBER_ID,
    ClassicHeartbeat,
    JoinAnswer,
    JoinGroup,
    LeaveGroup,
    SyncGroup,
)
from simulations.protocol.messages.groups import CommittedOffset, OffsetCommit, Partitions


class JoinState(StrEnum):
    """``AbstractCoordinator.MemberState``."""

    UNJOINED = "UNJOINED"
    PREPARING_REBALANCE = "PREPARING_REBALANCE"
    COMPLETING_REBALANCE = "COMPLETING_REBALANCE"
    STABLE = "STABLE"


class Purpose(Enum):
    """What goes on once a callback has returned."""

    PREPARE = auto()
    """``onJoinPrepare``: the JoinGroup."""
    GIVE_UP = auto()
    """``onJoinComplete`` of a cooperative member: what it lost; then it takes what it got, and joins once more."""
    TAKE = auto()
    """``onJoinComplete``: what it got; then it consumes."""
    LEAVE = auto()
    """The LeaveGroup."""
    DIE = auto()
    """An error that no application goes on after: it closes."""


@dataclass(frozen=True, slots=True)
class Event:
    """A callback that waits for the application to poll, or runs."""

    purpose: Purpose
    callback: Callback
    partitions: Partitions


@dataclass(frozen=True, slots=True)
class Leaving:
    """``unsubscribe()``, or ``close()`` for good."""

    closes: bool = False
    option: CloseOption = CloseOption.DEFAULT


class CommitKind(Enum):
    """Who waits for a commit."""

    ASYNC = auto()
    INTERVAL = auto()
    BEFORE_JOIN = auto()
    IN_REVOCATION = auto()
    ON_CLOSE = auto()


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit under way, or one that is to be sent again at ``next_ms``; ``request`` is ``None`` then."""

    kind: CommitKind
    offsets: tuple[CommittedOffset, ...]
    deadline_ms: int
    request: OffsetCommit | None = None
    next_ms: int = 0


Snapshot = Mapping[str, tuple[int, tuple[frozenset[str], ...]]]
"""Topic → its partitions and, for a member with a rack, the racks of each: what the leader compares metadata with."""


@dataclass(slots=True)
class Memory:
    """See the module. Partitions stand under topic names; times are the caller's."""

    config: ClassicConfig
    revoke_ms: int
    state: JoinState = JoinState.UNJOINED
    generation: int = NO_GENERATION
    member_id: str = NO_MEMBER_ID
    protocol_name: str | None = None

    rejoin_needed: bool = True
    reason: str = ""
    needs_prepare: bool = True
    preparing: bool = False
    """``onJoinPrepare`` has begun and has not returned."""
    awaits_commit: bool = False
    """It waits for its commit."""
    in_flight: JoinGroup | SyncGroup | None = None
    answer: JoinAnswer | None = None
    """Of the JoinGroup, which only a poll takes."""
    assignment: bytes | None = None
    """Of the SyncGroup, for the next poll."""
    retry_ms: int = 0

    subscribed: bool = False
    began: bool = False
    """It has subscribed at some time."""
    names: tuple[str, ...] = ()
    regex: str | None = None
    joined_names: frozenset[str] = frozenset()
    """The subscription of the last JoinGroup."""
    leads: bool = False
    group_names: frozenset[str] = frozenset()
    """What the group subscribes to, as the leader received it."""
    snapshot: Snapshot | None = None
    """What the leader's assignment was made of."""
    metadata: Mapping[str, Topic] = field(default_factory=dict)
    covered: frozenset[str] = frozenset()
    """The topics that metadata were fetched for: the leader's are the group's, also those that nobody wants any more."""
    metadata_ms: int = 0
    """When metadata are fetched again."""
    unauthorized: bool = False
    """They came without a topic that it subscribes to, since an ACL denies it: the next poll throws."""

    owned: Partitions = field(default_factory=dict)
    remembered: Partitions = field(default_factory=dict)
    """What ``sticky`` writes into its user data: its last assignment, though it may be lost by now."""
    remembered_generation: int = NO_GENERATION
    rejoins: bool = False
    """What was given up has to be sent in another JoinGroup."""
    to_take: Partitions = field(default_factory=dict)
    calling: Event | None = None
    events: tuple[Event, ...] = ()
    busy_until_ms: int = 0
    polled_ms: int = 0

    beats: bool = False
    heartbeat: ClassicHeartbeat | None = None
    next_beat_ms: int = 0
    session_ms: int = FOREVER
    failures: int = 0
    draws: int = 0
    known: bool = True
    lookup_ms: int = 0

    commits: tuple[Commit, ...] = ()
    committed: Mapping[tuple[str, int], int] = field(default_factory=dict)
    """Of librdkafka: the offset of each partition that it committed last."""
    auto_commit_ms: int = 0
    wish: Leaving | None = None
    leaving: LeaveGroup | None = None
    closing: bool = False
    closed: bool = False
    fatal: bool = False
    alarm_ms: int | None = None

    @property
    def cooperative(self) -> bool:
        return self.config.protocol == COOPERATIVE

    @property
    def joining(self) -> bool:
        """Whether a rebalance is in progress for it (``rebalanceInProgress``)."""
        return self.state in (JoinState.PREPARING_REBALANCE, JoinState.COMPLETING_REBALANCE)

    @property
    def has_generation(self) -> bool:
        return self.generation != NO_GENERATION and self.member_id != NO_MEMBER_ID

    def polls(self, now_ms: int) -> bool:
        """Whether the application polls: it is in no callback, and does nothing else."""
        return self.calling is None and now_ms >= self.busy_until_ms and not self.closing

    def back_off_ms(self) -> int:
        """Of the next retry in a row of failures; grows, with a jitter."""
        self.draws += 1
        length_ms = self.config.back_off_ms(self.failures, self.draws)
        self.failures += 1
        return length_ms

    def ask_to_rejoin(self, reason: str) -> None:
        self.rejoin_needed = True
        self.reason = reason

    def reset(self, reason: str, *, keeps_id: bool = False) -> None:
        """The generation is lost, and with it, unless it ``keeps_id``, the member id (``resetStateAndGeneration``)."""
        self.generation = NO_GENERATION
        if not keeps_id:
            self.member_id = NO_MEMBER_ID
        self.protocol_name = None
        self.state = JoinState.UNJOINED
        self.beats = False
        self.assignment = None
        self.ask_to_rejoin(reason)
        if self.config.release.prepares_after_reset:
            self.needs_prepare = True

    def lose_coordinator(self, now_ms: int) -> None:
        """It is not where it was, or cannot be reached: it is known again after one back-off."""
        if self.known:
            self.known = False
            self.lookup_ms = now_ms + self.config.retry_back_off_ms
