"""One heartbeat with an epoch of 0 or more, step by step.

Theory of operation. A heartbeat may do everything at once: it takes over what the member tells (type 5), bumps the
group epoch if that changes what is subscribed or if the metadata changed (type 3), computes a target if one is due
and the assignment interval allows it (types 7 and 6), and moves this one member towards it (type 8). Nothing of it
is seen by the later steps through the replayed group: they get it handed over.

Kafka: ``GroupMetadataManager.consumerGroupHeartbeat``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from groups.history.state.consumer import STABLE, UNREVOKED_PARTITIONS, ConsumerMember
from groups.history.state.group import Protocol
from groups.wire.coordinator_schema import (
    CONSUMER_GROUP_PARTITION_METADATA,
)
from simulations.protocol.assignors import AssignorError
from simulations.protocol.coordinator.consumer import records
from simulations.protocol.coordinator.consumer.expressions import update_expressions
from simulations.protocol.coordinator.consumer.outcome import (
    REBALANCE,
    SESSION,
    Context,
    Outcome,
    Record,
    Refresh,
    TimerCancel,
    TimerCommand,
    TimerStart,
    VolatileState,
)
from simulations.protocol.coordinator.consumer.reconciliation import Reconciliation, in_memory
from simulations.protocol.coordinator.consumer.static_members import (
    check_member,
    replaced_member,
    replacement_of,
)
from simulations.protocol.coordinator.consumer.subscriptions import (
    abandoned_regex,
    names_after,
    names_changed,
    preferred_assignor,
    subscribed_ids,
    subscription_is_homogeneous,
    updated_member,
)
from simulations.protocol.coordinator.consumer.targets import (
    compute_target,
    members_in_order,
    same_partitions,
)
from simulations.protocol.coordinator.errors import AnotherProtocol, ErrorCode, RequestRefused
from simulations.protocol.messages.groups import JOIN_EPOCH, Heartbeat, HeartbeatAnswer, Partitions


def answer_heartbeat(context: Context, request: Heartbeat) -> Outcome[HeartbeatAnswer]:
    """The answer, the records in Kafka's order (2 tombstone, a replacement's six, 5, 16 tombstone, 3, 4 tombstone, 7…,
    6, 8) and the timers; an expression's task and the deadline stay even if the assignor fails after them."""
    if not request.member_id:
        request = replace(request, member_id=_drawn(context))
    old, holder = find_member(context, request)
    group_id, group = context.state.group, context.group
    written: list[Record] = []
    if context.state.protocol is Protocol.CLASSIC and not context.state.deleted:
        written.append(records.classic_gone(group_id))
    if holder is not None:
        # The timers of a holder under another id go on, and find nobody when they run out.
        target_held = group.target.get(holder.member_id, {})
        written += records.replacement(group_id, holder.member_id, old, target_held, with_epochs=True)

    updated = updated_member(old, request)
    fresh = holder is None and request.member_id not in group.members
    if fresh or updated != old:
        written.append(records.member_metadata(group_id, updated))
    expressions = update_expressions(context, old, updated)
    written += expressions.records
    renamed = names_changed(old, updated)
    epoch_records, group_epoch, refresh = _group_epoch(
        context, old, updated, bump=renamed or expressions.resolved
    )
    written += epoch_records
    memory = _memory(context, refresh, resolves=bool(expressions.tasks))

    try:
        target_records, target_epoch, target = _target(
            context, request, old, updated, holder, group_epoch, looked=refresh is not None
        )
        written += target_records
        reconciled = _reconciled(
            context,
            updated,
            target,
            target_epoch,
            owned=request.owned,
            subscription_changed=renamed or expressions.changed,
        )
    except RequestRefused as refusal:
        return Outcome(answer=refused(refusal), memory=memory, tasks=expressions.tasks)
    except AssignorError:
        answer = HeartbeatAnswer(error_code=ErrorCode.UNKNOWN_SERVER_ERROR)
        return Outcome(answer=answer, memory=memory, tasks=expressions.tasks)

    timers: list[TimerCommand] = []
    if reconciled != updated:
        written.append(records.current_assignment(group_id, reconciled, with_epochs=True))
        timers.append(rebalance_timer(reconciled))
    timers.append(
        TimerStart(timer=SESSION, member_id=updated.member_id, length_ms=context.settings.session_timeout_ms)
    )
    return Outcome(
        answer=_answer(context, request, old, reconciled),
        records=tuple(written),
        timers=tuple(timers),
        memory=memory,
        tasks=expressions.tasks,
    )


