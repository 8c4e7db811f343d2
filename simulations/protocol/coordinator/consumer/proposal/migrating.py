"""A classic group becomes a consumer group and back, and serves members of both protocols meanwhile.

The generation becomes the group epoch, what the leader assigned becomes both target and assignment. Each classic member
is reconciled on its own: JoinGroup shows what it owns and takes the step that a heartbeat would, SyncGroup fetches what it
has by then, and Heartbeat answers that it has to join again. As in all of the proposal, being asked to give partitions up is no
state of the member: it keeps them until a JoinGroup comes without them.

Source: KIP-848, "Supporting Online Consumer Group Upgrade", "Online Migration" (the case study), "Upgrade/Downgrade
Consumers"; what the text leaves open is read as the release does it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeVar

from groups.history.payloads.records import ClassicMetadata
from groups.history.replay.fold import replay_record
from groups.history.state.consumer import ConsumerGroup, ConsumerMember
from groups.history.state.epochs import with_member
from groups.wire.embedded.consumer_protocol import decode_subscription
from groups.wire.errors import RecordError
from groups.wire.generated.consumer import CONSUMER_GROUP_MEMBER_METADATA
from simulations.protocol.coordinator.classic.group import STABLE, Group
from simulations.protocol.coordinator.classic.join_requests import drawn
from simulations.protocol.coordinator.classic.operation import Operation
from simulations.protocol.coordinator.classic.parking import ClassicMemberAppended
from simulations.protocol.coordinator.consumer import records
from simulations.protocol.coordinator.consumer.counts import CountsCache
from simulations.protocol.coordinator.consumer.outcome import Context, Outcome, Record
from simulations.protocol.coordinator.consumer.proposal import joining
from simulations.protocol.coordinator.consumer.proposal.classic_assignors import (
    check_reads,
    converted_member,
    offers,
    refused,
)
from simulations.protocol.coordinator.consumer.proposal.client_mode import noted
from simulations.protocol.coordinator.consumer.proposal.computing import not_chosen
from simulations.protocol.coordinator.consumer.proposal.heartbeat import (
    member_record,
    pending,
    regular,
    with_request,
)
from simulations.protocol.coordinator.consumer.proposal.metadata import bump, bumped, seen
from simulations.protocol.coordinator.consumer.released import classic_members as members
from simulations.protocol.coordinator.consumer.released import downgrading, upgrading
from simulations.protocol.coordinator.consumer.subscriptions import subscribed_ids
from simulations.protocol.coordinator.errors import RequestRefused
from simulations.protocol.coordinator.timers import (
    ASSIGNMENT,
    JOIN,
    REBALANCE,
    SESSION,
    SYNC,
    TimerCancel,
    TimerCommand,
    TimerStart,
)
from simulations.protocol.messages.classic_requests import (
    CONSUMER_PROTOCOL_TYPE,
    MEMBER_ID_REQUIRED_VERSION,
    NO_MEMBER_ID,
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
from simulations.protocol.messages.groups import Heartbeat, HeartbeatAnswer

A = TypeVar("A")

EMBEDDED_VERSION_LEAST: Final = 2
"""Of the members' subscriptions, which reports the generation. The proposal's text has 3, and means what KIP-792 brought."""

Answering = Callable[[Context, Heartbeat], Outcome[HeartbeatAnswer]]


def converted(
    context: Context, group: Group, request: Heartbeat, answering: Answering
) -> Outcome[HeartbeatAnswer]:
    """The heartbeat of the first member of the consumer protocol: the conversion, then ``answering``, in one batch."""
    found = _checked(context, group)
    check_reads(request, found)
    operation = Operation(context, group)
    upgrading.send_back(operation)
    written = _records(context, group, found)
    outcome = answering(_after(context, written), request)
    after = _after(context, (*written, *outcome.records))
    if after.group.group_epoch == group.generation and (
        group.state is not STABLE or not _is_whole(after.group)
    ):
        # A static member's return asks for no target, and the rebalance that would have brought one is over.
        asked = bumped(after)
        outcome = replace(
            outcome,
            records=(*outcome.records, *asked.records),
            timers=(*outcome.timers, *asked.timers),
        )
    sessions = tuple(
        TimerStart(timer=SESSION, member_id=member.member_id, length_ms=member.session_timeout_ms)
        for member in group.in_order()
    )
    return replace(
        outcome,
        records=(*written, *outcome.records),
        timers=(*sessions, *outcome.timers),
        memory=replace(outcome.memory or context.memory, classic=None),
        parked_answers=tuple(operation.answers),
    )


def join(context: Context, request: JoinGroup, ticket: int) -> Outcome[None]:
    """JoinGroup of a classic member: answered with its member epoch as the generation, and without a leader."""
    try:
        return _join(context, request, ticket)
    except RequestRefused as refusal:
        return members.answered(ticket, JoinAnswer(error_code=refusal.code, version=request.version))


def sync(context: Context, request: SyncGroup, ticket: int) -> Outcome[None]:
    """What the member has by now, or may keep, of what it has; nothing is written."""
    try:
        member = members.checked(context, request.member_id, request.instance_id, request.generation)
        name, subscription = downgrading.offered(member)[0]
        if request.protocol_type not in (None, CONSUMER_PROTOCOL_TYPE) or request.protocol_name not in (
            None,
            name,
        ):
            raise RequestRefused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, None)
    except RequestRefused as refusal:
        return members.answered(ticket, SyncAnswer(error_code=refusal.code, version=request.version))
    kept = _may_keep(context, member)
    if _is_behind(context, member) and kept == _held(member):
        answer = SyncAnswer(error_code=ErrorCode.REBALANCE_IN_PROGRESS, version=request.version)
        return replace(members.answered(ticket, answer), timers=members.join_timer(context, member))
    answer = SyncAnswer(
        protocol_type=request.protocol_type,
        protocol_name=request.protocol_name,
        assignment=downgrading.serialized(kept, context.image, subscription, member.note),
        version=request.version,
    )
    timers = TimerCancel(timer=SYNC, member_id=member.member_id), members.session_of(member)
    return replace(members.answered(ticket, answer), timers=timers)


def heartbeat(context: Context, request: ClassicHeartbeat) -> Outcome[ClassicHeartbeatAnswer]:
    """Keeps the session; asks to join again where the member has a step to take."""
    try:
        member = members.checked(context, request.member_id, request.instance_id, request.generation)
    except RequestRefused as refusal:
        return Outcome(answer=ClassicHeartbeatAnswer(error_code=refusal.code))
    session: tuple[TimerCommand, ...] = (members.session_of(member),)
    if _is_behind(context, member) or (pending(context, member) and not members.waits(context, member)):
        again = ClassicHeartbeatAnswer(error_code=ErrorCode.REBALANCE_IN_PROGRESS)
        return Outcome(answer=again, timers=(*session, *members.join_timer(context, member)))
    return Outcome(answer=ClassicHeartbeatAnswer(error_code=ErrorCode.NONE), timers=session)


def leave(context: Context, request: LeaveGroup) -> Outcome[LeaveAnswer]:
    """Members leave, one after the other; each is a removal of its own."""
    left: list[LeftMember] = []
    written: list[Record] = []
    timers: list[TimerCommand] = []
    memory = None
    for entry in request.members:
        code = ErrorCode.NONE
        try:
            step = removed(context, members.leaving_id(context, entry), None)
            context = _after(context, step.records)
            written += step.records
            timers += step.timers
            memory = step.memory or memory
        except RequestRefused as refusal:
            code = refusal.code
        known = LeftMember(member_id=entry.member_id, instance_id=entry.instance_id, error_code=code)
        left.append(known)
    return Outcome(
        answer=LeaveAnswer(members=tuple(left), version=request.version),
        records=tuple(written),
        timers=tuple(timers),
        memory=memory,
    )


def removed(context: Context, member_id: str, answer: A) -> Outcome[A]:
    """A member goes. If it was the last of the consumer protocol and classic ones remain, the group is classic again."""
    cancelled = tuple(
        TimerCancel(timer=timer, member_id=member_id) for timer in (SESSION, REBALANCE, JOIN, SYNC)
    )
    if not downgrading.is_due(context, (member_id,)):
        outcome = joining.removed(context, member_id, answer)
        extra = cancelled if context.group.members[member_id].uses_classic else ()
        return replace(outcome, timers=(*extra, *outcome.timers))
    outcome = downgrading.downgrade(context, (member_id,)).outcome(answer)
    return _without_target(context, outcome, cancelled)


def _without_target(context: Context, outcome: Outcome[A], cancelled: tuple[TimerCommand, ...]) -> Outcome[A]:
    """A classic group has no target: nobody computes one any more, and no one is to."""
    no_target = TimerCancel(timer=ASSIGNMENT, member_id=None)
    return replace(
        outcome,
        memory=replace(outcome.memory or context.memory, chosen=None),
        timers=(*cancelled, no_target, *not_chosen(context.memory.chosen), *outcome.timers),
    )


def _checked(context: Context, group: Group) -> list[ConsumerMember]:
    """The members as the new group has them; ``INVALID_REQUEST`` where the group cannot be converted."""
    if group.protocol_name is None:
        raise refused("the group has not chosen an assignor yet")
    try:
        # A rebalance may be under way from which every member has left by now.
        oldest = min(
            (
                decode_subscription(member.metadata(group.protocol_name))["version"]
                for member in group.in_order()
            ),
            default=EMBEDDED_VERSION_LEAST,
        )
        found = [converted_member(group, member, context) for member in group.in_order()]
    except RecordError as problem:
        raise refused("the embedded consumer protocol is malformed") from problem
    if oldest < EMBEDDED_VERSION_LEAST:
        raise refused(f"a member speaks version {oldest} of the embedded consumer protocol")
    return found


def _records(context: Context, group: Group, found: list[ConsumerMember]) -> tuple[Record, ...]:
    """The group as the proposal's records hold it, at the epoch that was its generation."""
    group_id, gone = context.state.group, records.classic_gone(context.state.group)
    fresh = replay_record(context.state, gone)
    before = replace(
        context,
        state=replace(fresh, consumer=replace(fresh.consumer, group_epoch=group.generation - 1)),
        memory=replace(context.memory, classic=None),
    )
    return (
        gone,
        *(member_record(before, member, bumps=True) for member in found),
        *bump(before, {member.member_id: member for member in found}),
        *(
            noted(records.target_member(group_id, member.member_id, _held(member)), member.note)
            for member in found
        ),
        records.target_epoch(group_id, group.generation, 0),
        *(
            noted(records.current_assignment(group_id, member, with_epochs=False), member.note)
            for member in found
        ),
    )


