"""The short way for an empty heartbeat that finds nothing to do, as nearly all do.

It looks at the member and at the group's epochs alone, so that its cost does not grow with the group. What it answers
is what the long way answers; where it cannot be sure, it leaves the heartbeat to that.
"""

from __future__ import annotations

from groups.history.state.consumer import STABLE
from simulations.protocol.coordinator.consumer.expressions import resolution_is_due
from simulations.protocol.coordinator.consumer.outcome import Context, Outcome
from simulations.protocol.coordinator.consumer.subscriptions import assignor_changes
from simulations.protocol.coordinator.consumer.validation import is_blank
from simulations.protocol.coordinator.timers import SESSION, TimerStart
from simulations.protocol.messages.groups import Heartbeat, HeartbeatAnswer


def steady(context: Context, request: Heartbeat) -> Outcome[HeartbeatAnswer] | None:
    """The outcome of a heartbeat of a converged member of a converged group; ``None`` for any other."""
    group = context.group
    member = group.members.get(request.member_id)
    if (
        member is None
        or member.epoch != request.member_epoch
        or member.state != STABLE
        or member.epoch != group.assignment_epoch
        or group.assignment_epoch < group.group_epoch
        or not request.bare
        or member.client_id != request.client_id
        or member.client_host != request.client_host
        or member.classic is not None
        or context.memory.refresh.expired(context.now_ms, group.group_epoch)
        or (request.instance_id is not None and not _holds(context, request))
        or (len(context.counts.assignors) > 1 and assignor_changes(context, member, member))
        or (context.counts.regexes and resolution_is_due(context, context.counts))
        or is_blank(request.group_id)
        or is_blank(request.member_id)
    ):
        return None
    settings = context.settings
    return Outcome(
        answer=HeartbeatAnswer(
            member_id=member.member_id,
            member_epoch=member.epoch,
            heartbeat_interval_ms=settings.heartbeat_interval_ms,
        ),
        timers=(
            TimerStart(timer=SESSION, member_id=member.member_id, length_ms=settings.session_timeout_ms),
        ),
        lasts_ms=0 if context.counts.regexes else context.memory.refresh.deadline_ms,
    )


def _holds(context: Context, request: Heartbeat) -> bool:
    """Whether the instance is the member's, and the member knows it."""
    instance_id, group = request.instance_id or "", context.group
    return (
        group.instances.get(instance_id) == request.member_id
        and group.members[request.member_id].instance_id == instance_id
        and not is_blank(instance_id)
    )
