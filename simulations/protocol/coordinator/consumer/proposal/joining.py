"""Who comes and who goes: a join, a static member's return, a leave for now, and the removal that all the rest is.

Source: KIP-848, "Member ID", "Static Membership", "Group Epoch - Trigger a rebalance".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from groups.history.payloads.records import ClassicMetadata
from groups.history.state.consumer import NO_NOTE, AssignorNote, ConsumerMember
from groups.history.state.epochs import with_member, without_member
from groups.wire.generated.consumer import (
    CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    CONSUMER_GROUP_MEMBER_METADATA,
    CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER,
)
from simulations.protocol.coordinator.consumer import records
from simulations.protocol.coordinator.consumer.outcome import Context, Outcome, Record
from simulations.protocol.coordinator.consumer.proposal.client_mode import noted
from simulations.protocol.coordinator.consumer.proposal.heartbeat import (
    answer_of,
    member_record,
    regular,
    with_request,
)
from simulations.protocol.coordinator.consumer.proposal.metadata import assignment_timer, bump, session_timer
from simulations.protocol.coordinator.consumer.static_members import left_statically, replacement_of
from simulations.protocol.coordinator.errors import RequestRefused
from simulations.protocol.coordinator.timers import COMPUTE, REBALANCE, SESSION, TimerCancel
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import STATIC_LEAVE_EPOCH, Heartbeat, HeartbeatAnswer

A = TypeVar("A")


def join(
    context: Context, request: Heartbeat, *, classic: ClassicMetadata | None = None
) -> Outcome[HeartbeatAnswer]:
    """A new member, at epoch 0: there is no assignment for it yet.

    ``classic``: of a member of the classic protocol, what its JoinGroup lists.
    """
    members = context.group.members
    if len(members) >= context.settings.max_size:
        raise RequestRefused(
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            f"The consumer group has reached its maximum capacity of {context.settings.max_size} members.",
        )
    member_id = request.member_id
    member = with_request(ConsumerMember(member_id=member_id, classic=classic), request)
    joined = {**members, member_id: member}
    return Outcome(
        answer=answer_of(context, member, None, joins=True),
        records=(member_record(context, member, bumps=True), *bump(context, joined)),
        timers=(assignment_timer(context), session_timer(context, member_id)),
    )


def new_id(context: Context, request: Heartbeat) -> str:
    """The id of who joins without one.

    A run draws the name of the process, so that frames have it. A process that joins again because the response was lost is
    then the same member; by the text it would be a second one, and the first would stay until its session ends.
    Where nobody drew one, it is made of the epoch that the join brings about, which no other join has.
    """
    if context.drawn_id is not None:
        return context.drawn_id
    member_id = f"{request.client_id or 'member'}-{context.group.group_epoch + 1}"
    while member_id in context.group.members:
        member_id += "-1"
    return member_id


def static_leave(context: Context, request: Heartbeat) -> Outcome[HeartbeatAnswer]:
    """The member stays, at epoch -2, with its partitions; its session goes on from its last heartbeat."""
    left = left_statically(context.group.members[request.member_id])
    return Outcome(
        answer=HeartbeatAnswer(member_epoch=STATIC_LEAVE_EPOCH),
        records=(records.current_assignment(context.state.group, left, with_epochs=False),),
        timers=(TimerCancel(timer=REBALANCE, member_id=request.member_id),),
    )


def replaced(
    context: Context,
    request: Heartbeat,
    holder: ConsumerMember,
    *,
    classic: ClassicMetadata | None = None,
) -> Outcome[HeartbeatAnswer]:
    """The joiner takes the holder's place, assignment and target; then its join is a heartbeat like any other."""
    group_id, group = context.state.group, context.group
    member = replace(replacement_of(holder, request.member_id), classic=classic)
    if holder.uses_classic and classic is None:
        # What the classic predecessor listed is none of its own assignors: it would be asked to compute.
        member = replace(member, client_assignors=())
    target, note = group.target.get(holder.member_id), group.target_notes.get(holder.member_id, NO_NOTE)
    view = with_member(without_member(group, holder.member_id), member)
    view = view.without_target(holder.member_id)
    if target is not None:
        notes = {**view.target_notes, member.member_id: note}
        view = replace(view, target={**view.target, member.member_id: target}, target_notes=notes)
    heartbeat = replace(context, state=replace(context.state, consumer=view))
    joined = regular(heartbeat, request, member)
    cancelled = tuple(
        TimerCancel(timer=timer, member_id=holder.member_id)
        for timer in (SESSION, REBALANCE)
        if holder.member_id != member.member_id
    )
    moved = [
        _as_proposed(context, each, member, note)
        for each in records.replacement(group_id, holder.member_id, member, target or {}, with_epochs=False)
        if target is not None or each["type"] != CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER
    ]
    whole = replace(joined, records=(*moved, *joined.records), timers=(*cancelled, *joined.timers))
    return _without_chosen(context, holder.member_id, whole)


def _as_proposed(
    context: Context, record: Record, member: ConsumerMember, target_note: AssignorNote
) -> Record:
    """A record of a replacement with the proposal's additional fields: epoch and assignors, or what an assignor sent."""
    if record["value"] is None:
        return record
    if record["type"] == CONSUMER_GROUP_MEMBER_METADATA:
        return member_record(context, member, bumps=False)
    return noted(
        record, target_note if record["type"] == CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER else member.note
    )


def removed(context: Context, member_id: str, answer: A) -> Outcome[A]:
    """The member goes; its target stays until the next one is computed."""
    group_id = context.state.group
    stay: Mapping[str, ConsumerMember] = {
        other: member for other, member in context.group.members.items() if other != member_id
    }
    outcome = Outcome(
        answer=answer,
        records=(
            records.tombstone(CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT, group_id, member_id),
            records.tombstone(CONSUMER_GROUP_MEMBER_METADATA, group_id, member_id),
            *bump(context, stay),
        ),
        timers=(
            TimerCancel(timer=SESSION, member_id=member_id),
            TimerCancel(timer=REBALANCE, member_id=member_id),
            assignment_timer(context),
        ),
    )
    return _without_chosen(context, member_id, outcome)


def _without_chosen(context: Context, member_id: str, outcome: Outcome[A]) -> Outcome[A]:
    """Who goes computes no more; the next computation picks another."""
    chosen = context.memory.chosen
    if chosen is None or chosen.member_id != member_id:
        return outcome
    return replace(
        outcome,
        memory=replace(outcome.memory or context.memory, chosen=None),
        timers=(
            *outcome.timers,
            TimerCancel(timer=COMPUTE, member_id=member_id),
            assignment_timer(context),
        ),
    )
