"""A member's regular heartbeat: what it reports is taken over, it is moved one step, and it is answered.

Source: KIP-848, "Request Handling" and "Response Handling" of the heartbeat, "Assignment Reconciliation".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from groups.history.state.consumer import NO_NOTE, UNREVOKED_PARTITIONS, ConsumerMember
from simulations.protocol.coordinator.consumer import records
from simulations.protocol.coordinator.consumer.outcome import Context, Outcome, Record
from simulations.protocol.coordinator.consumer.proposal.client_mode import asked, noted
from simulations.protocol.coordinator.consumer.proposal.metadata import assignment_timer, bump, session_timer
from simulations.protocol.coordinator.consumer.reconciliation import Reconciliation
from simulations.protocol.coordinator.consumer.released.advancing import rebalance_timer
from simulations.protocol.coordinator.consumer.released.heartbeat import fenced, repeats_lost
from simulations.protocol.coordinator.consumer.subscriptions import (
    names_changed,
    subscribed_ids,
    updated_member,
)
from simulations.protocol.coordinator.errors import RequestRefused
from simulations.protocol.coordinator.timers import TimerCommand
from simulations.protocol.messages.client_mode import offer_row
from simulations.protocol.messages.groups import JOIN_EPOCH, Heartbeat, HeartbeatAnswer, Partitions


def fence(request: Heartbeat, member: ConsumerMember) -> RequestRefused | None:
    """What is wrong with the request's epoch, or None."""
    if request.member_epoch in (JOIN_EPOCH, member.epoch):
        return None
    if request.member_epoch > member.epoch:
        return fenced("greater", request.member_epoch, member.epoch)
    if repeats_lost(request, member):
        return None
    return fenced("smaller", request.member_epoch, member.epoch)


def with_request(old: ConsumerMember, request: Heartbeat) -> ConsumerMember:
    """The member with what the request reports. Naming one kind of assignor revokes the other.

    Which protocol it speaks was decided before: a classic member's JoinGroup is handed here as a heartbeat.
    """
    member = replace(updated_member(old, request), classic=old.classic)
    if request.client_assignors is not None:
        rows = tuple(offer_row(offer) for offer in request.client_assignors)
        return replace(
            member, client_assignors=rows, server_assignor=None if rows else member.server_assignor
        )
    return replace(member, client_assignors=()) if request.server_assignor is not None else member


def regular(context: Context, request: Heartbeat, old: ConsumerMember) -> Outcome[HeartbeatAnswer]:
    group = context.group
    member = with_request(old, request)
    members = {**group.members, member.member_id: member}
    written: list[Record] = []
    timers: list[TimerCommand] = []
    bumps = _wants_new_target(old, member)
    if member != old:
        written.append(member_record(context, member, bumps=bumps))
    if bumps:
        written += bump(context, members)
        timers.append(assignment_timer(context))
    moved = _moved(context, request, member)
    was_notified = _was_notified(context, member)
    if moved.state == UNREVOKED_PARTITIONS:
        if not was_notified:
            timers.append(rebalance_timer(moved))
    elif moved is not member:
        current = records.current_assignment(context.state.group, moved, with_epochs=False)
        written.append(noted(current, moved.note))
        timers.append(rebalance_timer(moved))
    timers.append(session_timer(context, member.member_id))
    # At epoch 0 there is no target yet, so the response carries no assignment, not even an empty one.
    carries_assignment = moved.epoch > 0 and (_is_full(request) or was_notified or _news(context, old, moved))
    outcome = Outcome(
        answer=answer_of(
            context,
            moved,
            moved.assigned if carries_assignment else None,
            joins=request.member_epoch == JOIN_EPOCH,
        ),
        records=tuple(written),
        timers=tuple(timers),
    )
    return asked(context, moved, outcome)


def _wants_new_target(old: ConsumerMember, new: ConsumerMember) -> bool:
    """Whether its subscription changed, or its assignors, or what they report."""
    return (
        names_changed(old, new)
        or (old.subscribed_topic_regex or "") != (new.subscribed_topic_regex or "")
        or old.server_assignor != new.server_assignor
        or _asked_by_assignors(old) != _asked_by_assignors(new)
    )


