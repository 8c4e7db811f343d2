"""One heartbeat with an epoch of 0 or more, step by step.

Theory of operation. A heartbeat may do everything at once: it takes over what the member reports (type 5), bumps the
group epoch if that changes what is subscribed or if the metadata changed (type 3), computes a target if one is due
and the assignment interval allows it (types 7 and 6), and moves this one member towards it (type 8). Nothing of it
is seen by the later steps through the replayed group: they get it handed over.

Kafka: ``GroupMetadataManager.consumerGroupHeartbeat``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from groups.history.state.consumer import ConsumerMember
from groups.history.state.group import Protocol
from simulations.protocol.coordinator.classic.loading import classic_group
from simulations.protocol.coordinator.consumer import records
from simulations.protocol.coordinator.consumer.java_maps import in_memory
from simulations.protocol.coordinator.consumer.outcome import Context, Outcome, Record
from simulations.protocol.coordinator.consumer.released import upgrading
from simulations.protocol.coordinator.consumer.released.advancing import NotAdvanced, advance, rebalance_timer
from simulations.protocol.coordinator.consumer.released.leaving import not_consumer
from simulations.protocol.coordinator.consumer.static_members import (
    check_member,
    is_full_for,
    replaced_member,
    replacement_of,
)
from simulations.protocol.coordinator.consumer.subscriptions import updated_member
from simulations.protocol.coordinator.errors import RequestRefused
from simulations.protocol.coordinator.timers import SESSION, TimerCommand, TimerStart
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import JOIN_EPOCH, Heartbeat, HeartbeatAnswer, Partitions


def answer_heartbeat(context: Context, request: Heartbeat) -> Outcome[HeartbeatAnswer]:
    """The answer, the records in Kafka's order (2 tombstone, then those of ``advancing``) and the timers; an
    expression's task and the deadline stay even if the assignor fails after them.

    A classic group that has members becomes a consumer group first (``upgrading``).
    """
    if not request.member_id:
        request = replace(request, member_id=_drawn(context))
    if request.member_epoch == JOIN_EPOCH and upgrading.is_due(context):
        return upgrading.upgraded(context, request, _answer_in_group)
    return _answer_in_group(context, request)


def _answer_in_group(context: Context, request: Heartbeat) -> Outcome[HeartbeatAnswer]:
    old, holder = find_member(context, request)
    began: list[Record] = []
    if classic_group(context) is not None:
        began.append(records.classic_gone(context.state.group))
    updated = updated_member(old, request)
    try:
        advanced = advance(context, request, old, updated, holder, votes=True)
    except NotAdvanced as failure:
        cause = failure.cause
        answer = (
            refused(cause)
            if isinstance(cause, RequestRefused)
            else HeartbeatAnswer(error_code=ErrorCode.UNKNOWN_SERVER_ERROR)
        )
        return Outcome(answer=answer, memory=failure.memory, tasks=failure.tasks)
    timers: list[TimerCommand] = []
    if advanced.moved:
        timers.append(rebalance_timer(advanced.member))
    timers.append(
        TimerStart(timer=SESSION, member_id=updated.member_id, length_ms=context.settings.session_timeout_ms)
    )
    return Outcome(
        answer=_answer(context, request, old, advanced.member),
        records=(*began, *advanced.records),
        timers=tuple(timers),
        memory=advanced.memory,
        tasks=advanced.tasks,
    )


def refused(refusal: RequestRefused) -> HeartbeatAnswer:
    return HeartbeatAnswer(error_code=refusal.code, error_message=refusal.message)


def _drawn(context: Context) -> str:
    """The id of a client of version 0, which lets the coordinator draw it."""
    if context.drawn_id is None:
        raise ValueError("a member joins without an id: who drives the shard has to draw one (drawn_id)")
    return context.drawn_id


def find_member(context: Context, request: Heartbeat) -> tuple[ConsumerMember, ConsumerMember | None]:
    """The member that the request is for, or a fresh one; and the static member whose place it takes.

    ``RequestRefused`` with Kafka's words otherwise.
    """
    joins = request.member_epoch == JOIN_EPOCH
    members = context.group.members
    check_group(context, request, joins=joins)
    if is_full_for(context, request.member_id, request.instance_id):
        raise RequestRefused(
            ErrorCode.GROUP_MAX_SIZE_REACHED,
            f"The consumer group has reached its maximum capacity of {context.settings.max_size} members.",
        )
    if not joins:
        check_member(context.group, request)
    holder = replaced_member(context.group, request, own_too=True)
    if holder is not None:
        return replacement_of(holder, request.member_id), holder
    member = members.get(request.member_id)
    if member is None:
        return ConsumerMember(member_id=request.member_id), None
    if joins:
        # Whatever its epoch is: also who left for now, and joins without a word of its instance.
        return member, None
    if request.member_epoch > member.epoch:
        raise fenced("greater", request.member_epoch, member.epoch)
    if request.member_epoch < member.epoch and not repeats_lost(request, member):
        raise fenced("smaller", request.member_epoch, member.epoch)
    return member, None


def check_group(context: Context, request: Heartbeat, *, joins: bool) -> None:
    """A join makes a group, also out of an empty classic one; everything else needs one of this protocol."""
    state = context.state
    if context.group_exists:
        return
    if state.protocol is None or state.deleted:
        if not joins:
            raise RequestRefused(
                ErrorCode.GROUP_ID_NOT_FOUND, f"Consumer group {request.group_id} not found."
            )
    elif not joins or state.protocol is not Protocol.CLASSIC:
        raise not_consumer(request)


def repeats_lost(request: Heartbeat, member: ConsumerMember) -> bool:
    """Whether a request of an older epoch is that of a member which never got the answer that moved it."""
    return (
        request.member_epoch == member.previous_epoch
        and request.owned is not None
        and _within(request.owned, member.assigned)
    )


def fenced(which: str, received: int, known: int) -> RequestRefused:
    return RequestRefused(
        ErrorCode.FENCED_MEMBER_EPOCH,
        f"The consumer group member has a {which} member epoch ({received}) than the one known by the group "
        f"coordinator ({known}). The member must abandon all its partitions and rejoin.",
    )


def _answer(
    context: Context, request: Heartbeat, old: ConsumerMember, new: ConsumerMember
) -> HeartbeatAnswer:
    full = (
        request.rebalance_timeout_ms != -1
        and (request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None)
        and request.owned is not None
    )
    carries_assignment = request.member_epoch == JOIN_EPOCH or full or new.assigned != old.assigned
    # What was not made by this request is in the order in which replay put it.
    assigned = in_memory(new.assigned) if new.assigned is old.assigned else new.assigned
    return HeartbeatAnswer(
        member_id=new.member_id,
        member_epoch=new.epoch,
        heartbeat_interval_ms=context.settings.heartbeat_interval_ms,
        assigned={t: tuple(numbers) for t, numbers in assigned.items()} if carries_assignment else None,
    )


def _within(owned: Partitions, assigned: Mapping[str, Mapping[int, int]]) -> bool:
    return all(set(numbers) <= set(assigned.get(topic_id, ())) for topic_id, numbers in owned.items())