def _is_whole(group: ConsumerGroup) -> bool:
    """Whether the targets have each partition of the topics that members subscribe to, and no other."""
    given = {
        (topic_id, number)
        for target in group.target.values()
        for topic_id, numbers in target.items()
        for number in numbers
    }
    counts = group.partition_counts
    return given == {(topic_id, number) for topic_id in counts for number in range(counts[topic_id])}


def _after(context: Context, written: tuple[Record, ...]) -> Context:
    """What a later step of the same operation finds."""
    state = context.state
    for record in written:
        state = replay_record(replace(state, anomalies=()), record)
    after = replace(context, state=state, memory=replace(context.memory, classic=None), cache=CountsCache())
    return seen(after)


def _join(context: Context, request: JoinGroup, ticket: int) -> Outcome[None]:
    unknown = request.member_id == NO_MEMBER_ID
    member_id = drawn(context) if unknown else request.member_id
    if not members.supports(context, request):
        raise RequestRefused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, None)
    if unknown and request.instance_id is None and request.version >= MEMBER_ID_REQUIRED_VERSION:
        code = ErrorCode.MEMBER_ID_REQUIRED
        return members.answered(
            ticket, JoinAnswer(error_code=code, member_id=member_id, version=request.version)
        )
    beat = replace(
        members.as_heartbeat(context, request, member_id), client_assignors=offers(request.protocols)
    )
    old, holder = members.find(context, request, member_id, unknown=unknown)
    metadata = members.metadata_of(request)
    last = holder is not None and downgrading.is_due_with_replacement(context, holder.member_id)
    if holder is not None:
        outcome = joining.replaced(context, beat, holder, classic=metadata)
    elif old.member_id in context.group.members:
        outcome = _rejoined(context, beat, old, metadata)
    else:
        outcome = joining.join(context, beat, classic=metadata)
    answer = JoinAnswer(
        generation=outcome.answer.member_epoch,
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        protocol_name=request.protocols[0][0],
        member_id=member_id,
        version=request.version,
    )
    if last and holder is not None:
        return _replaced_last(context, outcome, holder, member_id, ticket, answer)
    session = TimerStart(timer=SESSION, member_id=member_id, length_ms=request.session_timeout_ms)
    syncing = TimerStart(timer=SYNC, member_id=member_id, length_ms=request.rebalance_timeout_ms)
    # Its own session and its sync timer start when it is answered; a rebalance timer is for who heartbeats.
    others = tuple(
        each
        for each in outcome.timers
        if each.member_id != member_id or each.timer not in (SESSION, REBALANCE)
    )
    return Outcome(
        answer=None,
        records=outcome.records,
        timers=others,
        memory=outcome.memory,
        tasks=outcome.tasks,
        follow_up=ClassicMemberAppended(
            member_id=member_id, timers=(session, syncing), ticket=ticket, answer=answer
        ),
    )


