"""The join phase of a classic group: how it begins, how long it waits, and how a generation comes of it.

Kafka: ``GroupMetadataManager.prepareRebalance``, ``maybeCompleteJoinPhase``, ``completeClassicGroupJoin`` and
``tryCompleteInitialRebalanceElseSchedule``; ``ClassicGroup.initNextGeneration``.
"""

from __future__ import annotations

from dataclasses import replace

from simulations.protocol.coordinator.classic import records
from simulations.protocol.coordinator.classic.group import (
    COMPLETING,
    EMPTY,
    NO_ASSIGNMENT,
    PREPARING,
    Group,
    InitialDelay,
    subscribed_topics,
)
from simulations.protocol.coordinator.classic.operation import Operation
from simulations.protocol.coordinator.timers import JOIN, SESSION, SYNC
from simulations.protocol.messages.classic_requests import JoinAnswer, JoinedMember, SyncAnswer
from simulations.protocol.messages.errors import ErrorCode


def rebalance_or_complete(operation: Operation) -> None:
    """What follows a change of the members (``maybePrepareRebalanceOrCompleteJoin``)."""
    if operation.group.can_rebalance:
        prepare_rebalance(operation)
    else:
        complete_if_all_joined(operation)


def prepare_rebalance(operation: Operation) -> None:
    """Members have to join again; those that wait for an assignment are answered so.

    A group that was empty waits for more members, as long as new ones come.
    """
    group = operation.group
    if group.state is COMPLETING:
        withdraw_assignments(operation, ErrorCode.REBALANCE_IN_PROGRESS)
    operation.group = replace(operation.group, pending_sync=frozenset())
    operation.cancel(SYNC, None)
    initial = group.state is EMPTY
    if initial:
        delay_ms = operation.context.settings.initial_rebalance_delay_ms
        remaining_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
        _delay(operation, InitialDelay(delay_ms=delay_ms, remaining_ms=remaining_ms))
    operation.group = operation.group.moved(PREPARING, operation.now_ms)
    if initial:
        return
    if operation.group.all_joined:
        complete_join_phase(operation)
    else:
        _wait_for_members(operation)


def complete_if_all_joined(operation: Operation) -> None:
    """Ends the join phase if nobody is missing; the first one of a group ends by its timer alone."""
    group = operation.group
    if group.state is PREPARING and group.previous_state is not EMPTY and group.all_joined:
        complete_join_phase(operation)


def join_timer_expired(operation: Operation) -> None:
    """The first join phase goes on while members come; any other ends with who has joined."""
    group = operation.group
    if group.state is not PREPARING:
        return
    delay = group.initial_delay
    if delay is not None and group.new_member_added and delay.remaining_ms:
        operation.group = replace(group, new_member_added=False)
        settings = operation.context.settings
        delay_ms = min(settings.initial_rebalance_delay_ms, delay.remaining_ms)
        remaining_ms = max(delay.remaining_ms - delay.delay_ms, 0)
        _delay(operation, InitialDelay(delay_ms=delay_ms, remaining_ms=remaining_ms))
    else:
        complete_join_phase(operation)


def complete_join_phase(operation: Operation) -> None:
    """The next generation of those who have joined, or a longer wait if nobody has.

    Dynamic members that did not join are removed, static ones stay without having joined.
    """
    operation.cancel(JOIN, None)
    operation.group = replace(operation.group, initial_delay=None)
    for member in tuple(operation.group.in_order()):
        if not member.awaits_join and member.instance_id is None:
            operation.group = operation.group.removed(member.member_id)
            operation.cancel(SESSION, member.member_id)
    operation.group, elected = _with_joined_leader(operation.group)
    if not elected and operation.group.members:
        _wait_for_members(operation)
        return
    operation.group = _next_generation(operation.group, operation.now_ms)
    if operation.group.state is EMPTY:
        operation.records.append(records.group_metadata(operation.group_id, operation.group, {}))
        return
    _answer_joined(operation)


def withdraw_assignments(operation: Operation, code: ErrorCode) -> None:
    """Nobody has an assignment, and who waits for one is answered with an error."""
    group = operation.group
    operation.update_all(
        {member_id: replace(member, assignment=NO_ASSIGNMENT) for member_id, member in group.members.items()}
    )
    propagate_assignments(operation, code)


def propagate_assignments(operation: Operation, code: ErrorCode) -> None:
    """Answers every parked SyncGroup; sessions that did not count meanwhile restart."""
    group = operation.group
    known = code is ErrorCode.NONE
    for member in tuple(group.in_order()):
        answer = SyncAnswer(
            error_code=code,
            protocol_type=group.protocol_type if known else None,
            protocol_name=group.protocol_name if known else None,
            assignment=member.assignment,
        )
        if operation.answer_sync(member.member_id, answer):
            operation.restart_session(member)


def members_for_leader(group: Group) -> tuple[JoinedMember, ...]:
    """What the leader gets of the members, in the order of their table (``currentClassicGroupMembers``)."""
    return tuple(
        JoinedMember(
            member_id=member.member_id,
            instance_id=member.instance_id,
            metadata=member.metadata(group.protocol_name),
        )
        for member in group.in_order()
    )


def joined(group: Group, member_id: str, *, with_members: bool) -> JoinAnswer:
    """The answer to a member of the group's present generation."""
    return JoinAnswer(
        generation=group.generation,
        protocol_type=group.protocol_type,
        protocol_name=group.protocol_name,
        leader=group.leader or "",
        member_id=member_id,
        members=members_for_leader(group) if with_members else (),
    )


def _answer_joined(operation: Operation) -> None:
    """All members get the generation, and each has the rebalance timeout to ask for its assignment."""
    group = operation.group
    for member in tuple(group.in_order()):
        answer = joined(group, member.member_id, with_members=member.member_id == group.leader)
        if member.parked_join is not None:
            operation.answer(member.parked_join.ticket, replace(answer, version=member.parked_join.version))
        operation.restart_session(member)
    operation.group = replace(
        group,
        members={
            member_id: replace(member, parked_join=None, is_new=False)
            for member_id, member in group.members.items()
        },
        awaiting_join=0,
        pending_sync=frozenset(group.members),
    )
    operation.start(SYNC, None, group.rebalance_timeout_ms, bound_epoch=group.generation)


def _delay(operation: Operation, delay: InitialDelay) -> None:
    operation.group = replace(operation.group, initial_delay=delay)
    operation.start(JOIN, None, delay.delay_ms)


def _wait_for_members(operation: Operation) -> None:
    operation.group = replace(operation.group, initial_delay=None)
    operation.start(JOIN, None, operation.group.rebalance_timeout_ms)


def _with_joined_leader(group: Group) -> tuple[Group, bool]:
    """A leader that did not join gives its place to the first that did; false if there is none
    (``maybeElectNewJoinedLeader``)."""
    if group.leader is None:
        return group, False
    if group.members[group.leader].awaits_join:
        return group, True
    first = next((member for member in group.in_order() if member.awaits_join), None)
    if first is None:
        return group, False
    return replace(group, leader=first.member_id), True


def _next_generation(group: Group, now_ms: int) -> Group:
    name = group.selected_protocol() if group.members else None
    group = replace(group, generation=group.generation + 1, protocol_name=name, pending_sync=frozenset())
    group = replace(group, subscribed=subscribed_topics(group))
    return group.moved(COMPLETING if group.members else EMPTY, now_ms)
