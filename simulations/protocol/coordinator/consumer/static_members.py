"""Static members: who holds an instance id, who may take it over, and what a leave for now keeps.

Kafka: ``GroupMetadataManager.getOrMaybeSubscribeStaticConsumerMember`` and ``consumerGroupStaticMemberGroupLeave``;
KIP-848, "Static Membership".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from groups.history.state.consumer import ConsumerGroup, ConsumerMember
from simulations.protocol.assignors.java_orders import HashOrder, int_hash, uuid_hash
from simulations.protocol.coordinator.consumer.outcome import Context
from simulations.protocol.coordinator.errors import RequestRefused
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import JOIN_EPOCH, STATIC_LEAVE_EPOCH, Heartbeat

EPOCH_OF_KEPT_PARTITIONS: Final = 0
"""Assignment epoch of what a member keeps that has left for now: it does not know since when any more."""


def unknown_member(request: Heartbeat) -> RequestRefused:
    return RequestRefused(
        ErrorCode.UNKNOWN_MEMBER_ID,
        f"Member {request.member_id} is not a member of group {request.group_id}.",
    )


def check_member(group: ConsumerGroup, request: Heartbeat) -> None:
    """Raises ``RequestRefused`` if a request with an epoch other than 0 is not of the member that it claims to be.

    Who names an instance is asked for it alone: the member id has to be that of its holder.
    """
    if request.instance_id is None:
        if request.member_id not in group.members:
            raise unknown_member(request)
        return
    holder = group.instances.get(request.instance_id)
    if holder is None:
        raise RequestRefused(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {request.instance_id} is unknown.")
    if holder != request.member_id:
        raise RequestRefused(
            ErrorCode.FENCED_INSTANCE_ID,
            f"Static member {request.member_id} with instance id {request.instance_id} was fenced by member {holder}.",
        )


def is_full_for(context: Context, member_id: str, instance_id: str | None) -> bool:
    """Whether the group has no place for a member that joins under this id.

    Releases differ in whether a static member that comes back under another id needs one.
    """
    group, settings = context.group, context.settings
    if len(group.members) < settings.max_size or member_id in group.members:
        return False
    return instance_id not in group.instances or not settings.release.rules.full_group_admits_instances


def replaced_member(group: ConsumerGroup, request: Heartbeat, *, own_too: bool) -> ConsumerMember | None:
    """The member that a join takes the place of; ``RequestRefused`` while the instance's holder has not left.

    The holder may have the very id of the one that joins: a client that left for now comes back by itself.
    ``own_too``: who has not left is refused its own instance as well (released Kafka); the proposal speaks of a new
    member only, and lets a member at epoch 0 go on.
    """
    if request.member_epoch != JOIN_EPOCH or request.instance_id is None:
        return None
    holder_id = group.instances.get(request.instance_id)
    if holder_id is None:
        return None
    holder = group.members[holder_id]
    if holder_id == request.member_id and holder.epoch != STATIC_LEAVE_EPOCH and not own_too:
        return None
    if holder.epoch != STATIC_LEAVE_EPOCH and not holder.uses_classic:
        raise RequestRefused(
            ErrorCode.UNRELEASED_INSTANCE_ID,
            f"Static member {request.member_id} with instance id {request.instance_id} cannot join the group "
            f"because the instance id is owned by {holder_id} member.",
        )
    return holder


def replacement_of(holder: ConsumerMember, member_id: str) -> ConsumerMember:
    """The holder under the new id, at the epoch of who joins; state, assignment and subscription stay."""
    return replace(holder, member_id=member_id, epoch=JOIN_EPOCH, previous_epoch=JOIN_EPOCH)


def left_statically(member: ConsumerMember) -> ConsumerMember:
    """The member after epoch -2: what it was giving up is free, what it has stays its own."""
    kept: Mapping[str, Iterable[int]] = member.assigned
    return replace(
        member,
        epoch=STATIC_LEAVE_EPOCH,
        assigned={
            topic_id: dict.fromkeys(HashOrder.filled(int_hash, kept[topic_id]), EPOCH_OF_KEPT_PARTITIONS)
            for topic_id in HashOrder.filled(uuid_hash, kept)
        },
        pending_revocation={},
    )
