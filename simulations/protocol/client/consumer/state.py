"""What a consumer remembers. Everything in it is a value or is replaced, never changed: a copy is a shallow one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final

from simulations.protocol.client.consumer.config import CloseOption, ConsumerConfig
from simulations.protocol.client.consumer.effects import Callback
from simulations.protocol.client.consumer.requests import FindCoordinator
from simulations.protocol.client.consumer.states import MemberState, check_transition
from simulations.protocol.messages.groups import (
    JOIN_EPOCH,
    CommittedOffset,
    Heartbeat,
    OffsetCommit,
    Partitions,
)
from simulations.protocol.messages.offsets import OffsetFetch

FOREVER: Final = 1 << 62
"""A time that never comes, in milliseconds."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """Names, a ``SubscriptionPattern`` (the coordinator's), or a ``java.util.regex.Pattern`` (the client's own).

    ``names`` are those reported to the coordinator; of a ``pattern`` they are what it matched last.
    """

    names: tuple[str, ...] = ()
    regex: str | None = None
    pattern: str | None = None


UNSUBSCRIBED: Final = Subscription()
"""No subscription; one to no topics at all is another thing."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """An assignment that was received, counted; two are equal only with equal counts."""

    local_epoch: int
    partitions: Partitions


NONE: Final = Assignment(-1, {})
"""``LocalAssignment.NONE``: not yet any; a first, empty one differs from it."""


@dataclass(frozen=True, slots=True)
class Sent:
    """``SentFields``: what the coordinator was sent last; empty after an error, so that the next one contains all."""

    subscription: Subscription | None = None
    current: Assignment | None = None


NOTHING_SENT: Final = Sent()


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """On the way from what is owned to ``target``. They are compared by identity."""

    target: Assignment
    added: Partitions
    revoked: Partitions


class Purpose(Enum):
    """Why a callback is run."""

    RECONCILE = auto()
    LEAVE = auto()
    CLOSE = auto()
    LOSE = auto()


@dataclass(frozen=True, slots=True)
class Event:
    """A callback that waits for the application to poll, or runs. ``error_code``: of what that poll throws behind it."""

    purpose: Purpose
    callback: Callback
    partitions: Partitions
    reconciliation: Reconciliation | None = None
    error_code: int = 0


@dataclass(frozen=True, slots=True)
class Leaving:
    """``unsubscribe()`` or ``close()``; ``over`` once nothing but late answers to commits is waited for."""

    closes: bool = False
    option: CloseOption = CloseOption.DEFAULT
    over: bool = False


class CommitKind(Enum):
    """Who waits for a commit, and so what is done about its errors."""

    ASYNC = auto()
    SYNC = auto()
    INTERVAL = auto()
    BEFORE_REVOCATION = auto()
    ON_CLOSE = auto()


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that is to be answered; ``request`` is ``None`` while it waits to be sent (again)."""

    kind: CommitKind
    offsets: tuple[CommittedOffset, ...]
    deadline_ms: int = FOREVER
    failures: int = 0
    next_ms: int = 0
    request: OffsetCommit | None = None
    expires_ms: int = FOREVER
    reconciliation: Reconciliation | None = None
    """The one that goes on after this commit."""
    stale_epoch: int | None = None
    """The epoch with which it was refused: it waits for another one."""


@dataclass(frozen=True, slots=True)
class Fetch:
    """Positions that are asked for; ``request`` is ``None`` while that waits to be sent (again)."""

    partitions: Partitions
    deadline_ms: int
    failures: int = 0
    next_ms: int = 0
    request: OffsetFetch | None = None
    expires_ms: int = FOREVER
    stale_epoch: int | None = None
    """The epoch that was refused: by the proposal the same is asked when a heartbeat's response has brought another one."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """Where the coordinator is. ``next_ms``: no look-up before; without look-ups, when it is known again."""

    known: bool
    node_id: int | None = None
    request: FindCoordinator | None = None
    expires_ms: int = FOREVER
    next_ms: int = 0
    failures: int = 0


_STABLE: Final = MemberState.STABLE


@dataclass
class ClientState:
    """See the module. Times are the caller's; ``owned`` is what the application may consume from."""

    config: ConsumerConfig
    lookup: Lookup
    revoke_ms: int
    state: MemberState = MemberState.UNSUBSCRIBED
    epoch: int = JOIN_EPOCH
    member_id: str = ""
    """KIP-848: empty until the response to the first join names it, and the same from then on."""
    subscription: Subscription = UNSUBSCRIBED
    owned: Partitions = field(default_factory=dict)
    given_up: Partitions = field(default_factory=dict)
    """Revoked in a reconciliation that has not assigned yet: Java's subscription state still holds them."""
    target: Assignment = NONE
    current: Assignment = NONE
    reconciliation: Reconciliation | None = None
    metadata: Mapping[str, str] | None = None
    """Topic name → id; ``None`` while every topic is known."""
    asked: tuple[str, ...] = ()
    """Topic ids that metadata was asked for last."""

    sent: Sent = NOTHING_SENT
    in_flight: Heartbeat | None = None
    expires_ms: int = FOREVER
    """When the answer to the heartbeat in flight is given up."""
    interval_ms: int = 0
    next_beat_ms: int = 0
    back_off_until_ms: int = 0
    built_ms: int = -1
    not_before_ms: int = 0
    """A heartbeat that repeats what was just answered goes out no earlier, though the state wants it at once."""
    joined_empty: bool = False
    """KIP-848: the answer to a join held no assignment yet."""
    failures: int = 0
    draws: int = 0

    calling: Event | None = None
    events: tuple[Event, ...] = ()
    busy_until_ms: int = 0
    """The application does not poll before."""
    polled_ms: int = 0
    wish: Leaving | None = None
    leaving: Leaving | None = None
    joins_again: Subscription | None = None
    """Subscribed to once the leave that is under way is over."""
    released: bool = False
    """STALE: nothing is owned any more, so that the next poll may join."""
    closed: bool = False
    commits: tuple[Commit, ...] = ()
    fetches: tuple[Fetch, ...] = ()
    auto_commit_ms: int = 0
    alarm_ms: int | None = None

    def copy(self) -> ClientState:
        twin = object.__new__(ClientState)
        twin.__dict__.update(self.__dict__)
        return twin

    def enter(self, state: MemberState) -> None:
        check_transition(self.state, state)
        self.state = state

    def back_off_ms(self, failures: int) -> int:
        self.draws += 1
        return self.config.back_off_ms(failures, self.draws)

    def polls(self, now_ms: int) -> bool:
        """Whether the application polls: it is in no callback, waits for no commit, and does nothing else."""
        return (
            self.calling is None
            and now_ms >= self.busy_until_ms
            and not self.closes
            and not (self.commits and self.waits_for_commit)
        )

    @property
    def quiet(self) -> bool:
        """Whether nothing but heartbeats and their answers goes on."""
        return (
            self.state is _STABLE
            and self.calling is None
            and not self.events
            and not self.commits
            and not self.fetches
            and self.wish is None
            and self.leaving is None
            and self.lookup.known
            and not self.busy_until_ms
            and not self.config.auto_commit
        )

    @property
    def closes(self) -> bool:
        return self.leaving is not None and self.leaving.closes

    @property
    def waits_for_commit(self) -> bool:
        return any(commit.kind is CommitKind.SYNC for commit in self.commits)
