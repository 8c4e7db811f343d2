"""Who may commit offsets for a classic group (``ClassicGroup.validateOffsetCommit``)."""

from __future__ import annotations

from simulations.protocol.coordinator.classic.group import COMPLETING, DEAD, EMPTY, PREPARING, STABLE, Group
from simulations.protocol.coordinator.classic.operation import check_member
from simulations.protocol.coordinator.timers import SESSION, TimerCommand, TimerStart
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import OffsetCommit, TransactionalCommit


def refusal(group: Group, request: OffsetCommit) -> ErrorCode:
    """The error that is put on every partition, or ``NONE``.

    Who is no member may commit while the group is empty. Members may while they are joining again, but not between
    that and their next assignment. A transaction may be of nobody, and at any time.
    """
    in_transaction = isinstance(request, TransactionalCommit)
    if group.state is DEAD:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if request.member_epoch < 0 and group.state is EMPTY:
        return ErrorCode.NONE
    if request.member_epoch >= 0 or request.member_id or request.instance_id is not None:
        code = check_member(group, request.member_id, request.instance_id)
        if code is not ErrorCode.NONE:
            return code
        if request.member_epoch != group.generation:
            return ErrorCode.ILLEGAL_GENERATION
    elif group.state is not EMPTY and not in_transaction:
        return ErrorCode.UNKNOWN_MEMBER_ID
    waits = group.state is COMPLETING and not in_transaction
    return ErrorCode.REBALANCE_IN_PROGRESS if waits else ErrorCode.NONE


def timers(group: Group, request: OffsetCommit) -> tuple[TimerCommand, ...]:
    """An accepted commit of a member is a sign of life (``OffsetMetadataManager.commitOffset``), none of a transaction is."""
    member = group.members.get(request.member_id)
    if isinstance(request, TransactionalCommit) or member is None or group.state not in (STABLE, PREPARING):
        return ()
    return (TimerStart(timer=SESSION, member_id=member.member_id, length_ms=member.session_timeout_ms),)