def _rejoined(
    context: Context, given: Heartbeat, old: ConsumerMember, metadata: ClassicMetadata
) -> Outcome[HeartbeatAnswer]:
    """A member that is there takes its step; what it lists is written, also where nothing else of it changed."""
    known = replace(old, classic=metadata)
    view = replace(context, state=replace(context.state, consumer=with_member(context.group, known)))
    outcome = regular(view, given, known)
    is_written = any(
        each["type"] == CONSUMER_GROUP_MEMBER_METADATA and each["value"] is not None
        for each in outcome.records
    )
    if known == old or is_written:
        return outcome
    record = member_record(context, with_request(known, given), bumps=False)
    return replace(outcome, records=(record, *outcome.records))


def _replaced_last(
    context: Context,
    outcome: Outcome[HeartbeatAnswer],
    holder: ConsumerMember,
    member_id: str,
    ticket: int,
    answer: JoinAnswer,
) -> Outcome[None]:
    """A classic member takes the place of the last of the consumer protocol: the group is classic again."""
    after = _after(context, outcome.records)
    operation = downgrading.replace_last(
        context,
        holder.member_id,
        after.group.members[member_id],
        stale=after.group.assignment_epoch < after.group.group_epoch,
    )
    operation.records[:0] = outcome.records
    operation.follow_up = ClassicMemberAppended(member_id=member_id, timers=(), ticket=ticket, answer=answer)
    done = operation.outcome(None)
    gone = tuple(TimerCancel(timer=timer, member_id=holder.member_id) for timer in (SESSION, REBALANCE))
    return _without_target(context, done, gone)


def _is_behind(context: Context, member: ConsumerMember) -> bool:
    """Whether a target of a later epoch waits for it; one that joined after the last target has none to go to."""
    group = context.group
    return member.member_id in group.target and member.epoch < group.assignment_epoch


def _held(member: ConsumerMember) -> dict[str, tuple[int, ...]]:
    return {topic_id: tuple(numbers) for topic_id, numbers in member.assigned.items()}


def _may_keep(context: Context, member: ConsumerMember) -> dict[str, tuple[int, ...]]:
    """What it has of what it subscribes to, without what its target gives to others.

    With more than it subscribes to a member joins again at once, and would until the next target is computed.
    """
    group = context.group
    topics = subscribed_ids(group, member, context.image)
    held = {topic_id: numbers for topic_id, numbers in _held(member).items() if topic_id in topics}
    target = group.target.get(member.member_id)
    if target is None or member.epoch >= group.assignment_epoch:
        return held
    kept = {
        topic_id: tuple(p for p in numbers if p in target.get(topic_id, ()))
        for topic_id, numbers in held.items()
    }
    return {topic_id: numbers for topic_id, numbers in kept.items() if numbers}
