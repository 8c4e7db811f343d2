"""What a server-side assignor of the consumer protocol is given, and what it answers.

Kafka: ``ConsumerGroupPartitionAssignor``, ``GroupSpec``, ``SubscribedTopicDescriber``. Assignors take members,
topics and what is owned *in the order given*; who wants a real broker's order puts them into it before
(``simulations.assignors.java_orders``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

Assignment = dict[str, dict[str, list[int]]]
"""Member id → topic → partitions. Topics are whatever keys the spec used; Kafka uses topic ids."""


class AssignorError(Exception):
    """The input cannot be assigned; Kafka raises ``PartitionAssignorException`` and answers error -1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberSpec:
    """One member: what it subscribes to, and its current *target* (not what it holds)."""

    topics: Sequence[str]
    owned: Mapping[str, Sequence[int]] = field(default_factory=dict)
    instance_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSpec:
    """A group as an assignor sees it.

    ``topics`` gives partition counts of the subscribed topics, in the order in which ``uniform`` is to walk
    them. ``topic_ranks`` is their order by id, which decides ties between topics; without it ``topics``' own.
    ``homogeneous`` is the group's subscription type.
    """

    members: Mapping[str, MemberSpec]
    topics: Mapping[str, int]
    homogeneous: bool
    topic_ranks: Sequence[str] | None = None

    def partitions(self, topic: str) -> int:
        """How many partitions a subscribed topic has; an error if nobody knows it."""
        try:
            return self.topics[topic]
        except KeyError:
            raise AssignorError(f"a member subscribes to the topic {topic}, which does not exist") from None


class Assignor(Protocol):
    """One way to spread partitions over members."""

    name: str

    def assign(self, spec: GroupSpec) -> Assignment:
        """The new target. A member that is left out has nothing."""
        ...


def all_subscribe_alike(members: Mapping[str, MemberSpec]) -> bool:
    """The subscription type: homogeneous if every subscribed topic is subscribed by every member."""
    subscriptions = [frozenset(member.topics) for member in members.values()]
    return all(topics == subscriptions[0] for topics in subscriptions)
