"""A static member that comes back without its member id: its instance goes to a new id.

Kafka: ``GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin``, ``ClassicGroup.replaceStaticMember``
(KIP-345, KIP-814).
"""

from __future__ import annotations

from dataclasses import replace

from simulations.protocol.coordinator.classic import records
from simulations.protocol.coordinator.classic.group import COMPLETING, PREPARING, STABLE, Group, Parked
from simulations.protocol.coordinator.classic.join_phase import (
    complete_if_all_joined,
    joined,
    prepare_rebalance,
    rebalance_or_complete,
)
from simulations.protocol.coordinator.classic.operation import Operation
from simulations.protocol.coordinator.classic.parking import ReplacementAppended
from simulations.protocol.messages.classic_requests import (
    SKIP_ASSIGNMENT_VERSION,
    JoinAnswer,
    JoinGroup,
    SyncAnswer,
)
from simulations.protocol.messages.errors import ErrorCode


def take_over(operation: Operation, request: JoinGroup, ticket: int, holder: str, member_id: str) -> None:
    """The instance's holder is fenced, and its copy goes on under the new id with what the request reports.

    While the group is stable and would choose the same protocol, nothing is rebalanced: a record reports the new id.
    The copy keeps the client id and host of the first.
    """
    leader = operation.group.leader
    fence = ErrorCode.FENCED_INSTANCE_ID
    operation.answer_join(holder, JoinAnswer(error_code=fence, member_id=holder))
    operation.answer_sync(holder, SyncAnswer(error_code=fence))
    old = operation.group.members[holder]
    operation.group = operation.group.replaced(holder, member_id)
    copy = operation.group.members[member_id]
    operation.restart_session(copy)
    operation.group = operation.group.updated(
        replace(
            copy,
            protocols=request.protocols,
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            session_timeout_ms=request.session_timeout_ms,
            parked_join=Parked(ticket=ticket, version=request.version),
        )
    )
    group = operation.group
    if group.state is STABLE and group.selected_protocol() == group.protocol_name:
        assignments = {member.member_id: member.assignment for member in group.members.values()}
        operation.records.append(records.group_metadata(operation.group_id, group, assignments))
        operation.follow_up = ReplacementAppended(
            old=old, member_id=member_id, leader=leader, ticket=ticket, version=request.version
        )
    elif group.state is STABLE:
        rebalance_or_complete(operation)
    elif group.state is COMPLETING:
        # The leader may have been notified of the old id already, so that its assignment would miss the new one.
        prepare_rebalance(operation)
    else:
        assert group.state is PREPARING, group.state
        complete_if_all_joined(operation)


def appended(operation: Operation, stored: ReplacementAppended) -> None:
    """Answers the member that came back; a leader of a client that can skip it is reported to make no assignment.

    An older client receives the leader's id of before, so that it does not take itself for the leader.
    """
    group = operation.group
    if stored.member_id not in group.members:
        return
    if stored.version >= SKIP_ASSIGNMENT_VERSION:
        leads = group.leader == stored.member_id
        answer = replace(joined(group, stored.member_id, with_members=leads), skip_assignment=leads)
    else:
        answer = replace(joined(group, stored.member_id, with_members=False), leader=stored.leader or "")
    operation.answer_join(stored.member_id, answer)


def append_failed(operation: Operation, stored: ReplacementAppended, code: ErrorCode) -> None:
    """The old id holds the instance again."""
    group: Group = operation.group
    member, old = group.members[stored.member_id], stored.old
    undone = replace(
        member,
        protocols=old.protocols,
        rebalance_timeout_ms=old.rebalance_timeout_ms,
        session_timeout_ms=old.session_timeout_ms,
        parked_join=None,
    )
    operation.group = group.updated(undone).replaced(stored.member_id, old.member_id)
    operation.restart_session(operation.group.members[old.member_id])
    answer = JoinAnswer(
        error_code=code,
        generation=group.generation,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader=stored.leader or "",
        version=stored.version,
    )
    operation.answer(stored.ticket, answer)
