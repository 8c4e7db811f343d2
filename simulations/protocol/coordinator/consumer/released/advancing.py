"""From what a member reports to where it is: its record, the group's epoch, the target, and its own next step.

Both a heartbeat of the consumer protocol and the JoinGroup of a classic member in a consumer group come this way.
Nothing of it is seen by the later steps through the replayed group: they get it handed over.

Kafka: ``GroupMetadataManager.consumerGroupHeartbeat`` and ``classicGroupJoinToConsumerGroup``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from groups.history.state.consumer import STABLE, UNREVOKED_PARTITIONS, ConsumerMember
from groups.wire.generated.consumer import CONSUMER_GROUP_PARTITION_METADATA
from simulations.protocol.assignors import AssignorError
from simulations.protocol.coordinator.consumer import records
from simulations.protocol.coordinator.consumer.expressions import update_expressions
from simulations.protocol.coordinator.consumer.outcome import (
    Context,
    Record,
    Refresh,
    ResolveRegexes,
    VolatileState,
)
from simulations.protocol.coordinator.consumer.reconciliation import Reconciliation
from simulations.protocol.coordinator.consumer.subscriptions import (
    abandoned_regex,
    assignor_changes,
    names_after,
    names_changed,
    preferred_assignor,
    subscribed_ids,
    subscription_is_homogeneous,
)
from simulations.protocol.coordinator.consumer.targets import (
    compute_target,
    members_in_order,
    same_partitions,
)
from simulations.protocol.coordinator.errors import RequestRefused
from simulations.protocol.coordinator.timers import REBALANCE, TimerCancel, TimerCommand, TimerStart
from simulations.protocol.messages.groups import Heartbeat, Partitions


@dataclass(frozen=True, slots=True, kw_only=True)
class Advanced:
    """What came of it. ``moved``: the member's own assignment or epoch changed; ``memory`` is ``None`` if unchanged."""

    member: ConsumerMember
    moved: bool
    records: tuple[Record, ...]
    group_epoch: int
    target_epoch: int
    memory: VolatileState | None
    tasks: tuple[ResolveRegexes, ...]


class NotAdvanced(Exception):
    """Refused, or the assignor failed: nothing is written, but what was begun goes on."""

    def __init__(
        self,
        cause: RequestRefused | AssignorError,
        memory: VolatileState | None,
        tasks: tuple[ResolveRegexes, ...],
    ) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.memory = memory
        self.tasks = tasks


