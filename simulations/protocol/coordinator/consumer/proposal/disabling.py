"""The consumer protocol is not served any more: "all the consumer groups using the new protocol will be lost".

How they are lost the proposal leaves open. Read here: the coordinator writes the tombstones of the group with all of its
members at once, so that its log contains what it knows; offsets stay, and who joins next begins a classic group.

Source: KIP-848, "Kafka Broker Migration".
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from groups.wire.generated.consumer import (
    CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
    CONSUMER_GROUP_MEMBER_METADATA,
    CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA,
)
from simulations.protocol.coordinator.consumer import records
from simulations.protocol.coordinator.consumer.outcome import Context, Outcome, Record
from simulations.protocol.coordinator.consumer.targets import timeline_order
from simulations.protocol.coordinator.deletion import group_gone
from simulations.protocol.coordinator.timers import (
    ASSIGNMENT,
    COMPUTE,
    JOIN,
    REBALANCE,
    SESSION,
    SYNC,
    TimerCancel,
)


def lost(context: Context) -> Outcome[None]:
    """The group with its members is gone; a group of another protocol, or none, stays as it is."""
    if not context.group_exists:
        return Outcome(answer=None)
    members = tuple(timeline_order(context.group, context.memory.member_slots))
    timers = tuple(
        TimerCancel(timer=timer, member_id=member_id)
        for member_id in members
        for timer in (SESSION, REBALANCE, JOIN, SYNC, COMPUTE)
    )
    return Outcome(
        answer=None,
        records=tuple(_tombstones(context, members)),
        timers=(*timers, TimerCancel(timer=ASSIGNMENT, member_id=None)),
        memory=replace(context.memory, chosen=None),
    )


def _tombstones(context: Context, members: Iterable[str]) -> list[Record]:
    """Assignments first; a member goes when nothing is assigned to it and no target names it, and the group comes last."""
    group_id, whole = context.state.group, group_gone(context)
    at = 1 + [record["type"] for record in whole].index(CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA)
    return [
        *(records.tombstone(CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT, group_id, each) for each in members),
        *whole[:at],
        *(records.tombstone(CONSUMER_GROUP_MEMBER_METADATA, group_id, each) for each in members),
        *whole[at:],
    ]
