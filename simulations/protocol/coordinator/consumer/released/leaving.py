"""Leaving and being removed: the same records either way, and no new target (``removeMember`` in Kafka).

When the last member goes, later releases take the target to the group's epoch.

With the last member of the consumer protocol a group that has classic members becomes a classic one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from groups.history.state.consumer import ConsumerMember
from simulations.protocol.coordinator.consumer import records
from simulations.protocol.coordinator.consumer.outcome import Context, Outcome
from simulations.protocol.coordinator.consumer.released import downgrading
from simulations.protocol.coordinator.consumer.static_members import check_member, left_statically
from simulations.protocol.coordinator.errors import RequestRefused
from simulations.protocol.coordinator.timers import JOIN, REBALANCE, SESSION, SYNC, TimerCancel
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import STATIC_LEAVE_EPOCH, Heartbeat, HeartbeatAnswer

A = TypeVar("A")


def leave(context: Context, request: Heartbeat) -> Outcome[HeartbeatAnswer]:
    """Epoch -1 and -2: no epoch and no session is asked for, only that the member is there.

    With -2 a static member leaves for now: one record contains that, and its session goes on from its last heartbeat.
    """
    if context.state.protocol is None or context.state.deleted:
        raise RequestRefused(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {request.group_id} not found.")
    if not context.group_exists:
        raise not_consumer(request)
    check_member(context.group, request)
    answer = HeartbeatAnswer(member_id=request.member_id, member_epoch=request.member_epoch)
    if request.member_epoch == STATIC_LEAVE_EPOCH:
        left = left_statically(context.group.members[request.member_id])
        kept = records.current_assignment(context.state.group, left, with_epochs=True)
        return Outcome(answer=answer, records=(kept,))
    return remove(context, (request.member_id,), answer)


def not_consumer(request: Heartbeat) -> RequestRefused:
    return RequestRefused(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {request.group_id} is not a consumer group.")


def remove(context: Context, member_ids: Sequence[str], answer: A) -> Outcome[A]:
    """Tombstones of the members and of expressions that they were the last to have, then the next group epoch.

    Its hash is that of what the others subscribe to.
    """
    timers = tuple(
        TimerCancel(timer=timer, member_id=member_id)
        for member_id in member_ids
        for timer in (
            (SESSION, REBALANCE, JOIN, SYNC)
            if context.group.members[member_id].uses_classic
            else (SESSION, REBALANCE)
        )
    )
    if downgrading.is_due(context, member_ids):
        outcome = downgrading.downgrade(context, member_ids).outcome(answer)
        return replace(outcome, timers=(*timers, *outcome.timers))
    group_id, group = context.state.group, context.group
    counts, gone = context.counts, dict[str, None]()
    for member_id in member_ids:
        member = group.members[member_id]
        counts = counts.changed(member, ConsumerMember(member_id=member_id))
        regex = member.subscribed_topic_regex
        if regex and regex not in counts.regexes:
            gone[regex] = None
    resolved = (name for regex, found in group.regexes.items() if regex not in gone for name in found.topics)
    metadata_hash = context.image.metadata_hash(frozenset((*counts.by_name, *resolved)))
    epoch = group.group_epoch + 1
    written = [
        *records.removal(group_id, member_ids),
        *(records.regex_gone(group_id, regex) for regex in gone),
        records.group_epoch(group_id, epoch, metadata_hash),
    ]
    if len(member_ids) == len(group.members) and context.settings.release.rules.emptied_writes_target_epoch:
        # No time: the next member's target may be made at once.
        written.append(records.target_epoch(group_id, epoch, 0))
    return Outcome(answer=answer, records=tuple(written), timers=timers)
