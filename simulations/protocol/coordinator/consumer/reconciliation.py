"""Moves one member towards its target: revoke, then advance, then take what others have released.

Kafka: ``CurrentAssignmentBuilder``. The states of a member:

==========  =========================================================================================
STABLE      it has what it may have; a newer target makes it move
UNREVOKED   it was told to give partitions up and is waited for; it ignores newer targets meanwhile
UNRELEASED  it is at the target's epoch and waits for partitions that others still hold
==========  =========================================================================================

A member never advances past the target's epoch, and gains only partitions that nobody holds. The order of the
partitions that come out is that of the Java maps in which a broker builds them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace

from groups.history.state.consumer import (
    STABLE,
    UNRELEASED_PARTITIONS,
    UNREVOKED_PARTITIONS,
    ConsumerGroup,
    ConsumerMember,
)
from groups.history.state.epochs import NO_PARTITION_EPOCH, Assignment
from simulations.protocol.assignors.java_orders import HashOrder, int_hash, uuid_hash
from simulations.protocol.coordinator.errors import RequestRefused
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import Partitions

UNKNOWN_STATE = (
    "The consumer group member is in a unknown state. The member must abandon all its partitions and rejoin."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciliation:
    """What the step looks at. ``owned`` is what the request reported, ``None`` if it reported nothing.

    ``subscribed_ids`` are the topics that the member subscribes to and the image knows; ``subscribes_to_nothing``
    is asked apart, since topics that do not exist are a subscription too.
    """

    group: ConsumerGroup
    target: Partitions
    target_epoch: int
    subscribed_ids: Set[str]
    subscribes_to_nothing: bool
    subscription_changed: bool
    owned: Partitions | None

    def step(self, member: ConsumerMember) -> ConsumerMember:
        """The member after the step; the very same object if nothing is to change."""
        if member.state == STABLE:
            if member.epoch != self.target_epoch:
                return self._next(member, member.epoch)
            return self._cut(member) if self.subscription_changed else member
        if member.state == UNREVOKED_PARTITIONS:
            if not self._still_owns(member.pending_revocation):
                return self._next(member, member.epoch)
            return self._cut(member) if self.subscription_changed else member
        if member.state == UNRELEASED_PARTITIONS:
            return self._next(member, member.epoch)
        if self.owned is None or self.owned:
            raise RequestRefused(ErrorCode.FENCED_MEMBER_EPOCH, UNKNOWN_STATE)
        return self._next(member, self.target_epoch)

    def _next(self, member: ConsumerMember, epoch: int) -> ConsumerMember:
        kept, revoked = self._kept_and_revoked(member.assigned)
        if revoked and self._still_owns(revoked):
            return replace(
                member,
                state=UNREVOKED_PARTITIONS,
                epoch=epoch,
                previous_epoch=member.epoch,
                assigned=kept,
                pending_revocation=revoked,
            )
        free, waits = self._free(member)
        return replace(
            member,
            state=UNRELEASED_PARTITIONS if waits else STABLE,
            epoch=self.target_epoch,
            previous_epoch=member.epoch,
            assigned=_with_free(member.assigned, kept, free, self.target_epoch),
            pending_revocation={},
        )

    def _wanted(self, topic_id: str) -> tuple[int, ...]:
        return tuple(self.target.get(topic_id, ())) if topic_id in self.subscribed_ids else ()

    def _kept_and_revoked(
        self, assigned: Assignment
    ) -> tuple[dict[str, dict[int, int]], dict[str, dict[int, int]]]:
        """What the member has, parted by the target; epochs are kept."""
        topics = HashOrder.set_copy(uuid_hash, _walk_topics(self.target))
        for topic_id in _walk_topics(assigned):
            topics.put(topic_id)
        kept: dict[str, dict[int, int]] = {}
        revoked: dict[str, dict[int, int]] = {}
        for topic_id in topics:
            epochs = assigned.get(topic_id, {})
            in_memory = HashOrder.filled(int_hash, epochs)
            wanted = set(self._wanted(topic_id))
            for partition in HashOrder.map_copy(int_hash, in_memory):
                part = kept if partition in wanted else revoked
                part.setdefault(topic_id, {})[partition] = epochs[partition]
        return _by_topic(kept), _by_topic(revoked)

    def _free(self, member: ConsumerMember) -> tuple[dict[str, list[int]], bool]:
        """Wanted partitions that nobody else holds, and whether some are still held."""
        free: dict[str, list[int]] = {}
        waits = False
        for topic_id in HashOrder.filled(uuid_hash, self.target):
            assigned = member.assigned.get(topic_id, {})
            own_pending = member.pending_revocation.get(topic_id, {})
            for partition in HashOrder.set_copy(int_hash, self._wanted(topic_id)):
                if partition in assigned:
                    continue
                holder = self.group.partition_epoch(topic_id, partition)
                if holder == NO_PARTITION_EPOCH or partition in own_pending:
                    free.setdefault(topic_id, []).append(partition)
                else:
                    waits = True
        return free, waits

    def _cut(self, member: ConsumerMember) -> ConsumerMember:
        """Takes away the topics that the member does not subscribe to any more, at its own epoch."""
        dropped = {t: epochs for t, epochs in member.assigned.items() if t not in self.subscribed_ids}
        if not dropped and not (self.subscribes_to_nothing and not member.pending_revocation):
            return member
        kept, pending = self._parted(in_memory(member.assigned), in_memory(member.pending_revocation))
        if pending and self._still_owns(pending):
            return replace(
                member,
                state=UNREVOKED_PARTITIONS,
                previous_epoch=member.epoch,
                assigned=kept,
                pending_revocation=pending,
            )
        return replace(member, previous_epoch=member.epoch, assigned=kept)

    def _parted(self, assigned: Assignment, pending: Assignment) -> tuple[Assignment, Assignment]:
        """What stays, and what is to be given up with what was before; copies of the maps, changed in place."""
        if self.subscribes_to_nothing and not pending:
            return {}, assigned
        kept_topics = HashOrder.map_copy(uuid_hash, assigned)
        pending_topics = HashOrder.map_copy(uuid_hash, pending)
        merged: dict[str, Mapping[int, int]] = dict(pending)
        for topic_id, epochs in assigned.items():
            if topic_id in self.subscribed_ids:
                continue
            kept_topics.remove(topic_id)
            pending_topics.compute(topic_id)
            merged[topic_id] = _united(pending[topic_id], epochs) if topic_id in pending else epochs
        return {t: assigned[t] for t in kept_topics}, {t: merged[t] for t in pending_topics}

    def _still_owns(self, partitions: Assignment) -> bool:
        """Whether the client may still own some of them: it said so, or said nothing."""
        if self.owned is None:
            return True
        return any(
            not set(self.owned.get(topic_id, ())).isdisjoint(numbers)
            for topic_id, numbers in partitions.items()
        )


def in_memory(assignment: Assignment) -> Assignment:
    """An assignment as a broker holds it after replay: each level a new map, filled in the record's order."""
    return {
        topic_id: {p: assignment[topic_id][p] for p in HashOrder.filled(int_hash, assignment[topic_id])}
        for topic_id in _walk_topics(assignment)
    }


