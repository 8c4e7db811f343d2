"""A member computes: it is asked, it is handed the group, and what it brings is checked and installed.

The group may be at a later epoch by then. What was computed for epoch X is checked against the group as it was handed
out at X, installed as the target of X, and then X+1 wants a target of its own.

Where the text leaves something open:

* *How often the member is asked.* In each answer until it prepares; its time counts from the first of them, or from
  when it prepares if it does so unasked. An answer that is lost costs a heartbeat then, and not the whole rebalance
  timeout.
* *An assignment of an epoch that was not handed out* is an ``INVALID_ASSIGNMENT``: there is nothing to check it by.
* *An assignor's error.* Every member gets it; that some partitions are given to nobody is no mistake then.

Source: KIP-848, "Client Side Mode", "ConsumerGroupPrepareAssignment API", "ConsumerGroupInstallAssignment API".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from groups.history.state.consumer import NO_NOTE, AssignorNote, ConsumerMember
from groups.wire.generated.consumer import CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER
from simulations.protocol.assignors.client_side import (
    NO_ERROR,
    ClientAnswer,
    ClientGroup,
    ClientMember,
    ClientTopic,
    MemberAnswer,
    Offer,
    install_problems,
)
from simulations.protocol.coordinator.consumer import records
from simulations.protocol.coordinator.consumer.choosing import Chosen
from simulations.protocol.coordinator.consumer.outcome import Context, Outcome, Record
from simulations.protocol.coordinator.consumer.proposal.computing import (
    choice,
    compute,
    not_chosen,
    pick,
    preference,
)
from simulations.protocol.coordinator.consumer.proposal.metadata import assignment_timer
from simulations.protocol.coordinator.consumer.proposal.validation import check_computing
from simulations.protocol.coordinator.consumer.subscriptions import all_names, subscribed_ids
from simulations.protocol.coordinator.consumer.targets import same_partitions
from simulations.protocol.coordinator.errors import RequestRefused
from simulations.protocol.coordinator.timers import COMPUTE, TimerCommand, TimerStart
from simulations.protocol.messages.client_mode import (
    InstallAnswer,
    InstallAssignment,
    PrepareAnswer,
    PrepareAssignment,
    note_of,
)
from simulations.protocol.messages.errors import ErrorCode
from simulations.protocol.messages.groups import HeartbeatAnswer

GIVEN_TO_NOBODY = "unassigned"


def asked(
    context: Context, member: ConsumerMember, outcome: Outcome[HeartbeatAnswer]
) -> Outcome[HeartbeatAnswer]:
    """The heartbeat's outcome, with the question to compute if this member was picked and has not begun."""
    chosen = context.memory.chosen
    if chosen is None or chosen.member_id != member.member_id or chosen.group is not None:
        return outcome
    asking = replace(outcome, answer=replace(outcome.answer, compute=True))
    if chosen.notified:
        return asking
    memory = replace(outcome.memory or context.memory, chosen=replace(chosen, notified=True))
    return replace(asking, memory=memory, timers=(*asking.timers, _time_of(member)))


def _time_of(member: ConsumerMember) -> TimerStart:
    return TimerStart(timer=COMPUTE, member_id=member.member_id, length_ms=member.rebalance_timeout_ms)


def expired(context: Context, member_id: str | None) -> Outcome[None]:
    """The member's time is over: another one is picked. It is not fenced: only its session decides of that."""
    chosen = context.memory.chosen
    if chosen is None or chosen.member_id != member_id:
        return Outcome(answer=None)
    wanted = choice(context)
    if not wanted.computing:
        return compute(context)
    return pick(context, wanted, chosen.tried | {chosen.member_id})


def prepare(context: Context, request: PrepareAssignment) -> Outcome[PrepareAnswer]:
    """Hands out the group as it is now, and keeps it to check by what comes back."""
    try:
        check_computing(request)
        chosen = _chosen_one(context, request)
    except RequestRefused as refusal:
        return Outcome(answer=PrepareAnswer(error_code=refusal.code, error_message=refusal.message))
    wanted = choice(context)
    if chosen.member_id not in wanted.computing:
        # The group changed after it was picked, and the next computation is about to say who does it.
        refused = _not_chosen(request)
        return Outcome(answer=PrepareAnswer(error_code=refused.code, error_message=refused.message))
    offers = _offers(context, wanted.name)
    group = _snapshot(context, offers)
    memory = replace(
        context.memory,
        chosen=replace(chosen, assignor=wanted.name, notified=True, group=group, offers=offers),
    )
    # Who was asked by an earlier coordinator, or in an earlier turn, begins before it is asked now.
    timers = () if chosen.notified else (_time_of(context.group.members[chosen.member_id]),)
    return Outcome(answer=PrepareAnswer(assignor=wanted.name, group=group), timers=timers, memory=memory)


