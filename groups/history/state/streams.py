"""State of a streams group (KIP-1071), as replaying its records gives it.

What members hold are tasks: a partition of a subtopology. An active task has one owner, like a consumer's partition;
standby and warm-up tasks are copies, of which there may be several. Where other groups have topic ids, this one has
subtopology ids.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, field
from typing import ClassVar, Final, Self, TypedDict

from groups.history.state.copying import replace
from groups.history.state.epochs import ModernGroup, ModernMember, Target, named_partitions
from groups.history.state.versions import drop

STABLE: Final = 1
UNREVOKED_TASKS: Final = 2
UNRELEASED_TASKS: Final = 3

STATE_NAMES: Final[Mapping[int, str]] = {
    STABLE: "STABLE",
    UNREVOKED_TASKS: "UNREVOKED_TASKS",
    UNRELEASED_TASKS: "UNRELEASED_TASKS",
}
"""Codes of the streams protocol's own ``MemberState``, as type 22 records hold them: other than the consumer's."""

NOT_VALIDATED: Final = -1
"""The validated topology epoch of a group whose topics are not all there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamsMember(ModernMember):
    """A member as in its type 19 and type 22 records. ``assigned`` and ``pending_revocation`` are active tasks."""

    STABLE: ClassVar[int] = STABLE
    STATE_NAMES: ClassVar[Mapping[int, str]] = STATE_NAMES

    state: int | None = STABLE
    previous_epoch: int = 0
    standby: Target = field(default_factory=dict)
    warmup: Target = field(default_factory=dict)
    standby_pending_revocation: Target = field(default_factory=dict)
    warmup_pending_revocation: Target = field(default_factory=dict)
    rebalance_timeout_ms: int = -1
    topology_epoch: int = -1
    process_id: str = ""
    endpoint: str | None = None
    """``host:port`` for interactive queries, ``None`` if the member reported none."""
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def parts(self) -> tuple[Mapping[str, Sized], ...]:
        copies = (self.standby, self.warmup, self.standby_pending_revocation, self.warmup_pending_revocation)
        return self.assigned, self.pending_revocation, *copies

    def named(self) -> int:
        return named_partitions(self.parts)

    def emptied(self) -> Self:
        return replace(
            ModernMember.emptied(self),
            standby={},
            warmup={},
            standby_pending_revocation={},
            warmup_pending_revocation={},
        )


class InternalTopic(TypedDict):
    """A topic that the application makes for itself; of its other fields nothing is shown."""

    name: str


class Subtopology(TypedDict, total=False):
    """A subtopology of the type 23 record, as far as frames show it."""

    subtopologyId: str
    sourceTopics: Sequence[str] | None
    sourceTopicRegex: Sequence[str] | None
    repartitionSourceTopics: Sequence[InternalTopic] | None
    repartitionSinkTopics: Sequence[str] | None
    stateChangelogTopics: Sequence[InternalTopic] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """The type 23 record: its epoch, and its subtopologies as Kafka's JSON form has them, by id."""

    epoch: int
    subtopologies: Mapping[str, Subtopology]


@dataclass(frozen=True, kw_only=True)
class StreamsGroup(ModernGroup):
    """The group; ``target`` is of active tasks, those of the copies stand apart. Member id → subtopology → partitions."""

    members: Mapping[str, StreamsMember] = field(default_factory=dict)
    target_standby: Mapping[str, Target] = field(default_factory=dict)
    target_warmup: Mapping[str, Target] = field(default_factory=dict)
    topology: Topology | None = None
    validated_topology_epoch: int = 0

    def named_by_target(self, member_id: str) -> int:
        every = (self.target, self.target_standby, self.target_warmup)
        return named_partitions(targets.get(member_id) for targets in every)

    def without_target(self, member_id: str) -> Self:
        return replace(
            self,
            named=self.named - self.named_by_target(member_id),
            target=drop(self.target, member_id),
            target_standby=drop(self.target_standby, member_id),
            target_warmup=drop(self.target_warmup, member_id),
        )

    @property
    def is_ready(self) -> bool:
        """Whether the topology, as far as the log holds one, was found to have all its topics."""
        if self.topology is None:
            return self.validated_topology_epoch != NOT_VALIDATED
        return self.topology.epoch == self.validated_topology_epoch
