"""Being alive in a classic group, and ceasing to be: Heartbeat, LeaveGroup, and sessions that run out.

Kafka: ``GroupMetadataManager.classicGroupHeartbeatToClassicGroup``, ``classicGroupLeaveToClassicGroup`` and
``expireClassicGroupMemberHeartbeat``.
"""

from __future__ import annotations

from simulations.protocol.coordinator.classic.group import COMPLETING, DEAD, EMPTY, PREPARING, STABLE
from simulations.protocol.coordinator.classic.join_phase import (
    complete_if_all_joined,
    complete_join_phase,
    rebalance_or_complete,
)
from simulations.protocol.coordinator.classic.operation import Operation, check_generation, check_member
from simulations.protocol.coordinator.timers import SESSION
from simulations.protocol.messages.classic_requests import (
    ClassicHeartbeat,
    JoinAnswer,
    LeaveAnswer,
    LeaveGroup,
    LeavingMember,
    LeftMember,
)
from simulations.protocol.messages.errors import ErrorCode


def heartbeat(operation: Operation, request: ClassicHeartbeat) -> ErrorCode:
    """Restarts the session; while members are to join again the answer asks for that."""
    group = operation.group
    code = check_generation(group, request.member_id, request.instance_id, request.generation)
    if code is not ErrorCode.NONE:
        return code
    if group.state is EMPTY:
        return ErrorCode.UNKNOWN_MEMBER_ID
    operation.restart_session(group.members[request.member_id])
    return ErrorCode.REBALANCE_IN_PROGRESS if group.state is PREPARING else ErrorCode.NONE


def leave(operation: Operation, request: LeaveGroup) -> LeaveAnswer:
    """Removes each of the members, then goes on as one change."""
    if operation.group.state is DEAD:
        return LeaveAnswer(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE, version=request.version)
    left: list[LeftMember] = []
    for entry in request.members:
        code = _leave(operation, entry)
        left.append(LeftMember(member_id=entry.member_id, instance_id=entry.instance_id, error_code=code))
    if any(not each.error_code for each in left):
        if operation.group.state in (STABLE, COMPLETING):
            rebalance_or_complete(operation)
        else:
            complete_if_all_joined(operation)
    return LeaveAnswer(members=tuple(left), version=request.version)


def session_expired(operation: Operation, member_id: str) -> None:
    """A pending id is forgotten; a member goes unless it waits for an answer, which shows that it is alive."""
    group = operation.group
    if member_id in group.pending:
        operation.group = group.removed(member_id)
        if operation.group.state is PREPARING and operation.group.all_joined:
            complete_join_phase(operation)
        return
    member = group.members.get(member_id)
    if member is None or member.satisfies_heartbeat:
        return
    _remove(operation, member_id)
    if operation.group.state in (STABLE, COMPLETING):
        rebalance_or_complete(operation)
    elif operation.group.state is PREPARING and operation.group.all_joined:
        complete_join_phase(operation)


def _leave(operation: Operation, entry: LeavingMember) -> ErrorCode:
    group, member_id = operation.group, entry.member_id
    if not member_id:
        # Removed by an administrator of the group, who knows only the instance.
        holder = group.instances.get(entry.instance_id) if entry.instance_id is not None else None
        if holder is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        member_id = holder
    elif member_id in group.pending:
        operation.group = group.removed(member_id)
        operation.cancel(SESSION, member_id)
        return ErrorCode.NONE
    else:
        code = check_member(group, member_id, entry.instance_id)
        if code is not ErrorCode.NONE:
            return code
    operation.cancel(SESSION, member_id)
    _remove(operation, member_id)
    return ErrorCode.NONE


def _remove(operation: Operation, member_id: str) -> None:
    """A member that waits in the join phase is answered that it is no member; in the sync phase it is not answered."""
    operation.answer_join(member_id, JoinAnswer(error_code=ErrorCode.UNKNOWN_MEMBER_ID))
    operation.group = operation.group.removed(member_id)