def refused(refusal: RequestRefused) -> HeartbeatAnswer:
    return HeartbeatAnswer(error_code=refusal.code, error_message=refusal.message)


def _drawn(context: Context) -> str:
    """The id of a client of version 0, which lets the coordinator draw it."""
    if context.drawn_id is None:
        raise ValueError("a member joins without an id: who drives the shard has to draw one (drawn_id)")
    return context.drawn_id


def _memory(context: Context, refresh: Refresh | None, *, resolves: bool) -> VolatileState | None:
    """What is remembered, ``None`` if that is nothing new."""
    memory = context.memory
    # The group object of a group's first request is thrown away, and with it the deadline.
    if refresh is not None and context.group_exists:
        memory = replace(memory, refresh=refresh)
    if resolves:
        memory = replace(memory, resolving=True)
    return memory if memory is not context.memory else None


def find_member(context: Context, request: Heartbeat) -> tuple[ConsumerMember, ConsumerMember | None]:
    """The member that the request is for, or a fresh one; and the static member whose place it takes.

    ``RequestRefused`` with Kafka's words otherwise.
    """
    joins = request.member_epoch == JOIN_EPOCH
    members = context.group.members
    check_group(context, request, joins=joins)
    if len(members) >= context.settings.max_size and request.member_id not in members:
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
    elif state.classic.members:
        raise AnotherProtocol(
            f"the group {request.group_id} has members of the classic protocol, and a member of the consumer protocol "
            "joins: this coordinator does not convert groups"
        )


