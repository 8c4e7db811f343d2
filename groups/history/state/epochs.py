"""What groups of the consumer, the share and the streams protocol have in common, as their records give it.

All three have a group epoch, a target of an assignment epoch, and members that move to it at epochs of their own; Kafka
calls the first two modern groups. What only one of them has is in its own module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Self, TypeVar

from groups.history.state.copying import replace
from groups.history.state.versions import drop, put

UNKNOWN_STATE_NAME: Final = "UNKNOWN"
"""What Kafka calls a code that a newer release wrote."""

LEAVE_GROUP_MEMBER_EPOCH: Final = -1
LEAVE_GROUP_STATIC_MEMBER_EPOCH: Final = -2
NO_PARTITION_EPOCH: Final = -1
"""What Kafka answers for a partition that nobody holds."""

FIRST_EPOCH: Final = 1
"""The epoch of a group before its first record, and of its target (Kafka); KIP-848's begin at 0."""

Assignment = Mapping[str, Mapping[int, int]]
"""Topic id (or subtopology) → partition → assignment epoch, the epoch at which the member got it."""

Target = Mapping[str, tuple[int, ...]]
"""Topic id (or subtopology) → partitions, in the order of the record."""

T = TypeVar("T")


def named_partitions(parts: Iterable[Mapping[str, Sized] | None]) -> int:
    """How many partitions all of them name together; a topic without any counts as one, since it takes as much."""
    named = 0
    for part in parts:
        for partitions in part.values() if part else ():
            named += len(partitions) or 1
    return named


@dataclass(frozen=True, slots=True, kw_only=True)
class ModernMember:
    """A member as in its metadata and its current assignment.

    ``state`` is ``None`` where a record has none. ``assigned`` and ``pending_revocation`` are what at most one member
    should hold, unless the group is a share group.
    """

    STABLE: ClassVar[int] = 0
    STATE_NAMES: ClassVar[Mapping[int, str]] = {}

    member_id: str
    epoch: int = 0
    previous_epoch: int = -1
    state: int | None = None
    current_recorded: bool = False
    """Whether a record reported its epoch and what it has: of a log that begins in the middle its metadata may come alone."""
    assigned: Assignment = field(default_factory=dict)
    pending_revocation: Assignment = field(default_factory=dict)
    subscribed_topic_names: tuple[str, ...] = ()
    client_id: str = ""
    client_host: str = ""
    instance_id: str | None = None
    rack_id: str | None = None

    @property
    def is_stable(self) -> bool:
        return self.state == self.STABLE

    def holds(self, topic_id: str, partition: int) -> bool:
        """Whether the partition is assigned to the member or still to be given up by it."""
        return partition in self.assigned.get(topic_id, ()) or partition in self.pending_revocation.get(
            topic_id, ()
        )

    @property
    def parts(self) -> tuple[Mapping[str, Sized], ...]:
        """All that its current assignment names."""
        return self.assigned, self.pending_revocation

    def named(self) -> int:
        """How many partitions its current assignment names; asked with every such record."""
        named = 0
        for partitions in self.assigned.values():
            named += len(partitions) or 1
        if self.pending_revocation:
            named += named_partitions((self.pending_revocation,))
        return named

    def emptied(self) -> Self:
        """The member after its current assignment is gone."""
        return replace(
            self,
            epoch=LEAVE_GROUP_MEMBER_EPOCH,
            previous_epoch=LEAVE_GROUP_MEMBER_EPOCH,
            assigned={},
            pending_revocation={},
        )


