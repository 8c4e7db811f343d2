"""SyncGroup: the leader's assignment goes into the log and from there to everybody.

Kafka: ``GroupMetadataManager.classicGroupSyncToClassicGroup``, ``expirePendingSync``.
"""

from __future__ import annotations

from dataclasses import replace

from simulations.protocol.coordinator.classic import records
from simulations.protocol.coordinator.classic.group import (
    COMPLETING,
    EMPTY,
    NO_ASSIGNMENT,
    PREPARING,
    STABLE,
    Group,
    Parked,
)
from simulations.protocol.coordinator.classic.join_phase import (
    prepare_rebalance,
    propagate_assignments,
    rebalance_or_complete,
    withdraw_assignments,
)
from simulations.protocol.coordinator.classic.operation import Operation, check_generation
from simulations.protocol.coordinator.classic.parking import AssignmentAppended
from simulations.protocol.coordinator.timers import SESSION, SYNC
from simulations.protocol.messages.classic_requests import SyncAnswer, SyncGroup
from simulations.protocol.messages.errors import ErrorCode


def sync(operation: Operation, request: SyncGroup, ticket: int) -> None:
    """One SyncGroup: parked until the leader's assignment is in the log, answered at once where it already is."""
    group = operation.group
    code = _refusal(group, request)
    if code is not ErrorCode.NONE:
        operation.answer(ticket, SyncAnswer(error_code=code, version=request.version))
        return
    member = group.members[request.member_id]
    if group.state is STABLE:
        _synced(operation, request.member_id)
        answer = SyncAnswer(
            protocol_type=group.protocol_type,
            protocol_name=group.protocol_name,
            assignment=member.assignment,
            version=request.version,
        )
        operation.answer(ticket, answer)
        return
    operation.group = group.updated(
        replace(member, parked_sync=Parked(ticket=ticket, version=request.version))
    )
    _synced(operation, request.member_id)
    if group.leader == request.member_id:
        _store(operation, request)


def appended(operation: Operation, stored: AssignmentAppended) -> None:
    """Everybody who waits gets its assignment, if no other rebalance has begun meanwhile."""
    group = operation.group
    if not _goes_on(group, stored):
        return
    operation.update_all(
        {
            member_id: replace(member, assignment=stored.assignments.get(member_id, NO_ASSIGNMENT))
            for member_id, member in group.members.items()
        }
    )
    propagate_assignments(operation, ErrorCode.NONE)
    operation.group = operation.group.moved(STABLE, operation.now_ms)


def append_failed(operation: Operation, stored: AssignmentAppended, code: ErrorCode) -> None:
    """The assignment is lost: who waits is reported so, and everybody joins again."""
    if not _goes_on(operation.group, stored):
        return
    withdraw_assignments(operation, code)
    rebalance_or_complete(operation)


def sync_timer_expired(operation: Operation, generation: int | None) -> None:
    """Members, static ones too, that have not asked for their assignment of this generation are removed."""
    group = operation.group
    if generation != group.generation or group.state not in (COMPLETING, STABLE) or not group.pending_sync:
        return
    for member_id in sorted(group.pending_sync):
        operation.group = operation.group.removed(member_id)
        operation.cancel(SESSION, member_id)
    prepare_rebalance(operation)


def _goes_on(group: Group, stored: AssignmentAppended) -> bool:
    """A group that was deleted meanwhile and began again may have the generation, but has other members."""
    return (
        group.state is COMPLETING
        and group.generation == stored.generation
        and group.members.keys() <= stored.assignments.keys()
    )


def _refusal(group: Group, request: SyncGroup) -> ErrorCode:
    if group.state is EMPTY:
        return ErrorCode.UNKNOWN_MEMBER_ID
    code = check_generation(group, request.member_id, request.instance_id, request.generation)
    if code is not ErrorCode.NONE:
        return code
    if _differs(request.protocol_type, group.protocol_type):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    if _differs(request.protocol_name, group.protocol_name):
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    return ErrorCode.REBALANCE_IN_PROGRESS if group.state is PREPARING else ErrorCode.NONE


def _differs(given: str | None, known: str | None) -> bool:
    return given is not None and known is not None and given != known


def _synced(operation: Operation, member_id: str) -> None:
    """The member has asked for its assignment; with the last one there is nobody left to wait for."""
    group = operation.group
    operation.group = replace(group, pending_sync=group.pending_sync - {member_id})
    if not operation.group.pending_sync:
        operation.cancel(SYNC, None)


def _store(operation: Operation, request: SyncGroup) -> None:
    group = operation.group
    assignments = dict(request.assignments)
    for member_id in group.members:
        assignments.setdefault(member_id, NO_ASSIGNMENT)
    operation.records.append(records.group_metadata(operation.group_id, group, assignments))
    operation.follow_up = AssignmentAppended(generation=group.generation, assignments=assignments)
