"""State of a group of the consumer protocol (KIP-848), as replaying its records gives it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

STABLE: Final = 0
UNREVOKED_PARTITIONS: Final = 1
UNRELEASED_PARTITIONS: Final = 2

STATE_NAMES: Final[Mapping[int, str]] = {
    STABLE: "STABLE",
    UNREVOKED_PARTITIONS: "UNREVOKED_PARTITIONS",
    UNRELEASED_PARTITIONS: "UNRELEASED_PARTITIONS",
}
"""Kafka's ``MemberState`` codes, as type 8 records hold them."""

UNKNOWN_STATE_NAME: Final = "UNKNOWN"
"""What Kafka calls a code that a newer release wrote."""

LEAVE_GROUP_MEMBER_EPOCH: Final = -1
LEAVE_GROUP_STATIC_MEMBER_EPOCH: Final = -2
NO_PARTITION_EPOCH: Final = -1
"""What Kafka answers for a partition that nobody holds."""

Assignment = Mapping[str, Mapping[int, int]]
"""Topic id → partition → assignment epoch, the epoch at which the member got it."""

Target = Mapping[str, tuple[int, ...]]
"""Topic id → partitions, in the order of the record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerMember:
    """A member as its type 5 and type 8 records tell. ``state`` is ``None`` where a ``kip`` record tells none."""

    member_id: str
    epoch: int = 0
    previous_epoch: int = -1
    state: int | None = STABLE
    assigned: Assignment = field(default_factory=dict)
    pending_revocation: Assignment = field(default_factory=dict)
    subscribed_topic_names: tuple[str, ...] = ()
    subscribed_topic_regex: str | None = ""
    rebalance_timeout_ms: int = -1
    server_assignor: str | None = None
    client_id: str = ""
    client_host: str = ""
    instance_id: str | None = None
    rack_id: str | None = None
    classic: Mapping[str, Any] | None = None
    """``{"sessionTimeoutMs", "supportedProtocols": [{"name", "metadata"}]}`` of a member of the classic protocol."""

    @property
    def state_name(self) -> str:
        return STATE_NAMES.get(self.state, UNKNOWN_STATE_NAME) if self.state is not None else "STABLE"

    @property
    def uses_classic(self) -> bool:
        return self.classic is not None

    def holds(self, topic_id: str, partition: int) -> bool:
        """Whether the partition is assigned to the member or still to be given up by it."""
        return partition in self.assigned.get(topic_id, ()) or partition in self.pending_revocation.get(
            topic_id, ()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedRegex:
    """What a regular expression matched when it was last resolved (type 16)."""

    topics: tuple[str, ...]
    version: int
    timestamp_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerGroup:
    """The group; epochs begin at 1 in Kafka (a described group without an epoch record) and at 0 in KIP-848.

    ``partition_epochs`` is topic id → partition → member epoch of the holder, by Kafka's own rules of replay.
    ``stable_at`` counts the members that are STABLE at each epoch, so that the group's state costs nothing.
    """

    group_epoch: int
    assignment_epoch: int
    metadata_hash: int = 0
    assignment_timestamp_ms: int = 0
    members: Mapping[str, ConsumerMember] = field(default_factory=dict)
    target: Mapping[str, Target] = field(default_factory=dict)
    regexes: Mapping[str, ResolvedRegex] = field(default_factory=dict)
    partition_epochs: Mapping[str, Mapping[int, int]] = field(default_factory=dict)
    instances: Mapping[str, str] = field(default_factory=dict)
    has_partition_metadata: bool = False
    stable_at: Mapping[int, int] = field(default_factory=dict)
    epoch_recorded: bool = False
    _cache: dict[str, Any] = field(init=False, default_factory=dict, compare=False, repr=False)

    @property
    def inverted_target(self) -> Mapping[str, Mapping[int, str]]:
        """Topic id → partition → the member whose target holds it; computed once for each object."""
        cached: dict[str, dict[int, str]] | None = self._cache.get("inverted")
        if cached is None:
            cached = {}
            for member_id, target in self.target.items():
                for topic_id, partitions in target.items():
                    cached.setdefault(topic_id, {}).update(dict.fromkeys(partitions, member_id))
            self._cache["inverted"] = cached
        return cached

    def partition_epoch(self, topic_id: str, partition: int) -> int:
        """The member epoch of the holder, ``NO_PARTITION_EPOCH`` where nobody holds it."""
        return self.partition_epochs.get(topic_id, {}).get(partition, NO_PARTITION_EPOCH)

    def holders(self, topic_id: str, partition: int) -> Iterator[str]:
        """Members that hold the partition; walks all of them, so for rare questions only."""
        return (member_id for member_id, member in self.members.items() if member.holds(topic_id, partition))

    def subscribed_topics(self, member: ConsumerMember) -> tuple[str, ...]:
        """The member's names, then the topics of its resolved regex that are not among them."""
        resolved = self.regexes.get(member.subscribed_topic_regex or "")
        if resolved is None:
            return member.subscribed_topic_names
        return tuple(dict.fromkeys((*member.subscribed_topic_names, *resolved.topics)))


def fresh_consumer_group(*, kip: bool) -> ConsumerGroup:
    """A group before its first record."""
    first = 0 if kip else 1
    return ConsumerGroup(group_epoch=first, assignment_epoch=first)


def with_member(group: ConsumerGroup, member: ConsumerMember) -> ConsumerGroup:
    """The group with the member's fields in place; partition epochs are the business of the fold."""
    old = group.members.get(member.member_id)
    instances = group.instances
    if member.instance_id is not None and instances.get(member.instance_id) != member.member_id:
        instances = {**instances, member.instance_id: member.member_id}
    return replace(
        group,
        members={**group.members, member.member_id: member},
        stable_at=_counted(group.stable_at, old, member),
        instances=instances,
    )


def without_member(group: ConsumerGroup, member_id: str) -> ConsumerGroup:
    """The group without the member; its instance goes with it if it still holds it."""
    old = group.members[member_id]
    instances = group.instances
    if old.instance_id is not None and instances.get(old.instance_id) == member_id:
        instances = {instance: holder for instance, holder in instances.items() if holder != member_id}
    members = dict(group.members)
    del members[member_id]
    return replace(
        group, members=members, stable_at=_counted(group.stable_at, old, None), instances=instances
    )


def _counted(
    stable_at: Mapping[int, int], old: ConsumerMember | None, new: ConsumerMember | None
) -> Mapping[int, int]:
    before = old.epoch if old is not None and old.state == STABLE else None
    after = new.epoch if new is not None and new.state == STABLE else None
    if before == after:
        return stable_at
    counts = dict(stable_at)
    if before is not None:
        counts[before] -= 1
        if not counts[before]:
            del counts[before]
    if after is not None:
        counts[after] = counts.get(after, 0) + 1
    return counts
