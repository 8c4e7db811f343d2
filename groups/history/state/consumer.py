"""State of a group of the consumer protocol (KIP-848), as replaying its records gives it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final

from groups.history.payloads.records import ClassicMetadata, ClientAssignorRow
from groups.history.state.copying import replace
from groups.history.state.epochs import (
    FIRST_EPOCH,
    ModernGroup,
    ModernMember,
)
from groups.history.state.versions import drop

STABLE: Final = 0
UNREVOKED_PARTITIONS: Final = 1
UNRELEASED_PARTITIONS: Final = 2

STATE_NAMES: Final[Mapping[int, str]] = {
    STABLE: "STABLE",
    UNREVOKED_PARTITIONS: "UNREVOKED_PARTITIONS",
    UNRELEASED_PARTITIONS: "UNRELEASED_PARTITIONS",
}
"""Kafka's ``MemberState`` codes, as type 8 and type 14 records hold them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignorNote:
    """What a client-side assignor sends a member in addition to its partitions (KIP-848 only); ``data`` is base64."""

    error: int = 0
    version: int = 0
    data: str = ""


NO_NOTE: Final = AssignorNote()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerMember(ModernMember):
    """A member as in its type 5 and type 8 records. ``state`` is ``None`` where a ``kip`` record has none."""

    STATE_NAMES: ClassVar[Mapping[int, str]] = STATE_NAMES

    state: int | None = STABLE
    subscribed_topic_regex: str | None = ""
    rebalance_timeout_ms: int = -1
    server_assignor: str | None = None
    classic: ClassicMetadata | None = None
    """Of a member of the classic protocol."""
    client_assignors: tuple[ClientAssignorRow, ...] = ()
    note: AssignorNote = NO_NOTE

    @property
    def uses_classic(self) -> bool:
        return self.classic is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedRegex:
    """What a regular expression matched when it was last resolved (type 16)."""

    topics: tuple[str, ...]
    version: int
    timestamp_ms: int


@dataclass(frozen=True, kw_only=True)
class ConsumerGroup(ModernGroup):
    """The group; a described group without an epoch record is at the first epoch."""

    members: Mapping[str, ConsumerMember] = field(default_factory=dict)
    regexes: Mapping[str, ResolvedRegex] = field(default_factory=dict)
    has_partition_metadata: bool = False
    partition_counts: Mapping[str, int] = field(default_factory=dict)
    """Topic id → number of partitions, as in the last type 4."""
    target_notes: Mapping[str, AssignorNote] = field(default_factory=dict)

    def without_target(self, member_id: str) -> ConsumerGroup:
        """The group without the member's target, and without what its assignor sent with it."""
        target, notes = drop(self.target, member_id), drop(self.target_notes, member_id)
        named = self.named - self.named_by_target(member_id)
        return replace(self, target=target, target_notes=notes, named=named)

    def subscribed_topics(self, member: ConsumerMember) -> tuple[str, ...]:
        """The member's names, then the topics of its resolved regex that are not among them."""
        resolved = self.regexes.get(member.subscribed_topic_regex or "")
        if resolved is None:
            return member.subscribed_topic_names
        return tuple(dict.fromkeys((*member.subscribed_topic_names, *resolved.topics)))


def fresh_consumer_group(*, kip: bool) -> ConsumerGroup:
    """A group before its first record."""
    first = 0 if kip else FIRST_EPOCH
    return ConsumerGroup(group_epoch=first, assignment_epoch=first)
