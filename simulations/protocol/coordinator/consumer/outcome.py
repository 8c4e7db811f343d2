"""What one operation of the coordinator sees, and what it leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from groups.history.entries import RecordPayload
from groups.history.state.consumer import ConsumerGroup, ResolvedRegex
from groups.history.state.group import Protocol, State
from simulations.protocol.assignors.java_orders import LEAST_SLOTS
from simulations.protocol.coordinator.classic.group import Group
from simulations.protocol.coordinator.classic.parking import FollowUp, ParkedAnswer
from simulations.protocol.coordinator.consumer.choosing import Chosen
from simulations.protocol.coordinator.consumer.counts import Counts, CountsCache
from simulations.protocol.coordinator.image import Image
from simulations.protocol.coordinator.settings import MAX_INT, Settings
from simulations.protocol.coordinator.timers import (
    TimerCommand,
)
from simulations.protocol.coordinator.transactions import Pending

Record = RecordPayload

A = TypeVar("A", covariant=True)


TOPICS: Final = ""
"""In the place of a topic's name."""

BEFORE_ALL_MS: Final = -(2**63)
"""Kafka has 0 here, before which no clock was ever set; a simulated one begins there, and may be set back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refresh:
    """When a group's metadata hash is to be computed again; kept in no record, so a load forgets it.

    Kafka: ``ModernGroup.DeadlineAndEpoch``.
    """

    deadline_ms: int = BEFORE_ALL_MS
    epoch: int = 0

    def expired(self, now_ms: int, group_epoch: int) -> bool:
        return now_ms >= self.deadline_ms or group_epoch < self.epoch

    @classmethod
    def after(cls, now_ms: int, group_epoch: int) -> Refresh:
        """Practically never: Kafka's refresh interval for a group is the greatest ``int`` of milliseconds."""
        return cls(deadline_ms=now_ms + MAX_INT, epoch=group_epoch)


@dataclass(frozen=True, slots=True, kw_only=True)
class VolatileState:
    """What a coordinator keeps of a group in addition to its records. A load forgets it; a failed operation does not undo it."""

    refresh: Refresh = field(default_factory=Refresh)
    resolving: bool = False
    """A background task is resolving the group's regular expressions."""
    new_topics_version: int = 0
    """Version of the newest image that brought a topic which the coordinator had not seen."""
    rebalancing: frozenset[str] = frozenset()
    """Members whose rebalance timer runs; the shard keeps it by the timer commands."""
    joining: frozenset[str] = frozenset()
    """Classic members of a consumer group that were asked to join again; the shard keeps it by the timer commands."""
    member_slots: int = LEAST_SLOTS
    """Slots of the hash table of members, which grows and never shrinks; the shard keeps it by the records."""
    offset_slots: Mapping[str, int] = field(default_factory=dict)
    """The same of the tables of a topic's committed partitions, by topic, and under ``TOPICS`` of that of the topics."""
    regexes_counted: Mapping[str, ResolvedRegex] | None = None
    """The resolved expressions of when a member's record was last replayed, ``None`` if they are still those.

    What kind of subscription the group has is found then, and not when an expression's record is replayed.
    """
    chosen: Chosen | None = None
    """The member that a client-side assignor is to run on (``kip`` only)."""
    forgotten: bool = False
    """The group was dropped and no record contains that: a JoinGroup that names a member id does so to an empty consumer group."""
    classic: Group | None = None
    """The classic group, if there is one: most of it is in no record."""
    pending_offsets: Pending = ()
    """Offsets of transactions that have not ended; the shard keeps it by the records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveRegexes:
    """A task for the background: match the expressions against the topics of the image of its start."""

    regexes: tuple[str, ...]
    member_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """What the task found: the topics of each expression, sorted, in the image of this version."""

    topics: Mapping[str, tuple[str, ...]]
    version: int
    timestamp_ms: int
    """When the task began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a handler may look at. ``state`` is replayed from records and is not changed by handlers.

    ``settings`` are the broker's with those of the group in place. ``drawn_id`` is the member id that the coordinator
    would draw: who drives it draws it, so that a run can be repeated.
    """

    state: State
    image: Image
    settings: Settings
    now_ms: int
    memory: VolatileState = field(default_factory=VolatileState)
    drawn_id: str | None = None
    cache: CountsCache = field(default_factory=CountsCache)

    @property
    def group(self) -> ConsumerGroup:
        return self.state.consumer

    @property
    def counts(self) -> Counts:
        """How many members subscribe to what, as replayed."""
        return self.cache.of(self.group.members)

    @property
    def group_exists(self) -> bool:
        """Its first record makes it, which need not be an epoch's: who subscribes to nothing bumps none."""
        return self.state.protocol is Protocol.CONSUMER and not self.state.deleted


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome(Generic[A]):
    """One operation's answer, records in order, timer commands, what it remembers, and the tasks that it starts.

    ``memory`` is ``None`` where nothing of it changed.
    """

    answer: A
    records: tuple[Record, ...] = ()
    timers: tuple[TimerCommand, ...] = ()
    memory: VolatileState | None = None
    tasks: tuple[ResolveRegexes, ...] = ()
    lasts_ms: int = field(default=0, compare=False)
    """Before this time the same request gives this very outcome, if nothing that the coordinator knows has changed."""
    parked_answers: tuple[ParkedAnswer, ...] = ()
    """Answers to requests that were parked, this one among them; they are sent at once, before records are committed."""
    follow_up: FollowUp | None = None
    """To be handed to ``Shard.appended`` when the records are committed, or could not be."""