@dataclass(frozen=True, kw_only=True)
class ModernGroup:
    """The group; ``partition_epochs`` is topic id → partition → member epoch of the holder, by Kafka's rules of replay.

    ``stable_at`` counts the members that are stable at each epoch, so that the group's state costs nothing.
    """

    group_epoch: int = FIRST_EPOCH
    assignment_epoch: int = FIRST_EPOCH
    metadata_hash: int = 0
    assignment_timestamp_ms: int = 0
    members: Mapping[str, ModernMember] = field(default_factory=dict)
    target: Mapping[str, Target] = field(default_factory=dict)
    partition_epochs: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    instances: Mapping[str, str] = field(default_factory=dict)
    stable_at: Mapping[int, int] = field(default_factory=dict)
    named: int = 0
    """Partitions that the target and the current assignments name, each as often as it is there."""
    epoch_recorded: bool = False
    target_epoch_recorded: bool = False
    """Whether a record reported the group epoch, and the assignment epoch: a log that begins in the middle may have neither."""
    _cache: dict[str, Any] = field(init=False, default_factory=dict, compare=False, repr=False)
    """By name what each was made of, and what was made: ``Any``, as ``derived`` alone knows its type."""

    @property
    def has_unknown_past(self) -> bool:
        """Whether there was an epoch before any member that is known."""
        return self.epoch_recorded and not self.members and self.group_epoch > FIRST_EPOCH

    @property
    def converged(self) -> bool:
        """Whether every member is stable at the target's epoch."""
        return self.stable_at.get(self.assignment_epoch, 0) == len(self.members)

    def derived(self, name: str, source: object, make: Callable[[], T]) -> T:
        """What is made of the group and of ``source``: once for each object, and again for another source."""
        kept: tuple[object, T] | None = self._cache.get(name)
        if kept is None or kept[0] is not source:
            kept = self._cache[name] = (source, make())
        return kept[1]

    def named_by_target(self, member_id: str) -> int:
        """How many partitions a member's target names."""
        return named_partitions((self.target.get(member_id),))

    def without_target(self, member_id: str) -> Self:
        named = self.named - self.named_by_target(member_id)
        return replace(self, target=drop(self.target, member_id), named=named)

    def partition_epoch(self, topic_id: str, partition: int) -> int:
        """The member epoch of the holder, ``NO_PARTITION_EPOCH`` where nobody holds it."""
        return self.partition_epochs.get(topic_id, {}).get(partition, NO_PARTITION_EPOCH)

    def is_held(self, topic_id: str, partition: int) -> bool:
        """Whether anybody holds the partition; of a share group, which has no owners, nobody does (``Holders`` knows)."""
        return partition in self.partition_epochs.get(topic_id, ())

    def holders(self, topic_id: str, partition: int) -> Iterator[str]:
        """Members that hold the partition; walks all of them, so for rare questions only."""
        return (member_id for member_id, member in self.members.items() if member.holds(topic_id, partition))


G = TypeVar("G", bound=ModernGroup)


def with_member(
    group: G,
    member: ModernMember,
    partition_epochs: Mapping[str, Mapping[int, int]] | None = None,
    named: int | None = None,
) -> G:
    """The group with the member's fields in place; partition epochs are the business of the fold, and may be given, as may what is
    ``named`` with it."""
    old = group.members.get(member.member_id)
    if named is None:
        named = group.named + member.named() - (old.named() if old else 0)
    instances = group.instances
    if member.instance_id is not None and instances.get(member.instance_id) != member.member_id:
        instances = put(instances, member.instance_id, member.member_id)
    return replace(
        group,
        members=put(group.members, member.member_id, member),
        stable_at=_counted(group.stable_at, old, member),
        instances=instances,
        named=named,
        partition_epochs=group.partition_epochs if partition_epochs is None else partition_epochs,
    )


def without_member(group: G, member_id: str) -> G:
    """The group without the member; its instance goes with it if it still holds it."""
    old = group.members[member_id]
    instances = group.instances
    if old.instance_id is not None and instances.get(old.instance_id) == member_id:
        instances = drop(instances, old.instance_id)
    return replace(
        group,
        members=drop(group.members, member_id),
        stable_at=_counted(group.stable_at, old, None),
        named=group.named - old.named(),
        instances=instances,
    )


def _counted(
    stable_at: Mapping[int, int], old: ModernMember | None, new: ModernMember | None
) -> Mapping[int, int]:
    before = old.epoch if old is not None and old.is_stable else None
    after = new.epoch if new is not None and new.is_stable else None
    if before == after:
        return stable_at
    if before is not None:
        left = stable_at[before] - 1
        stable_at = put(stable_at, before, left) if left else drop(stable_at, before)
    if after is not None:
        stable_at = put(stable_at, after, stable_at.get(after, 0) + 1)
    return stable_at
