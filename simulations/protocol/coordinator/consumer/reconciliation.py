"""Moves one member towards its target: revoke, then advance, then take what others have released.

Kafka: ``CurrentAssignmentBuilder``. The states of a member:

==========  =========================================================================================
STABLE      it has what it may have; a newer target makes it move
UNREVOKED   it was asked to give partitions up and is waited for; it ignores newer targets meanwhile
UNRELEASED  it is at the target's epoch and waits for partitions that others still hold
==========  =========================================================================================

A member never advances past the target's epoch, and gains only partitions that nobody holds. What it has, is to give up,
is to get and waits for are sets here; ``java_maps`` puts what comes out into the order of a broker's records.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace

from groups.history.state.consumer import (
    STABLE,
    UNRELEASED_PARTITIONS,
    UNREVOKED_PARTITIONS,
    ConsumerGroup,
    ConsumerMember,
)
from groups.history.state.epochs import NO_PARTITION_EPOCH, Assignment
from simulations.protocol.coordinator.consumer import java_maps
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
            kept, revoked = java_maps.parted(member.assigned, self.target, kept, revoked)
            return replace(
                member,
                state=UNREVOKED_PARTITIONS,
                epoch=epoch,
                previous_epoch=member.epoch,
                assigned=kept,
                pending_revocation=revoked,
            )
        free, waits = self._free_and_held(member)
        return replace(
            member,
            state=UNRELEASED_PARTITIONS if waits else STABLE,
            epoch=self.target_epoch,
            previous_epoch=member.epoch,
            assigned=java_maps.with_free(member.assigned, self.target, kept, free),
            pending_revocation={},
        )

    def _wanted(self, topic_id: str) -> tuple[int, ...]:
        return tuple(self.target.get(topic_id, ())) if topic_id in self.subscribed_ids else ()

    def _kept_and_revoked(self, assigned: Assignment) -> tuple[Assignment, Assignment]:
        """What the member has, parted by the target; epochs are kept."""
        kept: dict[str, dict[int, int]] = {}
        revoked: dict[str, dict[int, int]] = {}
        for topic_id, epochs in assigned.items():
            wanted = set(self._wanted(topic_id))
            for partition, epoch in epochs.items():
                part = kept if partition in wanted else revoked
                part.setdefault(topic_id, {})[partition] = epoch
        return kept, revoked

    def _free_and_held(self, member: ConsumerMember) -> tuple[Assignment, bool]:
        """Wanted partitions that nobody else holds, at the target's epoch, and whether some are still held."""
        free: dict[str, dict[int, int]] = {}
        waits = False
        for topic_id in self.target:
            assigned = member.assigned.get(topic_id, {})
            own_pending = member.pending_revocation.get(topic_id, {})
            for partition in self._wanted(topic_id):
                if partition in assigned:
                    continue
                holder = self.group.partition_epoch(topic_id, partition)
                if holder == NO_PARTITION_EPOCH or partition in own_pending:
                    free.setdefault(topic_id, {})[partition] = self.target_epoch
                else:
                    waits = True
        return free, waits

    def _cut(self, member: ConsumerMember) -> ConsumerMember:
        """Takes away the topics that the member does not subscribe to any more, at its own epoch."""
        dropped = member.assigned.keys() - self.subscribed_ids
        nothing = self.subscribes_to_nothing
        if not dropped and not (nothing and not member.pending_revocation):
            return member
        kept, pending = java_maps.cut(
            member.assigned, member.pending_revocation, dropped, subscribes_to_nothing=nothing
        )
        if pending and self._still_owns(pending):
            return replace(
                member,
                state=UNREVOKED_PARTITIONS,
                previous_epoch=member.epoch,
                assigned=kept,
                pending_revocation=pending,
            )
        return replace(member, previous_epoch=member.epoch, assigned=kept)

    def _still_owns(self, partitions: Assignment) -> bool:
        """Whether the client may still own some of them: it said so, or said nothing."""
        if self.owned is None:
            return True
        return any(
            not set(self.owned.get(topic_id, ())).isdisjoint(numbers)
            for topic_id, numbers in partitions.items()
        )
