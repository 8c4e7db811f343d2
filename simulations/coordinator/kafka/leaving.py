"""Leaving and being removed: the same records either way, and no new target (``removeMember`` in Kafka)."""

from __future__ import annotations

from simulations.coordinator import records
from simulations.coordinator.errors import ErrorCode, RequestRefused
from simulations.coordinator.messages import Heartbeat, HeartbeatAnswer
from simulations.coordinator.outcome import (
    REBALANCE,
    SESSION,
    Context,
    Outcome,
    Record,
    TimerCancel,
    TimerCommand,
)
from simulations.coordinator.subscriptions import all_names


def leave(context: Context, request: Heartbeat) -> Outcome[HeartbeatAnswer]:
    """Epoch -1: no epoch and no session is asked for, only that the member is there."""
    if not context.group_exists:
        raise RequestRefused(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {request.group_id} not found.")
    if request.member_id not in context.group.members:
        raise unknown_member(request)
    written, timers = remove(context, request.member_id)
    answer = HeartbeatAnswer(member_id=request.member_id, member_epoch=request.member_epoch)
    return Outcome(answer=answer, records=written, timers=timers)


def remove(context: Context, member_id: str) -> tuple[tuple[Record, ...], tuple[TimerCommand, ...]]:
    """Tombstones of the member, then the next group epoch with the hash of what the others subscribe to."""
    group_id, group = context.state.group, context.group
    stay = {other: member for other, member in group.members.items() if other != member_id}
    metadata_hash = context.image.metadata_hash(all_names(group, stay))
    written = (
        *records.removal(group_id, [member_id]),
        records.group_epoch(group_id, group.group_epoch + 1, metadata_hash),
    )
    return written, (
        TimerCancel(timer=SESSION, member_id=member_id),
        TimerCancel(timer=REBALANCE, member_id=member_id),
    )


def unknown_member(request: Heartbeat) -> RequestRefused:
    return RequestRefused(
        ErrorCode.UNKNOWN_MEMBER_ID,
        f"Member {request.member_id} is not a member of group {request.group_id}.",
    )
