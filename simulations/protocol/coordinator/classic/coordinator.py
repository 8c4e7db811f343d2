"""The operations of the classic protocol, each handed on to the group's own rules.

Kafka: ``GroupMetadataManager`` (``classicGroupJoin``, ``classicGroupSync``, ``classicGroupHeartbeat``,
``classicGroupLeave``) with the checks of ``GroupCoordinatorService`` in front. The proposals left the coordinator of
the classic protocol as it was, so that both semantics share it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from simulations.protocol.coordinator.classic import join_requests, loading, sessions, static_members, syncing
from simulations.protocol.coordinator.classic.group import Group
from simulations.protocol.coordinator.classic.join_phase import join_timer_expired
from simulations.protocol.coordinator.classic.loading import classic_group
from simulations.protocol.coordinator.classic.operation import Operation, check_group
from simulations.protocol.coordinator.classic.parking import (
    AssignmentAppended,
    ClassicMemberAppended,
    FollowUp,
    ParkedAnswer,
    ReplacementAppended,
)
from simulations.protocol.coordinator.consumer.outcome import Context, Outcome
from simulations.protocol.coordinator.deletion import group_gone
from simulations.protocol.coordinator.errors import AnotherProtocol
from simulations.protocol.coordinator.timers import JOIN, SESSION, SYNC, TimerCancel
from simulations.protocol.messages.classic_requests import (
    NO_MEMBER_ID,
    SYNC_PROTOCOL_VERSION,
    ClassicHeartbeat,
    ClassicHeartbeatAnswer,
    JoinAnswer,
    JoinGroup,
    LeaveAnswer,
    LeaveGroup,
    LeftMember,
    SyncAnswer,
    SyncGroup,
)
from simulations.protocol.messages.errors import ErrorCode


class ClassicCoordinator:
    """What both semantics do with requests of the classic protocol."""

    forgets_empty: ClassVar[bool] = True
    """Kafka drops an empty consumer group before it looks at a JoinGroup's member id, and its tombstones are lost."""

    def join(self, context: Context, request: JoinGroup, ticket: int) -> Outcome[None]:
        refused = _refused_at_once(context, request)
        if refused is not ErrorCode.NONE:
            answer = JoinAnswer(error_code=refused, member_id=request.member_id, version=request.version)
            return _answered(ticket, answer)
        group = classic_group(context)
        if group is None and context.group_exists and context.group.members:
            return self.join_consumer_group(context, request, ticket)
        is_new = group is None
        if group is None:
            if request.member_id != NO_MEMBER_ID:
                code = ErrorCode.UNKNOWN_MEMBER_ID
                answer = JoinAnswer(error_code=code, member_id=request.member_id, version=request.version)
                refusal = _answered(ticket, answer)
                if context.group_exists and self.forgets_empty:
                    return replace(refusal, memory=replace(context.memory, forgotten=True))
                return refusal
            group = Group(state_timestamp_ms=context.now_ms)
        operation = Operation(context, group)
        if is_new and context.group_exists:
            # An empty consumer group gives way, in the same batch.
            operation.records += group_gone(context)
        join_requests.join(operation, request, ticket, is_new_group=is_new)
        return operation.outcome(None)

    def sync(self, context: Context, request: SyncGroup, ticket: int) -> Outcome[None]:
        group = classic_group(context)
        code = _sync_refused_at_once(request)
        if code is ErrorCode.NONE and group is None and context.group.members:
            return self.sync_in_consumer_group(context, request, ticket)
        if code is ErrorCode.NONE and group is None:
            code = ErrorCode.UNKNOWN_MEMBER_ID
        if group is None or code is not ErrorCode.NONE:
            return _answered(ticket, SyncAnswer(error_code=code, version=request.version))
        operation = Operation(context, group)
        syncing.sync(operation, request, ticket)
        return operation.outcome(None)

    def classic_heartbeat(
        self, context: Context, request: ClassicHeartbeat
    ) -> Outcome[ClassicHeartbeatAnswer]:
        group = classic_group(context)
        code = check_group(request.group_id)
        if code is ErrorCode.NONE and group is None and context.group_exists:
            return self.heartbeat_in_consumer_group(context, request)
        if code is ErrorCode.NONE and group is None:
            code = ErrorCode.UNKNOWN_MEMBER_ID
        if group is None or code is not ErrorCode.NONE:
            return Outcome(answer=ClassicHeartbeatAnswer(error_code=code))
        operation = Operation(context, group)
        code = sessions.heartbeat(operation, request)
        return operation.outcome(ClassicHeartbeatAnswer(error_code=code))

    def leave_group(self, context: Context, request: LeaveGroup) -> Outcome[LeaveAnswer]:
        group = classic_group(context)
        code = check_group(request.group_id)
        if code is not ErrorCode.NONE:
            return Outcome(answer=LeaveAnswer(error_code=code, version=request.version))
        if group is None and context.group_exists:
            return self.leave_consumer_group(context, request)
        if group is None:
            return Outcome(answer=nobody_left(request))
        operation = Operation(context, group)
        return operation.outcome(sessions.leave(operation, request))

    def appended(self, context: Context, follow_up: FollowUp, error: ErrorCode | None) -> Outcome[None]:
        if isinstance(follow_up, ClassicMemberAppended):
            return _classic_member_appended(follow_up, error)
        group = classic_group(context)
        if group is None:
            return Outcome(answer=None)
        operation = Operation(context, group)
        if isinstance(follow_up, AssignmentAppended):
            if error is None:
                syncing.appended(operation, follow_up)
            else:
                syncing.append_failed(operation, follow_up, error)
        elif isinstance(follow_up, ReplacementAppended):
            if error is None:
                static_members.appended(operation, follow_up)
            else:
                static_members.append_failed(operation, follow_up, error)
        return operation.outcome(None)

    def join_consumer_group(self, context: Context, request: JoinGroup, ticket: int) -> Outcome[None]:
        """A classic member joins a group that has members of the consumer protocol, or once had."""
        raise _not_converted(context)

    def sync_in_consumer_group(self, context: Context, request: SyncGroup, ticket: int) -> Outcome[None]:
        raise _not_converted(context)

    def heartbeat_in_consumer_group(
        self, context: Context, request: ClassicHeartbeat
    ) -> Outcome[ClassicHeartbeatAnswer]:
        raise _not_converted(context)

    def leave_consumer_group(self, context: Context, request: LeaveGroup) -> Outcome[LeaveAnswer]:
        raise _not_converted(context)

    def unloaded(self, context: Context) -> tuple[ParkedAnswer, ...]:
        group = classic_group(context)
        if group is None:
            return ()
        operation, code = Operation(context, group), ErrorCode.NOT_COORDINATOR
        for member in tuple(group.in_order()):
            member_id = member.member_id
            operation.answer_join(member_id, JoinAnswer(error_code=code, member_id=member_id))
            operation.answer_sync(member_id, SyncAnswer(error_code=code))
        return tuple(operation.answers)

    def classic_expired(
        self, context: Context, timer: str, member_id: str | None, bound_epoch: int | None
    ) -> Outcome[None]:
        """A timer of the classic group ran out that was neither replaced nor cancelled."""
        group = classic_group(context)
        assert group is not None
        operation = Operation(context, group)
        if timer == SESSION and member_id is not None:
            sessions.session_expired(operation, member_id)
        elif timer == JOIN and member_id is None:
            join_timer_expired(operation)
        elif timer == SYNC and member_id is None:
            syncing.sync_timer_expired(operation, bound_epoch)
        return operation.outcome(None)

    def classic_loaded(self, context: Context) -> Outcome[None]:
        """After a load of the log: the sessions of all members."""
        group = classic_group(context)
        assert group is not None
        operation = Operation(context, group)
        loading.loaded(operation)
        return operation.outcome(None)


