"""What an assignor is given, and what it answers: one interface for both protocols.

Kafka: ``ConsumerPartitionAssignor`` of the clients, ``ConsumerGroupPartitionAssignor`` of the coordinator. Assignors
take members, topics and what is owned *in the order given*; who wants a real broker's order puts them into it before
(``simulations.protocol.assignors.broker_order``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from simulations.protocol.assignors.explanation import Explanation

Owned = Mapping[str, Sequence[int]]
"""Topic → partitions; a run of neighbours may be a ``range``."""

Assignment = dict[str, Owned]
"""Member id → topic → partitions. Topics are whatever keys the spec used; Kafka's coordinator uses topic ids."""


Change = tuple[str, int, bool]
"""Topic, partition, and whether it was gained (or lost)."""


class AssignorError(Exception):
    """The input cannot be assigned: Kafka throws. ``fault`` names the fault of Kafka's own, if it is one."""

    def __init__(self, message: str, fault: str | None = None) -> None:
        super().__init__(message)
        self.fault = fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A topic as the metadata have it. ``racks``: the racks of each partition's replicas, where they are known."""

    partitions: int
    racks: Mapping[int, Sequence[str]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberSpec:
    """One member.

    ``topics`` is what it subscribes to, in order. ``owned`` is what it asks to own (classic), or its current
    *target*, which is not what it holds (consumer); the order of partitions counts. ``generation`` and
    ``user_data`` are those of a classic member's subscription; without user data ``sticky`` takes what is owned.
    """

    topics: Sequence[str]
    owned: Owned = field(default_factory=dict)
    instance_id: str | None = None
    rack_id: str | None = None
    generation: int | None = None
    user_data: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSpec:
    """A group as an assignor sees it.

    ``topics`` are those that exist, in the order in which ``uniform`` is to walk them. ``topic_ranks`` is their
    order by id, which decides ties between topics; without it ``topics``' own. ``homogeneous`` is the subscription
    type of a consumer group; the assignors of classic groups look for themselves.
    """

    members: Mapping[str, MemberSpec]
    topics: Mapping[str, Topic]
    homogeneous: bool = False
    topic_ranks: Sequence[str] | None = None
    _unassigned: dict[str, Sequence[int]] = field(default_factory=dict, init=False, compare=False, repr=False)
    _owned_topics: list[frozenset[str]] = field(default_factory=list, init=False, compare=False, repr=False)
    _owned_sizes: list[int] = field(default_factory=list, init=False, compare=False, repr=False)
    _owned: dict[str, Owned] = field(default_factory=dict, init=False, compare=False, repr=False)
    _owners: list[dict[str, list[int]] | None] = field(
        default_factory=list, init=False, compare=False, repr=False
    )

    def unassigned(self) -> Mapping[str, Sequence[int]]:
        """Topic → partitions that no member owns; topics of which all are owned are left out.

        A coordinator keeps the target by partition between calls, and hands it to the assignor; here it is made when
        it is asked for the first time, and kept with the spec.
        """
        if not self._owned_topics:
            taken: dict[str, list[Sequence[int]]] = {}
            for member in self.members.values():
                for topic, partitions in member.owned.items():
                    taken.setdefault(topic, []).append(partitions)
            for topic, known in self.topics.items():
                every: Sequence[int] = range(known.partitions)
                if topic in taken:
                    owned = set().union(*taken[topic])
                    every = [partition for partition in every if partition not in owned]
                if every:
                    self._unassigned[topic] = every
            self._owned_sizes.extend(sum(map(len, member.owned.values())) for member in self.members.values())
            self._owned.update((member_id, member.owned) for member_id, member in self.members.items())
            self._owned_topics.append(frozenset(taken))
        return self._unassigned

    def owned_topics(self) -> frozenset[str]:
        """Topics of which some member owns something; kept with ``unassigned``."""
        self.unassigned()
        return self._owned_topics[0]

    def owned_sizes(self) -> Sequence[int]:
        """How many partitions each member owns, in the order of members; kept with ``unassigned``."""
        self.unassigned()
        return self._owned_sizes

    def owned_by_member(self) -> dict[str, Owned]:
        """What each member owns, to be changed by the caller."""
        self.unassigned()
        return self._owned.copy()

    def owners(self) -> Mapping[str, list[int]] | None:
        """Topic → the place of each partition's owner among the members, −1 for none, of topics of which anything is owned; kept
        with the spec, as a coordinator keeps the target by partition. ``None`` where two own one, or somebody owns what is not there.
        """
        if not self._owners:
            self._owners.append(self._find_owners())
        return self._owners[0]

    def _find_owners(self) -> dict[str, list[int]] | None:
        owners: dict[str, list[int]] = {}
        for place, member in enumerate(self.members.values()):
            for topic, partitions in member.owned.items():
                if (of_topic := owners.get(topic)) is None:
                    if topic not in self.topics:
                        return None
                    of_topic = owners[topic] = [-1] * self.topics[topic].partitions
                for partition in partitions:
                    if not 0 <= partition < len(of_topic) or of_topic[partition] >= 0:
                        return None
                    of_topic[partition] = place
        return owners

    def partitions(self, topic: str) -> int:
        """How many partitions a subscribed topic has; an error if nobody knows it."""
        try:
            return self.topics[topic].partitions
        except KeyError:
            raise AssignorError(f"a member subscribes to the topic {topic}, which does not exist") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAssignment:
    """An assignor's answer. A member that is left out has nothing.

    ``intended`` is the plan of ``cooperative-sticky`` before partitions in transfer are withheld; ``faults`` the
    names of those faults of Kafka's own that this answer shows (``simulations.protocol.assignors.faults``). ``changes`` has
    of each member among whom ``uniform`` moved something that was given before how it came to what it has, as a hash
    table's order depends on that. ``user_data`` is what a custom assignor adds to a member's assignment, in bytes of its own.
    """

    members: Assignment
    intended: Assignment | None = None
    faults: tuple[str, ...] = ()
    changes: Mapping[str, Sequence[Change]] = field(default_factory=dict)
    user_data: Mapping[str, bytes] = field(default_factory=dict)


class Assignor(Protocol):
    """One way to spread partitions over members. An object belongs to one group: some remember generations."""

    name: str

    def assign(self, spec: GroupSpec, explain: Explanation | None = None) -> GroupAssignment:
        """The new assignment; ``explain`` collects why. ``AssignorError`` where Kafka throws."""
        ...


def all_subscribe_alike(members: Mapping[str, MemberSpec]) -> bool:
    """The subscription type: homogeneous if every subscribed topic is subscribed by every member."""
    subscriptions = [frozenset(member.topics) for member in members.values()]
    return all(topics == subscriptions[0] for topics in subscriptions)
