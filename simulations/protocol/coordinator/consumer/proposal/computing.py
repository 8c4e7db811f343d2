"""Who computes the target: the coordinator, or a member whose client-side assignor all support.

Source: KIP-848, "Assignor Selection", "Server Side Mode", "Client Side Mode".
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from groups.history.state.consumer import NO_NOTE, ConsumerMember
from groups.wire.generated.consumer import CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER
from simulations.protocol.assignors import AssignorError
from simulations.protocol.assignors.assignor_choice import Choice, Preference, choose
from simulations.protocol.coordinator.consumer import records
from simulations.protocol.coordinator.consumer.choosing import Chosen
from simulations.protocol.coordinator.consumer.outcome import Context, Outcome
from simulations.protocol.coordinator.consumer.subscriptions import Members
from simulations.protocol.coordinator.consumer.targets import (
    compute_target,
    members_in_order,
    same_partitions,
)
from simulations.protocol.coordinator.errors import RequestRefused
from simulations.protocol.coordinator.timers import COMPUTE, TimerCancel
from simulations.protocol.messages.client_mode import offer_of, offer_row
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import Heartbeat


def preference(member: ConsumerMember) -> Preference:
    return Preference(
        server=member.server_assignor, client=tuple(offer_of(row) for row in member.client_assignors)
    )


def check_supported(context: Context, request: Heartbeat) -> None:
    """``UNSUPPORTED_ASSIGNOR``: the member brings assignors, and with them no one could compute for a group that has one that does."""
    offers = request.client_assignors
    others = {
        who: each
        for who, each in context.group.members.items()
        if who != request.member_id and (each.instance_id is None or each.instance_id != request.instance_id)
    }
    if not offers or not all(each.client_assignors for each in others.values()):
        return
    now = choice(context, others)
    if not now.computing:
        return
    rows = tuple(offer_row(offer) for offer in offers)
    brings = ConsumerMember(member_id=request.member_id, client_assignors=rows)
    if choice(context, {**others, request.member_id: brings}).computing:
        return
    same = next((offer for offer in offers if offer.name == now.name), None)
    why = f"The group uses {now.name}, which the member does not have"
    if same is not None:
        why = (
            f"The group uses {now.name}, and the member's versions {same.minimum_version} to {same.maximum_version} "
            f"with metadata of version {same.metadata.version} do not suit the others'"
        )
    raise RequestRefused(ErrorCode.UNSUPPORTED_ASSIGNOR, f"{why}.")


def choice(context: Context, members: Members | None = None) -> Choice:
    """The group's assignor, and the members that may run it if it is not one of the coordinator's; of ``members`` if they are given."""
    members = context.group.members if members is None else members
    preferences = {member_id: preference(member) for member_id, member in members.items()}
    wanted = choose(preferences, context.settings.assignors)
    # A classic member's own assignor computes nothing here: only the new one is asked.
    able = tuple(member_id for member_id in wanted.computing if not members[member_id].uses_classic)
    if wanted.computing and not able:
        return choose(
            {member_id: replace(each, client=()) for member_id, each in preferences.items()},
            context.settings.assignors,
        )
    return replace(wanted, computing=able)


def compute(context: Context) -> Outcome[None]:
    """A group epoch wants its target: it is computed here, or a member is picked to do it."""
    if context.group.assignment_epoch >= context.group.group_epoch:
        return Outcome(answer=None)
    wanted = choice(context)
    return pick(context, wanted) if wanted.computing else _compute_here(context, wanted.name)


def pick(context: Context, wanted: Choice, tried: frozenset[str] = frozenset()) -> Outcome[None]:
    """The first that may and has not been tried; who computes already goes on, for whatever epoch it was handed.

    The proposal leaves the selection open. When all have been tried the round restarts, with another than the last.
    """
    chosen = context.memory.chosen
    if chosen is not None and chosen.member_id in wanted.computing and not tried:
        if chosen.assignor == wanted.name or chosen.group is not None:
            return Outcome(answer=None)
        # It was asked, and has not begun: what it will be handed is for the assignor of now.
        return _chosen(context, replace(chosen, assignor=wanted.name))
    free = [member_id for member_id in wanted.computing if member_id not in tried]
    if not free:
        last = chosen.member_id if chosen is not None else None
        tried = frozenset() if last is None else frozenset({last})
        free = [member_id for member_id in wanted.computing if member_id != last] or list(wanted.computing)
    picked = _chosen(context, Chosen(member_id=free[0], assignor=wanted.name, tried=tried))
    return replace(picked, timers=not_chosen(chosen))


def not_chosen(chosen: Chosen | None) -> tuple[TimerCancel, ...]:
    """The end of the time of who was picked before."""
    return (TimerCancel(timer=COMPUTE, member_id=chosen.member_id),) if chosen is not None else ()


def _chosen(context: Context, chosen: Chosen | None) -> Outcome[None]:
    return Outcome(answer=None, memory=replace(context.memory, chosen=chosen))


def _compute_here(context: Context, assignor: str) -> Outcome[None]:
    group, group_id = context.group, context.state.group
    ordered = {member_id: group.members[member_id] for member_id in members_in_order(group, None)}
    try:
        targets = compute_target(
            assignor,
            group,
            ordered,
            group.target,
            context.image,
            homogeneous=_subscribe_alike(context, group.members),
            epoch=group.group_epoch,
            scripted=context.settings.scripted,
        )
    except AssignorError:
        return Outcome(answer=None)
    gone = [member_id for member_id in group.target if member_id not in group.members]
    written = (
        *(
            records.tombstone(CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER, group_id, member_id)
            for member_id in gone
        ),
        *(
            records.target_member(group_id, member_id, target)
            for member_id, target in targets.items()
            if member_id not in group.target
            or group.target_notes.get(member_id, NO_NOTE) != NO_NOTE
            or not same_partitions(target, group.target[member_id])
        ),
        records.target_epoch(group_id, group.group_epoch, 0),
    )
    chosen = context.memory.chosen
    if chosen is None:
        return Outcome(answer=None, records=written)
    return replace(_chosen(context, None), records=written, timers=not_chosen(chosen))


def _subscribe_alike(context: Context, members: Members) -> bool:
    counts = Counter(name for member in members.values() for name in context.group.subscribed_topics(member))
    return all(count == len(members) for count in counts.values())