def install(context: Context, request: InstallAssignment) -> Outcome[InstallAnswer]:
    """Installs what passes the check as the target of the epoch that it was computed for."""
    try:
        check_computing(request)
        chosen = _chosen_one(context, request)
        snapshot = _checked(chosen, request)
    except RequestRefused as refusal:
        return Outcome(answer=InstallAnswer(error_code=refusal.code, error_message=refusal.message))
    written = _installed(context, snapshot, request.answer)
    memory = replace(context.memory, chosen=None)
    timers: tuple[TimerCommand, ...] = not_chosen(chosen)
    if context.group.group_epoch > snapshot.epoch:
        # Raced: the next epoch wants a target right away.
        wanted = choice(context)
        if wanted.computing:
            memory = pick(replace(context, memory=memory), wanted).memory or memory
        else:
            timers = (*timers, assignment_timer(context))
    return Outcome(answer=InstallAnswer(), records=written, timers=timers, memory=memory)


def _chosen_one(context: Context, request: PrepareAssignment | InstallAssignment) -> Chosen:
    """``RequestRefused`` in the proposal's order: no such group, no such member, another epoch, not the one picked."""
    if not context.group_exists:
        raise RequestRefused(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {request.group_id} not found.")
    member = context.group.members.get(request.member_id)
    if member is None:
        raise RequestRefused(
            ErrorCode.UNKNOWN_MEMBER_ID,
            f"Member {request.member_id} is not a member of group {request.group_id}.",
        )
    if member.epoch != request.member_epoch:
        raise RequestRefused(
            ErrorCode.STALE_MEMBER_EPOCH,
            f"The member epoch is {member.epoch}, not {request.member_epoch}; the next heartbeat brings it.",
        )
    chosen = context.memory.chosen
    if chosen is None or chosen.member_id != request.member_id:
        raise _not_chosen(request)
    return chosen


def _not_chosen(request: PrepareAssignment | InstallAssignment) -> RequestRefused:
    return RequestRefused(
        ErrorCode.UNKNOWN_MEMBER_ID, f"Member {request.member_id} was not chosen to compute the assignment."
    )


def _checked(chosen: Chosen, request: InstallAssignment) -> ClientGroup:
    """The group that was handed out for the request's epoch; ``RequestRefused`` if the answer does not suit it."""
    group = chosen.group
    if group is None or group.epoch != request.group_epoch:
        handed = "no group was handed out" if group is None else f"the group was handed out at {group.epoch}"
        raise RequestRefused(
            ErrorCode.INVALID_ASSIGNMENT, f"The assignment is of group epoch {request.group_epoch}; {handed}."
        )
    wrong = install_problems(group, request.answer, chosen.offers)
    if request.answer.error != NO_ERROR:
        wrong = [each for each in wrong if each.kind != GIVEN_TO_NOBODY]
    if wrong:
        raise RequestRefused(ErrorCode.INVALID_ASSIGNMENT, f"{wrong[0].sentence}.")
    return group


def _offers(context: Context, assignor: str) -> dict[str, Offer]:
    return {
        member_id: offer
        for member_id, member in context.group.members.items()
        for offer in preference(member).client
        if offer.name == assignor
    }


def _snapshot(context: Context, offers: Mapping[str, Offer]) -> ClientGroup:
    group, image = context.group, context.image
    return ClientGroup(
        epoch=group.group_epoch,
        members={
            member_id: ClientMember(
                topics=tuple(sorted(subscribed_ids(group, member, image))),
                target=group.target.get(member_id, {}),
                epoch=member.epoch,
                instance_id=member.instance_id,
                rack_id=member.rack_id,
                reason=offers[member_id].reason,
                metadata=offers[member_id].metadata,
            )
            for member_id, member in group.members.items()
        },
        topics={
            image.topics[name].topic_id: ClientTopic(name=name, partitions=image.topics[name].partitions)
            for name in sorted(all_names(group, group.members))
            if name in image.topics
        },
    )


def _installed(context: Context, snapshot: ClientGroup, answer: ClientAnswer) -> tuple[Record, ...]:
    """Types 7 of what changed, and type 6 with the epoch of the group that was handed out.

    A static member that was replaced meanwhile started no new epoch: its target is its successor's.
    """
    group, group_id = context.group, context.state.group
    written: list[Record] = [
        records.tombstone(CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER, group_id, member_id)
        for member_id in group.target
        if member_id not in snapshot.members and member_id not in group.members
    ]
    successors: dict[str | None, str] = {
        member.instance_id: member_id for member_id, member in group.members.items() if member.instance_id
    }
    for handed_out, was in snapshot.members.items():
        known = answer.members.get(handed_out, MemberAnswer())
        member_id = successors.get(was.instance_id, handed_out)
        note = note_of(known.metadata, answer.error)
        target = {topic_id: tuple(numbers) for topic_id, numbers in known.partitions.items() if numbers}
        old = group.target.get(member_id)
        if (
            old is None
            or not same_partitions(target, old)
            or note != group.target_notes.get(member_id, NO_NOTE)
        ):
            written.append(noted(records.target_member(group_id, member_id, target), note))
    written.append(records.target_epoch(group_id, snapshot.epoch, 0))
    return tuple(written)


def noted(record: Record, note: AssignorNote) -> Record:
    """A type 7 or 8 with what the assignor sent, if it sent something."""
    if note == NO_NOTE:
        return record
    known = {"error": note.error, "metadataVersion": note.version, "metadataBytes": note.data}
    return records.with_fields(record, known)
