"""JoinGroup: who may join a classic group, under which id, and what its joining sets going.

Kafka: ``GroupMetadataManager.classicGroupJoinToClassicGroup`` and what it calls.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from groups.wire.codecs.uuids import base64_to_uuid
from groups.wire.errors import UnencodableError
from simulations.protocol.coordinator.classic import records, static_members
from simulations.protocol.coordinator.classic.group import (
    COMPLETING,
    DEAD,
    EMPTY,
    PREPARING,
    STABLE,
    Group,
    Member,
    Parked,
)
from simulations.protocol.coordinator.classic.join_phase import joined, rebalance_or_complete
from simulations.protocol.coordinator.classic.operation import Operation, check_member
from simulations.protocol.coordinator.consumer.outcome import Context
from simulations.protocol.coordinator.timers import SESSION
from simulations.protocol.messages.classic_requests import (
    MEMBER_ID_REQUIRED_VERSION,
    NO_MEMBER_ID,
    JoinAnswer,
    JoinGroup,
)
from simulations.protocol.messages.errors import ErrorCode

NEW_MEMBER_JOIN_TIMEOUT_MS: Final = 5 * 60 * 1000
"""How long a new member may wait for its first join phase: it has no session before it knows its id
(``GroupCoordinatorConfig.CLASSIC_GROUP_NEW_MEMBER_JOIN_TIMEOUT_MS``)."""


def join(operation: Operation, request: JoinGroup, ticket: int, *, is_new_group: bool) -> None:
    """One JoinGroup; of a group that was made for it the first record is written."""
    member_id = request.member_id
    if not _accepts(operation, member_id):
        operation.group = operation.group.removed(member_id)
        refuse(operation, request, ticket, ErrorCode.GROUP_MAX_SIZE_REACHED, member_id=NO_MEMBER_ID)
    elif operation.group.state is DEAD:
        refuse(operation, request, ticket, ErrorCode.COORDINATOR_NOT_AVAILABLE)
    elif not operation.group.supports(request.protocol_type, request.protocols):
        refuse(operation, request, ticket, ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
    elif member_id == NO_MEMBER_ID:
        _join_unknown(operation, request, ticket)
    else:
        _join_known(operation, request, ticket)
    if is_new_group:
        empty = Group(state_timestamp_ms=operation.now_ms)
        operation.records.append(records.group_metadata(operation.group_id, empty, {}))


def refuse(
    operation: Operation, request: JoinGroup, ticket: int, code: ErrorCode, *, member_id: str | None = None
) -> None:
    known = request.member_id if member_id is None else member_id
    operation.answer(ticket, JoinAnswer(error_code=code, member_id=known, version=request.version))


class GivenId(str):
    """A ``drawn_id`` that is the whole member id: members of a simulated run go by the scenario's names."""


def drawn_member_id(context: Context, request: JoinGroup) -> str:
    """``clientId-UUID``, of a static member ``instanceId-UUID`` (``ClassicGroup.generateMemberId``)."""
    if isinstance(context.drawn_id, GivenId):
        return str(context.drawn_id)
    named = request.client_id if request.instance_id is None else request.instance_id
    return f"{named}-{canonical(drawn(context))}"


def drawn(context: Context) -> str:
    if context.drawn_id is None:
        raise ValueError("a member joins without an id: who drives the shard has to draw one (drawn_id)")
    return context.drawn_id


def canonical(uuid: str) -> str:
    """A ``Uuid`` of 22 characters in the form of ``java.util.UUID.toString``; anything else as it is."""
    try:
        digits = base64_to_uuid(uuid).hex()
    except UnencodableError:
        return uuid
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def _accepts(operation: Operation, member_id: str) -> bool:
    """Whether the group has room. While it rebalances, those count that have joined (``acceptJoiningMember``)."""
    group, most = operation.group, operation.context.settings.classic_max_size
    member = group.members.get(member_id)
    if group.state in (EMPTY, DEAD):
        return True
    if group.state is PREPARING:
        return (member is not None and member.awaits_join) or group.awaiting_join < most
    return member is not None or len(group.members) < most


def _join_unknown(operation: Operation, request: JoinGroup, ticket: int) -> None:
    group = operation.group
    member_id = drawn_member_id(operation.context, request)
    if request.instance_id is not None:
        holder = group.instances.get(request.instance_id)
        if holder is not None:
            static_members.take_over(operation, request, ticket, holder, member_id)
            return
    elif request.version >= MEMBER_ID_REQUIRED_VERSION:
        # It joins again with this id, so that a client which never hears of it leaves no member behind.
        operation.group = replace(group, pending=group.pending | {member_id})
        operation.start(SESSION, member_id, request.session_timeout_ms)
        refuse(operation, request, ticket, ErrorCode.MEMBER_ID_REQUIRED, member_id=member_id)
        return
    _add(operation, request, ticket, member_id)


def _join_known(operation: Operation, request: JoinGroup, ticket: int) -> None:
    group, member_id = operation.group, request.member_id
    if member_id in group.pending:
        if request.instance_id is not None:
            # Kafka throws here: a pending id is a dynamic member's.
            refuse(operation, request, ticket, ErrorCode.UNKNOWN_SERVER_ERROR, member_id=NO_MEMBER_ID)
            return
        _add(operation, request, ticket, member_id)
        return
    code = check_member(group, member_id, request.instance_id)
    if code is not ErrorCode.NONE:
        refuse(operation, request, ticket, code)
        return
    same = group.members[member_id].protocols == request.protocols
    if group.state is COMPLETING and same:
        # It may not have received the answer to its first request.
        answer = joined(group, member_id, with_members=member_id == group.leader)
        operation.answer(ticket, replace(answer, version=request.version))
    elif group.state is STABLE and same and member_id != group.leader:
        answer = joined(group, member_id, with_members=False)
        operation.answer(ticket, replace(answer, version=request.version))
    elif group.state in (PREPARING, COMPLETING, STABLE):
        # The leader rebalances in any case: what it assigns may depend on more than the members' bytes.
        update(operation, request, ticket, group.members[member_id])
        rebalance_or_complete(operation)
    else:
        refuse(operation, request, ticket, ErrorCode.UNKNOWN_MEMBER_ID)


def _add(operation: Operation, request: JoinGroup, ticket: int, member_id: str) -> None:
    group = operation.group
    if group.state is PREPARING and group.previous_state is EMPTY:
        group = replace(group, new_member_added=True)
    member = Member(
        member_id=member_id,
        instance_id=request.instance_id,
        client_id=request.client_id,
        client_host=request.client_host,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        session_timeout_ms=request.session_timeout_ms,
        protocol_type=request.protocol_type,
        protocols=request.protocols,
        is_new=True,
        parked_join=Parked(ticket=ticket, version=request.version),
    )
    operation.group = group.added(member)
    operation.start(SESSION, member_id, NEW_MEMBER_JOIN_TIMEOUT_MS)
    rebalance_or_complete(operation)


def update(operation: Operation, request: JoinGroup, ticket: int, member: Member) -> None:
    """Takes over what the member reports, and parks its request; one that was parked before is never answered."""
    operation.group = operation.group.updated(
        replace(
            member,
            protocols=request.protocols,
            rebalance_timeout_ms=request.rebalance_timeout_ms,
            session_timeout_ms=request.session_timeout_ms,
            parked_join=Parked(ticket=ticket, version=request.version),
        )
    )
