"""A classic group as its coordinator keeps it in memory: what its records hold, and the much that they do not.

Kafka: ``ClassicGroup`` and ``ClassicGroupMember``. All of it is immutable, so that a coordinator can be copied and an
operation can be tried: what Kafka does to the group in place gives another group here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from groups.wire.embedded.consumer_protocol import read_blob
from groups.wire.errors import RecordError
from groups.wire.generated.embedded import SUBSCRIPTION
from simulations.protocol.assignors.java_orders import DEFAULT_TABLE, HashOrder, string_hash
from simulations.protocol.messages.classic_requests import CONSUMER_PROTOCOL_TYPE, Offered


def subscribed_topics(group: Group) -> frozenset[str] | None:
    """The topics of all members; ``None`` where they are not known: no consumers, or bytes that cannot be read."""
    if not group.is_consumer:
        return None
    if not group.members:
        return frozenset()
    if group.protocol_name is None:
        return None
    topics: set[str] = set()
    try:
        for data in {member.metadata(group.protocol_name) for member in group.members.values()}:
            topics.update(read_blob(SUBSCRIPTION, data, newest_known=0)[0]["topics"])
    except RecordError:
        return None
    return frozenset(topics)


def is_subscribed(group: Group, topic: str) -> bool:
    """Whether the topic is subscribed to; of a consumer group whose topics are not known every one is."""
    return group.is_consumer if group.subscribed is None else topic in group.subscribed


NO_ASSIGNMENT: Final = b""


class GroupState(StrEnum):
    """Kafka: ``ClassicGroupState``, with the names that a description reports."""

    EMPTY = "Empty"
    PREPARING_REBALANCE = "PreparingRebalance"
    COMPLETING_REBALANCE = "CompletingRebalance"
    STABLE = "Stable"
    DEAD = "Dead"


EMPTY, PREPARING, COMPLETING, STABLE, DEAD = GroupState

ENTERED_FROM: Final[Mapping[GroupState, frozenset[GroupState]]] = {
    EMPTY: frozenset({PREPARING}),
    PREPARING: frozenset({STABLE, COMPLETING, EMPTY}),
    COMPLETING: frozenset({PREPARING}),
    STABLE: frozenset({COMPLETING}),
    DEAD: frozenset(GroupState),
}
"""From which states each is entered (``ClassicGroupState.validPreviousStates``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parked:
    """A request that waits for its answer. ``ticket`` is how who drives the coordinator finds the client again."""

    ticket: int
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A member, durations in milliseconds. ``is_new`` until the first join phase that it took part in ends."""

    member_id: str
    instance_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    rebalance_timeout_ms: int
    session_timeout_ms: int
    protocol_type: str = CONSUMER_PROTOCOL_TYPE
    protocols: Offered = ()
    assignment: bytes = NO_ASSIGNMENT
    is_new: bool = False
    parked_join: Parked | None = None
    parked_sync: Parked | None = None

    @property
    def awaits_join(self) -> bool:
        return self.parked_join is not None

    @property
    def awaits_sync(self) -> bool:
        return self.parked_sync is not None

    @property
    def satisfies_heartbeat(self) -> bool:
        """Whether it is alive without a heartbeat, because it waits for an answer (``hasSatisfiedHeartbeat``)."""
        return not self.is_new and (self.awaits_join or self.awaits_sync)

    def metadata(self, protocol_name: str | None) -> bytes:
        return next((data for name, data in self.protocols if name == protocol_name), b"")

    def vote(self, candidates: Mapping[str, int] | frozenset[str]) -> str:
        """Its first protocol that all members support."""
        return next(name for name, _ in self.protocols if name in candidates)


@dataclass(frozen=True, slots=True, kw_only=True)
class InitialDelay:
    """The timer of a first join phase: it runs for ``delay_ms``, and so long may it be lengthened then."""

    delay_ms: int
    remaining_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """``members`` are in the order in which they were put; ``in_order`` has them as Java's hash table walks them.

    ``table`` is that table's size, which never shrinks. ``pending`` ids were drawn and have not joined yet,
    ``pending_sync`` are members whose SyncGroup has not come; ``supported`` counts who lists a protocol.
    ``subscribed`` is ``None`` where the topics are not known (another protocol type, bytes that cannot be read).
    """

    state: GroupState = EMPTY
    previous_state: GroupState = DEAD
    state_timestamp_ms: int = -1
    generation: int = 0
    protocol_type: str | None = None
    protocol_name: str | None = None
    leader: str | None = None
    members: Mapping[str, Member] = field(default_factory=dict)
    table: int = DEFAULT_TABLE
    instances: Mapping[str, str] = field(default_factory=dict)
    pending: frozenset[str] = frozenset()
    pending_sync: frozenset[str] = frozenset()
    awaiting_join: int = 0
    supported: Mapping[str, int] = field(default_factory=dict)
    subscribed: frozenset[str] | None = None
    new_member_added: bool = False
    initial_delay: InitialDelay | None = None

    def in_order(self) -> Iterator[Member]:
        """Members as ``java.util.HashMap.values`` gives them, which is the order of answers and records."""
        return (self.members[member_id] for member_id in self._order(self.members))

    def protocols_in_order(self, names: Mapping[str, int]) -> Iterator[str]:
        return iter(HashOrder.filled(string_hash, names))

    def _order(self, member_ids: Mapping[str, Member]) -> HashOrder[str]:
        order: HashOrder[str] = HashOrder(string_hash, table=self.table)
        for member_id in member_ids:
            order.put(member_id)
        return order

    @property
    def is_consumer(self) -> bool:
        return self.protocol_type == CONSUMER_PROTOCOL_TYPE

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest of the members'."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    @property
    def all_joined(self) -> bool:
        return len(self.members) == self.awaiting_join and not self.pending

    @property
    def can_rebalance(self) -> bool:
        return self.state in ENTERED_FROM[PREPARING]

    def moved(self, state: GroupState, now_ms: int) -> Group:
        """The group in another state; ``ValueError`` for a transition that there is not."""
        if self.state not in ENTERED_FROM[state]:
            raise ValueError(f"a classic group does not go from {self.state} to {state}")
        return replace(self, state=state, previous_state=self.state, state_timestamp_ms=now_ms)

    def supports(self, protocol_type: str, protocols: Offered) -> bool:
        """Whether a member that offers these can be one of the group (``supportsProtocols``)."""
        if self.state is EMPTY:
            return bool(protocol_type and protocols)
        return self.protocol_type == protocol_type and any(
            self.supported.get(name, 0) == len(self.members) for name, _ in protocols
        )

    def added(self, member: Member) -> Group:
        """The group with a member that it did not have (``add``)."""
        members = {**self.members, member.member_id: member}
        table = self.table
        while len(members) > int(table * 0.75):
            table *= 2
        instances = self.instances
        if member.instance_id is not None:
            instances = {**instances, member.instance_id: member.member_id}
        return replace(
            self,
            members=members,
            table=table,
            instances=instances,
            protocol_type=self.protocol_type if self.members else member.protocol_type,
            leader=self.leader if self.leader is not None else member.member_id,
            pending=self.pending - {member.member_id},
            awaiting_join=self.awaiting_join + member.awaits_join,
            supported=_counted(self.supported, (), member.protocols),
        )

    def removed(self, member_id: str) -> Group:
        """The group without a member or a pending id (``remove``); a leader's place goes to the first of the others."""
        member = self.members.get(member_id)
        group = replace(
            self, pending=self.pending - {member_id}, pending_sync=self.pending_sync - {member_id}
        )
        if member is not None:
            members = {other: each for other, each in self.members.items() if other != member_id}
            instances = self.instances
            if member.instance_id is not None:
                instances = {name: held for name, held in instances.items() if name != member.instance_id}
            group = replace(
                group,
                members=members,
                instances=instances,
                awaiting_join=self.awaiting_join - member.awaits_join,
                supported=_counted(self.supported, member.protocols, ()),
            )
        if self.leader == member_id:
            first = next(group.in_order(), None)
            group = replace(group, leader=first.member_id if first is not None else None)
        return group

    def updated(self, member: Member) -> Group:
        """The group with a member changed, whose place in the table stays."""
        old = self.members[member.member_id]
        supported = self.supported
        if old.protocols != member.protocols:
            supported = _counted(supported, old.protocols, member.protocols)
        return replace(
            self,
            members={**self.members, member.member_id: member},
            awaiting_join=self.awaiting_join - old.awaits_join + member.awaits_join,
            supported=supported,
        )

    def replaced(self, old_id: str, new_id: str) -> Group:
        """A static member under another id, with nothing parked: at the table's end (``replaceStaticMember``)."""
        old = self.members[old_id]
        assert old.instance_id is not None
        new = replace(old, member_id=new_id, is_new=False, parked_join=None, parked_sync=None)
        members = {other: each for other, each in self.members.items() if other != old_id}
        members[new_id] = new
        return replace(
            self,
            members=members,
            awaiting_join=self.awaiting_join - old.awaits_join,
            leader=new_id if self.leader == old_id else self.leader,
            instances={**self.instances, old.instance_id: new_id},
        )

    def selected_protocol(self) -> str:
        """What most members vote for; of several the first in the order of Java's table (``selectProtocol``)."""
        candidates = {name: n for name, n in self.supported.items() if n == len(self.members)}
        votes = Counter(member.vote(candidates) for member in self.in_order())
        most = max(votes.values())
        return next(name for name in self.protocols_in_order(votes) if votes[name] == most)


def _counted(supported: Mapping[str, int], less: Offered, more: Offered) -> Mapping[str, int]:
    counts = dict(supported)
    for name, _ in less:
        counts[name] -= 1
        if not counts[name]:
            del counts[name]
    for name, _ in more:
        counts[name] = counts.get(name, 0) + 1
    return counts