def not_consumer(request: Heartbeat) -> RequestRefused:
    return RequestRefused(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {request.group_id} is not a consumer group.")


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


def rebalance_timer(member: ConsumerMember) -> TimerCommand:
    """Started for a member that has to give partitions up, cancelled with any other change."""
    if member.state != UNREVOKED_PARTITIONS:
        return TimerCancel(timer=REBALANCE, member_id=member.member_id)
    return TimerStart(
        timer=REBALANCE,
        member_id=member.member_id,
        length_ms=member.rebalance_timeout_ms,
        bound_epoch=member.epoch,
    )


def _group_epoch(
    context: Context, old: ConsumerMember, updated: ConsumerMember, *, bump: bool
) -> tuple[list[Record], int, Refresh | None]:
    """The records of a new group epoch, the epoch, and the next refresh deadline if the hash was looked at."""
    group, group_id = context.group, context.state.group
    if not bump and not context.memory.refresh.expired(context.now_ms, group.group_epoch):
        return [], group.group_epoch, None
    metadata_hash = context.image.metadata_hash(names_after(context, old, updated))
    written: list[Record] = []
    epoch = group.group_epoch
    if bump or metadata_hash != group.metadata_hash:
        epoch += 1
        written.append(records.group_epoch(group_id, epoch, metadata_hash))
    if group.has_partition_metadata:
        written.append(records.tombstone(CONSUMER_GROUP_PARTITION_METADATA, group_id))
    return written, epoch, Refresh.after(context.now_ms, epoch)


def _target(
    context: Context,
    request: Heartbeat,
    old: ConsumerMember,
    updated: ConsumerMember,
    holder: ConsumerMember | None,
    group_epoch: int,
    *,
    looked: bool,
) -> tuple[list[Record], int, Partitions]:
    """The records of a new target, if one is due, its epoch, and this member's part of it.

    ``looked``: the group's subscriptions were looked at anew.
    """
    group = context.group
    # Nothing is replayed yet: an instance's target stands under the id of its holder.
    keeper = group.instances.get(updated.instance_id) if updated.instance_id else updated.member_id
    held: Partitions = group.target.get(keeper or "", {})
    if group.assignment_epoch >= group_epoch or not _target_is_due(context):
        return [], group.assignment_epoch, held
    members = {**group.members, updated.member_id: updated}
    replaced = holder.member_id if holder is not None and holder.member_id != updated.member_id else None
    if replaced is not None:
        del members[replaced]
    written, target = _new_target(
        context,
        updated.member_id,
        members,
        group_epoch,
        held=held,
        replaced=replaced,
        homogeneous=_homogeneous(context, old, updated, looked=looked),
    )
    return written, group_epoch, target


def _homogeneous(context: Context, old: ConsumerMember, updated: ConsumerMember, *, looked: bool) -> bool:
    """A group that was not looked at anew keeps the subscription type that it had, without a joiner."""
    group = context.group
    if not looked:
        counted = context.memory.regexes_counted
        resolved = group.regexes if counted is None else counted
        return subscription_is_homogeneous(context.counts, resolved, len(group.members))
    joins = updated.member_id not in group.members and updated.instance_id not in group.instances
    gone = abandoned_regex(context, old, updated)
    return subscription_is_homogeneous(
        context.counts.changed(old, updated),
        {regex: found for regex, found in group.regexes.items() if regex != gone},
        len(group.members) + joins,
    )


def _reconciled(
    context: Context,
    updated: ConsumerMember,
    target: Partitions,
    target_epoch: int,
    *,
    owned: Partitions | None,
    subscription_changed: bool,
) -> ConsumerMember:
    """The member after its step towards the target; the very same object if nothing is to change."""
    if not subscription_changed and updated.state == STABLE and updated.epoch == target_epoch:
        return updated
    return Reconciliation(
        group=context.group,
        target=target,
        target_epoch=target_epoch,
        subscribed_ids=subscribed_ids(context.group, updated, context.image),
        subscribes_to_nothing=not context.group.subscribed_topics(updated),
        subscription_changed=subscription_changed,
        owned=owned,
    ).step(updated)


def _target_is_due(context: Context) -> bool:
    """Whether the last target is old enough. No timer waits for it: some later heartbeat will do."""
    since_ms, interval_ms = context.group.assignment_timestamp_ms, context.settings.assignment_interval_ms
    return since_ms == 0 or interval_ms == 0 or context.now_ms >= since_ms + interval_ms


def _new_target(
    context: Context,
    member_id: str,
    members: Mapping[str, ConsumerMember],
    epoch: int,
    *,
    held: Partitions,
    replaced: str | None,
    homogeneous: bool,
) -> tuple[list[Record], Partitions]:
    """Type 7 for each member whose target changed or who has none yet, then type 6; and this member's target.

    ``held`` is the target that the member has so far, ``replaced`` the static member whose place it takes.
    """
    group, group_id = context.group, context.state.group
    order = members_in_order(group, member_id, replaced, slots=context.memory.member_slots)
    ordered = {other: members[other] for other in order}
    targets = compute_target(
        preferred_assignor(group.members, members, context.settings.assignors),
        group,
        ordered,
        {**group.target, member_id: held},
        context.image,
        homogeneous=homogeneous,
        epoch=epoch,
        scripted=context.settings.scripted,
    )
    written = [
        records.target_member(group_id, other, target)
        for other, target in targets.items()
        if other not in group.target or not same_partitions(target, group.target[other])
    ]
    # A time of 0 says that there was no target yet; no broker's clock shows it, but a run's may begin there.
    written.append(records.target_epoch(group_id, epoch, context.now_ms or 1))
    return written, targets[member_id]


def _answer(
    context: Context, request: Heartbeat, old: ConsumerMember, new: ConsumerMember
) -> HeartbeatAnswer:
    full = (
        request.rebalance_timeout_ms != -1
        and (request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None)
        and request.owned is not None
    )
    tells = request.member_epoch == JOIN_EPOCH or full or new.assigned != old.assigned
    # What was not made by this request stands in the order in which replay put it.
    assigned = in_memory(new.assigned) if new.assigned is old.assigned else new.assigned
    return HeartbeatAnswer(
        member_id=new.member_id,
        member_epoch=new.epoch,
        heartbeat_interval_ms=context.settings.heartbeat_interval_ms,
        assigned={t: tuple(numbers) for t, numbers in assigned.items()} if tells else None,
    )


def _within(owned: Partitions, assigned: Mapping[str, Mapping[int, int]]) -> bool:
    return all(set(numbers) <= set(assigned.get(topic_id, ())) for topic_id, numbers in owned.items())
