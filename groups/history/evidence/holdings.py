"""What members hold in a state, and how that differs from one state to the next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from groups.history.evidence.steps import Copy, Key, MemberStep, keys
from groups.history.state.classic_group import ClassicMember
from groups.history.state.consumer import ConsumerMember
from groups.history.state.epochs import Assignment, ModernMember
from groups.history.state.group import Protocol, State
from groups.history.state.streams import StreamsMember

_CLASSIC: Final = Protocol.CLASSIC


class Hands(NamedTuple):
    """What a member holds: assigned, and to be given up; and copies of tasks."""

    assigned: frozenset[Key]
    pending: frozenset[Key]
    copies: frozenset[Copy] = frozenset()


_EMPTY = Hands(frozenset(), frozenset())


def holdings(state: State) -> dict[Key, str]:
    """Who holds what; of two holders the later in the group's order."""
    held: dict[Key, str] = {}
    for member_id in members_of(state):
        hands = held_by(state, member_id) or _EMPTY
        held.update(dict.fromkeys(sorted(hands.assigned | hands.pending), member_id))
    return held


def members_of(state: State) -> Mapping[str, ModernMember | ClassicMember]:
    """Of a group of any protocol."""
    return state.classic.members if state.protocol is _CLASSIC else state.modern.members


def held_by(state: State, member_id: str) -> Hands | None:
    if state.protocol is Protocol.CLASSIC:
        classic = state.classic.members.get(member_id)
        if classic is None:
            return None
        return Hands(frozenset((topic, p) for topic, ps in classic.assigned.items() for p in ps), frozenset())
    member = state.modern.members.get(member_id)
    if member is None:
        return None
    return Hands(keys(member.assigned), keys(member.pending_revocation), _copies(member))


def _copies(member: ModernMember) -> frozenset[Copy]:
    if not isinstance(member, StreamsMember):
        return frozenset()
    parts = (
        ("standby", member.standby),
        ("standby", member.standby_pending_revocation),
        ("warm-up", member.warmup),
        ("warm-up", member.warmup_pending_revocation),
    )
    return frozenset((kind, *key) for kind, tasks in parts for key in keys(tasks))


def member_epoch(state: State, member_id: str) -> int | None:
    if state.protocol is Protocol.CLASSIC:
        return state.classic.known_generation if member_id in state.classic.members else None
    member = state.modern.members.get(member_id)
    return None if member is None else member.epoch


def member_step(
    member_id: str, before: Hands | None, after: Hands | None, epoch_before: int | None, epoch: int | None
) -> MemberStep | None:
    old, new = before or _EMPTY, after or _EMPTY
    had, has = old.assigned | old.pending, new.assigned | new.pending
    step = MemberStep(
        member_id=member_id,
        epoch_before=epoch_before,
        epoch=epoch,
        gained=has - had,
        released=had - has,
        to_revoke=new.pending - old.pending,
        acknowledged=after is not None and before is not None and bool(had - has),
        copies_gained=new.copies - old.copies,
        copies_released=old.copies - new.copies,
    )
    if before is None or after is None or epoch_before != epoch or had != has:
        return step
    return step if step.to_revoke or new.copies != old.copies else None


def consumer_step(old: ConsumerMember, new: ConsumerMember) -> MemberStep | None:
    """``member_step`` of a member that stays, without a set of what it holds where that did not change."""
    if _same_partitions(old.assigned, new.assigned) and _same_partitions(
        old.pending_revocation, new.pending_revocation
    ):
        return None if old.epoch == new.epoch else MemberStep(new.member_id, old.epoch, new.epoch)
    return member_step(
        new.member_id,
        Hands(keys(old.assigned), keys(old.pending_revocation)),
        Hands(keys(new.assigned), keys(new.pending_revocation)),
        old.epoch,
        new.epoch,
    )


def _same_partitions(old: Assignment, new: Assignment) -> bool:
    """Whether the partitions are the same, whatever their epochs."""
    return old is new or (
        old.keys() == new.keys()
        and all(old[topic].keys() == partitions.keys() for topic, partitions in new.items())
    )