def _not_converted(context: Context) -> AnotherProtocol:
    return AnotherProtocol(
        f"the group {context.state.group} is one of the consumer protocol; under these semantics no classic member joins it"
    )


def _classic_member_appended(stored: ClassicMemberAppended, error: ErrorCode | None) -> Outcome[None]:
    """A classic member's JoinGroup in a consumer group is answered; then it has to ask for its assignment in time."""
    if error is not None:
        answer = JoinAnswer(error_code=error, version=stored.answer.version)
        return _answered(stored.ticket, answer)
    cancelled = TimerCancel(timer=JOIN, member_id=stored.member_id)
    return replace(_answered(stored.ticket, stored.answer), timers=(cancelled, *stored.timers))


def nobody_left(request: LeaveGroup) -> LeaveAnswer:
    """The answer for a group that is not there: nobody of the request is a member."""
    code = ErrorCode.UNKNOWN_MEMBER_ID
    left = tuple(
        LeftMember(member_id=entry.member_id, instance_id=entry.instance_id, error_code=code)
        for entry in request.members
    )
    return LeaveAnswer(members=left, version=request.version)


def _answered(ticket: int, answer: JoinAnswer | SyncAnswer) -> Outcome[None]:
    return Outcome(answer=None, parked_answers=(ParkedAnswer(ticket=ticket, answer=answer),))


def _sync_refused_at_once(request: SyncGroup) -> ErrorCode:
    """A request that may report its protocol has to (``SyncGroupRequest.areMandatoryProtocolTypeAndNamePresent``)."""
    untold = request.protocol_type is None or request.protocol_name is None
    if untold and request.version >= SYNC_PROTOCOL_VERSION:
        return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
    return check_group(request.group_id)


def _refused_at_once(context: Context, request: JoinGroup) -> ErrorCode:
    settings = context.settings
    code = check_group(request.group_id)
    if code is not ErrorCode.NONE:
        return code
    least_ms, most_ms = settings.classic_min_session_timeout_ms, settings.classic_max_session_timeout_ms
    if not least_ms <= request.session_timeout_ms <= most_ms:
        return ErrorCode.INVALID_SESSION_TIMEOUT
    return ErrorCode.NONE