def _united(pending: Mapping[int, int], dropped: Mapping[int, int]) -> Mapping[int, int]:
    order = HashOrder.map_copy(int_hash, pending)
    for partition in dropped:
        order.put(partition)
    epochs = {**pending, **dropped}
    return {partition: epochs[partition] for partition in order}


def _walk_topics(partitions: Mapping[str, object]) -> Iterable[str]:
    return HashOrder.filled(uuid_hash, partitions)


def _by_topic(assignment: Mapping[str, Mapping[int, int]]) -> dict[str, dict[int, int]]:
    """Topics in the order of a new ``HashMap`` into which they were put one after the other."""
    return {topic_id: dict(assignment[topic_id]) for topic_id in _walk_topics(assignment)}


def _copied_but(epochs: Mapping[int, int], kept: Mapping[int, int]) -> HashOrder[int]:
    """A copy of a topic's map out of which all but the kept ones are taken: its table stays that of the whole."""
    order = HashOrder.map_copy(int_hash, HashOrder.filled(int_hash, epochs))
    for partition in epochs:
        if partition not in kept:
            order.remove(partition)
    return order


def _with_free(
    assigned: Assignment,
    kept: Mapping[str, Mapping[int, int]],
    free: Mapping[str, Iterable[int]],
    epoch: int,
) -> dict[str, dict[int, int]]:
    """The new assignment: ``computeIfAbsent`` for each topic of the free ones, then their partitions put."""
    topics = HashOrder.filled(uuid_hash, kept)
    partitions = {topic_id: _copied_but(assigned[topic_id], epochs) for topic_id, epochs in kept.items()}
    epochs = {topic_id: dict(known) for topic_id, known in kept.items()}
    for topic_id in HashOrder.filled(uuid_hash, free):
        topics.compute(topic_id)
        order = partitions.setdefault(topic_id, HashOrder(int_hash))
        for partition in HashOrder.filled(int_hash, free[topic_id]):
            order.put(partition)
            epochs.setdefault(topic_id, {})[partition] = epoch
    return {topic_id: {p: epochs[topic_id][p] for p in partitions[topic_id]} for topic_id in topics}
