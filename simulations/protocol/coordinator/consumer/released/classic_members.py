"""Members of the classic protocol in a consumer group: their requests, mapped to what the group does for anybody.

JoinGroup reports subscription and owned partitions and takes the step that a heartbeat would; SyncGroup fetches the
assignment; Heartbeat keeps the session and answers when to join again. There is no leader, and nobody waits for others.

Kafka: ``GroupMetadataManager.classicGroupJoinToConsumerGroup`` and its siblings for the other three requests.
"""

from __future__ import annotations

from dataclasses import replace

from groups.history.payloads.records import ClassicMetadata
from groups.history.state.consumer import (
    UNRELEASED_PARTITIONS,
    UNREVOKED_PARTITIONS,
    ConsumerMember,
)
from groups.history.state.epochs import NO_PARTITION_EPOCH
from groups.wire.embedded.consumer_protocol import decode_subscription
from groups.wire.errors import RecordError
from simulations.protocol.coordinator.classic.join_requests import drawn
from simulations.protocol.coordinator.classic.parking import ClassicMemberAppended, ParkedAnswer
from simulations.protocol.coordinator.consumer.java_maps import in_memory
from simulations.protocol.coordinator.consumer.outcome import Context, Outcome
from simulations.protocol.coordinator.consumer.released import downgrading
from simulations.protocol.coordinator.consumer.released.advancing import NotAdvanced, advance
from simulations.protocol.coordinator.consumer.released.leaving import remove
from simulations.protocol.coordinator.consumer.static_members import is_full_for, replacement_of
from simulations.protocol.coordinator.consumer.subscriptions import updated_member
from simulations.protocol.coordinator.errors import RequestRefused
from simulations.protocol.coordinator.timers import JOIN, SESSION, SYNC, TimerCancel, TimerCommand, TimerStart
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
    LeavingMember,
    LeftMember,
    SyncAnswer,
    SyncGroup,
)
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import JOIN_EPOCH, Heartbeat


def join(context: Context, request: JoinGroup, ticket: int) -> Outcome[None]:
    """One JoinGroup: answered when its records are committed, in one batch."""
    try:
        return _join(context, request, ticket)
    except RequestRefused as refusal:
        return answered(ticket, JoinAnswer(error_code=refusal.code, version=request.version))


def sync(context: Context, request: SyncGroup, ticket: int) -> Outcome[None]:
    """Its own assignment, as far as it has it by now; nothing is written."""
    try:
        member = checked(context, request.member_id, request.instance_id, request.generation)
        protocols = downgrading.offered(member)
        name, subscription = protocols[0]
        if request.protocol_type not in (None, CONSUMER_PROTOCOL_TYPE):
            raise RequestRefused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, None)
        if request.protocol_name not in (None, name):
            raise RequestRefused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, None)
    except RequestRefused as refusal:
        return answered(ticket, SyncAnswer(error_code=refusal.code, version=request.version))
    if context.group.assignment_epoch > member.epoch and member.state != UNREVOKED_PARTITIONS:
        answer = SyncAnswer(error_code=ErrorCode.REBALANCE_IN_PROGRESS, version=request.version)
        return replace(answered(ticket, answer), timers=join_timer(context, member))
    held = {topic_id: tuple(epochs) for topic_id, epochs in in_memory(member.assigned).items()}
    answer = SyncAnswer(
        protocol_type=request.protocol_type,
        protocol_name=request.protocol_name,
        assignment=downgrading.serialized(held, context.image, subscription),
        version=request.version,
    )
    timers = TimerCancel(timer=SYNC, member_id=member.member_id), session_of(member)
    return replace(answered(ticket, answer), timers=timers)


def heartbeat(context: Context, request: ClassicHeartbeat) -> Outcome[ClassicHeartbeatAnswer]:
    """Keeps the session; asks the member to join again if it has a step to take. It computes no target."""
    try:
        member = checked(context, request.member_id, request.instance_id, request.generation)
    except RequestRefused as refusal:
        return Outcome(answer=ClassicHeartbeatAnswer(error_code=refusal.code))
    timers: tuple[TimerCommand, ...] = (session_of(member),)
    code = ErrorCode.NONE
    if (
        member.epoch < context.group.assignment_epoch
        or member.state == UNREVOKED_PARTITIONS
        or (member.state == UNRELEASED_PARTITIONS and not waits(context, member))
    ):
        code = ErrorCode.REBALANCE_IN_PROGRESS
        timers = (*timers, *join_timer(context, member))
    return Outcome(answer=ClassicHeartbeatAnswer(error_code=code), timers=timers)