def advance(
    context: Context,
    request: Heartbeat,
    old: ConsumerMember,
    updated: ConsumerMember,
    holder: ConsumerMember | None,
    *,
    last_of_protocol: bool = False,
    votes: bool = False,
) -> Advanced:
    """Records in Kafka's order: a replacement's six, 5, 16 tombstone, 3, 4 tombstone, 7…, 6, 8.

    ``old`` is the member before the request and ``updated`` after it, ``holder`` the static member whose place it
    takes. ``last_of_protocol``: no target is made, since the group ends with this request. ``votes``: a change of the
    preferred assignor is a reason for a group epoch, in releases where it can be.
    """
    group_id, group = context.state.group, context.group
    written: list[Record] = []
    if holder is not None:
        # The timers of a holder under another id go on, and find nobody when they run out.
        target_held = group.target.get(holder.member_id, {})
        written += records.replacement(group_id, holder.member_id, old, target_held, with_epochs=True)
    fresh = holder is None and updated.member_id not in group.members
    if fresh or updated != old:
        written.append(records.member_metadata(group_id, updated))
    expressions = update_expressions(context, old, updated)
    written += expressions.records
    renamed = names_changed(old, updated)
    bump = renamed or expressions.resolved or (votes and assignor_changes(context, old, updated))
    epoch_records, group_epoch, refresh = _group_epoch(context, old, updated, bump=bump)
    written += epoch_records
    memory = _memory(context, refresh, resolves=bool(expressions.tasks))
    try:
        if last_of_protocol:
            keeper = holder.member_id if holder is not None else updated.member_id
            target_epoch, target = group.assignment_epoch, group.target.get(keeper, {})
            reconciles = target_epoch == group_epoch
        else:
            target_records, target_epoch, target = _target(
                context, old, updated, holder, group_epoch, looked=refresh is not None
            )
            written += target_records
            reconciles = True
        reconciled = updated
        if reconciles:
            reconciled = _reconciled(
                context,
                updated,
                target,
                target_epoch,
                owned=request.owned,
                subscription_changed=renamed or expressions.changed,
            )
    except (RequestRefused, AssignorError) as failure:
        raise NotAdvanced(failure, memory, expressions.tasks) from failure
    if reconciled != updated:
        written.append(records.current_assignment(group_id, reconciled, with_epochs=True))
    return Advanced(
        member=reconciled,
        moved=reconciled != updated,
        records=tuple(written),
        group_epoch=group_epoch,
        target_epoch=target_epoch,
        memory=memory,
        tasks=expressions.tasks,
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
    old: ConsumerMember,
    updated: ConsumerMember,
    holder: ConsumerMember | None,
    group_epoch: int,
    *,
    looked: bool,
) -> tuple[list[Record], int, Partitions]:
    """The records of a new target, if one is due, its epoch, and this member's part of it.

    ``looked``: the group's subscriptions were looked at again.
    """
    group = context.group
    # Nothing is replayed yet: an instance's target is under the id of its holder.
    keeper = group.instances.get(updated.instance_id) if updated.instance_id else updated.member_id
    held: Partitions = group.target.get(keeper or "", {})
    if group.assignment_epoch >= group_epoch or not _target_is_due(context):
        return [], group.assignment_epoch, held
    members = {**group.members, updated.member_id: updated}
    replaced = holder.member_id if holder is not None and holder.member_id != updated.member_id else None
    if replaced is not None:
        del members[replaced]
    votes, configured = context.counts.assignors, context.settings.assignors
    written, target = _new_target(
        context,
        updated.member_id,
        members,
        preferred_assignor(votes, configured, old.server_assignor, updated.server_assignor),
        group_epoch,
        held=held,
        replaced=replaced,
        homogeneous=_homogeneous(context, old, updated, looked=looked),
    )
    return written, group_epoch, target


def _homogeneous(context: Context, old: ConsumerMember, updated: ConsumerMember, *, looked: bool) -> bool:
    """A group that was not looked at again keeps the subscription type that it had, without a joiner."""
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
    assignor: str,
    epoch: int,
    *,
    held: Partitions,
    replaced: str | None,
    homogeneous: bool,
) -> tuple[list[Record], Partitions]:
    """Type 7 for each member whose target changed or who has none yet, then type 6; and this member's target.

    ``held`` is the target that the member has so far, ``replaced`` the static member whose place it takes.
    """
    group, group_id, rules = context.group, context.state.group, context.settings.release.rules
    order = members_in_order(
        group,
        member_id,
        replaced,
        slots=context.memory.member_slots,
        replaced_too=not rules.replaced_member_never_in_table,
    )
    known = group.target
    if replaced is not None and rules.replacement_target_only_if_changed:
        known = {**known, member_id: held}
    ordered = {other: members[other] for other in order}
    targets = compute_target(
        assignor,
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
        if other not in known or not same_partitions(target, known[other])
    ]
    # A time of 0 means that there was no target yet; no broker's clock shows it, but a run's may begin there.
    written.append(records.target_epoch(group_id, epoch, context.now_ms or 1))
    return written, targets[member_id]


def _memory(context: Context, refresh: Refresh | None, *, resolves: bool) -> VolatileState | None:
    """What is remembered, ``None`` if that is nothing new."""
    memory = context.memory
    # The group object of a group's first request is thrown away, and with it the deadline.
    if refresh is not None and context.group_exists:
        memory = replace(memory, refresh=refresh)
    if resolves:
        memory = replace(memory, resolving=True)
    return memory if memory is not context.memory else None
