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

from groups.history.consumer_state import UNREVOKED_PARTITIONS, ConsumerMember
from groups.wire.coordinator_schema import (
    CONSUMER_GROUP_PARTITION_METADATA,
)
from simulations.coordinator import records
from simulations.coordinator.errors import ErrorCode, RequestRefused
from simulations.coordinator.messages import JOIN_EPOCH, Heartbeat, HeartbeatAnswer, Partitions
from simulations.coordinator.outcome import (
    REBALANCE,
    SESSION,
    Context,
    Outcome,
    Record,
    Refresh,
    TimerCancel,
    TimerCommand,
    TimerStart,
)
from simulations.coordinator.reconciliation import Reconciliation
from simulations.coordinator.static_members import check_member, replaced_member, replacement_of
from simulations.coordinator.subscriptions import (
    all_names,
    names_changed,
    preferred_assignor,
    subscribe_alike,
    subscribed_ids,
    updated_member,
)
from simulations.coordinator.targets import compute_target, members_in_order, same_partitions


def answer_heartbeat(context: Context, request: Heartbeat) -> Outcome[HeartbeatAnswer]:
    """The answer, the records in Kafka's order (a replacement's six, 5, 3, 4 tombstone, 7…, 6, 8) and the timers."""
    old, holder = find_member(context, request)
    group_id, group = context.state.group, context.group
    written: list[Record] = []
    if holder is not None:
        # The timers of a holder under another id go on, and find nobody when they run out.
        target_held = group.target.get(holder.member_id, {})
        written += records.replacement(group_id, holder.member_id, old, target_held, with_epochs=True)

    updated = updated_member(old, request)
    fresh = holder is None and request.member_id not in group.members
    if fresh or updated != old:
        written.append(records.member_metadata(group_id, updated))
    members = {**group.members, updated.member_id: updated}
    replaced = holder.member_id if holder is not None and holder.member_id != updated.member_id else None
    if replaced is not None:
        del members[replaced]
    changed = names_changed(old, updated)

    epoch_records, group_epoch, refresh = _group_epoch(context, members, bump=changed)
    written += epoch_records

    # Nothing is replayed yet: an instance's target stands under the id of its holder.
    keeper = group.instances.get(updated.instance_id) if updated.instance_id else updated.member_id
    target: Partitions = group.target.get(keeper or "", {})
    target_epoch = group.assignment_epoch
    if target_epoch < group_epoch and _target_is_due(context):
        # A group that was not looked at anew keeps the subscription type that it had, without a joiner.
        homogeneous = subscribe_alike(members if refresh is not None else group.members)
        target_records, target = _new_target(
            context,
            updated.member_id,
            members,
            group_epoch,
            held=target,
            replaced=replaced,
            homogeneous=homogeneous,
        )
        written += target_records
        target_epoch = group_epoch

    step = Reconciliation(
        group=group,
        target=target,
        target_epoch=target_epoch,
        subscribed_ids=subscribed_ids(group, updated, context.image),
        subscribes_to_nothing=not group.subscribed_topics(updated),
        subscription_changed=changed,
        owned=request.owned,
    )
    reconciled = step.step(updated)
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
        # The group object of a group's first request is thrown away, and with it the deadline.
        memory=replace(context.memory, refresh=refresh) if refresh and context.group_exists else None,
    )


def find_member(context: Context, request: Heartbeat) -> tuple[ConsumerMember, ConsumerMember | None]:
    """The member that the request is for, or a fresh one; and the static member whose place it takes.

    ``RequestRefused`` with Kafka's words otherwise.
    """
    joins = request.member_epoch == JOIN_EPOCH
    members = context.group.members
    if not joins and not context.group_exists:
        raise RequestRefused(ErrorCode.GROUP_ID_NOT_FOUND, f"Consumer group {request.group_id} not found.")
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
    if request.member_epoch > member.epoch:
        raise fenced("greater", request.member_epoch, member.epoch)
    if 0 < request.member_epoch < member.epoch and not repeats_lost(request, member):
        raise fenced("smaller", request.member_epoch, member.epoch)
    return member, None


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
    context: Context, members: Mapping[str, ConsumerMember], *, bump: bool
) -> tuple[list[Record], int, Refresh | None]:
    """The records of a new group epoch, the epoch, and the next refresh deadline if the hash was looked at."""
    group, group_id = context.group, context.state.group
    if not bump and not context.memory.refresh.expired(context.now_ms, group.group_epoch):
        return [], group.group_epoch, None
    metadata_hash = context.image.metadata_hash(all_names(group, members))
    written: list[Record] = []
    epoch = group.group_epoch
    if bump or metadata_hash != group.metadata_hash:
        epoch += 1
        written.append(records.group_epoch(group_id, epoch, metadata_hash))
    if group.has_partition_metadata:
        written.append(records.tombstone(CONSUMER_GROUP_PARTITION_METADATA, group_id))
    return written, epoch, Refresh.after(context.now_ms, epoch)


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
    ordered = {other: members[other] for other in members_in_order(group, member_id, replaced)}
    targets = compute_target(
        preferred_assignor(group.members, members, context.settings.assignors),
        group,
        ordered,
        {**group.target, member_id: held},
        context.image,
        homogeneous=homogeneous,
    )
    written = [
        records.target_member(group_id, other, target)
        for other, target in targets.items()
        if other not in group.target or not same_partitions(target, group.target[other])
    ]
    written.append(records.target_epoch(group_id, epoch, context.now_ms))
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
    return HeartbeatAnswer(
        member_id=new.member_id,
        member_epoch=new.epoch,
        heartbeat_interval_ms=context.settings.heartbeat_interval_ms,
        assigned={t: tuple(numbers) for t, numbers in new.assigned.items()} if tells else None,
    )


def _within(owned: Partitions, assigned: Mapping[str, Mapping[int, int]]) -> bool:
    return all(set(numbers) <= set(assigned.get(topic_id, ())) for topic_id, numbers in owned.items())