def leave(context: Context, request: LeaveGroup) -> Outcome[LeaveAnswer]:
    """Members of either protocol leave, all of the request in one batch.

    Kafka takes several in the order of a hash set whose hashes differ from one run of the broker to the next; here they
    go in that of the request.
    """
    left: list[LeftMember] = []
    leaving: dict[str, None] = {}
    for entry in request.members:
        try:
            member_id = leaving_id(context, entry)
            leaving[member_id] = None
            known = LeftMember(member_id=entry.member_id, instance_id=entry.instance_id)
        except RequestRefused as refusal:
            known = LeftMember(
                member_id=entry.member_id, instance_id=entry.instance_id, error_code=refusal.code
            )
        left.append(known)
    answer = LeaveAnswer(members=tuple(left), version=request.version)
    return remove(context, tuple(leaving), answer) if leaving else Outcome(answer=answer)


def _join(context: Context, request: JoinGroup, ticket: int) -> Outcome[None]:
    policy, rules = context.settings.migration_policy, context.settings.release.rules
    if not (policy.upgrades or policy.downgrades) and rules.disabled_policy_refuses_joins:
        raise RequestRefused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, None)
    unknown = request.member_id == NO_MEMBER_ID
    member_id = drawn(context) if unknown else request.member_id
    if is_full_for(context, member_id, request.instance_id):
        raise RequestRefused(ErrorCode.GROUP_MAX_SIZE_REACHED, None)
    if not supports(context, request):
        raise RequestRefused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL, None)
    if unknown and request.instance_id is None and request.version >= MEMBER_ID_REQUIRED_VERSION:
        # Nothing is remembered of the id: any will do.
        code = ErrorCode.MEMBER_ID_REQUIRED
        return answered(ticket, JoinAnswer(error_code=code, member_id=member_id, version=request.version))
    old, holder = find(context, request, member_id, unknown=unknown)
    known = as_heartbeat(context, request, member_id)
    updated = replace(updated_member(old, known), classic=metadata_of(request))
    last = holder is not None and downgrading.is_due_with_replacement(context, holder.member_id)
    try:
        advanced = advance(context, known, old, updated, holder, last_of_protocol=last)
    except NotAdvanced as failure:
        code = (
            failure.cause.code
            if isinstance(failure.cause, RequestRefused)
            else ErrorCode.UNKNOWN_SERVER_ERROR
        )
        refused = answered(ticket, JoinAnswer(error_code=code, version=request.version))
        return replace(refused, memory=failure.memory, tasks=failure.tasks)
    answer = JoinAnswer(
        generation=advanced.member.epoch,
        protocol_type=CONSUMER_PROTOCOL_TYPE,
        protocol_name=request.protocols[0][0],
        member_id=member_id,
        version=request.version,
    )
    session = TimerStart(timer=SESSION, member_id=member_id, length_ms=request.session_timeout_ms)
    if last and holder is not None:
        operation = downgrading.replace_last(
            context,
            holder.member_id,
            advanced.member,
            stale=advanced.target_epoch < advanced.group_epoch,
        )
        operation.records[:0] = advanced.records
        operation.follow_up = ClassicMemberAppended(
            member_id=member_id, timers=(), ticket=ticket, answer=answer
        )
        return operation.outcome(None)
    syncing = TimerStart(timer=SYNC, member_id=member_id, length_ms=request.rebalance_timeout_ms)
    return Outcome(
        answer=None,
        records=advanced.records,
        memory=advanced.memory,
        tasks=advanced.tasks,
        follow_up=ClassicMemberAppended(
            member_id=member_id, timers=(session, syncing), ticket=ticket, answer=answer
        ),
    )


def supports(context: Context, request: JoinGroup) -> bool:
    """Whether it lists a protocol that all classic members list; members of the consumer protocol do not count."""
    listed = [
        {name for name, _ in downgrading.offered(member)}
        for member in context.group.members.values()
        if member.uses_classic
    ]
    return request.protocol_type == CONSUMER_PROTOCOL_TYPE and any(
        all(name in names for names in listed) for name, _ in request.protocols
    )


