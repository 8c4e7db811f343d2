"""Leaving and being removed: the same records either way, and no new target (``removeMember`` in Kafka)."""

from __future__ import annotations

from groups.history.state.consumer import ConsumerMember
from simulations.protocol.coordinator.consumer import records
from simulations.protocol.coordinator.consumer.outcome import (
    REBALANCE,
    SESSION,
    Context,
    Outcome,
    Record,
    TimerCancel,
    TimerCommand,
)
from simulations.protocol.coordinator.consumer.released.heartbeat import not_consumer
from simulations.protocol.coordinator.consumer.static_members import check_member, left_statically
from simulations.protocol.coordinator.consumer.subscriptions import abandoned_regex, names_after
from simulations.protocol.coordinator.errors import ErrorCode, RequestRefused
from simulations.protocol.messages.groups import STATIC_LEAVE_EPOCH, Heartbeat, HeartbeatAnswer


def leave(context: Context, request: Heartbeat) -> Outcome[HeartbeatAnswer]:
    """Epoch -1 and -2: no epoch and no session is asked for, only that the member is there.

    With -2 a static member leaves for now: one record says so, and its session goes on from its last heartbeat.
    """
    if context.state.protocol is None or context.state.deleted:
        raise RequestRefused(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {request.group_id} not found.")
    if not context.group_exists:
        raise not_consumer(request)
    check_member(context.group, request)
    answer = HeartbeatAnswer(member_id=request.member_id, member_epoch=request.member_epoch)
    if request.member_epoch == STATIC_LEAVE_EPOCH:
        left = left_statically(context.group.members[request.member_id])
        kept = records.current_assignment(context.state.group, left, with_epochs=True)
        return Outcome(answer=answer, records=(kept,))
    written, timers = remove(context, request.member_id)
    return Outcome(answer=answer, records=written, timers=timers)


def remove(context: Context, member_id: str) -> tuple[tuple[Record, ...], tuple[TimerCommand, ...]]:
    """Tombstones of the member and of an expression that it was the last to have, then the next group epoch.

    Its hash is that of what the others subscribe to.
    """
    group_id, group = context.state.group, context.group
    member, nobody = group.members[member_id], ConsumerMember(member_id=member_id)
    gone = abandoned_regex(context, member, nobody)
    metadata_hash = context.image.metadata_hash(names_after(context, member, nobody))
    written = (
        *records.removal(group_id, [member_id]),
        *([records.regex_gone(group_id, gone)] if gone is not None else []),
        records.group_epoch(group_id, group.group_epoch + 1, metadata_hash),
    )
    return written, (
        TimerCancel(timer=SESSION, member_id=member_id),
        TimerCancel(timer=REBALANCE, member_id=member_id),
    )