def _asked_by_assignors(member: ConsumerMember) -> tuple[object, ...]:
    """What of a member's assignors asks for another target when it changes.

    A classic member's user data name its last assignment: each JoinGroup would bring another target, without end. With the
    versions, an instance that goes back to the classic protocol asks for one whose metadata it can read.
    """
    rows = member.client_assignors
    return tuple((row["name"], row["version"]) for row in rows) if member.uses_classic else rows


def _is_full(request: Heartbeat) -> bool:
    subscribes = request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
    return request.owned is not None and subscribes


def _news(context: Context, old: ConsumerMember, new: ConsumerMember) -> bool:
    """Whether the answer has to contain the assignment.

    What it may use or waits for is another, or its assignor is to get a new epoch. Who was asked to give something
    up hears, too, that a newer target lets it keep everything.
    """
    if new.assigned != old.assigned or new.note != old.note:
        return True
    if new.client_assignors and new.epoch != old.epoch:
        return True
    return pending(context, new) != pending(context, old)


def _was_notified(context: Context, member: ConsumerMember) -> bool:
    """Whether its rebalance timer runs: the timeout counts from the first answer, not from each repetition."""
    return member.member_id in context.memory.rebalancing


def _moved(context: Context, request: Heartbeat, member: ConsumerMember) -> ConsumerMember:
    """The member after the step; one that has to give partitions up is in ``UNREVOKED_PARTITIONS``."""
    group = context.group
    if member.member_id not in group.target:
        # It joined after the last target was computed: there is nothing yet to move it to.
        return member
    step = Reconciliation(
        group=group,
        target=group.target[member.member_id],
        target_epoch=group.assignment_epoch,
        subscribed_ids=subscribed_ids(group, member, context.image),
        subscribes_to_nothing=not group.subscribed_topics(member),
        # A changed subscription brings a new target, which alone takes partitions away here.
        subscription_changed=False,
        owned=request.owned,
    )
    moved = step.step(member)
    if moved.state != UNREVOKED_PARTITIONS and moved.epoch == group.assignment_epoch:
        note = group.target_notes.get(member.member_id, NO_NOTE)
        moved = moved if moved.note == note else replace(moved, note=note)
    return member if replace(moved, previous_epoch=member.previous_epoch) == member else moved


def member_record(context: Context, member: ConsumerMember, *, bumps: bool) -> Record:
    """Type 5 with the latest epoch of the group, as the proposal has it, and the member's own assignors.

    ``bumps``: whether the same batch begins the next epoch.
    """
    record = records.member_metadata(context.state.group, member)
    known: dict[str, object] = {"groupEpoch": context.group.group_epoch + bumps}
    if member.client_assignors:
        known["assignors"] = list(member.client_assignors)
    return records.with_fields(record, known)


def answer_of(
    context: Context,
    member: ConsumerMember,
    assigned: Mapping[str, Mapping[int, int]] | None,
    *,
    joins: bool,
) -> HeartbeatAnswer:
    """``joins``: only then it receives its member id, which the coordinator may have made."""
    known: Partitions | None = None
    waits: Partitions | None = None
    if assigned is not None:
        known = {topic_id: tuple(numbers) for topic_id, numbers in assigned.items()}
        waits = pending(context, member)
    return HeartbeatAnswer(
        member_id=member.member_id if joins else None,
        member_epoch=member.epoch,
        heartbeat_interval_ms=context.settings.heartbeat_interval_ms,
        assigned=known,
        pending=waits,
        note=member.note if assigned is not None else NO_NOTE,
    )


def pending(context: Context, member: ConsumerMember) -> Partitions:
    """What the member's target holds and others have not released yet; nothing before it is at the target's epoch."""
    if member.epoch != context.group.assignment_epoch:
        return {}
    target = context.group.target.get(member.member_id, {})
    missing = {
        topic_id: tuple(p for p in numbers if p not in member.assigned.get(topic_id, {}))
        for topic_id, numbers in target.items()
    }
    return {topic_id: numbers for topic_id, numbers in missing.items() if numbers}