def find(
    context: Context, request: JoinGroup, member_id: str, *, unknown: bool
) -> tuple[ConsumerMember, ConsumerMember | None]:
    """The member, or a fresh one; and the static member whose place it takes, whether or not that one has left."""
    group = context.group
    if request.instance_id is None:
        return group.members.get(member_id) or ConsumerMember(member_id=member_id), None
    holder = group.instances.get(request.instance_id)
    if unknown:
        if holder is None:
            return ConsumerMember(member_id=member_id), None
        return replacement_of(group.members[holder], member_id), group.members[holder]
    if holder is None:
        raise RequestRefused(ErrorCode.UNKNOWN_MEMBER_ID, None)
    if holder != member_id:
        raise RequestRefused(ErrorCode.FENCED_INSTANCE_ID, None)
    return group.members[member_id], None


def as_heartbeat(context: Context, request: JoinGroup, member_id: str) -> Heartbeat:
    """The first protocol's subscription, as a heartbeat would contain it."""
    try:
        subscription = decode_subscription(request.protocols[0][1])
    except RecordError as problem:
        inconsistent = context.settings.release.rules.malformed_join_is_inconsistent
        code = ErrorCode.INCONSISTENT_GROUP_PROTOCOL if inconsistent else ErrorCode.UNKNOWN_SERVER_ERROR
        raise RequestRefused(code, None) from problem
    topics = context.image.topics
    owned = {
        topics[each["topic"]].topic_id: tuple(each["partitions"])
        for each in subscription.get("ownedPartitions", ())
        if each["topic"] in topics
    }
    return Heartbeat(
        group_id=request.group_id,
        member_id=member_id,
        member_epoch=JOIN_EPOCH,
        instance_id=request.instance_id,
        rack_id=subscription.get("rackId") or None,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        subscribed_topic_names=tuple(subscription["topics"]),
        subscribed_topic_regex="",
        owned=owned,
        client_id=request.client_id,
        client_host=request.client_host,
    )


def metadata_of(request: JoinGroup) -> ClassicMetadata:
    return {
        "sessionTimeoutMs": request.session_timeout_ms,
        "supportedProtocols": request.body()["protocols"],
    }


def checked(context: Context, member_id: str, instance_id: str | None, generation: int) -> ConsumerMember:
    member = _member(context, member_id, instance_id)
    if not member.uses_classic:
        raise RequestRefused(ErrorCode.UNKNOWN_MEMBER_ID, None)
    if member.epoch != generation:
        raise RequestRefused(ErrorCode.ILLEGAL_GENERATION, None)
    return member


def _member(context: Context, member_id: str, instance_id: str | None) -> ConsumerMember:
    group = context.group
    if instance_id is not None:
        holder = group.instances.get(instance_id)
        if holder is None:
            raise RequestRefused(ErrorCode.UNKNOWN_MEMBER_ID, None)
        if holder != member_id:
            raise RequestRefused(ErrorCode.FENCED_INSTANCE_ID, None)
    member = group.members.get(member_id)
    if member is None:
        raise RequestRefused(ErrorCode.UNKNOWN_MEMBER_ID, None)
    return member


def leaving_id(context: Context, entry: LeavingMember) -> str:
    if not entry.member_id and entry.instance_id is not None:
        # Removed by an administrator of the group, who knows only the instance.
        holder = context.group.instances.get(entry.instance_id)
        if holder is None:
            raise RequestRefused(ErrorCode.UNKNOWN_MEMBER_ID, None)
        return holder
    return _member(context, entry.member_id, entry.instance_id).member_id


def waits(context: Context, member: ConsumerMember) -> bool:
    """Whether somebody still holds a partition that the member's target adds."""
    group = context.group
    return any(
        partition not in member.assigned.get(topic_id, {})
        and group.partition_epoch(topic_id, partition) != NO_PARTITION_EPOCH
        for topic_id, partitions in group.target.get(member.member_id, {}).items()
        for partition in partitions
    )


def session_of(member: ConsumerMember) -> TimerStart:
    assert member.classic is not None
    return TimerStart(timer=SESSION, member_id=member.member_id, length_ms=member.classic["sessionTimeoutMs"])


def join_timer(context: Context, member: ConsumerMember) -> tuple[TimerCommand, ...]:
    """The time to join again runs from when the member was first asked to."""
    if member.member_id in context.memory.joining:
        return ()
    return (TimerStart(timer=JOIN, member_id=member.member_id, length_ms=member.rebalance_timeout_ms),)


def answered(ticket: int, answer: JoinAnswer | SyncAnswer) -> Outcome[None]:
    return Outcome(answer=None, parked_answers=(ParkedAnswer(ticket=ticket, answer=answer),))
